// Forests, their evaluation, and how they compare values.
#include <memory>

#include "features/node_features.hpp"
#include "features/tree_features.hpp"
#include "forest/compared_nodes.hpp"
#include "forest/forest.hpp"
#include "forest/rounding.hpp"
#include "pybind.hpp"
#include "released.hpp"

namespace fasthdmr {

namespace {

constexpr int kStateVersion = 5;

TreeArrays to_arrays(index n_features, index n_outputs, const Integers& tree_offsets, const Integers& left,
                     const Integers& right, const Integers& feature, const Doubles& threshold,
                     const Bytes& missing_left, const Doubles& value, const Integers& tree_output,
                     const Doubles& offset, const Doubles& weight) {
    const index n_trees = tree_offsets.size() - 1, n_nodes = left.size();
    if (n_trees < 0) throw Error("tree_offsets must have n_trees + 1 values");
    if (value.ndim() != 2) throw Error("value must be two-dimensional");
    return {n_features,
            n_outputs,
            n_trees,
            n_nodes,
            value.shape(1),
            vector(tree_offsets, n_trees + 1, "tree_offsets"),
            left.data(),
            vector(right, n_nodes, "right"),
            vector(feature, n_nodes, "feature"),
            vector(threshold, n_nodes, "threshold"),
            vector(missing_left, n_nodes, "missing_left"),
            vector(value, n_nodes * value.shape(1), "value"),
            vector(tree_output, n_trees, "tree_output"),
            vector(offset, n_outputs, "offset"),
            vector(weight, n_nodes, "weight")};
}

std::shared_ptr<Forest> make_forest(index n_features, index n_outputs, const Integers& tree_offsets,
                                    const Integers& left, const Integers& right, const Integers& feature,
                                    const Doubles& threshold, const Bytes& missing_left, const Doubles& value,
                                    const Integers& tree_output, const Doubles& offset, const Doubles& weight,
                                    const std::optional<py::tuple>& comparison, const std::optional<Integers>& set) {
    TreeArrays arrays = to_arrays(n_features, n_outputs, tree_offsets, left, right, feature, threshold, missing_left,
                                  value, tree_output, offset, weight);
    arrays.comparison = comparison ? to_comparison(*comparison) : nullptr;
    arrays.set = set ? vector(*set, arrays.n_nodes, "set") : nullptr;
    const Released released;
    return std::make_shared<Forest>(arrays);
}

// A forest that compares in float64. `replaced` has the shape (n_features, 3): low, high, by. Set s is the union of the
// intervals, (n, 2), between two offsets. If `rounds`, values are compared after rounding to float32, expressed by
// thresholds and intervals in float64.
std::shared_ptr<Forest> make_float64_forest(index n_features, index n_outputs, const Integers& tree_offsets,
                                            const Integers& left, const Integers& right, const Integers& feature,
                                            const Doubles& threshold, const Bytes& missing_left, const Doubles& value,
                                            const Integers& tree_output, const Doubles& offset, const Doubles& weight,
                                            const Doubles& replaced, bool rounds, const std::optional<Integers>& set,
                                            const std::optional<Integers>& set_offsets,
                                            const std::optional<Doubles>& intervals) {
    TreeArrays arrays = to_arrays(n_features, n_outputs, tree_offsets, left, right, feature, threshold, missing_left,
                                  value, tree_output, offset, weight);
    arrays.set = set ? vector(*set, arrays.n_nodes, "set") : nullptr;
    auto replacements = as_replacements(replaced);
    const index n_sets = set_offsets ? set_offsets->size() - 1 : 0, n_intervals = intervals ? intervals->size() / 2 : 0;
    const std::int64_t* first = set_offsets ? set_offsets->data() : nullptr;
    const double* ends = intervals ? intervals->data() : nullptr;
    const Released released;
    SetCuts cuts;
    for (index s = 0; s < n_sets; ++s) {
        if (first[s] < 0 || first[s + 1] < first[s] || first[s + 1] > n_intervals)
            throw Error("set_offsets must ascend within the intervals");
        cuts.append_union(ends + 2 * first[s], first[s + 1] - first[s], rounds);
    }
    std::vector<double> rounded;
    if (rounds) {
        rounded.resize(arrays.n_nodes);
        for (index m = 0; m < arrays.n_nodes; ++m)
            if (arrays.left[m] != -1)
                rounded[m] = largest_double_not_above(largest_float_not_above(arrays.threshold[m]));
        arrays.threshold = rounded.data();
    }
    const NodeArrays nodes{arrays.n_nodes, arrays.left, arrays.right, arrays.feature, arrays.threshold, arrays.set};
    const ComparedNodes compared = compare_nodes(nodes, std::move(replacements), cuts);
    arrays.comparison = compared.comparison;
    arrays.set = compared.set.data();
    arrays.code = compared.code.data();
    return std::make_shared<Forest>(arrays);
}

// The arrays that restore the forest. Thresholds for float32 comparison were rounded down to float32 when the forest
// was made; rounding them again changes nothing.
py::tuple get_state(const Forest& f) {
    const index n_nodes = f.n_nodes();
    Integers tree_offsets(f.n_trees() + 1), left(n_nodes), right(n_nodes), feature(n_nodes), set(n_nodes),
        tree_output(f.n_trees());
    Doubles threshold(n_nodes), value({n_nodes, f.width()}), weight(n_nodes);
    Bytes missing_left(n_nodes);
    for (index t = 0; t <= f.n_trees(); ++t) tree_offsets.mutable_at(t) = f.tree_begin(t);
    for (index t = 0, k = 0; t < f.n_trees(); ++t) {
        check_signals();
        tree_output.mutable_at(t) = f.tree_output(t);
        for (index m = 0; m < f.tree_size(t); ++m, ++k) {
            const Node& node = f.tree(t)[m];
            const bool leaf = Forest::is_leaf(f.tree(t), m);
            left.mutable_at(k) = leaf ? -1 : node.left;
            right.mutable_at(k) = leaf ? -1 : node.left + 1;
            const bool by_set = !leaf && node.feature >= f.n_features();
            feature.mutable_at(k) = leaf ? 0 : f.comparison()->feature(node.feature);
            set.mutable_at(k) = by_set ? node.feature - f.n_features() : -1;
            threshold.mutable_at(k) = leaf || by_set ? 0.0 : f.comparison()->threshold(node.feature, node.threshold);
            missing_left.mutable_at(k) = f.missing_left(t)[m];
            weight.mutable_at(k) = f.weights(t)[m];
            for (index c = 0; c < f.width(); ++c) value.mutable_at(k, c) = f.values(t)[m * f.width() + c];
        }
    }
    return py::make_tuple(kStateVersion, f.n_features(), f.n_outputs(), tree_offsets, left, right, feature, threshold,
                          missing_left, value, tree_output, to_array(f.offset()), weight,
                          comparison_state(*f.comparison()), set);
}

std::shared_ptr<Forest> set_state(const py::tuple& s) {
    if (s.size() != 15 || s[0].cast<int>() != kStateVersion)
        throw Error("a forest pickled by another version of fasthdmr");
    return make_forest(s[1].cast<index>(), s[2].cast<index>(), s[3].cast<Integers>(), s[4].cast<Integers>(),
                       s[5].cast<Integers>(), s[6].cast<Integers>(), s[7].cast<Doubles>(), s[8].cast<Bytes>(),
                       s[9].cast<Doubles>(), s[10].cast<Integers>(), s[11].cast<Doubles>(), s[12].cast<Doubles>(),
                       s[13].cast<py::tuple>(), s[14].cast<Integers>());
}

// Float64 numbers that are below the same numbers as the thresholds are in float32.
Doubles float64_thresholds(const Doubles& thresholds) {
    Doubles result(thresholds.size());
    for (index k = 0; k < thresholds.size(); ++k)
        result.mutable_at(k) = largest_double_not_above(largest_float_not_above(thresholds.at(k)));
    return result;
}

// The least and the largest float64 that are rounded to the same float32 as each value, (n, 2).
Doubles float32_intervals(const Doubles& values) {
    const index n = values.size();
    Doubles result({n, index(2)});
    for (index k = 0; k < n; ++k) {
        const auto value = float(values.at(k));
        result.mutable_at(k, 0) = smallest_double_not_below(value);
        result.mutable_at(k, 1) = largest_double_not_above(value);
    }
    return result;
}

// The forests with one common comparison, unchanged if they share it already; an error if there is none.
std::vector<std::shared_ptr<Forest>> compared_alike(const std::vector<std::shared_ptr<Forest>>& forests) {
    if (forests.empty()) return forests;
    const Released released;
    const auto all = one_comparison({forests.begin(), forests.end()});
    if (!all)
        throw Error(
            "The models treat different values as missing, or one of them distinguishes values that another one "
            "replaces by 0. Decompose them one by one.");
    std::vector<std::shared_ptr<Forest>> result;
    for (const auto& forest : forests)
        result.push_back(same(forest->comparison(), all) ? forest : std::make_shared<Forest>(forest->compared_by(all)));
    return result;
}

py::list groups(const Forest& forest) {
    py::list result;
    for (index output = 0; output < forest.n_outputs(); ++output)
        for (const Group& group : without_gil([&] { return group_trees(forest, output); }))
            result.append(py::make_tuple(output, to_tuple(group.subspace), to_array(group.trees)));
    return result;
}

py::list node_groups(const Forest& forest) {
    py::list result;
    for (index output = 0; output < forest.n_outputs(); ++output) {
        if (!trees_of(forest, output).empty()) result.append(py::make_tuple(output, py::tuple()));
        for (const Subspace& u : without_gil([&] { return group_nodes(forest, output).subspaces; }))
            result.append(py::make_tuple(output, to_tuple(u)));
    }
    return result;
}

py::array_t<double> evaluate(const Evaluator& evaluator, const py::array& x, int n_threads) {
    const Table table = as_table(x, evaluator.forest().input_columns());
    auto out = column_major(table.rows, evaluator.columns());
    double* data = out.mutable_data();
    const Released released;
    evaluator.evaluate(table, data, n_threads);
    return out;
}

template <class Kind>
void bind_evaluator(py::module_& m, const char* name) {
    bind_class<Kind>(m, name)
        .def_static(
            "_make",
            [](std::shared_ptr<Forest> forest, int n_threads, std::uint64_t table_bytes) {
                const Released released;
                return std::make_shared<Kind>(std::move(forest), n_threads, table_bytes);
            },
            py::arg("forest"), py::arg("n_threads"), py::arg("table_bytes") = kTableBytes)
        .def_property_readonly("table_bytes", &Kind::table_bytes)
        .def(
            "evaluate",
            [](const Kind& self, const py::array& x, int n_threads) { return evaluate(self, x, n_threads); },
            py::arg("x"), py::arg("n_threads"));
}

// Binds a function that makes a forest of the arrays that `to_arrays` takes, and of some more.
template <class Make, class... More>
void def_maker(py::classh<Forest>& forest, const char* name, Make make, const More&... more) {
    forest.def_static(
        name, make, py::kw_only(), py::arg("n_features"), py::arg("n_outputs"), py::arg("tree_offsets").noconvert(),
        py::arg("left").noconvert(), py::arg("right").noconvert(), py::arg("feature").noconvert(),
        py::arg("threshold").noconvert(), py::arg("missing_left").noconvert(), py::arg("value").noconvert(),
        py::arg("tree_output").noconvert(), py::arg("offset").noconvert(), py::arg("weight").noconvert(), more...);
}

}  // namespace

void bind_forest(py::module_& m) {
    auto forest = bind_class<Forest>(m, "Forest");
    def_maker(forest, "_make", &make_forest, py::arg("comparison") = py::none(), py::arg("set") = py::none());
    def_maker(forest, "in_float64", &make_float64_forest, py::arg("replaced").noconvert(), py::arg("rounds"),
              py::arg("set").noconvert() = py::none(), py::arg("set_offsets").noconvert() = py::none(),
              py::arg("set_intervals").noconvert() = py::none());
    forest.def_property_readonly("n_trees", &Forest::n_trees)
        .def_property_readonly("n_nodes", &Forest::n_nodes)
        .def_property_readonly("n_features", &Forest::n_features)
        .def_property_readonly("n_outputs", &Forest::n_outputs)
        .def_property_readonly("offset", [](const Forest& f) { return to_array(f.offset()); })
        .def(
            "scaled",
            [](const Forest& f, const Doubles& factors) {
                return std::make_shared<Forest>(f.scaled(vector(factors, f.n_trees() * f.n_outputs(), "factors")));
            },
            py::arg("factors").noconvert())
        .def(
            "of_variables",
            [](const Forest& f, std::vector<std::int32_t> variables, index first) {
                return std::make_shared<Forest>(f.of_variables(std::move(variables), first));
            },
            py::arg("variables"), py::kw_only(), py::arg("first"))
        .def_property_readonly("comparison", [](const Forest& f) { return comparison_state(*f.comparison()); })
        .def_property_readonly("reach", [](const Forest& f) { return to_array(f.reach()); })
        .def("groups", &groups)
        .def("node_groups", &node_groups);
    bind_state(forest, &get_state, &set_state);
    m.def("float64_thresholds", &float64_thresholds, py::arg("thresholds").noconvert());
    m.def("compared_alike", &compared_alike, py::arg("forests"));
    m.def("float32_intervals", &float32_intervals, py::arg("values").noconvert());
    m.attr("BLOCK_ROWS") = kBlockRows;
    bind_evaluator<Prediction>(m, "Prediction");
    bind_evaluator<TreeFeatures>(m, "TreeFeatures");
    bind_evaluator<NodeFeatures>(m, "NodeFeatures");
}

}  // namespace fasthdmr
