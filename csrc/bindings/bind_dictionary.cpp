// Columns of trees and arrays, and the R factors of these columns.
#include <memory>

#include "dictionary/qr_pass.hpp"
#include "dictionary/tree_columns.hpp"
#include "released.hpp"
#include "results.hpp"

namespace fasthdmr {

namespace {

// The rows of each fold. Rows from fold numbers point into `lists`.
struct Folds {
    std::vector<std::vector<index>> lists;
    std::vector<Rows> parts;

    Folds(const std::int64_t* fold, index rows, index n_folds) : lists(n_folds) {
        for (index i = 0; i < rows; ++i) {
            if (fold[i] < 0 || fold[i] >= n_folds) throw Error("no such fold: " + std::to_string(fold[i]));
            lists[fold[i]].push_back(i);
        }
        for (const auto& list : lists) parts.push_back({0, 1, index(list.size()), list.data()});
    }
    // The fold of a row is its number modulo the number of folds.
    Folds(index rows, index n_folds) {
        for (index k = 0; k < n_folds; ++k) parts.push_back({k, n_folds, (rows - k + n_folds - 1) / n_folds, nullptr});
    }
};

py::array_t<double> to_array(const std::vector<Triangle>& triangles) {
    const index count = index(triangles.size()), p = triangles.front().columns(), item = sizeof(double);
    py::array_t<double> out({count, p, p}, {item * p * p, item, item * p});  // each one column-major
    for (index k = 0; k < count; ++k) std::copy_n(triangles[k].data(), p * p, out.mutable_data() + k * p * p);
    return out;
}

// (n_folds or 1, p, p)
py::array_t<double> triangle_array(const Dictionary& dictionary, index rows, double unit,
                                   const std::optional<Doubles>& weight, const std::optional<Doubles>& y,
                                   const std::optional<Integers>& fold, index n_folds, int n_threads) {
    const Sample sample{rows, optional_vector(weight, rows, "weight"), optional_vector(y, rows, "y"), unit};
    const std::int64_t* fold_of_row = fold ? vector(*fold, rows, "fold") : nullptr;
    std::vector<Triangle> result;
    {
        const Released released;
        if (n_folds > 1) {
            const Folds folds = fold_of_row ? Folds(fold_of_row, rows, n_folds) : Folds(rows, n_folds);
            result = triangles(dictionary, sample, folds.parts, n_threads);
        } else {
            result.push_back(triangle(dictionary, sample, n_threads));
        }
    }
    return to_array(result);
}

py::array_t<double> tree_triangles(const TreeColumns& trees, const py::array& x, double unit,
                                   const std::optional<Doubles>& weight, const std::optional<Doubles>& y,
                                   const std::optional<Integers>& fold, index n_folds, int n_threads) {
    const TreeDictionary dictionary(trees, as_table(x));
    return triangle_array(dictionary, x.shape(0), unit, weight, y, fold, n_folds, n_threads);
}

py::array_t<double> array_triangle(const py::array& columns, const std::optional<Doubles>& weight,
                                   const std::optional<Doubles>& y, int n_threads) {
    const Table table = as_table(columns);
    const ArrayDictionary dictionary(table, {}, std::vector<index>(table.columns, 0));
    return triangle_array(dictionary, table.rows, 1.0, weight, y, {}, 1, n_threads);
}

py::array_t<double> to_array(const Triangle& triangle) {
    const index p = triangle.columns();
    auto out = column_major(p, p);
    std::copy_n(triangle.data(), p * p, out.mutable_data());
    return out;
}

// The R factor of a matrix.
py::array_t<double> triangle_of_rows(const py::array_t<double, py::array::f_style>& rows) {
    if (rows.ndim() != 2) throw Error("expected a matrix");
    const index n = rows.shape(0);
    Buffer<double> block(rows.data(), rows.data() + rows.size());
    Triangle triangle(rows.shape(1));
    {
        const Released released;
        triangle.absorb(block.data(), n, n);
        triangle.fix_signs();
    }
    return to_array(triangle);
}

// Merges k R factors, (k, p, p), into that of all their rows, (p, p).
py::array_t<double> merge_triangles(const py::array_t<double>& stack) {
    if (stack.ndim() != 3 || stack.shape(0) < 1 || stack.shape(1) != stack.shape(2))
        throw Error("expected (k, p, p) triangles");
    const index count = stack.shape(0), p = stack.shape(1);
    std::vector<Triangle> parts;
    const auto values = stack.unchecked<3>();
    for (index k = 0; k < count; ++k) {
        Triangle part(p);
        for (index j = 0; j < p; ++j)
            for (index i = 0; i <= j; ++i) part.at(i, j) = values(k, i, j);
        parts.push_back(std::move(part));
    }
    {
        const Released released;
        for (index k = 1; k < count; ++k) parts[0].merge(std::move(parts[k]));
        parts[0].fix_signs();
    }
    return to_array(parts[0]);
}

// A part as plain objects: forest, output, sorting and choice of trees.
using GivenPart = std::tuple<std::shared_ptr<Forest>, index, std::string, std::string>;

TreePart to_part(const GivenPart& given) {
    const auto& [forest, output, by, trees] = given;
    if (by != "tree" && by != "node") throw Error("by must be 'tree' or 'node', got '" + by + "'");
    if (trees != "all" && trees != "few" && trees != "many")
        throw Error("trees must be 'all', 'few' or 'many', got '" + trees + "'");
    const TreeChoice which = trees == "all"   ? TreeChoice::all
                             : trees == "few" ? TreeChoice::of_few_variables
                                              : TreeChoice::of_many_variables;
    return {forest, output, by == "tree" ? Sorting::by_tree : Sorting::by_node, which};
}

}  // namespace

void bind_dictionary(py::module_& m) {
    bind_class<TreeColumns>(m, "TreeColumns")
        .def_static(
            "_make",
            [](const std::vector<GivenPart>& given, int n_threads) {
                if (given.empty()) throw Error("no forests");
                std::vector<TreePart> parts;
                for (const GivenPart& each : given) parts.push_back(to_part(each));
                const Released released;
                return std::make_shared<TreeColumns>(parts, n_threads);
            },
            py::arg("parts"), py::arg("n_threads"))
        .def_property_readonly("subspaces", [](const TreeColumns& t) { return to_list(t.subspaces()); })
        .def_property_readonly("column_subspace",
                               [](const TreeColumns& t) {
                                   std::vector<index> result;
                                   for (const auto& column : t.columns()) result.push_back(column.subspace);
                                   return to_array(result);
                               })
        .def_property_readonly("column_member",
                               [](const TreeColumns& t) {
                                   std::vector<index> result;
                                   for (const auto& column : t.columns()) result.push_back(column.member);
                                   return to_array(result);
                               })
        .def_property_readonly("constants", [](const TreeColumns& t) { return to_array(t.constants()); })
        .def("triangles", &tree_triangles, py::arg("x"), py::kw_only(), py::arg("unit"),
             py::arg("weight").noconvert().none(true), py::arg("y").noconvert().none(true),
             py::arg("fold").noconvert().none(true), py::arg("n_folds"), py::arg("n_threads"))
        .def("evaluate", &evaluate_array<TreeColumns>, py::arg("x"), py::arg("begin").noconvert(),
             py::arg("column").noconvert(), py::arg("weight").noconvert(), py::arg("n_threads"));
    m.def("array_triangle", &array_triangle, py::arg("columns"), py::kw_only(),
          py::arg("weight").noconvert().none(true), py::arg("y").noconvert().none(true), py::arg("n_threads"));
    m.def("triangle", &triangle_of_rows, py::arg("rows").noconvert());
    m.def("merge_triangles", &merge_triangles, py::arg("triangles").noconvert());
}

}  // namespace fasthdmr
