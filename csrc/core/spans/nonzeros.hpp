// The nonzeros of the columns of one span at some rows.
#pragma once

#include "kernels/records.hpp"
#include "spans/bsplines.hpp"

namespace fasthdmr {

struct Nonzeros {
    std::vector<double> values;        // (rows, runs, run)
    std::vector<std::int32_t> starts;  // (rows, runs)

    // Computes those of the rows first, ..., first + count - 1 of the block.
    void load(const SpanBlock& block, const Span& span, index first, index count) {
        block.expand(span, first, count, values, starts);
    }
    SparseRows view(const Span& span) const { return {values.data(), starts.data(), span.runs, span.run}; }
};

}  // namespace fasthdmr
