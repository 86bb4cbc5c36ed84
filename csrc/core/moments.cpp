#include "moments.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <optional>

#include "parallel.hpp"

namespace fasthdmr {

namespace {

// Rows are cut into this many ranges whatever the number of threads: the triangle must not depend on it.
constexpr index kRanges = 8;

Triangle one_triangle(const Dictionary& dictionary, const Sample& sample, const Rows& rows) {
    const index b = dictionary.columns(), p = 1 + b + (sample.y ? 1 : 0);
    Triangle result(p);
    const index leading = std::min(kBlockRows, rows.count);
    Buffer<double> block(p * leading);
    for (index begin = 0; begin < rows.count; begin += kBlockRows) {
        const Rows part = rows.slice(begin, std::min(kBlockRows, rows.count - begin));
        std::fill(block.begin(), block.begin() + part.count, 1.0);
        dictionary.fill(part, block.data() + leading, leading);
        if (sample.y)
            for (index r = 0; r < part.count; ++r) block[(p - 1) * leading + r] = sample.y[part[r]];
        if (sample.weight)
            for (index r = 0; r < part.count; ++r) {
                const double root = std::sqrt(sample.weight[part[r]]);
                for (index j = 0; j < p; ++j) block[j * leading + r] *= root;
            }
        result.absorb(block.data(), part.count, leading);
    }
    result.fix_signs();
    return result;
}

// Merges what arrives in any order in the order of the ranges.
class OrderedMerge {
public:
    explicit OrderedMerge(index count) : waiting_(count) {}

    void add(index k, Triangle triangle) {
        std::lock_guard<std::mutex> lock(mutex_);
        waiting_[k] = std::move(triangle);
        for (; next_ < index(waiting_.size()) && waiting_[next_]; ++next_) {
            if (next_ == 0) total_ = std::move(waiting_[0]);
            else total_->merge(std::move(*waiting_[next_]));
            waiting_[next_].reset();
        }
    }
    Triangle take() { return std::move(*total_); }

private:
    std::mutex mutex_;
    std::vector<std::optional<Triangle>> waiting_;
    std::optional<Triangle> total_;
    index next_ = 0;
};

}  // namespace

Triangle triangle(const Dictionary& dictionary, const Sample& sample, int n_threads) {
    const index blocks = (sample.rows + kBlockRows - 1) / kBlockRows;
    const index ranges = std::max<index>(1, std::min(kRanges, blocks / 4));
    OrderedMerge merge(ranges);
    parallel_for(ranges, n_threads, [&](index k) {
        const index first = blocks * k / ranges * kBlockRows;
        const index last = std::min(sample.rows, blocks * (k + 1) / ranges * kBlockRows);
        merge.add(k, one_triangle(dictionary, sample, {first, 1, last - first}));
    });
    Triangle result = merge.take();
    result.fix_signs();
    return result;
}

std::vector<Triangle> triangles(const Dictionary& dictionary, const Sample& sample, const std::vector<Rows>& parts,
                                int n_threads) {
    std::vector<Triangle> result(parts.size(), Triangle(0));
    parallel_for(index(parts.size()), n_threads,
                 [&](index k) { result[k] = one_triangle(dictionary, sample, parts[k]); });
    return result;
}

}  // namespace fasthdmr
