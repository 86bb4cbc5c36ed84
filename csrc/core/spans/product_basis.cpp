#include "spans/product_basis.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/kernels.hpp"
#include "spans/column_tiles.hpp"

namespace fasthdmr {

namespace {

// The cubic Bernstein coefficients of four functions on an interval, (polynomials, functions), and the column of the
// first function.
struct Cubics {
    double coefficients[4][kMaxRun];
    index first;
};

// The splines of an axis on an interval without knots inside.
Cubics splines(const Axis& axis, double left, double right) {
    Cubics result{};
    for (int k = 0; k < 4; ++k) {
        const double at[3] = {k > 0 ? right : left, k > 1 ? right : left, k > 2 ? right : left};
        result.first = axis.blossom(left, at, result.coefficients[k]);
    }
    return result;
}

// The splines at missing values: 1 in the column of missing values, if the axis has one, else 0.
Cubics missing_splines(const Axis& axis) {
    Cubics result{};
    result.first = axis.columns() - kMaxRun;
    result.coefficients[0][kMaxRun - 1] = axis.has_missing_column() ? 1.0 : 0.0;
    return result;
}

// The constant function 1.
constexpr Cubics kOne{{{1.0}, {1.0}, {1.0}, {1.0}}, 0};

// The product of the cubic Bernstein polynomials m and n is this number times the Bernstein polynomial m + n of degree
// 6.
double product_coefficient(int m, int n) {
    static constexpr double cubic[4] = {1, 3, 3, 1}, sixth[7] = {1, 6, 15, 20, 15, 6, 1};
    return cubic[m] * cubic[n] / sixth[m + n];
}

}  // namespace

ProductBasis::ProductBasis(const std::vector<const Axis*>& axes) : axis_(*axes.front()), has_missing_(false) {
    for (const Axis* axis : axes) {
        breaks_.insert(breaks_.end(), axis->knots().begin(), axis->knots().end());
        has_missing_ |= axis->has_missing_column();
    }
    std::sort(breaks_.begin(), breaks_.end());
    breaks_.erase(std::unique(breaks_.begin(), breaks_.end()), breaks_.end());
}

index ProductBasis::evaluate(double x, double* values) const {
    std::fill(values, values + kProductRun, 0.0);
    x = axis_.coordinate(x);
    const index n = intervals();
    if (std::isnan(x)) {
        values[0] = has_missing_ ? 1.0 : 0.0;
        return has_missing_ ? n * kProductRun : 0;
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

Buffer<double> ProductBasis::expand(const Buffer<double>& sums, const Axis& a, const Axis* b) const {
    const index n = index(sums.size()) / columns(), columns_b = b ? b->columns() : 1;
    const int run_b = b ? kMaxRun : 1;
    Buffer<double> products(a.columns() * columns_b * n, 0.0);
    const double* given = sums.data();
    for (index k = 0; k * kProductRun < columns(); ++k, given += kProductRun * n) {
        const bool is_missing = k == intervals();
        const auto of = [&](const Axis& axis) {
            return is_missing ? missing_splines(axis) : splines(axis, breaks_[k], breaks_[k + 1]);
        };
        const Cubics of_a = of(a), of_b = b ? of(*b) : kOne;
        for (int i = 0; i < kMaxRun; ++i)
            for (int j = 0; j < run_b; ++j) {
                double coefficients[kProductRun] = {};
                for (int m = 0; m < 4; ++m)
                    for (int l = 0; l < 4; ++l)
                        coefficients[m + l] +=
                            product_coefficient(m, l) * of_a.coefficients[m][i] * of_b.coefficients[l][j];
                double* out = products.data() + ((of_a.first + i) * columns_b + of_b.first + j) * n;
                for (int m = 0; m < (is_missing ? 1 : kProductRun - 1); ++m)
                    kernels().add_scaled(coefficients[m], given + m * n, n, out);
            }
    }
    return products;
}

ProductBases::ProductBases(const Spans& spans, index rows) : spans_(spans), shared_with_(spans.axes().size()) {
    std::vector<char> is_in_small(spans.axes().size(), 0);
    for (const Span& span : spans.all())
        for (const index a : span.axes) is_in_small[a] |= span.axes.size() <= 2;
    std::map<index, Axes> axes_of;
    for (index a = 0; a < index(is_in_small.size()); ++a) {
        const Axis& axis = spans.axes()[a];
        if (!is_in_small[a] || axis.run() != kMaxRun) continue;
        Axes& others = axes_of[axis.variable()];
        if (others.empty() || axis.shares_line(spans.axes()[others.front()])) others.push_back(a);
    }
    for (const auto& [variable, axes] : axes_of) {
        const index columns = make(axes).columns();
        for (const index a : axes)
            if (columns * columns <= 2 * rows) shared_with_[a] = axes;
    }
}

ProductBasis ProductBases::make(const Axes& axes) const {
    std::vector<const Axis*> given;
    for (const index a : axes) given.push_back(&spans_.axes()[a]);
    return ProductBasis(given);
}

index ProductBases::add(index a, index b) {
    const Axis &first = spans_.axes()[a], &second = spans_.axes()[b];
    if (first.run() != kMaxRun || second.run() != kMaxRun || !first.shares_line(second)) return -1;
    Axes axes = shared_with_[a];
    if (std::find(axes.begin(), axes.end(), b) == axes.end()) axes = {std::min(a, b), std::max(a, b)};
    const auto [place, is_new] = number_.try_emplace(axes, size());
    if (is_new) {
        bases_.push_back(make(axes));
        axes_of_.push_back(axes);
    }
    return place->second;
}

bool ProductBases::contains(index number, index axis) const {
    const Axes& axes = axes_of_[number];
    return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

void ProductBases::reserve(index rows) {
    capacity_ = rows;
    values_.resize(size() * rows * kProductRun);
    starts_.resize(size() * rows);
}

void ProductBases::load(const Table& x, const Rows& rows, int n_threads) {
    std::vector<ColumnUse> uses;
    for (const ProductBasis& basis : bases_) uses.emplace_back(basis.axis().variable(), index(uses.size()));
    std::sort(uses.begin(), uses.end());
    for_tiles(x, rows, uses, n_threads, [&](index k, index first, const double* tile, index count) {
        double* values = values_.data() + (k * capacity_ + first) * kProductRun;
        std::int32_t* starts = starts_.data() + k * capacity_ + first;
        for (index r = 0; r < count; ++r)
            starts[r] = std::int32_t(bases_[k].evaluate(tile[r], values + r * kProductRun));
    });
}

}  // namespace fasthdmr
