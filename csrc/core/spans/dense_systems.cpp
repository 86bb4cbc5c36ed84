#include "spans/dense_systems.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "forest/row_block.hpp"
#include "linalg/short_calls.hpp"
#include "spans/nonzeros.hpp"
#include "support/parallel.hpp"

namespace fasthdmr {

namespace {

constexpr index kMatrixBytes = index(128) << 20;  // of the matrices that are formed in one pass over the rows
constexpr index kDensity = 3;  // a dense product takes as long per entry as a sparse one with a third of the entries

index nonzeros(const Spans& spans, const Spanning& spanning) {
    index n = 0;
    for (const index s : spanning) n += spans.all()[s].values;
    return n;
}

bool misses_blocks(const SpanGram& gram, const Spanning& spanning) {
    for (std::size_t i = 0; i < spanning.size(); ++i)
        for (std::size_t j = i; j < spanning.size(); ++j)
            if (!gram.has(spanning[i], spanning[j])) return true;
    return false;
}

// The axes of all spans of some systems.
std::vector<index> axes_of(const Spans& spans, const std::vector<const Spanning*>& systems, index first, index last) {
    std::vector<index> axes;
    for (index k = first; k < last; ++k)
        for (const index s : *systems[k])
            axes.insert(axes.end(), spans.all()[s].axes.begin(), spans.all()[s].axes.end());
    std::sort(axes.begin(), axes.end());
    axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
    return axes;
}

// The columns of some spans at a block of rows, times the roots of the weights, column-major.
Buffer<double> weighted_columns(const Spans& spans, const SpanBlock& axes, const Spanning& spanning, index columns,
                                const std::vector<double>& root) {
    const index rows = axes.rows();
    Buffer<double> result(columns * rows, 0.0);
    double* out = result.data();
    Nonzeros nonzeros;
    for (const index s : spanning) {
        const Span& span = spans.all()[s];
        nonzeros.load(axes, span, 0, rows);
        const double* value = nonzeros.values.data();
        const std::int32_t* start = nonzeros.starts.data();
        for (index r = 0; r < rows; ++r)
            for (const std::int32_t* end = start + span.runs; start < end; ++start)
                for (int j = 0; j < span.run; ++j) out[(*start + j) * rows + r] = *value++ * root[r];
        out += span.columns * rows;
    }
    return result;
}

// Converts sums of products to covariances.
void centre(const SpanGram& gram, const Spanning& spanning, Buffer<double>& sums) {
    std::vector<double> means;
    for (const index s : spanning)
        for (index j = 0; j < gram.columns({s}); ++j) means.push_back(gram.mean(gram.spans().all()[s].first + j));
    const index n = index(means.size());
    for (index j = 0; j < n; ++j)
        for (index i = j; i < n; ++i) sums[j * n + i] = sums[j * n + i] / gram.total() - means[i] * means[j];
}

}  // namespace

std::vector<char> dense_systems(const SpanGram& gram, const std::vector<const Spanning*>& systems) {
    const Spans& spans = gram.spans();
    std::vector<char> is_dense(systems.size(), 0);
    std::set<index> used;
    double entries = 0.0;
    for (std::size_t k = 0; k < systems.size(); ++k) {
        const Spanning& spanning = *systems[k];
        const bool has_pairs = !spanning.empty() && spans.all()[spanning.back()].axes.size() > 1;
        const index n = gram.columns(spanning), values = nonzeros(spans, spanning);
        is_dense[k] = has_pairs && n * n <= kDensity * values * values && misses_blocks(gram, spanning);
        if (!is_dense[k]) continue;
        used.insert(spanning.begin(), spanning.end());
        entries += double(n) * double(n);
    }
    // Many systems of few spans have most pairs of these in common.
    const double all = double(gram.columns({used.begin(), used.end()}));
    if (entries > all * all) std::fill(is_dense.begin(), is_dense.end(), 0);
    return is_dense;
}

void form_systems(const SpanGram& gram, const Table& x, const double* weight,
                  const std::vector<const Spanning*>& systems, int n_threads,
                  const std::function<void(index, Buffer<double>)>& use) {
    const Spans& spans = gram.spans();
    SpanBlock block(spans, systems.empty() ? 0 : std::min(kBlockRows, x.rows));
    for (index first = 0, last = 0; first < index(systems.size()); first = last) {
        std::vector<Buffer<double>> sums;
        for (index bytes = 0; last < index(systems.size()) && bytes < kMatrixBytes; ++last) {
            const index n = gram.columns(*systems[last]);
            sums.emplace_back(n * n, 0.0);
            bytes += n * n * index(sizeof(double));
        }
        const std::vector<index> axes = axes_of(spans, systems, first, last);
        for (index row = 0; row < x.rows; row += kBlockRows) {
            const index rows = std::min(kBlockRows, x.rows - row);
            std::vector<double> root(rows, 1.0);
            for (index r = 0; weight && r < rows; ++r) root[r] = std::sqrt(weight[row + r]);
            block.load(x, {row, 1, rows, nullptr}, axes, n_threads);
            parallel_for(last - first, n_threads, [&](index k) {
                const index n = gram.columns(*systems[first + k]);
                const Buffer<double> columns = weighted_columns(spans, block, *systems[first + k], n, root);
                add_gram(columns.data(), rows, n, rows, sums[k].data());
            });
        }
        parallel_for(last - first, n_threads, [&](index k) {
            centre(gram, *systems[first + k], sums[k]);
            use(first + k, std::move(sums[k]));
        });
    }
}

}  // namespace fasthdmr
