#include "span_moments.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels.hpp"
#include "parallel.hpp"
#include "progress.hpp"
#include "short_calls.hpp"
#include "span_products.hpp"

namespace fasthdmr {

namespace {

// As many blocks make a wave as this memory for axes allows.
constexpr index kAxisBytes = index(8) << 20;

index blocks_in_wave(const Spans& spans, index n_blocks, index most_blocks) {
    const index bytes = index(spans.axes().size()) * kBlockRows * index(kMaxRun * sizeof(double) + sizeof(std::int32_t));
    return std::max<index>(1, std::min({most_blocks, n_blocks, kAxisBytes / std::max<index>(bytes, 1)}));
}

// Rows whose mean is near that of all: a few, however they are sorted.
constexpr index kPilotRows = 256;

// Rows at equal steps of their weight, so that each stands for as much of the measure as another; heavy ones repeat.
std::vector<index> equal_steps(index rows, const double* weight, index most) {
    std::vector<index> chosen;
    const index count = std::min(most, rows);
    if (!weight) {
        for (index k = 0; k < count; ++k) chosen.push_back(rows / count * k + rows / count / 2);
        return chosen;
    }
    const double total = std::accumulate(weight, weight + rows, 0.0);
    double sum = 0.0;
    for (index r = 0; index(chosen.size()) < count && r < rows; ++r) {
        sum += weight[r];
        while (index(chosen.size()) < count && sum > total * (double(chosen.size()) + 0.5) / double(count))
            chosen.push_back(r);
    }
    return chosen;
}

struct Block {
    index first, rows;       // within the wave
    Buffer<double> targets;  // (targets, rows) row-major: that is, column-major by row
    const double* weight;
};

// One span at the rows of a block.
struct Expanded {
    std::vector<double> values;
    std::vector<std::int32_t> starts;
    void load(const SpanBlock& axes, const Span& span, const Block& block) {
        axes.expand(span, block.first, block.rows, values, starts);
    }
    SparseRows view(const Span& span) const { return {values.data(), starts.data(), span.runs, span.run}; }
};

// Adds the products of a span's columns with some targets: (columns, wanted), row-major.
void add_with_targets(const Span& span, const Expanded& e, const Block& block, const std::vector<index>& wanted,
                      double* out) {
    const index n = index(wanted.size());
    std::vector<double> row(n);
    for (index r = 0; r < block.rows; ++r) {
        for (index k = 0; k < n; ++k) row[k] = block.weight[r] * block.targets[wanted[k] * kBlockRows + r];
        const double* value = e.values.data() + r * span.values;
        for (index s = 0; s < span.runs; ++s) {
            double* sums = out + e.starts[r * span.runs + s] * n;
            for (int i = 0; i < span.run; ++i, ++value)
                for (index k = 0; k < n; ++k) *sums++ += *value * row[k];
        }
    }
}

// Adds the products of the targets with each other; the first of a pair has the smaller number.
void add_of_targets(const Block& block, index n_targets, double* out) {
    Buffer<double> weighted(n_targets * kBlockRows);
    for (index r = 0; r < block.rows; ++r) {
        const double root = std::sqrt(block.weight[r]);
        for (index t = 0; t < n_targets; ++t)
            weighted[t * kBlockRows + r] = root * block.targets[t * kBlockRows + r];
    }
    add_gram(weighted.data(), block.rows, n_targets, kBlockRows, out);
}

// Adds a span's products with the targets, in all blocks.
void add_span(const Spans& spans, const SpanBlock& axes, index s, const std::vector<Block>& blocks, index count,
              const std::vector<index>& wanted, SpanMoments& m) {
    const Span& span = spans.all()[s];
    const index n = index(wanted.size());
    std::vector<double> sums(span.columns * n, 0.0);
    Expanded expanded;
    for (index k = 0; k < count; ++k) {
        poll();
        expanded.load(axes, span, blocks[k]);
        add_with_targets(span, expanded, blocks[k], wanted, sums.data());
    }
    for (index j = 0; j < span.columns; ++j)
        for (index k = 0; k < n; ++k) m.with_targets[(span.first + j) * m.n_targets + wanted[k]] += sums[j * n + k];
}

// Adds the products of pairs of spans. A pair whose rows cannot be sorted takes them as they come, block after block.
void add_pairs(const Spans& spans, const SpanBlock& axes, const std::vector<Block>& blocks, index count,
               const double* weight, SpanMoments& m, int n_threads) {
    std::vector<index> sorted, unsorted;
    for (index p = 0; p < index(m.pairs.size()); ++p) {
        const Span &a = spans.all()[m.pairs[p].first], &b = spans.all()[m.pairs[p].second];
        (can_sort(spans, a, b, axes.rows()) ? sorted : unsorted).push_back(p);
    }
    parallel_for(index(sorted.size()), n_threads, [&](index k) {
        const auto& [a, b] = m.pairs[sorted[k]];
        add_sorted_products(spans, axes, spans.all()[a], spans.all()[b], weight, m.products[sorted[k]].data());
    });
    std::vector<char> wanted(spans.all().size(), 0);
    for (const index p : unsorted) wanted[m.pairs[p].first] = wanted[m.pairs[p].second] = 1;
    std::vector<Expanded> expanded(spans.all().size());
    for (index k = 0; k < count && !unsorted.empty(); ++k) {
        parallel_for(index(wanted.size()), n_threads, [&](index s) {
            if (wanted[s]) expanded[s].load(axes, spans.all()[s], blocks[k]);
        });
        parallel_for(index(unsorted.size()), n_threads, [&](index q) {
            const auto& [first, second] = m.pairs[unsorted[q]];
            const Span &a = spans.all()[first], &b = spans.all()[second];
            kernels().add_products(expanded[first].view(a), expanded[second].view(b), blocks[k].weight, blocks[k].rows,
                                   m.products[unsorted[q]].data(), b.columns);
        });
    }
}

}  // namespace

DictionaryTargets::DictionaryTargets(std::vector<OutputTargets> outputs, index count)
    : outputs_(std::move(outputs)), count_(count), shift_(count, 0.0) {
    for (const OutputTargets& o : outputs_) {
        if (index(o.coefficient.size()) != o.dictionary->columns() || o.coefficient.size() != o.target.size())
            throw Error("every column needs a coefficient and a target");
        for (const index t : o.target)
            if (t < 1 || t >= count) throw Error("no such target: " + std::to_string(t));
        if (o.whole < 1 || o.whole >= count) throw Error("no such target: " + std::to_string(o.whole));
    }
}

void DictionaryTargets::fill(const Rows& rows, double* out, index leading) const {
    std::fill(out, out + rows.count, 1.0);
    std::vector<double> start(count_);
    for (index t = 1; t < count_; ++t) start[t] = -shift_[t];
    for (const OutputTargets& o : outputs_) start[o.whole] += o.constant;
    for (index t = 1; t < count_; ++t) std::fill(out + t * leading, out + t * leading + rows.count, start[t]);
    for (const OutputTargets& o : outputs_) {
        Buffer<double> columns(o.dictionary->columns() * rows.count);
        o.dictionary->fill(rows, columns.data(), rows.count);
        double* whole = out + o.whole * leading;
        for (index j = 0; j < o.dictionary->columns(); ++j) {
            kernels().add_scaled(o.coefficient[j], columns.data() + j * rows.count, rows.count, out + o.target[j] * leading);
            kernels().add_scaled(o.coefficient[j], columns.data() + j * rows.count, rows.count, whole);
        }
    }
}

void DictionaryTargets::centre(index rows, const double* weight) {
    const std::vector<index> few = equal_steps(rows, weight, kPilotRows);
    const index n = index(few.size());
    Buffer<double> values(count_ * n);
    fill({0, 1, n, few.data()}, values.data(), n);
    for (index t = 1; t < count_; ++t) {
        const double* column = values.data() + t * n;
        shift_[t] += std::accumulate(column, column + n, 0.0) / double(n);
    }
}

void ArrayTargets::fill(const Rows& rows, double* out, index leading) const {
    std::fill(out, out + rows.count, 1.0);
    for (index t = 0; t < values_.columns; ++t)
        for (index r = 0; r < rows.count; ++r) out[(t + 1) * leading + r] = values_.at(rows[r], t);
}

std::vector<std::vector<index>> all_targets(const Spans& spans, const Targets& targets) {
    std::vector<index> all(targets.count());
    std::iota(all.begin(), all.end(), 0);
    return std::vector<std::vector<index>>(spans.all().size(), all);
}

index SpanMoments::find(index first, index second) const {
    const auto found = std::lower_bound(pairs.begin(), pairs.end(), std::make_pair(first, second));
    return found != pairs.end() && *found == std::make_pair(first, second) ? found - pairs.begin() : -1;
}

SpanMoments span_moments(const Spans& spans, const Table& x, const double* weight, const Targets& targets,
                         std::vector<std::pair<index, index>> pairs, const std::vector<std::vector<index>>& wanted,
                         int n_threads, index most_blocks) {
    if (wanted.size() != spans.all().size()) throw Error("every span needs a list of targets");
    for (const auto& list : wanted)
        for (const index t : list)
            if (t < 0 || t >= targets.count()) throw Error("no such target: " + std::to_string(t));
    SpanMoments m;
    std::sort(pairs.begin(), pairs.end());
    m.pairs = std::move(pairs);
    m.n_targets = targets.count();
    m.shift = targets.shift();
    m.with_targets.assign(spans.columns() * m.n_targets, 0.0);
    m.of_targets.assign(m.n_targets * m.n_targets, 0.0);
    for (const auto& [a, b] : m.pairs) m.products.emplace_back(spans.all()[a].columns * spans.all()[b].columns, 0.0);

    const index n_spans = index(spans.all().size()), n_blocks = (x.rows + kBlockRows - 1) / kBlockRows;
    const index wave = blocks_in_wave(spans, n_blocks, most_blocks);
    std::vector<Block> blocks(wave);
    std::vector<double> wave_weight(wave * kBlockRows, 1.0);
    SpanBlock axes(spans, wave * kBlockRows);
    for (index begin = 0; begin < n_blocks; begin += wave) {
        const index count = std::min(wave, n_blocks - begin), first = begin * kBlockRows;
        const index rows = std::min(count * kBlockRows, x.rows - first);
        if (weight) std::copy_n(weight + first, rows, wave_weight.begin());
        parallel_for(count, n_threads, [&](index k) {
            Block& block = blocks[k];
            block.first = k * kBlockRows;
            block.rows = std::min(kBlockRows, rows - block.first);
            block.weight = wave_weight.data() + block.first;
            block.targets.resize(m.n_targets * kBlockRows);
            targets.fill({first + block.first, 1, block.rows, nullptr}, block.targets.data(), kBlockRows);
        });
        axes.load(x, {first, 1, rows, nullptr}, n_threads);
        parallel_for(n_spans + 1, n_threads, [&](index s) {
            if (s < n_spans) return add_span(spans, axes, s, blocks, count, wanted[s], m);
            for (index k = 0; k < count; ++k) {
                poll();
                add_of_targets(blocks[k], m.n_targets, m.of_targets.data());
            }
        });
        add_pairs(spans, axes, blocks, count, wave_weight.data(), m, n_threads);
        rows_done() += rows;
    }
    for (index s = 0; s < m.n_targets; ++s)
        for (index t = 0; t < s; ++t) m.of_targets[s * m.n_targets + t] = m.of_targets[t * m.n_targets + s];
    std::copy_n(m.of_targets.begin(), m.n_targets, m.with_targets.begin());
    return m;
}

}  // namespace fasthdmr
