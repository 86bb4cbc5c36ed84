#include "spans/term_moves.hpp"

#include <algorithm>

#include "kernels/kernels.hpp"
#include "spans/evaluate.hpp"

namespace fasthdmr {

namespace {

constexpr index kTileRows = 128;  // whose nonzeros fit into the second-level cache

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
            block_.push_back(std::int32_t(r / length_));
            share_[block_.back()] += weight[r] / gram.total();
        }
    }

    // The right-hand sides for each block, given the values of a term and the coefficients of its projection.
    std::vector<double> right_sides(const Spanning& spanning, const double* term,
                                    const std::vector<double>& coefficients) const {
        const Spans& spans = gram_.spans();
        const index size = index(coefficients.size());
        const double mean = mean_of_residual(spanning, term, coefficients);
        std::vector<Nonzeros> nonzeros(spanning.size());
        std::vector<double> right(size * n_blocks_, 0.0), sums(n_blocks_, 0.0), fitted(kTileRows), residual(kTileRows);
        for (index first = 0; first < rows_.rows(); first += kTileRows) {
            const index count = std::min(kTileRows, rows_.rows() - first);
            std::fill_n(fitted.begin(), count, mean);
            const double* own = coefficients.data();
            for (std::size_t k = 0; k < spanning.size(); ++k) {
                const Span& span = spans.all()[spanning[k]];
                nonzeros[k].load(rows_, span, first, count);
                add_function(spans, rows_, span, nonzeros[k], own, first, count, fitted.data());
                own += span.columns;
            }
            for (index r = 0; r < count; ++r) {
                residual[r] = (term[first + r] - fitted[r]) * weight_[first + r] / gram_.total();
                sums[block_[first + r]] += residual[r];
            }
            const SparseRows blocks{ones_.data(), block_.data() + first, 1, 1};
            double* out = right.data();
            for (std::size_t k = 0; k < spanning.size(); ++k) {
                const Span& span = spans.all()[spanning[k]];
                kernels().add_products(blocks, nonzeros[k].view(span), residual.data(), count, out, size);
                out += span.columns;
            }
        }
        centre(spanning, sums, right);
        return right;
    }

private:
    // The mean follows from those of the columns.
    double mean_of_residual(const Spanning& spanning, const double* term,
                            const std::vector<double>& coefficients) const {
        double mean = 0.0;
        for (index r = 0; r < rows_.rows(); ++r) mean += weight_[r] * term[r] / gram_.total();
        const double* own = coefficients.data();
        for (const index s : spanning) {
            const Span& span = gram_.spans().all()[s];
            for (index j = 0; j < span.columns; ++j) mean -= *own++ * gram_.mean(span.first + j);
        }
        return mean;
    }

    // Subtracts from the inner products over each block the part that is due to the means of the columns, given the sums
    // of the residual, and its share of those over all rows.
    void centre(const Spanning& spanning, const std::vector<double>& sums, std::vector<double>& right) const {
        const index size = index(right.size()) / n_blocks_;
        index i = 0;
        for (const index s : spanning) {
            const Span& span = gram_.spans().all()[s];
            for (index j = span.first; j < span.first + span.columns; ++j, ++i) {
                double all = 0.0;
                for (index b = 0; b < n_blocks_; ++b) all += right[b * size + i] -= sums[b] * gram_.mean(j);
                for (index b = 0; b < n_blocks_; ++b)
                    right[b * size + i] = factor_[j] * (right[b * size + i] - share_[b] * all);
            }
        }
    }

    const SpanGram& gram_;
    const SpanBlock& rows_;
    const double* weight_;
    index n_blocks_, length_;
    const std::vector<double>& factor_;  // by column
    std::vector<double> share_;          // of the weight, by block
    std::vector<std::int32_t> block_;    // by row
    const std::vector<double> ones_ = std::vector<double>(kTileRows, 1.0);
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
