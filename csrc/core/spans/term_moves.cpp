#include "spans/term_moves.hpp"

#include <numeric>

#include "spans/nonzeros.hpp"

namespace fasthdmr {

namespace {

class Moves {
public:
    Moves(const SpanGram& gram, const SpanBlock& rows, const double* weight, index n_blocks,
          const std::vector<double>& factor)
        : gram_(gram),
          rows_(rows),
          weight_(weight),
          n_blocks_(n_blocks),
          length_(rows.rows() / n_blocks),
          factor_(factor),
          share_(n_blocks, 0.0) {
        for (index r = 0; r < rows.rows(); ++r) {
            block_.push_back(r / length_);
            share_[block_.back()] += weight[r] / gram.total();
        }
    }

    // The right-hand sides for each block, given the values of a term and the coefficients of its projection.
    std::vector<double> right_sides(const Spanning& spanning, const double* term,
                                    const std::vector<double>& coefficients) const {
        std::vector<Nonzeros> columns;
        for (const index s : spanning) columns.emplace_back(rows_, gram_.spans().all()[s]);
        const std::vector<double> residual = residual_of(columns, term, coefficients);
        const index size = index(coefficients.size());
        std::vector<double> right(size * n_blocks_, 0.0);
        for (index b = 0; b < n_blocks_; ++b) add_means(columns, residual, b, right.data() + b * size);
        double* first = right.data();
        for (const Nonzeros& each : columns) {
            each.each([&](index r, index j, double value) { first[block_[r] * size + j] += residual[r] * value; });
            first += each.span.columns;
        }
        centre(columns, right);
        return right;
    }

private:
    // The weighted residual, divided by the total weight.
    std::vector<double> residual_of(const std::vector<Nonzeros>& columns, const double* term,
                                    const std::vector<double>& coefficients) const {
        const index n = rows_.rows();
        std::vector<double> residual(term, term + n);
        const double* own = coefficients.data();
        for (const Nonzeros& each : columns) {
            each.each([&](index r, index j, double value) { residual[r] -= own[j] * value; });
            own += each.span.columns;
        }
        double mean = 0.0;
        for (index r = 0; r < n; ++r) mean += weight_[r] * residual[r] / gram_.total();
        for (index r = 0; r < n; ++r) residual[r] = (residual[r] - mean) * weight_[r] / gram_.total();
        return residual;
    }

    // The part of the inner products that is due to the means of the columns.
    void add_means(const std::vector<Nonzeros>& columns, const std::vector<double>& residual, index block,
                   double* right) const {
        const auto begin = residual.begin() + block * length_;
        const double sum = std::accumulate(begin, begin + length_, 0.0);
        for (const Nonzeros& each : columns)
            for (index j = 0; j < each.span.columns; ++j) *right++ -= sum * gram_.mean(each.span.first + j);
    }

    // Subtracts from the inner products over each block its share of those over all rows.
    void centre(const std::vector<Nonzeros>& columns, std::vector<double>& right) const {
        const index size = index(right.size()) / n_blocks_;
        index i = 0;
        for (const Nonzeros& each : columns)
            for (index j = each.span.first; j < each.span.first + each.span.columns; ++j, ++i) {
                double all = 0.0;
                for (index b = 0; b < n_blocks_; ++b) all += right[b * size + i];
                for (index b = 0; b < n_blocks_; ++b)
                    right[b * size + i] = factor_[j] * (right[b * size + i] - share_[b] * all);
            }
    }

    const SpanGram& gram_;
    const SpanBlock& rows_;
    const double* weight_;
    index n_blocks_, length_;
    const std::vector<double>& factor_;  // by column
    std::vector<double> share_;          // of the weight, by block
    std::vector<index> block_;           // by row
};

}  // namespace

Buffer<double> term_moves(const SpanGram& gram, const Table& x, const double* weight, const TermSums& sums,
                          const TermValues& given, index n_blocks, const std::vector<double>& factor, double ridge,
                          int n_threads) {
    SpanBlock rows(gram.spans(), x.rows);
    rows.load(x, {0, 1, x.rows, nullptr}, n_threads);
    const Moves moves(gram, rows, weight, n_blocks, factor);
    std::vector<char> others(sums.spans.size(), 1);
    std::vector<const double*> values(sums.spans.size(), nullptr);
    for (std::size_t k = 0; k < given.terms.size(); ++k) {
        others[given.terms[k]] = 0;
        values[given.terms[k]] = given.values + index(k) * x.rows;
    }
    std::vector<std::vector<double>> found(sums.spans.size());
    for_systems(gram, x, weight, sums, others, ridge, n_threads, [&](const RidgeSystem& system, index t) {
        found[t] = system.solve(moves.right_sides(sums.spans[t], values[t], system.solve(sums.with_columns[t])));
    });
    return add_up(gram.spans(), sums, found, n_blocks);
}

}  // namespace fasthdmr
