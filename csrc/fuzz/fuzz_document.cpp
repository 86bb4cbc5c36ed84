// A libFuzzer target: reads models of xgboost (JSON and UBJSON) and CatBoost (JSON).
#include "loaders/model_document.hpp"
#include "read_export.hpp"

namespace fasthdmr {

namespace {

// Reads all that remains of the document, as the bindings do.
void walk(const Value& value) {
    if (value.kind() == Value::Kind::number) value.number();
    if (value.kind() == Value::Kind::text) std::string(value.text());
    for (index k = 0; k < value.size(); ++k) {
        if (value.is_packed()) value.number(k);
        else walk(value.at(k));
    }
}

}  // namespace

}  // namespace fasthdmr

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace fasthdmr;
    try_to_read([&] {
        ModelDocument model(std::string_view(reinterpret_cast<const char*>(data), size));
        walk(model.root());
        return std::move(model.trees());
    });
    return 0;
}
