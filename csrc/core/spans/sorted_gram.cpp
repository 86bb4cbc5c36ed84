#include "spans/sorted_gram.hpp"

#include <algorithm>

#include "kernels/kernels.hpp"

namespace fasthdmr {

namespace {

// Calls with the axes of each variable of two spans, -1 for one that a span lacks, and the distances between
// neighbouring columns in the products.
template <class Function>
void for_variables(const Spans& spans, const Span& a, const Span& b, const Function& call) {
    index stride_a = a.columns * b.columns, stride_b = b.columns;
    std::size_t i = 0, j = 0;
    while (i < a.axes.size() || j < b.axes.size()) {
        const bool in_a = i < a.axes.size() && (j == b.axes.size() || a.subspace[i] <= b.subspace[j]);
        const bool in_b = j < b.axes.size() && (i == a.axes.size() || b.subspace[j] <= a.subspace[i]);
        const index axis_a = in_a ? a.axes[i] : -1, axis_b = in_b ? b.axes[j] : -1;
        if (in_a) stride_a /= spans.axes()[a.axes[i++]].columns();
        if (in_b) stride_b /= spans.axes()[b.axes[j++]].columns();
        call(axis_a, axis_b, stride_a, stride_b);
    }
}

// From (n, columns) to (columns, n).
Buffer<double> last_to_front(const Buffer<double>& values, index columns) {
    const index n = index(values.size()) / columns;
    Buffer<double> turned(values.size());
    for (index i = 0; i < n; ++i)
        for (index j = 0; j < columns; ++j) turned[j * n + i] = values[i * columns + j];
    return turned;
}

}  // namespace

bool SpanProducts::prepare(const Spans& spans, AxisProducts& axes, const Span& a, const Span& b, index rows) {
    if (a.columns * b.columns > 2 * rows) return false;
    int factors = 0;
    bool can = true;
    for_variables(spans, a, b, [&](index axis_a, index axis_b, index, index) {
        ++factors;
        if (axis_a >= 0 && axis_b >= 0) can &= axes.add(axis_a, axis_b);
        else can &= spans.axes()[std::max(axis_a, axis_b)].run() == kMaxRun;
    });
    return can && a.axes.size() <= kMostFactors / 2 && b.axes.size() <= kMostFactors / 2;
}

SpanProducts::SpanProducts(const Spans& spans, const AxisProducts& axes, const Span& a, const Span& b) : axes_(axes) {
    for_variables(spans, a, b, [&](index axis_a, index axis_b, index stride_a, index stride_b) {
        const index n = axis_a < 0 ? 1 : spans.axes()[axis_a].columns(),
                    m = axis_b < 0 ? 1 : spans.axes()[axis_b].columns();
        const bool is_shared = axis_a >= 0 && axis_b >= 0;
        Factor factor{is_shared, is_shared ? axes.number(axis_a, axis_b) : std::max(axis_a, axis_b), n * m, {}};
        if (is_shared) factor.columns = axes[factor.number].columns();
        for (index i = 0; i < n; ++i)
            for (index j = 0; j < m; ++j) factor.places.push_back(i * stride_a + j * stride_b);
        factors_.push_back(std::move(factor));
    });
    // Polynomials come last: a vector holds those of an interval.
    std::stable_partition(factors_.begin(), factors_.end(), [](const Factor& factor) { return !factor.is_shared; });
    index size = factors_.back().columns;
    offsets_ = {0};
    for (std::size_t k = factors_.size() - 1; k-- > 0; size *= factors_[k].columns) {
        if (k + 2 == factors_.size()) continue;
        std::vector<std::int32_t> next;
        for (int i = 0; i < factors_[k].run(); ++i)
            for (const std::int32_t offset : offsets_) next.push_back(std::int32_t(i * size) + offset);
        offsets_ = std::move(next);
    }
    sums_.assign(size, 0.0);
}

void SpanProducts::add(const SpanBlock& block, const double* weight) {
    std::vector<std::int32_t> begin(block.rows(), 0);
    TensorRows rows{{}, {}, int(factors_.size()), factors_.back().columns, offsets_.data(), begin.data()};
    std::int32_t stride = 1;
    for (std::size_t k = factors_.size(); k-- > 0; stride *= std::int32_t(factors_[k].columns)) {
        const Factor& factor = factors_[k];
        const std::int32_t* starts = factor.is_shared ? axes_.starts(factor.number) : block.starts(factor.number);
        for (index r = 0; r < block.rows(); ++r) begin[r] += starts[r] * stride;
        rows.values[k] = factor.is_shared ? axes_.values(factor.number) : block.values(factor.number);
        rows.runs[k] = factor.run();
    }
    kernels().add_tensors(rows, weight, block.rows(), sums_.data());
}

std::vector<double> SpanProducts::take() {
    // Factor after factor, from the last, is brought to the front.
    Buffer<double> sums = std::move(sums_);
    std::vector<index> places{0};
    for (std::size_t k = factors_.size(); k-- > 0;) {
        const Factor& factor = factors_[k];
        sums = last_to_front(sums, factor.columns);
        if (factor.is_shared) sums = axes_[factor.number].expand(sums);
        std::vector<index> next;
        for (const index place : factor.places)
            for (const index behind : places) next.push_back(place + behind);
        places = std::move(next);
    }
    std::vector<double> result(sums.size());
    for (std::size_t i = 0; i < sums.size(); ++i) result[places[i]] = sums[i];
    return result;
}

}  // namespace fasthdmr
