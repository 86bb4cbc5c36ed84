#include "span_moments.hpp"

#include <algorithm>

#include "kernels.hpp"
#include "parallel.hpp"

namespace fasthdmr {

namespace {

// Blocks of rows whose targets are computed side by side.
constexpr index kWave = 8;

struct Block {
    Rows rows;
    Buffer<double> targets;  // (targets, rows) row-major: that is, column-major by row
    std::vector<double> weight;
};

// One span at the rows of a block.
struct Expanded {
    std::vector<double> values;
    std::vector<std::int32_t> starts;
    SparseRows view(const Span& span) const { return {values.data(), starts.data(), span.runs, span.run}; }
};

// Adds the products of a span's columns with all targets.
void add_with_targets(const Span& span, const Expanded& e, const Block& block, index n_targets, double* out) {
    std::vector<double> row(n_targets);
    for (index r = 0; r < block.rows.count; ++r) {
        for (index t = 0; t < n_targets; ++t) row[t] = block.weight[r] * block.targets[t * kBlockRows + r];
        for (index i = 0; i < span.values; ++i) {
            const index column = span.first + e.starts[r * span.runs + i / span.run] + i % span.run;
            kernels().add_scaled(e.values[r * span.values + i], row.data(), n_targets, out + column * n_targets);
        }
    }
}

// Adds the products of the targets with each other.
void add_of_targets(const Block& block, index n_targets, double* out) {
    for (index s = 0; s < n_targets; ++s)
        for (index t = s; t < n_targets; ++t) {
            const double *a = block.targets.data() + s * kBlockRows, *b = block.targets.data() + t * kBlockRows;
            double sum = 0.0;
            for (index r = 0; r < block.rows.count; ++r) sum += block.weight[r] * a[r] * b[r];
            out[s * n_targets + t] += sum;
        }
}

}  // namespace

DictionaryTargets::DictionaryTargets(std::vector<OutputTargets> outputs, index count)
    : outputs_(std::move(outputs)), count_(count) {
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
    for (index t = 1; t < count_; ++t) std::fill(out + t * leading, out + t * leading + rows.count, 0.0);
    for (const OutputTargets& o : outputs_) {
        Buffer<double> columns(o.dictionary->columns() * rows.count);
        o.dictionary->fill(rows, columns.data(), rows.count);
        double* whole = out + o.whole * leading;
        for (index j = 0; j < o.dictionary->columns(); ++j) {
            kernels().add_scaled(o.coefficient[j], columns.data() + j * rows.count, rows.count, out + o.target[j] * leading);
            kernels().add_scaled(o.coefficient[j], columns.data() + j * rows.count, rows.count, whole);
        }
        for (index r = 0; r < rows.count; ++r) whole[r] += o.constant;
    }
}

void ArrayTargets::fill(const Rows& rows, double* out, index leading) const {
    std::fill(out, out + rows.count, 1.0);
    for (index t = 0; t < values_.columns; ++t)
        for (index r = 0; r < rows.count; ++r) out[(t + 1) * leading + r] = values_.at(rows[r], t);
}

index SpanMoments::find(index first, index second) const {
    const auto found = std::lower_bound(pairs.begin(), pairs.end(), std::make_pair(first, second));
    return found != pairs.end() && *found == std::make_pair(first, second) ? found - pairs.begin() : -1;
}

SpanMoments span_moments(const Spans& spans, const Table& x, const double* weight, const Targets& targets,
                         std::vector<std::pair<index, index>> pairs, int n_threads) {
    SpanMoments m;
    std::sort(pairs.begin(), pairs.end());
    m.pairs = std::move(pairs);
    m.n_targets = targets.count();
    m.with_targets.assign(spans.columns() * m.n_targets, 0.0);
    m.of_targets.assign(m.n_targets * m.n_targets, 0.0);
    for (const auto& [a, b] : m.pairs) m.products.emplace_back(spans.all()[a].columns * spans.all()[b].columns, 0.0);

    const index n_spans = index(spans.all().size()), n_blocks = (x.rows + kBlockRows - 1) / kBlockRows;
    std::vector<Block> wave(std::min(kWave, n_blocks));
    SpanBlock axes(spans, kBlockRows);
    std::vector<Expanded> expanded(n_spans);
    for (index begin = 0; begin < n_blocks; begin += kWave) {
        const index count = std::min(kWave, n_blocks - begin);
        parallel_for(count, n_threads, [&](index k) {
            Block& block = wave[k];
            const index first = (begin + k) * kBlockRows;
            block.rows = {first, 1, std::min(kBlockRows, x.rows - first), nullptr};
            block.targets.resize(m.n_targets * kBlockRows);
            targets.fill(block.rows, block.targets.data(), kBlockRows);
            block.weight.assign(block.rows.count, 1.0);
            if (weight) std::copy_n(weight + first, block.rows.count, block.weight.begin());
        });
        for (index k = 0; k < count; ++k) {
            const Block& block = wave[k];
            axes.load(x, block.rows);
            parallel_for(n_spans + 1, n_threads, [&](index s) {
                if (s == n_spans) return add_of_targets(block, m.n_targets, m.of_targets.data());
                axes.expand(spans.all()[s], expanded[s].values, expanded[s].starts);
                add_with_targets(spans.all()[s], expanded[s], block, m.n_targets, m.with_targets.data());
            });
            parallel_for(index(m.pairs.size()), n_threads, [&](index p) {
                const Span &a = spans.all()[m.pairs[p].first], &b = spans.all()[m.pairs[p].second];
                kernels().add_products(expanded[m.pairs[p].first].view(a), expanded[m.pairs[p].second].view(b),
                                       block.weight.data(), block.rows.count, m.products[p].data(), b.columns);
            });
        }
    }
    for (index s = 0; s < m.n_targets; ++s)
        for (index t = 0; t < s; ++t) m.of_targets[s * m.n_targets + t] = m.of_targets[t * m.n_targets + s];
    std::copy_n(m.of_targets.begin(), m.n_targets, m.with_targets.begin());
    return m;
}

}  // namespace fasthdmr
