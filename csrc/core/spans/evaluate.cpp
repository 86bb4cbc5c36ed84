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

Parts parts_of(const Spans& spans, const Components& components, index c) {
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
        auto use = std::find_if(parts.uses.begin(), parts.uses.end(), [&](const Use& u) { return u.span == s; });
        if (use == parts.uses.end()) {
            parts.uses.push_back({s, std::vector<double>(spans.all()[s].columns, 0.0)});
            use = parts.uses.end() - 1;
        }
        use->coefficients[column - spans.all()[s].first] += components.weight[e];
    }
    return parts;
}

}  // namespace

void evaluate(const Spans& spans, const Table& x, const Components& components, double* out, int n_threads) {
    std::vector<Parts> parts;
    for (index c = 0; c < components.count(); ++c) parts.push_back(parts_of(spans, components, c));
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
        std::vector<double> values;
        std::vector<std::int32_t> starts;
        for (std::size_t s = 0; s < users.size(); ++s) {
            if (users[s].empty()) continue;
            poll();
            const Span& span = spans.all()[s];
            block.expand(span, 0, n, values, starts);
            for (const auto& [c, coefficients] : users[s]) {
                double* column = out + c * x.rows + begin;
                for (index r = 0; r < n; ++r) {
                    double sum = 0.0;
                    const double* value = values.data() + r * span.values;
                    for (index q = 0; q < span.runs; ++q)
                        for (int j = 0; j < span.run; ++j)
                            sum += value[q * span.run + j] * (*coefficients)[starts[r * span.runs + q] + j];
                    column[r] += sum;
                }
            }
        }
    });
}

}  // namespace fasthdmr
