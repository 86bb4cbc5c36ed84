// B-spline spans, sums of terms with them, and their Gram matrices.
#include <memory>

#include "linalg/cholesky.hpp"
#include "linalg/short_calls.hpp"
#include "released.hpp"
#include "results.hpp"
#include "spans/evaluate.hpp"
#include "spans/span_hierarchy.hpp"
#include "spans/term_moves.hpp"
#include "support/parallel.hpp"

namespace fasthdmr {

namespace {

// An object together with the spans that it refers to, so that they live as long.
struct Sums {
    std::shared_ptr<const Spans> spans;
    TermSums sums;
};
struct Gram {
    std::shared_ptr<const Spans> spans;
    std::shared_ptr<const Sums> sums;
    SpanGram blocks;
};

using GivenAxis =
    std::tuple<index, int, std::vector<double>, bool, std::pair<std::vector<double>, std::vector<double>>, bool>;

std::shared_ptr<Spans> make_spans(const std::vector<GivenAxis>& axes, const std::vector<Subspace>& subspaces,
                                  const std::vector<std::vector<index>>& axes_of) {
    std::vector<Axis> made;
    for (const auto& [variable, degree, knots, missing, scores, is_categorical] : axes)
        made.emplace_back(variable, degree, knots, missing, NormalScores(scores.first, scores.second), is_categorical);
    if (subspaces.size() != axes_of.size()) throw Error("every span needs its axes");
    for (const auto& list : axes_of)
        for (const index a : list)
            if (a < 0 || a >= index(made.size())) throw Error("no such axis: " + std::to_string(a));
    return std::make_shared<Spans>(std::move(made), subspaces, axes_of);
}

Table rows_for(const py::array& x, const Spans& spans) {
    const Table table = as_table(x);
    if (table.columns < spans.n_features()) throw Error("x has fewer columns than the spans have variables");
    return table;
}

// `which` pairs of spans: those "inside" a common subspace, also those of all "terms", or "all".
std::shared_ptr<Gram> make_gram(std::shared_ptr<Sums> sums, const py::array& x, const std::optional<Doubles>& weight,
                                const std::string& which, int n_threads) {
    const Spans& spans = *sums->spans;
    const Table table = rows_for(x, spans);
    const double* w = optional_vector(weight, table.rows, "weight");
    const Released released;
    SpanPairs pairs = which == "inside"  ? pairs_inside(spans)
                      : which == "terms" ? pairs_of_terms(spans, sums->sums)
                                         : all_pairs(spans);
    SpanGram blocks(spans, table, w, sums->sums.total, sums->sums.column_mean, std::move(pairs), n_threads);
    return std::shared_ptr<Gram>(new Gram{sums->spans, sums, std::move(blocks)});
}

std::shared_ptr<Gram> merged_gram(const Gram& gram, const Gram& other, std::shared_ptr<Sums> sums) {
    const Released released;
    SpanGram blocks = gram.blocks.merged(other.blocks, sums->sums.total, sums->sums.column_mean);
    return std::shared_ptr<Gram>(new Gram{sums->spans, sums, std::move(blocks)});
}

py::tuple gram_state(const Gram& gram) {
    const SpanPairs& pairs = gram.blocks.pairs();
    py::list products;
    for (const auto& [s, t] : pairs) products.append(to_array(gram.blocks.products(s, t)));
    return py::make_tuple(pairs, products);
}

std::shared_ptr<Gram> restored_gram(std::shared_ptr<Sums> sums, const py::tuple& state) {
    if (state.size() != 2) throw Error("a damaged state: products have two parts");
    auto pairs = state[0].cast<SpanPairs>();
    for (const auto& [s, t] : pairs)
        if (s < 0 || t < s || t >= index(sums->spans->all().size())) throw Error("no such pair of spans");
    SpanGram blocks(*sums->spans, sums->sums.total, sums->sums.column_mean, std::move(pairs),
                    as_vectors(state[1].cast<py::list>()));
    return std::shared_ptr<Gram>(new Gram{sums->spans, sums, std::move(blocks)});
}

std::shared_ptr<Sums> merged_sums(const Sums& sums, const Sums& other) {
    const Released released;
    return std::shared_ptr<Sums>(new Sums{sums.spans, merged(*sums.spans, sums.sums, other.sums)});
}

py::tuple sums_state(const Sums& sums) {
    const TermSums& s = sums.sums;
    py::list with_columns;
    for (const auto& products : s.with_columns) with_columns.append(to_array(products));
    return py::make_tuple(s.total, s.output_of, s.spans, with_columns, to_array(s.column_mean), to_array(s.mean),
                          to_array(s.variance), to_array(s.with_output), to_array(s.output_mean),
                          to_array(s.output_variance), to_array(s.output_with_columns));
}

std::shared_ptr<Sums> restored_sums(std::shared_ptr<Spans> spans, const py::tuple& state) {
    if (state.size() != 11) throw Error("a damaged state: sums have eleven parts");
    const auto numbers = [&](std::size_t part) {
        const auto given = state[part].cast<Doubles>();
        return std::vector<double>(given.data(), given.data() + given.size());
    };
    TermSums s;
    s.total = state[0].cast<double>();
    s.output_of = state[1].cast<std::vector<index>>();
    s.spans = state[2].cast<std::vector<Spanning>>();
    s.with_columns = as_vectors(state[3].cast<py::list>());
    s.column_mean = numbers(4);
    s.mean = numbers(5);
    s.variance = numbers(6);
    s.with_output = numbers(7);
    s.output_mean = numbers(8);
    s.output_variance = numbers(9);
    s.output_with_columns = numbers(10);
    s.n_outputs = index(s.output_mean.size());
    check_sizes(*spans, s);
    return std::shared_ptr<Sums>(new Sums{spans, std::move(s)});
}

py::array_t<double> covariance(const Gram& gram, const Spanning& spanning, int n_threads) {
    for (const index s : spanning)
        if (s < 0 || s >= index(gram.spans->all().size())) throw Error("no such span: " + std::to_string(s));
    Buffer<double> g;
    {
        const Released released;
        g = gram.blocks.covariance(spanning, spanning, n_threads);
    }
    const index n = gram.blocks.columns(spanning);
    py::array_t<double> out({n, n});
    std::copy(g.begin(), g.end(), out.mutable_data());
    return out;
}

// Ridge regression on some spans.
std::shared_ptr<RidgeSystem> ridge_system(const Gram& gram, const Spanning& spanning, double ridge) {
    for (const index s : spanning)
        if (s < 0 || s >= index(gram.spans->all().size())) throw Error("no such span: " + std::to_string(s));
    const Released released;
    return std::make_shared<RidgeSystem>(gram.blocks, spanning, ridge);
}

using ColumnMajor = py::array_t<double, py::array::f_style>;

py::array_t<double> solve_ridge(const RidgeSystem& system, const ColumnMajor& b) {
    if (b.ndim() != 2 || b.shape(0) != system.size()) throw Error("expected (columns, m) right-hand sides");
    auto out = column_major(b.shape(0), b.shape(1));
    std::vector<double> x(b.data(), b.data() + b.size());
    {
        const Released released;
        x = system.solve(std::move(x));
    }
    std::copy(x.begin(), x.end(), out.mutable_data());
    return out;
}

using GivenOutputs = std::vector<std::tuple<std::shared_ptr<TreeColumns>, std::vector<double>, double>>;

// Sums of tree terms. `orders` has the largest order of spans that a term is multiplied with, by output and subspace; 0
// means no span.
std::shared_ptr<Sums> tree_sums(std::shared_ptr<Spans> spans, const py::array& x, const std::optional<Doubles>& weight,
                                const GivenOutputs& outputs, const std::vector<std::vector<index>>& orders,
                                bool with_outputs, bool with_terms, int n_threads) {
    const Table table = rows_for(x, *spans);
    const double* w = optional_vector(weight, table.rows, "weight");
    const Released released;
    std::vector<TreeOutput> made;
    std::vector<Spanning> spans_of_term;
    if (orders.size() != outputs.size()) throw Error("every output needs orders");
    for (std::size_t k = 0; k < outputs.size(); ++k) {
        const auto& [columns, coefficient, constant] = outputs[k];
        made.push_back({columns.get(), coefficient, constant});
        if (orders[k].size() != columns->subspaces().size()) throw Error("every subspace needs an order");
        for (std::size_t s = 0; s < orders[k].size(); ++s)
            spans_of_term.push_back(spans_inside(*spans, columns->subspaces()[s], orders[k][s]));
    }
    const TreeTargets targets(std::move(made), table);
    return std::shared_ptr<Sums>(new Sums{
        spans, term_sums(*spans, table, w, targets, std::move(spans_of_term), {with_outputs, with_terms}, n_threads)});
}

std::shared_ptr<Sums> array_sums(std::shared_ptr<Spans> spans, const py::array& x, const std::optional<Doubles>& weight,
                                 const py::array& values, int n_threads) {
    const Table table = rows_for(x, *spans), outputs = as_table(values);
    if (outputs.rows != table.rows) throw Error("x and values have different numbers of rows");
    const double* w = optional_vector(weight, table.rows, "weight");
    const Released released;
    return std::shared_ptr<Sums>(
        new Sums{spans, term_sums(*spans, table, w, ArrayTargets(outputs), {}, {true, false}, n_threads)});
}

// The coefficients of the projection of each term, and their sum over the terms, (all columns, outputs).
py::tuple project(const Sums& sums, const Gram& gram, const py::array& x, const std::optional<Doubles>& weight,
                  const std::vector<index>& kept, double ridge, int n_threads) {
    const Table table = rows_for(x, *sums.spans);
    const double* w = optional_vector(weight, table.rows, "weight");
    std::vector<char> is_kept(sums.sums.spans.size(), 0);
    for (const index t : kept) is_kept.at(t) = 1;
    std::vector<std::vector<double>> coefficients;
    Buffer<double> total;
    {
        const Released released;
        coefficients = solve_terms(gram.blocks, table, w, sums.sums, is_kept, ridge, n_threads);
        total = add_up(*sums.spans, sums.sums, coefficients, 1);
    }
    auto out = column_major(sums.spans->columns(), sums.sums.n_outputs);
    std::copy(total.begin(), total.end(), out.mutable_data());
    py::list by_term;
    for (const auto& each : coefficients) by_term.append(to_array(each));
    return py::make_tuple(out, by_term);
}

// The derivatives of the projections of some terms, (all columns, outputs x blocks), given their values, (rows, terms).
py::array_t<double> moves(const Sums& sums, const Gram& gram, const py::array& x, const Doubles& weight,
                          std::vector<index> terms, const ColumnMajor& values, index n_blocks, const Doubles& factor,
                          double ridge, int n_threads) {
    const Table table = rows_for(x, *sums.spans);
    const double* w = optional_vector(weight, table.rows, "weight");
    const double* f = optional_vector(factor, sums.spans->columns(), "factor");
    for (const index t : terms)
        if (t < 0 || t >= index(sums.sums.spans.size())) throw Error("no such term: " + std::to_string(t));
    if (values.ndim() != 2 || values.shape(0) != table.rows || values.shape(1) != index(terms.size()))
        throw Error("expected (rows, terms) values");
    if (n_blocks < 1 || table.rows % n_blocks != 0) throw Error("expected blocks of equal numbers of rows");
    Buffer<double> total;
    {
        const Released released;
        total = term_moves(gram.blocks, table, w, sums.sums, {std::move(terms), values.data()}, n_blocks,
                           {f, f + sums.spans->columns()}, ridge, n_threads);
    }
    auto out = column_major(sums.spans->columns(), sums.sums.n_outputs * n_blocks);
    std::copy(total.begin(), total.end(), out.mutable_data());
    return out;
}

py::list top_down_spans(const Sums& sums, const Gram& gram, const py::array_t<double, py::array::f_style>& coefficients,
                        const std::vector<std::vector<index>>& kept, double ridge, int n_threads) {
    const index p = sums.spans->columns();
    if (coefficients.ndim() != 2 || coefficients.shape(0) != p || coefficients.shape(1) != index(kept.size()))
        throw Error("expected (columns, outputs) coefficients");
    std::vector<OutputStart> starts;
    for (std::size_t k = 0; k < kept.size(); ++k) starts.push_back({coefficients.data() + index(k) * p, kept[k]});
    std::vector<Decomposition> results;
    {
        const Released released;
        results = span_top_down(gram.blocks, sums.sums, starts, ridge, n_threads);
    }
    py::list out;
    for (const Decomposition& result : results) out.append(to_dict(result));
    return out;
}

// A symmetric positive definite matrix, factored.
struct PositiveMatrix {
    index n;
    Buffer<double> factor;
};

std::shared_ptr<PositiveMatrix> factored(const Doubles& a, int n_threads) {
    const index n = a.ndim() == 2 ? a.shape(0) : -1;
    if (n < 0 || a.shape(1) != n) throw Error("expected an (n, n) array");
    const auto result = std::make_shared<PositiveMatrix>(PositiveMatrix{n, {a.data(), a.data() + n * n}});
    const Released released;
    if (!cholesky(result->factor.data(), n, n_threads))
        throw Error("the products of splines are not finite: rescale the variables");
    return result;
}

// Solves a x = b, (n, m).
py::array_t<double> solve_positive(const PositiveMatrix& a, const ColumnMajor& b, int n_threads) {
    if (b.ndim() != 2 || b.shape(0) != a.n) throw Error("expected (n, n) and (n, m) arrays");
    auto out = column_major(a.n, b.shape(1));
    double* x = std::copy_n(b.data(), b.size(), out.mutable_data()) - b.size();
    const Released released;
    // The size of batches is fixed: results must not depend on the number of threads.
    constexpr index batch = 64;
    parallel_for((b.shape(1) + batch - 1) / batch, n_threads, [&](index k) {
        const index count = std::min(batch, index(b.shape(1)) - k * batch);
        for (const char transposed : {'N', 'T'})
            solve_triangle('L', transposed, a.factor.data(), a.n, a.n, x + k * batch * a.n, count);
    });
    return out;
}

py::array_t<double> evaluate_spans(const Spans& spans, const py::array& x, const Integers& begin,
                                   const Integers& column, const Doubles& weight, int n_threads) {
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
    bind_class<Gram>(m, "SpanGram")
        .def_static("_make", &make_gram, py::arg("sums"), py::arg("x"), py::arg("weight").none(true), py::arg("pairs"),
                    py::arg("n_threads"))
        .def_static("restored", &restored_gram, py::arg("sums"), py::arg("state"))
        .def("state", &gram_state)
        .def("merged", &merged_gram, py::arg("other"), py::arg("sums"))
        .def("covariance", &covariance, py::arg("spans"), py::arg("n_threads"))
        .def("ridge_system", &ridge_system, py::arg("spans"), py::arg("ridge"));
    bind_class<RidgeSystem>(m, "RidgeSystem").def("solve", &solve_ridge, py::arg("right"));
    bind_class<PositiveMatrix>(m, "PositiveMatrix")
        .def_static("_make", &factored, py::arg("a").noconvert(), py::arg("n_threads"))
        .def("solve", &solve_positive, py::arg("b"), py::arg("n_threads"));
    bind_class<Sums>(m, "TermSums")
        .def_static("restored", &restored_sums, py::arg("spans"), py::arg("state"))
        .def("state", &sums_state)
        .def("merged", &merged_sums, py::arg("other"))
        .def_property_readonly("output_with_columns",
                               [](const Sums& s) { return to_array(s.sums.output_with_columns); })
        .def_property_readonly("output_variance", [](const Sums& s) { return to_array(s.sums.output_variance); })
        .def("project", &project, py::arg("gram"), py::arg("x"), py::arg("weight").none(true), py::arg("kept"),
             py::arg("ridge"), py::arg("n_threads"))
        .def("moves", &moves, py::arg("gram"), py::arg("x"), py::kw_only(), py::arg("weight"), py::arg("terms"),
             py::arg("values"), py::arg("n_blocks"), py::arg("factor"), py::arg("ridge"), py::arg("n_threads"))
        .def("top_down", &top_down_spans, py::arg("gram"), py::arg("coefficients"), py::arg("kept"), py::arg("ridge"),
             py::arg("n_threads"));
    m.def("tree_sums", &tree_sums, py::arg("spans"), py::arg("x"), py::kw_only(), py::arg("weight").none(true),
          py::arg("outputs"), py::arg("orders"), py::arg("with_outputs"), py::arg("with_terms"), py::arg("n_threads"));
    m.def("array_sums", &array_sums, py::arg("spans"), py::arg("x"), py::kw_only(), py::arg("weight").none(true),
          py::arg("values"), py::arg("n_threads"));
    m.def(
        "solve_positive",
        [](const Doubles& a, const ColumnMajor& b, int n_threads) {
            return solve_positive(*factored(a, n_threads), b, n_threads);
        },
        py::arg("a").noconvert(), py::arg("b"), py::arg("n_threads"));
}

}  // namespace fasthdmr
