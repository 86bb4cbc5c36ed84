#include "spans/level_elimination.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "linalg/cholesky.hpp"
#include "linalg/lapack.hpp"
#include "linalg/short_calls.hpp"

namespace fasthdmr {

namespace {

constexpr index kFewLevels = 32;

// The axis of a variable in a span, with the stride of its columns; null if it does not occur there.
std::pair<const Axis*, index> axis_of(const Spans& spans, const Span& span, index variable) {
    index stride = span.columns;
    for (const index a : span.axes) {
        stride /= spans.axes()[a].columns();
        if (spans.axes()[a].variable() == variable) return {&spans.axes()[a], stride};
    }
    return {nullptr, 1};
}

}  // namespace

index LevelElimination::variable(const Spans& spans, const Spanning& spanning) {
    index most = kFewLevels, found = -1;
    for (const index s : spanning)
        for (const index a : spans.all()[s].axes)
            if (const Axis& axis = spans.axes()[a]; axis.is_categorical() && axis.columns() > most) {
                most = axis.columns();
                found = axis.variable();
            }
    return found;
}

LevelElimination::LevelElimination(const SpanGram& gram, const Spanning& spanning, double ridge, index variable) {
    const std::vector<Part> parts = arrange(gram.spans(), spanning, variable);
    for (const Part& part : parts)
        for (index j = 0; j < index(part.level.size()); ++j)
            means_.push_back(gram.mean(gram.spans().all()[part.span].first + j));
    fill(gram, parts, ridge);
    factor();
}

std::vector<LevelElimination::Part> LevelElimination::arrange(const Spans& spans, const Spanning& spanning,
                                                              index variable) {
    std::vector<Part> parts;
    std::vector<std::vector<index>> of_level;
    std::vector<index> border;
    index column = 0;
    for (const index s : spanning) {
        const Span& span = spans.all()[s];
        const auto [axis, stride] = axis_of(spans, span, variable);
        Part part{s, column, {}, {}, {}};
        for (index j = 0; j < span.columns; ++j, ++column) {
            const index number = axis ? j / stride % axis->columns() : 0;
            const index level = axis && axis->is_one_level(number) ? number : -1;
            part.level.push_back(level);
            if (level < 0) {
                part.border.push_back(j);
                border.push_back(column);
                continue;
            }
            for (auto* lists : {&part.of_level, &of_level})
                lists->resize(std::max<std::size_t>(lists->size(), level + 1));
            part.of_level[level].push_back(j);
            of_level[level].push_back(column);
        }
        parts.push_back(std::move(part));
    }
    for (const std::vector<index>& columns : of_level) {
        order_.insert(order_.end(), columns.begin(), columns.end());
        begin_.push_back(index(order_.size()));
        block_begin_.push_back(block_begin_.back() + index(columns.size() * columns.size()));
    }
    order_.insert(order_.end(), border.begin(), border.end());
    place_.resize(order_.size());
    for (std::size_t k = 0; k < order_.size(); ++k) place_[order_[k]] = index(k);
    return parts;
}

// The Gram matrix, not centred: the covariance matrix has no zeros.
void LevelElimination::fill(const SpanGram& gram, const std::vector<Part>& parts, double ridge) {
    const index m = level_columns(), q = others();
    blocks_.assign(block_begin_.back(), 0.0);
    panel_.assign(m * q, 0.0);
    border_.assign(q * q, 0.0);
    const auto put = [&](index level, index p, index r, double value) {
        if (p >= m && r >= m) border_[(p - m) * q + r - m] = value;
        else if (r >= m) panel_[(r - m) * m + p] = value;
        else if (p < m)
            blocks_[block_begin_[level] + (p - begin_[level]) * (begin_[level + 1] - begin_[level]) + r -
                    begin_[level]] = value;
    };
    for (std::size_t a = 0; a < parts.size(); ++a) {
        const index rows = index(parts[a].level.size());
        for (std::size_t b = a; b < parts.size(); ++b) {
            const index columns = index(parts[b].level.size());
            const std::vector<double>& products = gram.products(parts[a].span, parts[b].span);
            for (index i = 0; i < rows; ++i) {
                const index level = parts[a].level[i], p = place_[parts[a].first + i];
                const auto add = [&](index j) {
                    const index r = place_[parts[b].first + j];
                    double value = products[i * columns + j] / gram.total();
                    if (p == r) value += ridge / double(rows);
                    put(level, p, r, value);
                    put(level, r, p, value);
                };
                if (level < 0) {
                    for (index j = 0; j < columns; ++j) add(j);
                    continue;
                }
                for (const index j : parts[b].border) add(j);
                if (level < index(parts[b].of_level.size()))
                    for (const index j : parts[b].of_level[level]) add(j);
            }
        }
    }
}

void LevelElimination::factor() {
    const index m = level_columns(), q = others();
    char left = 'L', lower = 'L', no = 'N';
    double one = 1.0;
    bool solved = true;
    for (std::size_t level = 0; level + 1 < begin_.size(); ++level) {
        double* block = blocks_.data() + block_begin_[level];
        int size = int(begin_[level + 1] - begin_[level]), columns = int(q), ld = int(m), info = 0;
        if (size == 0) continue;
        lapack().dpotrf(&lower, &size, block, &size, &info);
        solved &= info == 0;
        if (q > 0)
            lapack().dtrsm(&left, &lower, &no, &no, &size, &columns, &one, block, &size, panel_.data() + begin_[level],
                           &ld);
    }
    for (double& value : border_) value = -value;
    add_gram(panel_.data(), m, q, m, border_.data());
    for (double& value : border_) value = -value;
    if (!solved || !cholesky(border_.data(), q))
        throw Error("the products of splines are not finite: rescale the variables");
    // The covariance matrix is the Gram matrix minus the product of the means, which the Sherman-Morrison formula takes
    // into account.
    of_means_ = solve(means_);
    const double explained = std::inner_product(means_.begin(), means_.end(), of_means_.begin(), 0.0);
    remainder_ = std::max(1.0 - explained, std::numeric_limits<double>::epsilon());
}

// Solutions for the Gram matrix.
void LevelElimination::solve_gram(Buffer<double>& grouped, Buffer<double>& others, index count) const {
    char left = 'L', lower = 'L', no = 'N', transposed = 'T';
    int m = int(level_columns()), q = int(this->others()), k = int(count);
    double one = 1.0, minus = -1.0;
    const auto solve_blocks = [&](char side) {
        for (std::size_t level = 0; level + 1 < begin_.size(); ++level) {
            int size = int(begin_[level + 1] - begin_[level]);
            if (size == 0) continue;
            lapack().dtrsm(&left, &lower, &side, &no, &size, &k, &one,
                           const_cast<double*>(blocks_.data()) + block_begin_[level], &size,
                           grouped.data() + begin_[level], &m);
        }
    };
    double* panel = const_cast<double*>(panel_.data());
    solve_blocks('N');
    if (q > 0) {
        lapack().dgemm(&transposed, &no, &q, &k, &m, &minus, panel, &m, grouped.data(), &m, &one, others.data(), &q);
        for (const char side : {'N', 'T'}) solve_triangle('L', side, border_.data(), q, q, others.data(), count);
        lapack().dgemm(&no, &no, &m, &k, &q, &minus, panel, &m, others.data(), &q, &one, grouped.data(), &m);
    }
    solve_blocks('T');
}

std::vector<double> LevelElimination::solve(const std::vector<double>& b) const {
    const index m = level_columns(), q = others(), n = m + q, count = index(b.size()) / n;
    Buffer<double> grouped(m * count), border(q * count);
    for (index c = 0; c < count; ++c)
        for (index k = 0; k < n; ++k) (k < m ? grouped[c * m + k] : border[c * q + k - m]) = b[c * n + order_[k]];
    solve_gram(grouped, border, count);
    std::vector<double> x(b.size());
    for (index c = 0; c < count; ++c) {
        double* out = x.data() + c * n;
        for (index k = 0; k < n; ++k) out[order_[k]] = k < m ? grouped[c * m + k] : border[c * q + k - m];
        if (of_means_.empty()) continue;  // this solution is for the means
        const double share = std::inner_product(means_.begin(), means_.end(), out, 0.0) / remainder_;
        for (index k = 0; k < n; ++k) out[k] += share * of_means_[k];
    }
    return x;
}

}  // namespace fasthdmr
