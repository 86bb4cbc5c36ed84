// A libFuzzer target: reads exports of other libraries with changed bytes, and arbitrary bytes, and constructs forests
// from them. The only permitted failure is an Error.
#include <string>

#include "bytes.hpp"
#include "loaders/exports.hpp"
#include "loaders/lightgbm.hpp"
#include "loaders/model_document.hpp"
#include "read_export.hpp"

namespace fasthdmr {

namespace {

std::string damaged(Bytes& bytes) {
    std::string (*const exports[])() = {&xgboost_json,         &xgboost_ubjson,        &catboost_json,
                                        &catboost_nested_json, &catboost_one_hot_json, &lightgbm_text};
    std::string text = exports[bytes.below(6)]();
    for (index changes = bytes.below(6); changes > 0; --changes) {
        const auto at = std::size_t(bytes.below(index(text.size())));
        const index kind = bytes.below(4);
        if (kind == 0) text.erase(at, std::size_t(1 + bytes.below(20)));
        else if (kind == 1) text.insert(at, 1, char(bytes.below(256)));
        else if (kind == 2) text[at] = "0123456789-[]{},\"$#lLdi"[bytes.below(23)];
        else text[at] = char(bytes.below(256));
        if (text.empty()) break;
    }
    return text;
}

}  // namespace

}  // namespace fasthdmr

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace fasthdmr;
    Bytes bytes(data, size);
    const std::string text =
        bytes.happens(0.9) ? damaged(bytes) : std::string(reinterpret_cast<const char*>(data), size);
    try_to_read([&] { return read_lightgbm(text).trees; });
    try_to_read([&] { return ModelDocument(text).trees(); });
    return 0;
}
