// Sums over rows that a decomposition in spans needs: products of spans with each other and with targets.
// They are sums: those of parts of the data add up.
#pragma once

#include <utility>
#include <vector>

#include "dictionary.hpp"
#include "spans.hpp"

namespace fasthdmr {

// Functions whose products with the spans are wanted; the first is the constant 1.
class Targets {
public:
    virtual ~Targets() = default;
    virtual index count() const = 0;
    // Writes the targets at some rows (at most kBlockRows), column-major.
    virtual void fill(const Rows& rows, double* out, index leading) const = 0;
    // What has been taken off each of them: products of numbers far from zero would lose the digits that vary.
    virtual const std::vector<double>& shift() const = 0;
};

// One output's dictionary, its columns summed up: column j, times coefficient[j], adds to target[j] and to the whole.
struct OutputTargets {
    const Dictionary* dictionary;
    std::vector<double> coefficient;
    std::vector<index> target;
    double constant;
    index whole;
};

class DictionaryTargets : public Targets {
public:
    DictionaryTargets(std::vector<OutputTargets> outputs, index count);
    index count() const override { return count_; }
    void fill(const Rows& rows, double* out, index leading) const override;
    const std::vector<double>& shift() const override { return shift_; }
    // Takes off all targets their means over a few rows of a sample.
    void centre(index rows, const double* weight);

private:
    std::vector<OutputTargets> outputs_;
    index count_;
    std::vector<double> shift_;
};

// Given columns: (rows, outputs).
class ArrayTargets : public Targets {
public:
    explicit ArrayTargets(const Table& values) : values_(values), shift_(values.columns + 1, 0.0) {}
    index count() const override { return values_.columns + 1; }
    void fill(const Rows& rows, double* out, index leading) const override;
    const std::vector<double>& shift() const override { return shift_; }

private:
    Table values_;
    std::vector<double> shift_;
};

struct SpanMoments {
    std::vector<std::pair<index, index>> pairs;  // of spans, first <= second
    std::vector<std::vector<double>> products;   // one a pair: (columns of first, columns of second), row-major
    std::vector<double> with_targets;            // (all columns, targets), row-major; row 0: the constant; 0: not wanted
    std::vector<double> of_targets;              // (targets, targets), row-major
    std::vector<double> shift;                   // what had been taken off each target
    index n_targets = 0;

    // Position of a pair, or -1.
    index find(index first, index second) const;
};

// For every span all targets.
std::vector<std::vector<index>> all_targets(const Spans& spans, const Targets& targets);

// Blocks of rows in a wave, over which the tasks are spans and pairs of spans.
constexpr index kMostBlocks = 16;

// The products of some pairs of spans, and of each span with the targets that it wants.
SpanMoments span_moments(const Spans& spans, const Table& x, const double* weight, const Targets& targets,
                         std::vector<std::pair<index, index>> pairs, const std::vector<std::vector<index>>& wanted,
                         int n_threads, index most_blocks = kMostBlocks);

}  // namespace fasthdmr
