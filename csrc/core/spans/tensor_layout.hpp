// The array in which the kernel for tensor products sums: its dimensions are the columns of the factors, row-major.
#pragma once

#include <vector>

#include "kernels/records.hpp"

namespace fasthdmr {

struct TensorLayout {
    struct Factor {
        index columns;
        int run;  // number of its nonzeros at a row
    };

    TensorLayout() = default;
    explicit TensorLayout(const std::vector<Factor>& factors);

    std::vector<std::int32_t> strides;
    std::vector<std::int32_t> offsets;  // as in TensorRows
    index size = 1;
};

}  // namespace fasthdmr
