// The nonzeros of the columns of one span at some rows.
#pragma once

#include "spans/bsplines.hpp"

namespace fasthdmr {

struct Nonzeros {
    const Span& span;
    std::vector<double> values;
    std::vector<std::int32_t> starts;

    Nonzeros(const SpanBlock& rows, const Span& of) : span(of) { rows.expand(span, 0, rows.rows(), values, starts); }

    // Calls use(row, column, value), row by row.
    template <class Use>
    void each(const Use& use) const {
        const double* value = values.data();
        const std::int32_t* start = starts.data();
        for (index r = 0, n = index(starts.size()) / span.runs; r < n; ++r)
            for (const std::int32_t* end = start + span.runs; start < end; ++start)
                for (int j = 0; j < span.run; ++j) use(r, *start + j, *value++);
    }
};

}  // namespace fasthdmr
