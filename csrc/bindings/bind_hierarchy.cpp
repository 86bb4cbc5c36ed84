// Least squares, ridge regression and the top-down pass, all from an R factor.
#include "linalg/pivoted_qr.hpp"
#include "released.hpp"
#include "results.hpp"

namespace fasthdmr {

namespace {

using FortranDoubles = py::array_t<double, py::array::f_style>;

index size_of(const FortranDoubles& r) {
    if (r.ndim() != 2 || r.shape(0) != r.shape(1) || r.shape(0) < 1) throw Error("the triangle must be square");
    return r.shape(0);
}

std::vector<index> as_labels(const Integers& column_subspace) {
    return {column_subspace.data(), column_subspace.data() + column_subspace.size()};
}

py::dict top_down_arrays(const FortranDoubles& r, const std::vector<Subspace>& subspaces,
                         const Integers& column_subspace, const Doubles& beta, double tolerance, int n_threads) {
    const index p = size_of(r);
    const double *r_ = r.data(), *beta_ = vector(beta, p, "beta");
    const std::vector<index> labels = as_labels(column_subspace);
    Decomposition result;
    index rank = 0;
    {
        const Released released;
        const Measure measure = make_measure(r_, p, subspaces, labels, tolerance);
        result = top_down(measure, beta_, n_threads);
        rank = measure.columns.rank();
    }
    py::dict out = to_dict(result);
    out["rank"] = rank;
    return out;
}

py::tuple a_and_nu(const FortranDoubles& r, const std::vector<Subspace>& subspaces, const Integers& column_subspace,
                   const Doubles& beta, double tolerance, int n_threads) {
    const index p = size_of(r);
    const double *r_ = r.data(), *beta_ = vector(beta, p, "beta");
    const std::vector<index> labels = as_labels(column_subspace);
    auto a = column_major(p, p);
    py::array_t<double> nu(p);
    double *a_ = a.mutable_data(), *nu_ = nu.mutable_data();
    {
        const Released released;
        const Measure measure = make_measure(r_, p, subspaces, labels, tolerance);
        eta_matrix(measure, a_, n_threads);
        solve_nu(measure, a_, beta_, nu_);
    }
    return py::make_tuple(a, nu);
}

// Least-squares coefficients, the constant first. The last column of the R factor belongs to the target.
py::array_t<double> least_squares(const FortranDoubles& triangle, double tolerance) {
    const index p = triangle.ndim() == 2 ? triangle.shape(0) - 1 : 0;
    if (p < 1 || triangle.shape(1) != p + 1) throw Error("the triangle must be square");
    Buffer<double> r(p * p);
    for (index j = 0; j < p; ++j) std::copy_n(triangle.data() + j * (p + 1), p, r.data() + j * p);
    const double* target = triangle.data() + p * (p + 1);
    return to_array(without_gil([&] { return regression(r.data(), p, target, tolerance); }));
}

// Ridge coefficients for each penalty, (n, penalties). Penalty 0 gives the minimum-norm solution.
py::array_t<double> ridge(const FortranDoubles& columns, const Doubles& target, const std::vector<double>& penalties,
                          double tolerance) {
    const index n = size_of(columns);
    Buffer<double> copy(columns.data(), columns.data() + n * n);
    const double* target_ = vector(target, n, "target");
    const std::vector<double> solutions = without_gil([&] {
        const PivotedQr qr(std::move(copy), n, n);
        return qr.ridge(target_, penalties, qr.rank(tolerance));
    });
    auto out = column_major(n, index(penalties.size()));
    std::copy(solutions.begin(), solutions.end(), out.mutable_data());
    return out;
}

}  // namespace

void bind_hierarchy(py::module_& m) {
    m.def("least_squares", &least_squares, py::arg("triangle").noconvert(), py::arg("tolerance"));
    m.def("top_down", &top_down_arrays, py::arg("triangle").noconvert(), py::arg("subspaces"),
          py::arg("column_subspace").noconvert(), py::arg("beta").noconvert(), py::arg("tolerance"),
          py::arg("n_threads"));
    m.def("a_and_nu", &a_and_nu, py::arg("triangle").noconvert(), py::arg("subspaces"),
          py::arg("column_subspace").noconvert(), py::arg("beta").noconvert(), py::arg("tolerance"),
          py::arg("n_threads"));
    m.def("ridge", &ridge, py::arg("columns").noconvert(), py::arg("target").noconvert(), py::arg("penalties"),
          py::arg("tolerance"));
}

}  // namespace fasthdmr
