#include "spans/evaluate.hpp"

#include <algorithm>

#include "support/parallel.hpp"

namespace fasthdmr {

namespace {

// The coefficients of a component on one span, as a dense vector.
struct Use {
    index span;
    std::vector<double> coefficients;
};

struct Parts {
    double constant = 0.0;
    std::vector<Use> uses;
};

// `place` has an entry of -1 for each span, before and after the call.
Parts parts_of(const Spans& spans, const Components& components, index c, std::vector<index>& place) {
    Parts parts;
    for (index e = components.begin[c]; e < components.begin[c + 1]; ++e) {
        const index column = components.column[e];
        if (column == 0) {
            parts.constant += components.weight[e];
            continue;
        }
        const auto after = std::upper_bound(spans.all().begin(), spans.all().end(), column,
                                            [](index value, const Span& span) { return value < span.first; });
        const index s = after - spans.all().begin() - 1;
        if (place[s] < 0) {
            place[s] = index(parts.uses.size());
            parts.uses.push_back({s, std::vector<double>(spans.all()[s].columns, 0.0)});
        }
        parts.uses[place[s]].coefficients[column - spans.all()[s].first] += components.weight[e];
    }
    for (const Use& use : parts.uses) place[use.span] = -1;
    return parts;
}

void add_nonzeros(const Span& span, const Nonzeros& nonzeros, const double* coefficients, index n, double* column) {
    const double* value = nonzeros.values.data();
    const std::int32_t* start = nonzeros.starts.data();
    for (index r = 0; r < n; ++r) {
        double sum = 0.0;
        for (const std::int32_t* end = start + span.runs; start < end; ++start)
            for (int j = 0; j < span.run; ++j) sum += *value++ * coefficients[*start + j];
        column[r] += sum;
    }
}

// The sum over i and j of head_i c_ij tail_j. It is formed as (sum over i of head_i c_ij) tail_j, so that the products
// head_i tail_j are not needed, and the inner sums for all j are independent. A span of one axis has the head 1.
template <int Heads, int Run>
void add_product(const Spans& spans, const SpanBlock& block, const Span& span, const double* coefficients, index first,
                 index n, double* column) {
    const index a = span.axes.front(), b = span.axes.back(), columns = spans.axes()[b].columns();
    const double *head = block.values(a) + first * kMaxRun, *tail = block.values(b) + first * kMaxRun;
    const std::int32_t *rows = block.starts(a) + first, *starts = block.starts(b) + first;
    for (index r = 0; r < n; ++r, head += kMaxRun, tail += kMaxRun) {
        double sums[Run] = {};
        const double* c = coefficients + (Heads > 0 ? rows[r] * columns : 0) + starts[r];
        for (int j = 0; Heads == 0 && j < Run; ++j) sums[j] = c[j];
        for (int i = 0; i < Heads; ++i, c += columns)
            for (int j = 0; j < Run; ++j) sums[j] += head[i] * c[j];
        double sum = 0.0;
        for (int j = 0; j < Run; ++j) sum += sums[j] * tail[j];
        column[r] += sum;
    }
}

template <int Run>
void add_run(const Spans& spans, const SpanBlock& block, const Span& span, const double* coefficients, index first,
             index n, double* column) {
    constexpr decltype(&add_product<0, Run>) by_heads[] = {
        add_product<0, Run>, add_product<1, Run>, add_product<2, Run>, add_product<3, Run>, add_product<4, Run>};
    const int heads = span.axes.size() == 2 ? spans.axes()[span.axes.front()].run() : 0;
    by_heads[heads](spans, block, span, coefficients, first, n, column);
}

}  // namespace

void add_function(const Spans& spans, const SpanBlock& block, const Span& span, const Nonzeros& nonzeros,
                  const double* coefficients, index first, index n, double* out) {
    constexpr decltype(&add_run<1>) by_run[kMaxRun] = {add_run<1>, add_run<2>, add_run<3>, add_run<4>};
    if (span.axes.size() > 2) return add_nonzeros(span, nonzeros, coefficients, n, out);
    by_run[span.run - 1](spans, block, span, coefficients, first, n, out);
}

void evaluate(const Spans& spans, const Table& x, const Components& components, double* out, int n_threads) {
    std::vector<Parts> parts;
    std::vector<index> place(spans.all().size(), -1);
    for (index c = 0; c < components.count(); ++c) parts.push_back(parts_of(spans, components, c, place));
    // The components that use each span, so that its columns are evaluated once for each block of rows.
    std::vector<std::vector<std::pair<index, const std::vector<double>*>>> users(spans.all().size());
    for (index c = 0; c < components.count(); ++c)
        for (const Use& use : parts[c].uses) users[use.span].emplace_back(c, &use.coefficients);

    parallel_for((x.rows + kBlockRows - 1) / kBlockRows, n_threads, [&](index task) {
        const index begin = task * kBlockRows, n = std::min(kBlockRows, x.rows - begin);
        SpanBlock block(spans, n);
        block.load(x, {begin, 1, n, nullptr});
        for (index c = 0; c < components.count(); ++c)
            std::fill(out + c * x.rows + begin, out + c * x.rows + begin + n, parts[c].constant);
        Nonzeros nonzeros;
        for (std::size_t s = 0; s < users.size(); ++s) {
            if (users[s].empty()) continue;
            poll();
            const Span& span = spans.all()[s];
            if (span.axes.size() > 2) nonzeros.load(block, span, 0, n);
            for (const auto& [c, coefficients] : users[s])
                add_function(spans, block, span, nonzeros, coefficients->data(), 0, n, out + c * x.rows + begin);
        }
    });
}

}  // namespace fasthdmr
