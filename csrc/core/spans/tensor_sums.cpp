#include "spans/tensor_sums.hpp"

#include <algorithm>

#include "kernels/kernels.hpp"

namespace fasthdmr {

namespace {

constexpr index kMostEntries = 16;  // of a block, for each row: the work for an entry does not depend on the rows

// Moves the first dimension of an array, (columns, n), to the end.
Buffer<double> first_to_last(const Buffer<double>& values, index columns) {
    const index n = index(values.size()) / columns;
    Buffer<double> turned(values.size());
    for (index i = 0; i < n; ++i)
        for (index j = 0; j < columns; ++j) turned[i * columns + j] = values[j * n + i];
    return turned;
}

// The same, and multiplies it by a matrix, (columns, results).
Buffer<double> multiply_first(const Buffer<double>& values, index columns, const Buffer<double>& matrix) {
    const index n = index(values.size()) / columns, results = index(matrix.size()) / columns;
    Buffer<double> product(n * results);
    kernels().multiply_transposed(values.data(), columns, n, matrix.data(), results, product.data());
    return product;
}

}  // namespace

void for_variables(const Spans& spans, const Span& a, const Span& b,
                   const std::function<void(const CommonVariable&)>& call) {
    index stride_a = a.columns * b.columns, stride_b = b.columns;
    std::size_t i = 0, j = 0;
    const auto variable_of = [&](const Span& span, std::size_t k) { return spans.axes()[span.axes[k]].variable(); };
    while (i < a.axes.size() || j < b.axes.size()) {
        const bool in_a = i < a.axes.size() && (j == b.axes.size() || variable_of(a, i) <= variable_of(b, j));
        const bool in_b = j < b.axes.size() && (i == a.axes.size() || variable_of(b, j) <= variable_of(a, i));
        const index axis_a = in_a ? a.axes[i] : -1, axis_b = in_b ? b.axes[j] : -1;
        const index variable = in_a ? variable_of(a, i) : variable_of(b, j);
        if (in_a) stride_a /= spans.axes()[a.axes[i++]].columns();
        if (in_b) stride_b /= spans.axes()[b.axes[j++]].columns();
        call({variable, axis_a, axis_b, stride_a, stride_b});
    }
}

TensorFactors tensor_factors(const Spans& spans, ProductBases& bases, const Span& a, const Span& b, index rows) {
    const bool is_wide = a.columns * b.columns > kMostEntries * rows;
    if (is_wide || std::max(a.axes.size(), b.axes.size()) > kMostFactors / 2) return {};
    TensorFactors factors;
    bool are_cubic = true;
    for_variables(spans, a, b, [&](const CommonVariable& v) {
        const bool is_shared = v.axis_a >= 0 && v.axis_b >= 0;
        const index number = is_shared ? bases.add(v.axis_a, v.axis_b) : ~std::max(v.axis_a, v.axis_b);
        are_cubic &= is_shared ? number >= 0 : spans.axes()[~number].run() == kMaxRun;
        factors.emplace_back(v.variable, number);
    });
    return are_cubic ? factors : TensorFactors{};
}

bool determines(const ProductBases& bases, const TensorFactors& some, const TensorFactors& others) {
    return std::equal(some.begin(), some.end(), others.begin(), others.end(), [&](const auto& one, const auto& other) {
        return one == other || (one.first == other.first && one.second >= 0 && other.second < 0 &&
                                bases.contains(one.second, ~other.second));
    });
}

TensorSums::TensorSums(const Spans& spans, const ProductBases& bases, const TensorFactors& factors)
    : spans_(spans), bases_(bases) {
    for (const auto& [variable, number] : factors)
        factors_.push_back(
            {variable, number, number >= 0 ? bases[number].cells() * kProductRun : spans.axes()[~number].columns()});
    // Polynomials come last, because those of an interval fill a vector register.
    std::stable_partition(factors_.begin(), factors_.end(), [](const Factor& factor) { return !factor.is_basis(); });
    std::vector<TensorLayout::Factor> dimensions;
    for (const Factor& factor : factors_) dimensions.push_back({factor.columns, factor.run()});
    layout_ = TensorLayout(dimensions);
    sums_.assign(layout_.size, 0.0);
}

const std::int32_t* TensorSums::starts(const SpanBlock& block, const Factor& factor) const {
    return factor.is_basis() ? bases_.starts(factor.number) : block.starts(~factor.number);
}

void TensorSums::add(const SpanBlock& block, const double* weight) {
    std::vector<std::int32_t> begin(block.rows(), 0);
    TensorRows rows{{}, {}, int(factors_.size()), factors_.back().columns, layout_.offsets.data(), begin.data()};
    for (std::size_t k = 0; k < factors_.size(); ++k) {
        const Factor& factor = factors_[k];
        const std::int32_t* start = starts(block, factor);
        for (index r = 0; r < block.rows(); ++r) begin[r] += start[r] * layout_.strides[k];
        rows.values[k] = factor.is_basis() ? bases_.values(factor.number) : block.values(~factor.number);
        rows.runs[k] = factor.run();
    }
    kernels().add_tensors(rows, weight, block.rows(), sums_.data());
}

std::vector<double> TensorSums::products(const Span& a, const Span& b) const {
    std::vector<SummedFactor> factors;
    for (const Factor& factor : factors_)
        factors.push_back(
            {factor.variable, factor.is_basis() ? &bases_[factor.number] : nullptr, factor.run(), factor.columns});
    return expand_products(spans_, a, b, factors, sums_);
}

std::vector<double> expand_products(const Spans& spans, const Span& a, const Span& b,
                                    const std::vector<SummedFactor>& factors, Buffer<double> sums) {
    std::map<index, CommonVariable> variables;
    for_variables(spans, a, b, [&](const CommonVariable& v) { variables[v.variable] = v; });
    // The dimension of each factor in turn, the first of the array, is transformed and becomes the last.
    std::vector<index> places{0};
    for (const SummedFactor& factor : factors) {
        const CommonVariable& v = variables.at(factor.variable);
        const auto axis = [&](index number) { return number < 0 ? nullptr : &spans.axes()[number]; };
        const Axis *first = axis(v.axis_a), *second = axis(v.axis_b);
        sums = factor.basis ? multiply_first(sums, factor.columns,
                                             factor.basis->expansion(factor.run, first ? *first : *second,
                                                                     first ? second : nullptr))
                            : first_to_last(sums, factor.columns);
        const index n = first ? first->columns() : 1, m = second ? second->columns() : 1;
        std::vector<index> next;
        next.reserve(index(places.size()) * n * m);
        for (const index place : places)
            for (index i = 0; i < n; ++i)
                for (index j = 0; j < m; ++j) next.push_back(i * v.stride_a + j * v.stride_b + place);
        places = std::move(next);
    }
    std::vector<double> result(sums.size());
    for (std::size_t i = 0; i < sums.size(); ++i) result[places[i]] = sums[i];
    return result;
}

}  // namespace fasthdmr
