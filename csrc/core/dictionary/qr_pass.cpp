#include "dictionary/qr_pass.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numeric>
#include <optional>

#include "dictionary/pilot_rows.hpp"
#include "linalg/cholesky_qr.hpp"
#include "linalg/column_elimination.hpp"
#include "support/parallel.hpp"
#include "support/progress.hpp"

namespace fasthdmr {

namespace {

// Rows are divided into this many ranges for any number of threads, so that R does not depend on that number.
constexpr index kRanges = 8;
// With fewer rows Householder QR is used: it is cheap, and the rounding errors of a Gram matrix average out less.
constexpr index kFewRows = 1024;
// The location of a column is the median of kLocationRows rows. It is far from zero if it exceeds kFar interquartile
// ranges.
constexpr index kLocationRows = 32;
constexpr double kFar = 8.0;

// The rows of (1, B, y), weighted, shifted and preconditioned by column eliminations.
struct DesignMatrix {
    const Dictionary& dictionary;
    const Sample& sample;
    Eliminations steps = {};
    index columns = 1 + dictionary.columns() + (sample.y ? 1 : 0);
    // Columns far from zero are shifted by about their median. Otherwise the sums would lose digits by cancellation.
    std::vector<double> origin = std::vector<double>(columns, 0.0);

    void fill(const Rows& rows, double* block, index leading) const {
        std::fill_n(block, rows.count, 1.0);
        dictionary.fill(rows, block + leading, leading);
        if (sample.unit != 1.0)
            for (index j = 1; j <= dictionary.columns(); ++j)
                for (index r = 0; r < rows.count; ++r) block[j * leading + r] /= sample.unit;
        if (sample.y)
            for (index r = 0; r < rows.count; ++r) block[(columns - 1) * leading + r] = sample.y[rows[r]];
        for (index j = 1; j < columns; ++j)
            if (origin[j] != 0)
                for (index r = 0; r < rows.count; ++r) block[j * leading + r] -= origin[j];
        if (sample.weight) weigh(rows, block, leading);
        for (const Elimination& step : steps) step.apply(block, rows.count, leading);
    }

    void weigh(const Rows& rows, double* block, index leading) const {
        Buffer<double> root(rows.count);
        for (index r = 0; r < rows.count; ++r) root[r] = std::sqrt(sample.weight[rows[r]]);
        for (index j = 0; j < columns; ++j)
            for (index r = 0; r < rows.count; ++r) block[j * leading + r] *= root[r];
    }
};

// The row of largest weight in each of equal parts of the rows.
std::vector<index> location_rows(const Sample& sample, const Rows& rows) {
    const index count = std::min(kLocationRows, rows.count);
    std::vector<index> chosen;
    for (index k = 0; k < count; ++k) {
        const index begin = rows.count * k / count, end = rows.count * (k + 1) / count;
        index best = rows[begin];
        double most = 0.0;
        for (index r = begin; r < end && sample.weight; ++r)
            if (const double weight = sample.weight[rows[r]]; weight > most) most = weight, best = rows[r];
        chosen.push_back(best);
    }
    return chosen;
}

// The weighted median of some numbers if it is far from zero, and 0 otherwise.
double origin_of(const double* values, const std::vector<double>& weights) {
    const index n = index(weights.size());
    if (!std::all_of(values, values + n, [](double value) { return std::isfinite(value); })) return 0.0;
    std::vector<index> order(n);
    std::iota(order.begin(), order.end(), index(0));
    std::sort(order.begin(), order.end(), [&](index a, index b) { return values[a] < values[b]; });
    const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
    const auto quantile = [&](double level) {
        double below = 0.0;
        index k = 0;
        while (k + 1 < n && (below += weights[order[k]]) < level * total) ++k;
        return values[order[k]];
    };
    const double median = quantile(0.5);
    return std::abs(median) > kFar * (quantile(0.75) - quantile(0.25)) ? median : 0.0;
}

std::vector<double> origins(const DesignMatrix& matrix, const Rows& rows) {
    const std::vector<index> chosen = location_rows(matrix.sample, rows);
    const index n = index(chosen.size());
    std::vector<double> result(matrix.columns, 0.0), weights(n, 1.0);
    if (n == 0) return result;
    if (matrix.sample.weight)
        for (index k = 0; k < n; ++k) weights[k] = matrix.sample.weight[chosen[k]];
    const Sample unweighted{n, nullptr, matrix.sample.y, matrix.sample.unit};
    Buffer<double> x(matrix.columns * n);
    DesignMatrix{matrix.dictionary, unweighted}.fill({0, 1, n, chosen.data()}, x.data(), n);
    for (index j = 1; j < matrix.columns; ++j) result[j] = origin_of(x.data() + j * n, weights);
    return result;
}

// Merges the sums of all ranges in the order of the ranges, whichever thread finishes first.
template <class Sum>
class OrderedMerge {
public:
    explicit OrderedMerge(index count) : waiting_(count) {}

    void add(index k, Sum sum) {
        std::lock_guard<std::mutex> lock(mutex_);
        waiting_[k] = std::move(sum);
        for (; next_ < index(waiting_.size()) && waiting_[next_]; ++next_) {
            if (next_ == 0) total_ = std::move(waiting_[0]);
            else total_->merge(std::move(*waiting_[next_]));
            waiting_[next_].reset();
        }
    }
    Sum take() { return std::move(*total_); }

private:
    std::mutex mutex_;
    std::vector<std::optional<Sum>> waiting_;
    std::optional<Sum> total_;
    index next_ = 0;
};

// Adds all rows to a sum for each range, at most `step` rows at a time, and merges the sums. Ranges have at least
// `least` blocks. Ranges have equal numbers of rows, and so have the steps of a range, which balances the load of
// threads.
template <class Sum>
Sum absorbed(const DesignMatrix& matrix, const Rows& rows, const Sum& empty, index least, index step, int n_threads) {
    const index blocks = (rows.count + kBlockRows - 1) / kBlockRows;
    const index ranges = std::max<index>(1, std::min(kRanges, blocks / least));
    OrderedMerge<Sum> merge(ranges);
    parallel_for(ranges, n_threads, [&](index k) {
        const index first = rows.count * k / ranges, count = rows.count * (k + 1) / ranges - first;
        const index steps = (count + step - 1) / step;
        // Not a power of two: otherwise all columns would map to the same cache sets.
        const index leading = std::min(step, count) + 8;
        Sum sum = empty;
        Buffer<double> block(matrix.columns * leading);
        for (index s = 0; s < steps; ++s) {
            poll();
            const index begin = count * s / steps;
            const Rows part = rows.slice(first + begin, count * (s + 1) / steps - begin);
            matrix.fill(part, block.data(), leading);
            sum.absorb(block.data(), part.count, leading);
            rows_done() += part.count;
        }
        merge.add(k, std::move(sum));
    });
    return merge.take();
}

Triangle by_reflections(const DesignMatrix& matrix, const Rows& rows, int n_threads) {
    constexpr index blocks_per_merge = 4;  // a merge takes as long as absorbing one block
    Triangle result = absorbed(matrix, rows, Triangle(matrix.columns), blocks_per_merge, kBlockRows, n_threads);
    result.fix_signs();
    return result;
}

std::optional<Triangle> by_cholesky(DesignMatrix matrix, const Rows& rows, int n_threads) {
    const PilotRows pilot(rows, matrix.columns, matrix.dictionary.rows_together());
    auto steps = pilot.eliminations([&](const Rows& some, double* x, index ld) { matrix.fill(some, x, ld); });
    if (!steps) return {};
    matrix.steps = std::move(*steps);
    const index block_rows = matrix.dictionary.block_rows();
    auto result = absorbed(matrix, rows, CholeskyQr(matrix.columns), 1, block_rows, n_threads).triangle();
    if (!result) return {};
    for (auto step = matrix.steps.rbegin(); step != matrix.steps.rend(); ++step)
        step->undo(&result->at(0, 0), matrix.columns, matrix.columns);
    return result;
}

// Cholesky QR if the condition number of the columns, or of their regression residuals, allows it; otherwise
// Householder QR. y is treated as a column, since it may be nearly dependent on the others.
Triangle triangle_of(DesignMatrix matrix, const Rows& rows, int n_threads) {
    matrix.origin = origins(matrix, rows);
    std::optional<Triangle> result;
    if (rows.count >= std::max(kFewRows, matrix.columns)) result = by_cholesky(matrix, rows, n_threads);
    if (!result) result = by_reflections(matrix, rows, n_threads);
    for (index j = 1; j < matrix.columns; ++j) result->at(0, j) += matrix.origin[j] * result->at(0, 0);
    return std::move(*result);
}

}  // namespace

Triangle triangle(const Dictionary& dictionary, const Sample& sample, int n_threads) {
    return triangle_of({dictionary, sample}, {0, 1, sample.rows}, n_threads);
}

std::vector<Triangle> triangles(const Dictionary& dictionary, const Sample& sample, const std::vector<Rows>& parts,
                                int n_threads) {
    std::vector<Triangle> result(parts.size(), Triangle(0));
    parallel_for(index(parts.size()), n_threads,
                 [&](index k) { result[k] = triangle_of({dictionary, sample}, parts[k], 1); });
    return result;
}

}  // namespace fasthdmr
