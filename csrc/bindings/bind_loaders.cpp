// Readers of the exports of xgboost, LightGBM and CatBoost.
#include <memory>
#include <string_view>

#include "loaders/lightgbm.hpp"
#include "loaders/model_document.hpp"
#include "pybind.hpp"
#include "released.hpp"

namespace fasthdmr {

namespace {

// The arrays that `loaders.Trees` takes.
py::dict to_dict(ReadTrees&& trees) {
    const index n_nodes = trees.n_nodes();
    py::dict result;
    result["tree_offsets"] = owning_array(std::move(trees.tree_offsets));
    result["left"] = owning_array(std::move(trees.left));
    result["right"] = owning_array(std::move(trees.right));
    result["feature"] = owning_array(std::move(trees.feature));
    result["threshold"] = owning_array(std::move(trees.threshold));
    result["missing_left"] = owning_array(std::move(trees.missing_left));
    result["value"] = owning_array(std::move(trees.value)).reshape({n_nodes, trees.width});
    result["weight"] = owning_array(std::move(trees.weight));
    if (trees.set_offsets.size() == 1) return result;  // no sets
    result["category_set"] = owning_array(std::move(trees.category_set));
    result["set_offsets"] = owning_array(std::move(trees.set_offsets));
    result["set_intervals"] = owning_array(std::move(trees.intervals)).reshape({index(-1), index(2)});
    return result;
}

py::object to_python(const Value& value);

bool are_numbers(const Value& value) {
    if (value.is_packed()) return true;
    for (index k = 0; k < value.size(); ++k)
        if (value.at(k).kind() != Value::Kind::number) return false;
    return value.size() > 0;
}

// Numbers become an array, because there may be as many as trees.
py::object to_sequence(const Value& value) {
    if (are_numbers(value)) {
        std::vector<double> numbers;
        value.numbers(numbers);
        return owning_array(std::move(numbers));
    }
    py::list result;
    for (index k = 0; k < value.size(); ++k) result.append(to_python(value.at(k)));
    return std::move(result);
}

// The JSON of the trees is left out, because the arrays replace it.
py::object to_python(const Value& value) {
    switch (value.kind()) {
        case Value::Kind::null:
            return py::none();
        case Value::Kind::boolean:
            return py::bool_(value.boolean());
        case Value::Kind::number:
            return py::float_(value.number());
        case Value::Kind::text:
            return py::str(value.text().data(), value.text().size());
        case Value::Kind::array:
            return to_sequence(value);
        default:
            break;
    }
    py::dict result;
    for (index k = 0; k < value.size(); ++k)
        if (const std::string_view key = value.at(k).name(); key != "trees" && key != "oblivious_trees")
            result[py::str(key.data(), key.size())] = to_python(value.at(k));
    return result;
}

std::string_view bytes_of(const py::buffer_info& info) {
    return {static_cast<const char*>(info.ptr), std::size_t(info.size * info.itemsize)};
}

py::tuple read_document(const py::buffer& bytes) {
    const py::buffer_info info = bytes.request();
    std::optional<ModelDocument> model;
    {
        const Released released;
        model.emplace(bytes_of(info));
    }
    return py::make_tuple(model->library() == Library::xgboost ? "xgboost" : "CatBoost",
                          to_dict(std::move(model->trees())), to_python(model->root()));
}

}  // namespace

void bind_loaders(py::module_& m) {
    m.def("read_document", &read_document, py::arg("bytes"));
    m.def(
        "read_lightgbm",
        [](const py::buffer& bytes) {
            const py::buffer_info info = bytes.request();
            LightgbmModel model = without_gil([&] { return read_lightgbm(bytes_of(info)); });
            py::dict header;
            for (const auto& [name, value] : model.header) header[py::str(name)] = py::str(value);
            return py::make_tuple(to_dict(std::move(model.trees)), header,
                                  py::array_t<bool>(index(model.zero_is_missing.size()),
                                                    reinterpret_cast<const bool*>(model.zero_is_missing.data())));
        },
        py::arg("bytes"));
}

}  // namespace fasthdmr
