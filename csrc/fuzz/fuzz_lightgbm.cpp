// A libFuzzer target: reads models of LightGBM.
#include "loaders/lightgbm.hpp"
#include "read_export.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace fasthdmr;
    try_to_read([&] { return read_lightgbm({reinterpret_cast<const char*>(data), size}).trees; });
    return 0;
}
