#include "linalg/pivoted_qr.hpp"

#include <algorithm>
#include <cmath>

#include "linalg/dot.hpp"
#include "linalg/lapack.hpp"
#include "linalg/triangle.hpp"
#include "support/interruption.hpp"

namespace fasthdmr {

namespace {

constexpr index kPanel = 32;

// Complete orthogonal factorisation: the first rows of R, an upper trapezoid (R1 R2), are reduced to a triangle by
// Householder reflections from the right, (R1 R2) = (T 0) H_0 H_1 ... Reflection H_i acts on coordinate i and on those
// of R2.
class CompleteFactorisation {
public:
    CompleteFactorisation(const Buffer<double>& r, index leading, index rank, index columns)
        : rank_(rank), behind_(columns - rank), triangle_(rank * rank), vectors_(rank * behind_), factors_(rank, 0.0) {
        for (index j = 0; j < rank; ++j) std::copy_n(r.data() + j * leading, j + 1, triangle_.data() + j * rank);
        for (index i = 0; i < rank; ++i)
            for (index k = 0; k < behind_; ++k) vectors_[i * behind_ + k] = r[(rank + k) * leading + i];
        for (index i = rank; behind_ > 0 && i-- > 0;) {
            poll();
            eliminate(i);
        }
    }

    // Minimum-norm solution. z has `columns` numbers; on entry the first `rank` are the right-hand side.
    void solve(double* z) const {
        substitute(triangle_.data(), rank_, z);
        expand(z);
    }

    // Ridge regression: the QR factorisation of (T, z) on top of the rows sqrt(penalty) I.
    void solve(double* z, double penalty) const {
        Triangle joint(rank_ + 1), below(rank_ + 1);
        for (index j = 0; j < rank_; ++j) {
            for (index i = 0; i <= j; ++i) joint.at(i, j) = triangle_[j * rank_ + i];
            joint.at(j, rank_) = z[j];
            below.at(j, j) = std::sqrt(penalty);
        }
        joint.merge(std::move(below));
        for (index i = 0; i < rank_; ++i) z[i] = joint.at(i, rank_);
        substitute(joint.data(), rank_ + 1, z);
        expand(z);
    }

private:
    void substitute(const double* triangle, index leading, double* z) const {
        for (index j = rank_; j-- > 0;) {
            z[j] /= triangle[j * leading + j];
            for (index i = 0; i < j; ++i) z[i] -= triangle[j * leading + i] * z[j];
        }
    }

    void expand(double* z) const {
        std::fill_n(z + rank_, behind_, 0.0);
        for (index i = 0; i < rank_; ++i) apply(i, z[i], z + rank_);
    }

    void apply(index reflector, double& first, double* others) const {
        const double* v = vectors_.data() + reflector * behind_;
        const double product = factors_[reflector] * (first + dot(v, others, behind_));
        first -= product;
        for (index k = 0; k < behind_; ++k) others[k] -= product * v[k];
    }

    void eliminate(index i) {
        double *v = vectors_.data() + i * behind_, *column = triangle_.data() + i * rank_;
        const double square = dot(v, v, behind_), pivot = column[i];
        if (square == 0.0) return;
        const double length = -std::copysign(std::sqrt(pivot * pivot + square), pivot);
        factors_[i] = (length - pivot) / length;
        for (index k = 0; k < behind_; ++k) v[k] /= pivot - length;
        column[i] = length;
        for (index row = 0; row < i; ++row) apply(i, column[row], vectors_.data() + row * behind_);
    }

    index rank_, behind_;
    Buffer<double> triangle_, vectors_;  // of R1; row by row of R2
    std::vector<double> factors_;
};

}  // namespace

// The blocked algorithm of LAPACK's dgeqp3, which is not called because it cannot be interrupted.
PivotedQr::PivotedQr(Buffer<double> a, index rows, index columns)
    : rows_(rows), columns_(columns), a_(std::move(a)), factors_(std::min(rows, columns)), pivots_(columns) {
    std::vector<double> norms(columns), products(kPanel);
    for (index j = 0; j < columns; ++j) {
        pivots_[j] = int(j) + 1;
        norms[j] = std::sqrt(dot(a_.data() + j * rows, a_.data() + j * rows, rows));
    }
    std::vector<double> first_norms = norms;
    Buffer<double> work(kPanel * columns);
    for (index j = 0; j < index(factors_.size());) {
        poll();
        int m = int(rows), n = int(columns - j), done = int(j),
            width = int(std::min(kPanel, index(factors_.size()) - j));
        int factored = 0;
        lapack().dlaqps(&m, &n, &done, &width, &factored, a_.data() + j * rows, &m, pivots_.data() + j,
                        factors_.data() + j, norms.data() + j, first_norms.data() + j, products.data(), work.data(),
                        &n);
        j += factored;
    }
}

index PivotedQr::rank(double tolerance) const {
    index rank = 0;
    while (rank < index(factors_.size()) && std::abs(a_[rank * rows_ + rank]) > tolerance * std::abs(a_[0])) ++rank;
    return rank;
}

void PivotedQr::reflect(double* b) const {
    for (index k = 0; k < index(factors_.size()); ++k) {
        const double* v = a_.data() + k * rows_ + k + 1;
        const index below = rows_ - k - 1;
        const double product = factors_[k] * (b[k] + dot(v, b + k + 1, below));
        b[k] -= product;
        for (index i = 0; i < below; ++i) b[k + 1 + i] -= product * v[i];
    }
}

std::vector<double> PivotedQr::solve(const double* rhs, index count, index rank) const {
    const CompleteFactorisation factorisation(a_, rows_, rank, columns_);
    std::vector<double> solutions(columns_ * count), b(rows_), z(columns_);
    for (index c = 0; c < count; ++c) {
        poll();
        b.assign(rhs + c * rows_, rhs + (c + 1) * rows_);
        reflect(b.data());
        std::copy_n(b.begin(), rank, z.begin());
        factorisation.solve(z.data());
        for (index j = 0; j < columns_; ++j) solutions[c * columns_ + pivots_[j] - 1] = z[j];
    }
    return solutions;
}

std::vector<double> PivotedQr::ridge(const double* rhs, const std::vector<double>& penalties, index rank) const {
    const CompleteFactorisation factorisation(a_, rows_, rank, columns_);
    std::vector<double> solutions(columns_ * penalties.size()), b(rhs, rhs + rows_), z(columns_);
    reflect(b.data());
    for (std::size_t k = 0; k < penalties.size(); ++k) {
        std::copy_n(b.begin(), rank, z.begin());
        if (penalties[k] > 0) factorisation.solve(z.data(), penalties[k]);
        else factorisation.solve(z.data());
        for (index j = 0; j < columns_; ++j) solutions[index(k) * columns_ + pivots_[j] - 1] = z[j];
    }
    return solutions;
}

}  // namespace fasthdmr
