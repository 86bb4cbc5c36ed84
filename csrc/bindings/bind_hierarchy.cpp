#include "released.hpp"
#include "results.hpp"

namespace fasthdmr {

namespace {

using FortranDoubles = py::array_t<double, py::array::f_style>;

Measure as_measure(const FortranDoubles& r, const std::vector<Subspace>& subspaces, const Integers& column_subspace,
                   double tolerance) {
    if (r.ndim() != 2 || r.shape(0) != r.shape(1) || r.shape(0) < 1) throw Error("the triangle must be square");
    const std::vector<index> labels(column_subspace.data(), column_subspace.data() + column_subspace.size());
    return make_measure(r.data(), r.shape(0), subspaces, labels, tolerance);
}

py::dict top_down_arrays(const FortranDoubles& r, const std::vector<Subspace>& subspaces, const Integers& column_subspace,
                         const Doubles& beta, double tolerance, int n_threads) {
    const Measure measure = as_measure(r, subspaces, column_subspace, tolerance);
    const double* beta_ = vector(beta, measure.p, "beta");
    Decomposition result;
    index rank = 0;
    {
        const Released released;
        result = top_down(measure, beta_, n_threads);
        rank = measure.columns.rank();
    }
    py::dict out = to_dict(result);
    out["rank"] = rank;
    return out;
}

py::tuple a_and_nu(const FortranDoubles& r, const std::vector<Subspace>& subspaces, const Integers& column_subspace,
                   const Doubles& beta, double tolerance, int n_threads) {
    const Measure measure = as_measure(r, subspaces, column_subspace, tolerance);
    const double* beta_ = vector(beta, measure.p, "beta");
    auto a = column_major(measure.p, measure.p);
    py::array_t<double> nu(measure.p);
    double *a_ = a.mutable_data(), *nu_ = nu.mutable_data();
    {
        const Released released;
        eta_matrix(measure, a_, n_threads);
        solve_nu(measure, a_, beta_, nu_);
    }
    return py::make_tuple(a, nu);
}

}  // namespace

void bind_hierarchy(py::module_& m) {
    m.def("top_down", &top_down_arrays, py::arg("triangle").noconvert(), py::arg("subspaces"),
          py::arg("column_subspace").noconvert(), py::arg("beta").noconvert(), py::arg("tolerance"), py::arg("n_threads"));
    m.def("a_and_nu", &a_and_nu, py::arg("triangle").noconvert(), py::arg("subspaces"),
          py::arg("column_subspace").noconvert(), py::arg("beta").noconvert(), py::arg("tolerance"), py::arg("n_threads"));
}

}  // namespace fasthdmr
