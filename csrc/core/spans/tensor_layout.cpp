#include "spans/tensor_layout.hpp"

namespace fasthdmr {

TensorLayout::TensorLayout(const std::vector<Factor>& factors) : strides(factors.size()), offsets{0} {
    for (std::size_t k = factors.size(); k-- > 0; size *= factors[k].columns) {
        strides[k] = std::int32_t(size);
        if (k + 2 >= factors.size()) continue;
        std::vector<std::int32_t> next;
        for (int i = 0; i < factors[k].run; ++i)
            for (const std::int32_t offset : offsets) next.push_back(i * strides[k] + offset);
        offsets = std::move(next);
    }
}

}  // namespace fasthdmr
