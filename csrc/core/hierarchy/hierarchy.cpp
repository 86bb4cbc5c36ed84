#include "hierarchy/hierarchy.hpp"

#include <algorithm>

#include "hierarchy/from_above.hpp"
#include "linalg/dot.hpp"
#include "support/parallel.hpp"

namespace fasthdmr {

namespace {

// The columns of all proper subsets of a subspace, without the constant.
std::vector<index> lower_columns(const Measure& m, index s) {
    const Subspace& u = m.subspaces[s];
    std::vector<index> columns;
    for (index v = 0; v < s && m.subspaces[v].size() < u.size(); ++v) {
        if (!std::includes(u.begin(), u.end(), m.subspaces[v].begin(), m.subspaces[v].end())) continue;
        for (index j = m.column_begin[v]; j < m.column_begin[v + 1]; ++j)
            if (m.columns.spread(j) > 0) columns.push_back(j);
    }
    return columns;
}

// Linear combination of columns of R.
void combine(const Measure& m, const std::vector<index>& columns, const std::vector<double>& weights,
             std::vector<double>& out) {
    std::fill(out.begin(), out.end(), 0.0);
    for (std::size_t k = 0; k < columns.size(); ++k)
        for (index i = 0; i <= columns[k]; ++i) out[i] += weights[k] * m.r[columns[k] * m.p + i];
}

// The projection of a term on the columns of its proper subsets, and on the constant.
struct Projection {
    std::vector<index> lower;          // the columns
    std::vector<double> coefficients;  // of these columns
    double constant = 0.0;
};

// Projects B_u coefficients_u on the span of the constant and the columns of all proper subsets of u.
Projection project(const Measure& m, index s, const double* coefficients) {
    Projection result;
    result.lower = lower_columns(m, s);
    const index begin = m.column_begin[s], end = m.column_begin[s + 1];
    std::vector<double> y(end);
    for (index j = begin; j < end; ++j)
        for (index i = 0; i <= j; ++i) y[i] += coefficients[j] * m.r[j * m.p + i];
    result.constant = y[0];
    result.coefficients = m.columns.solve(result.lower, end - 1, y.data() + 1, 1);
    for (std::size_t k = 0; k < result.lower.size(); ++k)
        result.constant -= result.coefficients[k] * m.r[result.lower[k] * m.p];
    return result;
}

// Appends f_u: the term of u less its projection.
void append(Components& all, const Projection& projection, index begin, index end, const double* coefficients) {
    all.column.push_back(0);
    all.weight.push_back(-projection.constant);
    for (std::size_t k = 0; k < projection.lower.size(); ++k) {
        all.column.push_back(projection.lower[k]);
        all.weight.push_back(-projection.coefficients[k]);
    }
    for (index j = begin; j < end; ++j) {
        all.column.push_back(j);
        all.weight.push_back(coefficients[j]);
    }
    all.begin.push_back(index(all.column.size()));
}

}  // namespace

Measure make_measure(const double* r, index p, std::vector<Subspace> subspaces,
                     const std::vector<index>& column_subspace, double tolerance) {
    Measure m{r, p, std::move(subspaces), {1}, LeastSquares(r, p, tolerance)};
    const index n_subspaces = index(m.subspaces.size());
    if (index(column_subspace.size()) != p - 1)
        throw Error("the triangle must have one column more than the dictionary");
    for (index s = 0; s + 1 < n_subspaces; ++s)
        if (!precedes(m.subspaces[s], m.subspaces[s + 1])) throw Error("subspaces must be in order");
    index j = 0;
    for (index s = 0; s < n_subspaces; ++s) {
        while (j < p - 1 && column_subspace[j] == s) ++j;
        m.column_begin.push_back(j + 1);
    }
    if (j != p - 1) throw Error("columns must be sorted by subspace");
    return m;
}

Decomposition top_down(const Measure& m, const double* beta, int n_threads) {
    const index n_subspaces = index(m.subspaces.size());
    std::vector<double> coefficients(beta, beta + m.p);
    std::vector<Projection> projections(n_subspaces);
    from_above(
        n_subspaces, n_threads, [&](index s) { return m.subspaces[s].size(); },
        [&](index s) { projections[s] = project(m, s, coefficients.data()); },
        [&](index s) {
            const Projection& projection = projections[s];
            coefficients[0] += projection.constant;
            for (std::size_t k = 0; k < projection.lower.size(); ++k)
                coefficients[projection.lower[k]] += projection.coefficients[k];
        });

    Decomposition result;
    result.constant = coefficients[0];
    for (index s = 0; s < n_subspaces; ++s)
        append(result.components, projections[s], m.column_begin[s], m.column_begin[s + 1], coefficients.data());

    std::vector<double> f(m.p, 0.0), f_u(m.p, 0.0);
    for (index j = 1; j < m.p; ++j)
        for (index i = 0; i <= j; ++i) f[i] += beta[j] * m.r[j * m.p + i];
    result.total = dot(f.data() + 1, f.data() + 1, m.p - 1);
    for (index s = 0; s < n_subspaces; ++s) {
        poll();
        const auto first = result.components.begin[s] + 1, last = result.components.begin[s + 1];
        combine(m, {result.components.column.begin() + first, result.components.column.begin() + last},
                {result.components.weight.begin() + first, result.components.weight.begin() + last}, f_u);
        result.variance.push_back(dot(f_u.data() + 1, f_u.data() + 1, m.p - 1));
        result.covariance.push_back(dot(f_u.data() + 1, f.data() + 1, m.p - 1));
    }
    return result;
}

void eta_matrix(const Measure& m, double* a, int n_threads) {
    std::fill(a, a + m.p * m.p, 0.0);
    a[0] = 1.0;
    parallel_for(index(m.subspaces.size()), n_threads, [&](index s) {
        const index begin = m.column_begin[s], end = m.column_begin[s + 1], rows = end - 1;
        const std::vector<index> lower = lower_columns(m, s);
        Buffer<double> rhs(rows * (end - begin), 0.0);
        for (index j = begin; j < end; ++j)
            for (index i = 0; i < j; ++i) rhs[(j - begin) * rows + i] = m.r[j * m.p + 1 + i];
        const std::vector<double> c = m.columns.solve(lower, rows, rhs.data(), end - begin);
        for (index j = begin; j < end; ++j) {
            double* eta = a + j * m.p;
            eta[j] = 1.0;
            eta[0] = -m.r[j * m.p];
            for (std::size_t k = 0; k < lower.size(); ++k) {
                const double weight = c[(j - begin) * lower.size() + k];
                eta[lower[k]] = -weight;
                eta[0] += weight * m.r[lower[k] * m.p];
            }
        }
    });
}

void solve_nu(const Measure& m, const double* a, const double* beta, double* nu) {
    std::copy(beta, beta + m.p, nu);
    for (index j = m.p - 1; j > 0; --j)
        for (index i = 0; i < j; ++i) nu[i] -= a[j * m.p + i] * nu[j];
}

}  // namespace fasthdmr
