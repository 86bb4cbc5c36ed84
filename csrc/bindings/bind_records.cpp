#include "pybind.hpp"

namespace fasthdmr {

namespace {

// One of the arrays whose records are copied.
struct Records {
    const char* data;
    index count;
};

// Where what stands at an offset in each record goes.
struct Field {
    index offset, size;
    char* out;
};

index record_size(const py::array& a) {
    if (a.ndim() < 1 || !(a.flags() & py::array::c_style)) throw Error("expected C-contiguous arrays of records");
    index size = a.itemsize();
    for (index d = 1; d < a.ndim(); ++d) size *= a.shape(d);
    return size;
}

template <index Size>
void copy_field(const std::vector<Records>& sources, index record, index offset, index size, char* out) {
    const index bytes = Size ? Size : size;
    for (const Records& source : sources)
        for (index k = 0; k < source.count; ++k, out += bytes) std::memcpy(out, source.data + k * record + offset, bytes);
}

// Copies what stands at an offset in the records of all arrays, end to end, into one array, as wide as its rows.
void copy_records(const py::list& arrays, const std::vector<std::pair<index, py::array>>& fields) {
    std::vector<Records> sources;
    index total = 0, record = 0;
    for (const py::handle& item : arrays) {
        const auto a = py::cast<py::array>(item);
        if (sources.empty()) record = record_size(a);
        if (record_size(a) != record) throw Error("the arrays have records of different sizes");
        sources.push_back({static_cast<const char*>(a.data()), a.shape(0)});
        total += a.shape(0);
    }
    std::vector<Field> into;
    for (const auto& [offset, field] : fields) {
        py::array out = field;
        const index size = record_size(out);
        if (out.shape(0) != total || offset < 0 || offset + size > record)
            throw Error("a field does not fit the records");
        into.push_back({offset, size, static_cast<char*>(out.mutable_data())});
    }
    py::gil_scoped_release release;
    for (const Field& field : into) {
        const auto copy = field.size == 8 ? copy_field<8> : field.size == 1 ? copy_field<1> : copy_field<0>;
        copy(sources, record, field.offset, field.size, field.out);
    }
}

}  // namespace

void bind_records(py::module_& m) { m.def("copy_records", &copy_records, py::arg("arrays"), py::arg("fields")); }

}  // namespace fasthdmr
