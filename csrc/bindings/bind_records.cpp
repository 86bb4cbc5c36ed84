// Copies of the nodes of scikit-learn's trees.
#include "kernels/compiler.hpp"
#include "pybind.hpp"
#include "released.hpp"

namespace fasthdmr {

namespace {

index record_size(const py::array& a) {
    if (a.ndim() < 1 || !(a.flags() & py::array::c_style)) throw Error("expected C-contiguous arrays of records");
    index size = a.itemsize();
    for (index d = 1; d < a.ndim(); ++d) size *= a.shape(d);
    return size;
}

// A field of a record (offset and size), and the output that its values are copied to.
struct Field {
    index offset, size, remaining;  // `remaining` counts the values still to be copied
    char* out;
};

template <index Size>
char* copy_field(const char* record, index count, index stride, index size, char* out) {
    const index bytes = Size ? Size : size;
    for (index k = 0; k < count; ++k, record += stride, out += bytes) std::memcpy(out, record, bytes);
    return out;
}

// One array of the pickled state of a tree. Its records are split into fields.
class Records {
public:
    // The whole record may be the only field; it must be as wide as a row of the output.
    Records(const char* key, const std::vector<std::pair<index, py::array>>& fields, bool are_whole)
        : key_(key), are_whole_(are_whole) {
        for (const auto& [offset, field] : fields) {
            py::array out = field;
            fields_.push_back({offset, record_size(out), out.shape(0), static_cast<char*>(out.mutable_data())});
        }
    }

    // The array of a state. Its memory is prefetched.
    py::array of(const py::dict& state) const {
        auto a = py::cast<py::array>(state[key_]);
        const char* data = static_cast<const char*>(a.data());
        for (index byte = 0; byte < std::min<index>(a.nbytes(), kFetched); byte += 64)
            FASTHDMR_PREFETCH(data + byte, 1);
        return a;
    }

    void copy(const py::array& a) {
        const index stride = record_size(a), count = a.shape(0);
        for (Field& field : fields_) {
            field.remaining -= count;
            const bool fits = are_whole_ ? field.size == stride : field.offset + field.size <= stride;
            if (field.remaining < 0 || field.offset < 0 || !fits) throw Error("a field does not fit the records");
            const auto copy = field.size == 8 ? copy_field<8> : field.size == 1 ? copy_field<1> : copy_field<0>;
            field.out = copy(static_cast<const char*>(a.data()) + field.offset, count, stride, field.size, field.out);
        }
    }

    void finish() const {
        for (const Field& field : fields_)
            if (field.remaining != 0) throw Error("the records do not fill the fields");
    }

private:
    static constexpr index kFetched = 1024;
    py::str key_;
    bool are_whole_;
    std::vector<Field> fields_;
};

py::object attribute(py::handle object, const py::str& name) {
    auto value = py::reinterpret_steal<py::object>(PyObject_GetAttr(object.ptr(), name.ptr()));
    if (!value) throw py::error_already_set();
    return value;
}

// The trees of fitted estimators, and the offset of the nodes of each. Following pointers from object to object is slow
// because of cache misses. In C++ the processor runs ahead and overlaps several of them; in Python it cannot.
py::tuple grown_trees(const py::list& estimators) {
    const py::str tree_("tree_"), node_count("node_count");
    const index count = index(estimators.size());
    py::list trees(count);
    for (index k = 0; k < count; ++k) {
        check_signals();
        trees[k] = attribute(estimators[k], tree_);
    }
    py::array_t<index> offsets(count + 1);
    offsets.mutable_at(0) = 0;
    for (index k = 0; k < count; ++k)
        offsets.mutable_at(k + 1) = offsets.at(k) + attribute(trees[k], node_count).cast<index>();
    return py::make_tuple(trees, offsets);
}

// Copies the node records of all trees, one tree after the other. A few trees are read at a time: their arrays are
// fetched together, and the memory of their Python objects is still in the cache when the next ones are made.
void copy_states(const py::list& trees, const std::vector<std::pair<index, py::array>>& node_fields,
                 const py::array& values) {
    constexpr index few = 8;
    Records nodes("nodes", node_fields, false), leaves("values", {{0, values}}, true);
    const py::str getstate("__getstate__");
    const index count = index(trees.size());
    for (index begin = 0; begin < count; begin += few) {
        check_signals();
        std::vector<std::pair<py::array, py::array>> arrays;
        for (index k = begin; k < std::min(count, begin + few); ++k) {
            const auto state = py::reinterpret_steal<py::object>(
                PyObject_CallMethodNoArgs(py::handle(trees[k]).ptr(), getstate.ptr()));
            if (!state) throw py::error_already_set();
            const auto fields = py::cast<py::dict>(state);
            arrays.emplace_back(nodes.of(fields), leaves.of(fields));
        }
        for (const auto& [node, leaf] : arrays) {
            nodes.copy(node);
            leaves.copy(leaf);
        }
    }
    nodes.finish();
    leaves.finish();
}

}  // namespace

void bind_records(py::module_& m) {
    m.def("grown_trees", &grown_trees, py::arg("estimators"));
    m.def("copy_states", &copy_states, py::arg("trees"), py::arg("node_fields"), py::arg("values"));
}

}  // namespace fasthdmr
