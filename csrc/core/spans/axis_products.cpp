#include "spans/axis_products.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/kernels.hpp"
#include "support/parallel.hpp"

namespace fasthdmr {

namespace {

// Bernstein coefficients of the four splines of an axis between two neighbouring breaks; returns the first spline.
index bernstein(const Axis& axis, double left, double right, double (&coefficients)[4][kMaxRun]) {
    index first = 0;
    for (int k = 0; k < 4; ++k) {
        const double at[3] = {k > 0 ? right : left, k > 1 ? right : left, k > 2 ? right : left};
        first = axis.blossom(left, at, coefficients[k]);
    }
    return first;
}

}  // namespace

AxisProduct::AxisProduct(const Axis& a, const Axis& b) : axis_(a), columns_a_(a.columns()), columns_b_(b.columns()) {
    static constexpr double cubic[4] = {1, 3, 3, 1}, sixth[7] = {1, 6, 15, 20, 15, 6, 1};
    std::set_union(a.knots().begin(), a.knots().end(), b.knots().begin(), b.knots().end(), std::back_inserter(breaks_));
    breaks_.erase(std::unique(breaks_.begin(), breaks_.end()), breaks_.end());
    for (std::size_t k = 0; k + 1 < breaks_.size(); ++k) {
        double of_a[4][kMaxRun], of_b[4][kMaxRun];
        Cell cell{};
        cell.a = bernstein(a, breaks_[k], breaks_[k + 1], of_a);
        cell.b = bernstein(b, breaks_[k], breaks_[k + 1], of_b);
        for (int m = 0; m < 4; ++m)
            for (int n = 0; n < 4; ++n)
                for (int i = 0; i < kMaxRun * kMaxRun; ++i)
                    cell.products[m + n][i] +=
                        cubic[m] * cubic[n] / sixth[m + n] * of_a[m][i / kMaxRun] * of_b[n][i % kMaxRun];
        cells_.push_back(cell);
    }
    // At missing values the last columns are 1, if they are there for that.
    Cell missing{};
    missing.a = a.columns() - kMaxRun;
    missing.b = b.columns() - kMaxRun;
    missing.products[0][kMaxRun * kMaxRun - 1] = a.has_missing_column() && b.has_missing_column() ? 1.0 : 0.0;
    cells_.push_back(missing);
}

index AxisProduct::evaluate(double x, double* values) const {
    std::fill(values, values + kProductRun, 0.0);
    x = axis_.coordinate(x);
    const index n = index(breaks_.size()) - 1;
    if (std::isnan(x)) {
        values[0] = 1.0;
        return n * kProductRun;
    }
    x = std::min(std::max(x, breaks_.front()), breaks_.back());
    index cell = 0;
    for (index k = 1; k < n; ++k) cell += breaks_[k] <= x;
    const double length = breaks_[cell + 1] - breaks_[cell];
    const double t = (x - breaks_[cell]) / length, u = (breaks_[cell + 1] - x) / length;
    const double tt = t * t, uu = u * u, ttt = tt * t, uuu = uu * u;
    values[0] = uuu * uuu;
    values[1] = 6 * (uuu * uu) * t;
    values[2] = 15 * (uu * uu) * tt;
    values[3] = 20 * uuu * ttt;
    values[4] = 15 * uu * (tt * tt);
    values[5] = 6 * u * (ttt * tt);
    values[6] = ttt * ttt;
    return cell * kProductRun;
}

Buffer<double> AxisProduct::expand(const Buffer<double>& sums) const {
    const index n = index(sums.size()) / columns();
    Buffer<double> products(columns_a_ * columns_b_ * n, 0.0);
    const double* given = sums.data();
    for (const Cell& cell : cells_) {
        for (int i = 0; i < kMaxRun * kMaxRun; ++i) {
            double* out = products.data() + ((cell.a + i / kMaxRun) * columns_b_ + cell.b + i % kMaxRun) * n;
            for (int m = 0; m < kProductRun - 1; ++m) kernels().add_scaled(cell.products[m][i], given + m * n, n, out);
        }
        given += kProductRun * n;
    }
    return products;
}

bool AxisProducts::add(index a, index b) {
    const auto [place, is_new] = number_.try_emplace({a, b}, -1);
    const Axis &first = spans_.axes()[a], &second = spans_.axes()[b];
    if (!is_new || first.run() != kMaxRun || second.run() != kMaxRun || !first.shares_line(second))
        return place->second >= 0;
    place->second = size();
    products_.emplace_back(first, second);
    variable_.push_back(first.variable());
    return true;
}

void AxisProducts::reserve(index rows) {
    capacity_ = rows;
    values_.resize(size() * rows * kProductRun);
    starts_.resize(size() * rows);
}

void AxisProducts::load(const Table& x, const Rows& rows, int n_threads) {
    parallel_for(size(), n_threads, [&](index k) {
        double* values = values_.data() + k * capacity_ * kProductRun;
        std::int32_t* starts = starts_.data() + k * capacity_;
        for (index r = 0; r < rows.count; ++r)
            starts[r] = std::int32_t(products_[k].evaluate(x.at(rows[r], variable_[k]), values + r * kProductRun));
    });
}

}  // namespace fasthdmr
