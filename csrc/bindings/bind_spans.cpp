#include <memory>

#include "released.hpp"
#include "results.hpp"
#include "span_evaluate.hpp"
#include "span_hierarchy.hpp"
#include "span_moments.hpp"

namespace fasthdmr {

namespace {

// Moments, with the spans that they belong to.
struct Moments {
    std::shared_ptr<const Spans> spans;
    SpanMoments sums;
};

std::shared_ptr<Spans> make_spans(const std::vector<std::tuple<index, int, std::vector<double>, bool>>& axes,
                                  const std::vector<Subspace>& subspaces, const std::vector<std::vector<index>>& axes_of) {
    std::vector<Axis> made;
    for (const auto& [variable, degree, knots, missing] : axes) made.emplace_back(variable, degree, knots, missing);
    if (subspaces.size() != axes_of.size()) throw Error("every span needs its axes");
    for (const auto& list : axes_of)
        for (const index a : list)
            if (a < 0 || a >= index(made.size())) throw Error("no such axis: " + std::to_string(a));
    return std::make_shared<Spans>(std::move(made), subspaces, axes_of);
}

std::vector<std::pair<index, index>> as_pairs(const Spans& spans, const std::vector<std::pair<index, index>>& pairs) {
    const index n = index(spans.all().size());
    for (const auto& [a, b] : pairs)
        if (a < 0 || b < a || b >= n) throw Error("pairs of spans must be in order");
    return pairs;
}

Moments tree_moments(std::shared_ptr<Spans> spans, const py::array& x, const std::optional<Doubles>& weight,
                     const std::vector<std::tuple<std::shared_ptr<TreeColumns>, std::vector<double>, std::vector<index>,
                                                  double, index>>& outputs,
                     index n_targets, const std::vector<std::pair<index, index>>& pairs,
                     const std::vector<std::vector<index>>& wanted, int n_threads) {
    const Table table = as_table(x);
    if (table.columns < spans->n_features()) throw Error("x has fewer columns than the spans have variables");
    const double* w = optional_vector(weight, table.rows, "weight");
    const Released released;
    std::vector<std::unique_ptr<TreeDictionary>> dictionaries;
    std::vector<OutputTargets> targets;
    for (const auto& [trees, coefficient, target, constant, whole] : outputs) {
        dictionaries.push_back(std::make_unique<TreeDictionary>(*trees, table));
        targets.push_back({dictionaries.back().get(), coefficient, target, constant, whole});
    }
    DictionaryTargets source(std::move(targets), n_targets);
    source.centre(table.rows, w);
    return {spans, span_moments(*spans, table, w, source, as_pairs(*spans, pairs), wanted, n_threads)};
}

Moments array_moments(std::shared_ptr<Spans> spans, const py::array& x, const std::optional<Doubles>& weight,
                      const py::array& values, const std::vector<std::pair<index, index>>& pairs, int n_threads) {
    const Table table = as_table(x), targets = as_table(values);
    if (table.columns < spans->n_features()) throw Error("x has fewer columns than the spans have variables");
    if (targets.rows != table.rows) throw Error("x and values have different numbers of rows");
    const double* w = optional_vector(weight, table.rows, "weight");
    const Released released;
    const ArrayTargets source(targets);
    return {spans, span_moments(*spans, table, w, source, as_pairs(*spans, pairs), all_targets(*spans, source), n_threads)};
}

py::dict top_down_spans(const Moments& moments, const std::vector<index>& own, index rest, index whole, bool smooth,
                        int n_threads) {
    Decomposition result;
    {
        const Released released;
        result = span_top_down(*moments.spans, moments.sums, {own, rest, whole, smooth}, n_threads);
    }
    return to_dict(result);
}

py::array_t<double> evaluate_spans(const Spans& spans, const py::array& x, const Integers& begin, const Integers& column,
                                   const Doubles& weight, int n_threads) {
    const Table table = as_table(x);
    if (table.columns < spans.n_features()) throw Error("x has fewer columns than the spans have variables");
    const Components components = as_components(begin, column, weight, spans.columns());
    auto out = column_major(table.rows, components.count());
    double* data = out.mutable_data();
    const Released released;
    evaluate(spans, table, components, data, n_threads);
    return out;
}

}  // namespace

void bind_spans(py::module_& m) {
    bind_class<Spans>(m, "Spans")
        .def_static("_make", &make_spans, py::arg("axes"), py::arg("subspaces"), py::arg("axes_of"))
        .def_property_readonly("n_columns", &Spans::columns)
        .def_property_readonly("first_columns",
                               [](const Spans& s) {
                                   std::vector<index> result;
                                   for (const Span& span : s.all()) result.push_back(span.first);
                                   return to_array(result);
                               })
        .def("evaluate", &evaluate_spans, py::arg("x"), py::arg("begin").noconvert(), py::arg("column").noconvert(),
             py::arg("weight").noconvert(), py::arg("n_threads"));
    bind_class<Moments>(m, "SpanMoments")
        .def("top_down", &top_down_spans, py::arg("own"), py::arg("rest"), py::arg("whole"), py::arg("smooth"),
             py::arg("n_threads"))
        .def("additive_rank", [](const Moments& moments, double tolerance) {
            const Released released;
            return additive_rank(*moments.spans, moments.sums, tolerance);
        }, py::arg("tolerance"));
    m.def("tree_moments", &tree_moments, py::arg("spans"), py::arg("x"), py::kw_only(), py::arg("weight").none(true),
          py::arg("outputs"), py::arg("n_targets"), py::arg("pairs"), py::arg("wanted"), py::arg("n_threads"));
    m.def("array_moments", &array_moments, py::arg("spans"), py::arg("x"), py::kw_only(), py::arg("weight").none(true),
          py::arg("values"), py::arg("pairs"), py::arg("n_threads"));
}

}  // namespace fasthdmr
