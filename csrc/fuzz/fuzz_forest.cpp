// A libFuzzer target: generates valid and damaged forests from bytes. Valid ones are evaluated by all algorithms and
// compared with a slow traversal. Choices come first, so that tests/fuzz/make_seeds.py can write them.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "bytes.hpp"
#include "dictionary/qr_pass.hpp"
#include "dictionary/tree_columns.hpp"
#include "evaluated.hpp"
#include "features/node_features.hpp"
#include "features/tree_features.hpp"
#include "harness.hpp"
#include "trees.hpp"

namespace fasthdmr {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "does not hold: %s\n", what);
    std::abort();
}

std::vector<double> pool_of(Bytes& bytes) {
    std::vector<double> pool = bytes.happens(0.5) ? awkward_values() : std::vector<double>{};
    const index more = 1 + bytes.below(60);
    for (index k = 0; k < more; ++k) pool.push_back(bytes.uniform(-1.0, 1.0));
    return pool;
}

// Deep and shallow trees. Some forests are large enough for lookup tables, and some have more thresholds than 16 bits
// can number.
Trees grow(Bytes& bytes, const std::vector<double>& pool) {
    const index features = 1 + bytes.below(5), outputs = 1 + bytes.below(3), width = bytes.happens(0.3) ? outputs : 1;
    Trees trees(features, outputs, width);
    TreeGrower grower(bytes, features, width, pool);
    const int deepest = int(bytes.below(10));
    const index count = bytes.below(40), copies = bytes.happens(0.3) ? 30 : 1;
    const bool many_thresholds = bytes.below(128) == 127;  // it takes long, and the number after the last byte is 0
    for (index t = 0; t < count; ++t) {
        const Tree tree = grower.grow(int(bytes.below(deepest + 1)));
        for (index copy = 0; copy < copies; ++copy) trees.add(tree, bytes.below(outputs));
    }
    if (many_thresholds) {
        const index variable = bytes.below(features);
        for (int k = 0; k < 65537; ++k)
            trees.add({split(variable, double(k) / 65536.0, 1, 2), leaf(std::vector<double>(width, 0.0)),
                       leaf(std::vector<double>(width, 1.0))});
    }
    for (double& v : trees.offset) v = bytes.uniform(-1.0, 1.0);
    return trees;
}

// Changes one number. The forest may stay valid by chance.
void damage(Bytes& bytes, Trees& trees) {
    if (trees.left.empty()) return;
    const index m = bytes.below(index(trees.left.size())), wrong = bytes.below(300) - 20;
    switch (bytes.below(6)) {
        case 0:
            trees.left[m] = wrong;
            break;
        case 1:
            trees.right[m] = wrong;
            break;
        case 2:
            trees.feature[m] = wrong;
            break;
        case 3:
            trees.threshold[m] = kNan;
            break;
        case 4:
            trees.tree_offsets[bytes.below(index(trees.tree_offsets.size()))] = wrong;
            break;
        default:
            trees.tree_output[bytes.below(trees.n_trees())] = wrong;
    }
}

// Large forests get few rows, so that no input takes minutes.
Matrix rows_of(Bytes& bytes, const std::vector<double>& pool, const Trees& trees) {
    constexpr index kMostSteps = 200'000;  // from a root to a leaf
    const index some_rows = bytes.below(2) ? bytes.below(70) : bytes.below(3) * kBlockRows + bytes.below(3);
    Matrix x(std::min(some_rows, 1 + kMostSteps / (1 + trees.n_trees())), trees.n_features);
    const double missing = bytes.happens(0.5) ? 0.1 : 0.0;
    std::vector<double> some;  // repeated, because there are not enough bytes for all values
    for (int k = 0; k < 97; ++k) {
        const double v = bytes.one_of(pool);
        some.push_back(bytes.happens(missing) ? kNan : bytes.happens(0.3) ? std::nextafter(float(v), 9.0f) : v);
    }
    for (std::size_t k = 0; k < x.values.size(); ++k) x.values[k] = some[(k * k + k / 89) % some.size()];
    return x;
}

// Sums in different orders differ by rounding. `scale` is the sum of the absolute values of the terms.
bool close(const std::vector<double>& a, const std::vector<double>& b, double scale) {
    for (std::size_t i = 0; i < a.size(); ++i)
        if (!(std::abs(a[i] - b[i]) <= 1e-13 * scale)) return false;
    return a.size() == b.size();
}

template <class Kind>
std::vector<double> every_way(const std::shared_ptr<const Forest>& forest, const Matrix& x, double scale) {
    const std::vector<double> one = evaluated(Kind(forest, 1), x.table(), 1);
    require(harness::same_bits(one, evaluated(Kind(forest, 3), x.table(), 3)), "the same bits on three threads");
    require(close(one, evaluated(Kind(forest, 1, 0), x.table(), 1), scale), "tables agree with the traversal");
    const Kind tight(forest, 1, 1000);
    require(tight.table_bytes() <= 1000, "tables respect the memory budget");
    require(close(one, evaluated(tight, x.table(), 1), scale), "some tables agree with the traversal");
    return one;
}

// The constant and the columns of an output must sum to the model.
void check_columns(const Trees& trees, const std::shared_ptr<const Forest>& forest, const Matrix& x,
                   const std::vector<double>& desired, double scale) {
    for (const Sorting sorting : {Sorting::by_tree, Sorting::by_node})
        for (index output = 0; output < trees.n_outputs; ++output) {
            const TreeColumns columns(parts({forest}, output, sorting), 2);
            const index b = index(columns.columns().size());
            Components sum;
            for (index j = 0; j <= b; ++j) {
                sum.column.push_back(j);
                sum.weight.push_back(j ? 1.0 : columns.constants()[0]);
            }
            sum.begin.push_back(b + 1);
            std::vector<double> total(x.rows);
            evaluate(columns, x.table(), sum, total.data(), 2);
            const auto begin = desired.begin() + output * x.rows;
            require(close(total, {begin, begin + x.rows}, scale), "columns sum to the model");
        }
}

void check(const Trees& trees, const std::shared_ptr<const Forest>& forest, const Matrix& x) {
    double scale = 1.0;
    for (const double v : trees.value)
        if (!std::isnan(v)) scale += std::abs(v);
    const std::vector<double> desired = trees.predict(x);
    require(close(every_way<Prediction>(forest, x, scale), desired, scale), "the prediction agrees with the traversal");
    every_way<TreeFeatures>(forest, x, scale);
    every_way<NodeFeatures>(forest, x, scale);
    check_columns(trees, forest, x, desired, scale);
}

}  // namespace

}  // namespace fasthdmr

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace fasthdmr;
    Bytes bytes(data, size);
    const bool by_sets = bytes.happens(0.3), is_damaged = bytes.happens(0.3);
    const std::vector<double> pool = pool_of(bytes);
    Trees trees = grow(bytes, pool);
    const Matrix x = rows_of(bytes, pool, trees);
    if (by_sets) trees.split_by_sets(bytes, pool);
    if (is_damaged) damage(bytes, trees);
    std::shared_ptr<const Forest> forest;
    try {
        forest = std::make_shared<const Forest>(trees.arrays());
    } catch (const Error&) {
        require(is_damaged, "a valid forest is accepted");
        return 0;
    }
    check(trees, forest, x);
    return 0;
}
