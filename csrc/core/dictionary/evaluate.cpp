// Evaluates component functions at rows: linear combinations of the columns of a block.
#include <algorithm>

#include "dictionary/dictionary.hpp"
#include "kernels/kernels.hpp"
#include "support/parallel.hpp"

namespace fasthdmr {

namespace {

constexpr index kComponentsPerPoll = 16;  // a single one may take less time than a poll

// Of the columns at a block of rows.
constexpr index kFeatureBytes = index(64) << 20, kFewestRows = 64;

}  // namespace

void evaluate(const BlockColumns& columns, const Table& x, const Components& components, double* out, int n_threads) {
    if (x.columns != columns.input_columns()) throw Error("x has another number of columns than the forests read");
    // Only the columns with a coefficient in some component are computed.
    std::vector<index> used(components.column.begin(), components.column.end());
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    std::vector<index> slot(columns.count() + 1, 0);
    for (index k = 0; k < index(used.size()); ++k) slot[used[k]] = k;

    const index rows = rows_within(kFeatureBytes, index(used.size() * sizeof(double)), kFewestRows, kBlockRows);
    parallel_for((x.rows + rows - 1) / rows, n_threads, [&](index task) {
        const index begin = task * rows, n = std::min(rows, x.rows - begin);
        InputBlock block(columns.comparison());
        block.load(x, {begin, 1, n});
        Buffer<double> features(used.size() * n);
        std::vector<double*> own_columns(columns.count(), nullptr);
        for (index k = 0; k < index(used.size()); ++k) {
            double* feature = features.data() + k * n;
            if (used[k] == 0) std::fill_n(feature, n, 1.0);
            else own_columns[used[k] - 1] = feature;
        }
        columns.fill(block, own_columns.data());
        for (index c = 0; c < components.count(); ++c) {
            if (c % kComponentsPerPoll == 0) poll();
            double* sum = out + c * x.rows + begin;
            std::fill(sum, sum + n, 0.0);
            for (index e = components.begin[c]; e < components.begin[c + 1]; ++e)
                kernels().add_scaled(components.weight[e], features.data() + slot[components.column[e]] * n, n, sum);
        }
    });
}

}  // namespace fasthdmr
