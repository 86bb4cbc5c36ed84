#include "dictionary/qr_pass.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numeric>
#include <optional>

#include "linalg/cholesky_qr.hpp"
#include "linalg/column_elimination.hpp"
#include "support/parallel.hpp"
#include "support/progress.hpp"

namespace fasthdmr {

namespace {

// Rows are cut into this many ranges whatever the number of threads: the triangle must not depend on it.
constexpr index kRanges = 8;
// Below this, reflections take no time, and the rounding of products has less to average over.
constexpr index kFewRows = 1024;
// Rows, a column, that tell the condition of all; not worth asking where they are more than one in kRowsAScout. The
// inverse of their products is up to kScoutsExaggerate times too large.
constexpr index kScouts = 2, kRowsAScout = 8;
constexpr double kScoutsExaggerate = 4.0;
// Rows are taken in runs where these are at least so many.
constexpr index kLeastRuns = 64;
// So many rows tell where columns lie: far from zero where it is more than so many times what lies between their quartiles.
constexpr index kTellers = 32;
constexpr double kFar = 8.0;

// The rows of (1, B, y), weighted, less what some columns tell of others.
struct Source {
    const Dictionary& dictionary;
    const Sample& sample;
    Eliminations steps = {};
    index columns = 1 + dictionary.columns() + (sample.y ? 1 : 0);
    // Columns far from zero are taken from near their median, before a sum or a reflection rounds them.
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
        for (const Elimination& step : steps) step.take_off(block, rows.count, leading);
    }

    void weigh(const Rows& rows, double* block, index leading) const {
        Buffer<double> root(rows.count);
        for (index r = 0; r < rows.count; ++r) root[r] = std::sqrt(sample.weight[rows[r]]);
        for (index j = 0; j < columns; ++j)
            for (index r = 0; r < rows.count; ++r) block[j * leading + r] *= root[r];
    }
};

// Of each of equal parts of the rows, the one that weighs most: none that counts for nothing tells anything.
std::vector<index> tellers(const Sample& sample, const Rows& rows) {
    const index count = std::min(kTellers, rows.count);
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

// The median of some numbers where they lie far from zero, and otherwise zero.
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

std::vector<double> origins(const Source& source, const Rows& rows) {
    const std::vector<index> chosen = tellers(source.sample, rows);
    const index n = index(chosen.size());
    std::vector<double> result(source.columns, 0.0), weights(n, 1.0);
    if (n == 0) return result;
    if (source.sample.weight)
        for (index k = 0; k < n; ++k) weights[k] = source.sample.weight[chosen[k]];
    const Sample unweighted{n, nullptr, source.sample.y, source.sample.unit};
    Buffer<double> x(source.columns * n);
    Source{source.dictionary, unweighted}.fill({0, 1, n, chosen.data()}, x.data(), n);
    for (index j = 1; j < source.columns; ++j) result[j] = origin_of(x.data() + j * n, weights);
    return result;
}

// Merges what arrives in any order in the order of the ranges.
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

// Absorbs all rows, at most `step` at a time, into sums that start empty, a range with at least `least` blocks each. All
// ranges have as many rows, and a range's steps too: no thread waits for one that has more to do.
template <class Sum>
Sum absorbed(const Source& source, const Rows& rows, const Sum& empty, index least, index step, int n_threads) {
    const index blocks = (rows.count + kBlockRows - 1) / kBlockRows;
    const index ranges = std::max<index>(1, std::min(kRanges, blocks / least));
    OrderedMerge<Sum> merge(ranges);
    parallel_for(ranges, n_threads, [&](index k) {
        const index first = rows.count * k / ranges, count = rows.count * (k + 1) / ranges - first;
        const index steps = (count + step - 1) / step;
        // Columns a power of two apart compete for the same lines of a cache.
        const index leading = std::min(step, count) + 8;
        Sum sum = empty;
        Buffer<double> block(source.columns * leading);
        for (index s = 0; s < steps; ++s) {
            poll();
            const index begin = count * s / steps;
            const Rows part = rows.slice(first + begin, count * (s + 1) / steps - begin);
            source.fill(part, block.data(), leading);
            sum.absorb(block.data(), part.count, leading);
            rows_done() += part.count;
        }
        merge.add(k, std::move(sum));
    });
    return merge.take();
}

Triangle by_reflections(const Source& source, const Rows& rows, int n_threads) {
    constexpr index blocks_a_merge = 4;  // it costs as much as absorbing one
    Triangle result = absorbed(source, rows, Triangle(source.columns), blocks_a_merge, kBlockRows, n_threads);
    result.fix_signs();
    return result;
}

CholeskyQr products(const Source& source, const Rows& rows, int n_threads) {
    return absorbed(source, rows, CholeskyQr(source.columns), 1, source.dictionary.block_rows(), n_threads);
}

// Runs of neighbouring rows. The first ones, however many, are spread evenly, but not at equal distances: rows may be
// periodic. No two runs meet where they are an eighth of the rows at most.
std::vector<index> spread(const Rows& rows, index count, index run) {
    constexpr double golden = 0.6180339887498949;
    std::vector<index> chosen;
    for (index k = 0; k < count; ++k) {
        const double place = double(k / run) * golden, part = place - std::floor(place);
        chosen.push_back(rows[index(part * double(rows.count - run + 1)) + k % run]);
    }
    return chosen;
}

// What a few rows say has to be taken off for products to suffice; none where they say that nothing helps.
std::optional<Eliminations> scouted(const Source& source, const Rows& rows, index run) {
    const index scouts = (kScouts * source.columns + run - 1) / run * run;
    if (rows.count < kRowsAScout * scouts) return Eliminations{};
    const std::vector<index> chosen = spread(rows, scouts, run);
    const Rows few{0, 1, scouts, chosen.data()};
    Buffer<double> x(scouts * source.columns);
    for (index begin = 0; begin < scouts; begin += kBlockRows) {
        poll();
        source.fill(few.slice(begin, std::min(kBlockRows, scouts - begin)), x.data() + begin, scouts);
    }
    return eliminations(x, scouts, source.columns, kScoutsExaggerate * CholeskyQr::kLargestInverse);
}

// Whether steps cost next to nothing even where they are not needed.
bool is_cheap(const std::optional<Eliminations>& steps) {
    return steps && std::all_of(steps->begin(), steps->end(), [](const Elimination& step) { return step.is_sparse(); });
}

std::optional<Triangle> by_products(Source source, const Rows& rows, int n_threads) {
    const index run = std::clamp<index>(kScouts * source.columns / kLeastRuns, 1, source.dictionary.rows_together());
    auto steps = scouted(source, rows, run);
    // Neighbours may be alike, and columns seem to depend on each other.
    if (run > 1 && !is_cheap(steps)) steps = scouted(source, rows, 1);
    if (!steps) return {};
    source.steps = std::move(*steps);
    auto result = products(source, rows, n_threads).triangle();
    if (!result) return {};
    for (auto step = source.steps.rbegin(); step != source.steps.rend(); ++step)
        step->put_back(&result->at(0, 0), source.columns, source.columns);
    return result;
}

// By products where their condition, or that of what is left of nearly dependent columns, allows it, else by
// reflections. The y is a column like the others: where the others all but tell it, what is left of it needs them too.
Triangle triangle_of(Source source, const Rows& rows, int n_threads) {
    source.origin = origins(source, rows);
    std::optional<Triangle> result;
    if (rows.count >= std::max(kFewRows, source.columns)) result = by_products(source, rows, n_threads);
    if (!result) result = by_reflections(source, rows, n_threads);
    for (index j = 1; j < source.columns; ++j) result->at(0, j) += source.origin[j] * result->at(0, 0);
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
