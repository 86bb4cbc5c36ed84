#include "kernels/declarations.hpp"

#define FASTHDMR_CONCAT_(a, b) a##b
#define FASTHDMR_CONCAT(a, b) FASTHDMR_CONCAT_(a, b)
#define FASTHDMR_STRING_(a) #a
#define FASTHDMR_STRING(a) FASTHDMR_STRING_(a)

namespace fasthdmr {

namespace set = FASTHDMR_ISA;

extern const Kernels FASTHDMR_CONCAT(kernels_, FASTHDMR_ISA);
const Kernels FASTHDMR_CONCAT(kernels_, FASTHDMR_ISA) = {FASTHDMR_STRING(FASTHDMR_ISA),
                                                         set::load,
                                                         set::rank,
                                                         set::encode,
                                                         set::add_coded,
                                                         set::add_paths,
                                                         set::take,
                                                         set::add_cells,
                                                         set::find_leaves,
                                                         set::add_scaled,
                                                         set::add_products,
                                                         set::add_tensors,
                                                         set::add_box,
                                                         set::add_covariances};

}  // namespace fasthdmr
