#include "spans/product_basis.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "kernels/kernels.hpp"
#include "spans/column_tiles.hpp"

namespace fasthdmr {

namespace {

// The cubic Bernstein coefficients on an interval of four functions, (polynomials, functions), and the column of the
// first function.
struct Cubics {
    double coefficients[4][kMaxRun];
    index first;
};

// The polynomials that the splines of an axis are near x, on an interval around it.
Cubics splines(const Axis& axis, double x, double left, double right) {
    Cubics result{};
    for (int k = 0; k < 4; ++k) {
        const double at[3] = {k > 0 ? right : left, k > 1 ? right : left, k > 2 ? right : left};
        result.first = axis.blossom(x, at, result.coefficients[k]);
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

// A truncated cubic is 0 on the longer side of its knot, so that it is small where the other functions are not.
bool is_left(double knot, double left, double right) { return 2 * knot < left + right; }

using Sextic = std::array<double, 7>;

// The product of two cubics. Coefficients are of Bernstein polynomials. That of the cubic ones m and n is
// cubic[m] cubic[n] / sixth[m + n] times that of degree 6 with number m + n.
Sextic product(const double* a, const double* b) {
    constexpr double cubic[4] = {1, 3, 3, 1}, sixth[7] = {1, 6, 15, 20, 15, 6, 1};
    Sextic result{};
    for (int m = 0; m < kCubics; ++m)
        for (int n = 0; n < kCubics; ++n) result[m + n] += cubic[m] * cubic[n] / sixth[m + n] * a[m] * b[n];
    return result;
}

// The coefficients of a polynomial in the product basis, from those of the Bernstein polynomials of degree 6. Written
// in these, the cubic ones are (1, 1/2, 1/5, 1/20, 0, 0, 0), (0, 1/2, 3/5, 9/20, 1/5, 0, 0), and the mirror images. The
// coefficients 0, 2, 4 and 6 determine those of the cubics.
Sextic in_basis(const Sextic& p) {
    const double at_2 = p[2] - p[0] / 5, at_4 = p[4] - p[6] / 5;
    const double second = (3 * at_2 - at_4) * 5 / 8, third = (3 * at_4 - at_2) * 5 / 8;
    return {p[0],
            second,
            third,
            p[6],
            p[1] - (p[0] + second) / 2,
            p[3] - (p[0] + 9 * (second + third) + p[6]) / 20,
            p[5] - (third + p[6]) / 2};
}

}  // namespace

ProductBasis::ProductBasis(const std::vector<const Axis*>& axes, const Axis* inner)
    : axis_(*axes.front()), inner_(inner), has_missing_(inner && inner->has_missing_column()) {
    for (const Axis* axis : axes) {
        breaks_.insert(breaks_.end(), axis->knots().begin(), axis->knots().end());
        has_missing_ |= axis->has_missing_column();
    }
    std::sort(breaks_.begin(), breaks_.end());
    breaks_.erase(std::unique(breaks_.begin(), breaks_.end()), breaks_.end());
    inside_.resize(cells());
    for (index cell = 0; cell < intervals() && inner; ++cell) {
        const double left = breaks_[cell], right = breaks_[cell + 1];
        for (const double knot : knots_inside(cell)) {
            const double local = (knot - left) / (right - left), end = is_left(knot, left, right) ? 0.0 : 1.0;
            inside_[cell].push_back({local, 1.0 / (end - local)});
        }
        functions_ = std::max(functions_, kPolynomials + int(inside_[cell].size()));
    }
}

std::vector<double> ProductBasis::knots_inside(index cell) const {
    std::vector<double> inside;
    std::copy_if(inner_->knots().begin(), inner_->knots().end(), std::back_inserter(inside),
                 [&](double knot) { return breaks_[cell] < knot && knot < breaks_[cell + 1]; });
    return inside;
}

bool ProductBasis::exists(const Axis& axis, const Axis& inner) {
    if (axis.run() != kMaxRun || inner.run() != kMaxRun || !axis.shares_line(inner)) return false;
    constexpr double kLeastGap = 1e-3;  // of an interval: coefficients are up to about 1 / gap
    const ProductBasis basis({&axis}, &inner);
    for (index cell = 0; cell < basis.intervals(); ++cell) {
        std::vector<double> breaks = basis.knots_inside(cell);
        if (breaks.size() > kMostTruncated) return false;
        breaks.insert(breaks.begin(), basis.breaks_[cell]);
        breaks.push_back(basis.breaks_[cell + 1]);
        for (std::size_t k = 1; k < breaks.size(); ++k)
            if (breaks[k] - breaks[k - 1] < kLeastGap * (breaks.back() - breaks.front())) return false;
    }
    return true;
}

void ProductBasis::locate(const double* x, index rows, double* coordinates, std::int32_t* cells) const {
    std::copy_n(x, rows, coordinates);
    axis_.to_coordinates(coordinates, rows);
    for (index r = 0; r < rows; ++r)
        coordinates[r] = std::min(std::max(coordinates[r], breaks_.front()), breaks_.back());
    kernels().locate(breaks_.data(), index(breaks_.size()), coordinates, rows, cells);
    for (index r = 0; r < rows; ++r) {
        const std::int32_t cell = cells[r];
        const double t = (coordinates[r] - breaks_[cell]) / (breaks_[cell + 1] - breaks_[cell]);
        const bool is_missing = std::isnan(t);
        cells[r] = is_missing ? std::int32_t(intervals()) : cell;
        coordinates[r] = is_missing ? 0.0 : t;
    }
}

void ProductBasis::evaluate(const double* x, index rows, double* values, std::int32_t* starts) const {
    std::vector<double> coordinates(rows);
    locate(x, rows, coordinates.data(), starts);
    for (index r = 0; r < rows; ++r, values += kProductRun) {
        std::fill(values, values + kProductRun, 0.0);
        if (starts[r] == intervals()) {
            values[0] = has_missing_ ? 1.0 : 0.0;
            starts[r] = has_missing_ ? starts[r] * kProductRun : 0;
            continue;
        }
        const double t = coordinates[r], u = 1.0 - t, tt = t * t, uu = u * u, ttt = tt * t, uuu = uu * u;
        values[0] = uuu;
        values[1] = 3 * uu * t;
        values[2] = 3 * u * tt;
        values[3] = ttt;
        values[4] = 6 * (uuu * uu) * t;
        values[5] = 20 * uuu * ttt;
        values[6] = 6 * u * (ttt * tt);
        starts[r] *= kProductRun;
    }
}

// The splines of an axis that are not 0 on a cell, as combinations of its functions. Beyond each knot inside, a
// multiple of its truncated cubic is added; at the far end of the interval this multiple is the difference of the two
// polynomials that meet in the knot.
std::vector<ProductBasis::Spline> ProductBasis::splines_of(const Axis& axis, index cell) const {
    const bool is_missing = cell == intervals();
    const std::vector<double> inside = &axis == inner_ && !is_missing ? knots_inside(cell) : std::vector<double>{};
    const double left = is_missing ? 0.0 : breaks_[cell], right = is_missing ? 0.0 : breaks_[cell + 1];
    std::size_t n_left = 0;
    while (n_left < inside.size() && is_left(inside[n_left], left, right)) ++n_left;
    std::vector<Cubics> pieces;
    for (std::size_t k = 0; k <= inside.size(); ++k)
        pieces.push_back(is_missing ? missing_splines(axis)
                                    : splines(axis, k == 0 ? left : inside[k - 1], left, right));
    std::vector<Spline> result;
    for (index column = pieces.front().first; column < pieces.back().first + kMaxRun; ++column) {
        const auto coefficient = [&](std::size_t piece, int m) {
            const index i = column - pieces[piece].first;
            return 0 <= i && i < kMaxRun ? pieces[piece].coefficients[m][i] : 0.0;
        };
        Spline spline{column, {}};
        for (int m = 0; m < kCubics; ++m) spline.coefficients[m] = coefficient(n_left, m);
        for (std::size_t k = 0; k < inside.size(); ++k) {
            const int end = k < n_left ? 0 : kCubics - 1;
            const std::size_t outer = k < n_left ? k : k + 1, other = k < n_left ? k + 1 : k;
            spline.coefficients[kPolynomials + k] = coefficient(outer, end) - coefficient(other, end);
        }
        result.push_back(spline);
    }
    return result;
}

Buffer<double> ProductBasis::expansion(int run, const Axis& a, const Axis* b) const {
    const index columns_b = b ? b->columns() : 1, columns = a.columns() * columns_b;
    Buffer<double> matrix(cells() * run * columns, 0.0);
    double* rows = matrix.data();
    for (index cell = 0; cell < cells(); ++cell, rows += run * columns) {
        const auto set = [&](index column, const double* coefficients, int count) {
            for (int m = 0; m < count; ++m) rows[m * columns + column] = coefficients[m];
        };
        const std::vector<Spline> of_a = splines_of(a, cell), of_b = b ? splines_of(*b, cell) : std::vector<Spline>{};
        for (const Spline& spline : of_a) {
            if (!b) set(spline.column, spline.coefficients, needed(a));
            for (const Spline& other : of_b)
                set(spline.column * columns_b + other.column,
                    in_basis(product(spline.coefficients, other.coefficients)).data(), kPolynomials);
        }
    }
    return matrix;
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
        const index columns = make(axes).cells() * kProductRun;
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

index ProductBases::add_with_inner(index axis, index inner) {
    const auto found = number_with_inner_.find({axis, inner});
    if (found != number_with_inner_.end()) return found->second;
    const Axis &outer = spans_.axes()[axis], &other = spans_.axes()[inner];
    const bool exists = ProductBasis::exists(outer, other);
    const index number = number_with_inner_[{axis, inner}] = exists ? size() : -1;
    if (exists) {
        bases_.push_back(ProductBasis({&outer}, &other));
        axes_of_.push_back({axis});
    }
    return number;
}

bool ProductBases::contains(index number, index axis) const {
    const Axes& axes = axes_of_[number];
    return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

void ProductBases::reserve(index rows, const std::vector<index>& used) {
    capacity_ = rows;
    used_ = used;
    place_.assign(size(), -1);
    for (std::size_t k = 0; k < used.size(); ++k) place_[used[k]] = index(k);
    values_.resize(index(used.size()) * rows * kProductRun);
    starts_.resize(index(used.size()) * rows);
}

void ProductBases::load(const Table& x, const Rows& rows, int n_threads) {
    std::vector<ColumnUse> uses;
    for (const index number : used_) uses.emplace_back(bases_[number].axis().variable(), index(uses.size()));
    std::sort(uses.begin(), uses.end());
    for_tiles(x, rows, uses, n_threads, [&](index k, index first, const double* tile, index count) {
        const index begin = k * capacity_ + first;
        bases_[used_[k]].evaluate(tile, count, values_.data() + begin * kProductRun, starts_.data() + begin);
    });
}

}  // namespace fasthdmr
