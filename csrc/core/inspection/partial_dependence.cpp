#include "inspection/partial_dependence.hpp"

#include <algorithm>
#include <cmath>

#include "inspection/path_weights.hpp"
#include "support/parallel.hpp"

namespace fasthdmr {

namespace {

// An interval of the points of a grid's axis: low <= k < high.
struct Interval {
    std::int32_t low, high;
};

// For each node of a tree, the intervals of an axis whose values satisfy the splits on its path: one interval, unless
// there are splits by sets of values.
struct NodeIntervals {
    std::vector<index> begin, end;  // by node
    std::vector<Interval> all;

    const Interval& of(index m, index k) const { return all[begin[m] + k]; }
    index count(index m) const { return end[m] - begin[m]; }
};

// The values of an axis as codes of the forest's comparison, and how splits divide them.
class AxisCodes {
public:
    AxisCodes(const Comparison& comparison, const GridAxis& axis)
        : variable_(axis.variable), first_set_(comparison.n_features()) {
        for (const double v : axis.values) {
            values_.push_back(comparison.code(variable_, v));
            if (std::isnan(values_.back()))
                throw Error("The value " + std::to_string(v) + " of a grid along variable " +
                            std::to_string(variable_) + " is a missing value to the model: leave it out of the grid.");
        }
        outside_.resize(comparison.columns() - first_set_);
        for (index j = first_set_; j < comparison.columns(); ++j) {
            if (comparison.variable(j) != variable_) continue;
            std::vector<float>& outside = outside_[j - first_set_];
            outside.resize(values_.size());
            comparison.load_set(j, values_.data(), index(values_.size()), outside.data());
        }
    }

    NodeIntervals intervals(const Forest& forest, index t) const {
        const Node* tree = forest.tree(t);
        const index size = forest.tree_size(t);
        NodeIntervals result{std::vector<index>(size), std::vector<index>(size), {{0, std::int32_t(values_.size())}}};
        result.all.reserve(size);
        result.end[0] = 1;
        for (index m = 0; m < size; ++m) {
            if (Forest::is_leaf(tree, m)) continue;
            for (const bool right : {false, true}) {
                const index child = tree[m].left + right;
                result.begin[child] = index(result.all.size());
                for (index k = 0, n = result.count(m); k < n; ++k)
                    append(forest, tree[m], right, result.of(m, k), result.all);
                result.end[child] = index(result.all.size());
            }
        }
        return result;
    }

private:
    // Appends the part of an interval that goes to a child.
    void append(const Forest& forest, const Node& node, bool right, Interval interval,
                std::vector<Interval>& out) const {
        if (node.feature == variable_) {
            const auto cut = std::upper_bound(values_.begin(), values_.end(), node.threshold) - values_.begin();
            (right ? interval.low : interval.high) = std::clamp(std::int32_t(cut), interval.low, interval.high);
        } else if (node.feature >= forest.n_features() && forest.variable(node) == variable_) {
            return append_set(node, right, interval, out);
        }
        out.push_back(interval);
    }

    void append_set(const Node& node, bool right, const Interval& interval, std::vector<Interval>& out) const {
        const std::vector<float>& outside = outside_[node.feature - first_set_];
        for (std::int32_t end = interval.low; end < interval.high;) {
            const std::int32_t begin = end;
            while (end < interval.high && outside[end] == outside[begin]) ++end;
            if ((outside[begin] > node.threshold) == right) out.push_back({begin, end});
        }
    }

    std::int32_t variable_;
    index first_set_;  // the column of the first set of values
    std::vector<float> values_;
    std::vector<std::vector<float>> outside_;  // by set of the axis' variable: 1 for values outside the set
};

// A sum with the rounding errors of its additions. Thus large numbers that cancel leave no error behind.
class Sum {
public:
    void add(double number) {
        const double sum = sum_ + number, added = sum - sum_;
        errors_ += (sum_ - (sum - added)) + (number - added);
        sum_ = sum;
    }
    void add(const Sum& other) {
        add(other.sum_);
        errors_ += other.errors_;
    }
    double value() const { return std::isfinite(sum_) ? sum_ + errors_ : sum_; }

private:
    double sum_ = 0.0, errors_ = 0.0;
};

// A sum of boxes on a grid, for each output. A box is added as differences at its corners, and prefix sums along all
// axes give the values. Each axis has one additional cell at its end, for corners there.
class Grid {
public:
    Grid(index n_outputs, std::vector<index> sizes) : sizes_(std::move(sizes)), strides_(sizes_.size()) {
        index cells = 1;
        for (std::size_t a = sizes_.size(); a-- > 0;) {
            strides_[a] = cells;
            cells *= sizes_[a] + 1;
        }
        per_output_ = cells;
        cells_.resize(n_outputs * cells);
    }

    void add(const Interval* box, index output, double value) {
        for (std::size_t corner = 0; corner < std::size_t(1) << sizes_.size(); ++corner) {
            index cell = output * per_output_;
            double change = value;
            for (std::size_t a = 0; a < sizes_.size(); ++a) {
                const bool far = corner >> a & 1;
                cell += strides_[a] * (far ? box[a].high : box[a].low);
                if (far) change = -change;
            }
            cells_[cell].add(change);
        }
    }

    std::vector<double> means(const std::vector<double>& offset, double weight) {
        for (std::size_t a = 0; a < sizes_.size(); ++a)
            for (index i = 0; i < index(cells_.size()); ++i) {
                if (i % kCellsPerPoll == 0) poll();
                if (position(i, a) > 0) cells_[i].add(cells_[i - strides_[a]]);
            }
        std::vector<double> result;
        for (index i = 0; i < index(cells_.size()); ++i) {
            if (i % kCellsPerPoll == 0) poll();
            bool inside = true;
            for (std::size_t a = 0; a < sizes_.size(); ++a) inside &= position(i, a) < sizes_[a];
            if (inside) result.push_back(offset[i / per_output_] + cells_[i].value() / weight);
        }
        return result;
    }

private:
    static constexpr index kCellsPerPoll = 1 << 16;
    index position(index cell, std::size_t axis) const { return cell / strides_[axis] % (sizes_[axis] + 1); }

    std::vector<index> sizes_, strides_;
    index per_output_;
    std::vector<Sum> cells_;
};

// Path weights and intervals of the leaves of a tree.
struct TreeBoxes {
    std::vector<double> weights;
    std::vector<NodeIntervals> intervals;  // by axis
};

// The number of path weights grows with the number of grids, so a pass is limited to this many.
constexpr std::size_t kGridsPerPass = 64;

// Sums of the boxes of all trees on some grids, over one pass over the rows.
class Pass {
public:
    Pass(const Forest& forest, const std::vector<GridAxis>& axes, const std::vector<index>* grids, index n_grids,
         index batch_bytes)
        : forest_(forest), batch_bytes_(batch_bytes), free_(0, {}), axes_(grids, grids + n_grids) {
        std::vector<Subspace> variables;
        std::vector<index> number_of(axes.size(), -1);
        for (auto& grid : axes_) {
            std::vector<index> sizes;
            Subspace u;
            for (index& a : grid) {
                sizes.push_back(index(axes[a].values.size()));
                u.push_back(axes[a].variable);
                if (number_of[a] < 0) {
                    number_of[a] = index(codes_.size());
                    codes_.emplace_back(*forest.comparison(), axes[a]);
                }
                a = number_of[a];
            }
            std::sort(u.begin(), u.end());
            variables.push_back(u);
            grids_.emplace_back(forest.n_outputs(), std::move(sizes));
        }
        free_ = FreeSets(forest.n_features(), variables);
        for (const Subspace& u : variables) subsets_.push_back(free_.subsets(u));
    }

    // Trees are processed in batches: first the path weights of each tree, then the boxes of all trees on each grid.
    void add(const WeightedRows& rows, int n_threads) {
        for (index first = 0; first < forest_.n_trees();) {
            const index last = batch_end(first);
            std::vector<TreeBoxes> trees(last - first);
            parallel_for(last - first, n_threads, [&](index k) { trees[k] = boxes(first + k, rows); });
            parallel_for(index(grids_.size()), n_threads, [&](index g) {
                for (index t = first; t < last; ++t) {
                    poll();
                    add_tree(t, trees[t - first], g);
                }
            });
            first = last;
        }
    }

    std::vector<double> means(index grid, double weight) { return grids_[grid].means(forest_.offset(), weight); }

private:
    index batch_end(index first) const {
        const index node_bytes =
            free_.count() * index(sizeof(double)) + index(codes_.size() * (sizeof(Interval) + 2 * sizeof(index)));
        index last = first + 1, bytes = node_bytes * forest_.tree_size(first);
        while (last < forest_.n_trees() && (bytes += node_bytes * forest_.tree_size(last)) <= batch_bytes_) ++last;
        return last;
    }

    TreeBoxes boxes(index t, const WeightedRows& rows) const {
        TreeBoxes result{path_weights(forest_, t, rows, free_), {}};
        for (const AxisCodes& codes : codes_) result.intervals.push_back(codes.intervals(forest_, t));
        return result;
    }

    void add_tree(index t, const TreeBoxes& tree, index g) {
        for (index m = 0; m < forest_.tree_size(t); ++m) {
            if (!Forest::is_leaf(forest_.tree(t), m)) continue;
            double weight = 0.0;
            for (const std::int32_t set : subsets_[g]) weight += tree.weights[m * free_.count() + set];
            if (weight == 0.0) continue;
            add_leaf(t, m, tree, g, weight);
        }
    }

    // Adds a box for each choice of one interval per axis.
    void add_leaf(index t, index m, const TreeBoxes& tree, index g, double weight) {
        const std::vector<index>& axes = axes_[g];
        index boxes = 1;
        for (const index a : axes) boxes *= tree.intervals[a].count(m);
        const double* values = forest_.values(t) + m * forest_.width();
        for (index box = 0; box < boxes; ++box) {
            Interval intervals[kMostGridAxes];
            index rest = box;
            for (std::size_t a = 0; a < axes.size(); ++a) {
                const NodeIntervals& all = tree.intervals[axes[a]];
                const index count = all.count(m);
                intervals[a] = all.of(m, rest % count);
                rest /= count;
            }
            for (index c = 0; c < forest_.width(); ++c)
                grids_[g].add(intervals, forest_.width() > 1 ? c : forest_.tree_output(t), values[c] * weight);
        }
    }

    const Forest& forest_;
    index batch_bytes_;
    FreeSets free_;
    std::vector<AxisCodes> codes_;                    // by axis of these grids
    std::vector<std::vector<index>> axes_;            // by grid
    std::vector<std::vector<std::int32_t>> subsets_;  // by grid: the free sets that are subsets of its variables
    std::vector<Grid> grids_;
};

void check(const Forest& forest, const Table& x, const std::vector<GridAxis>& axes,
           const std::vector<std::vector<index>>& grids) {
    if (!forest.comparison()->is_of_input()) throw Error("partial dependence needs features that are the columns of x");
    if (x.columns != forest.n_features()) throw Error("x and the forest have different numbers of features");
    for (const GridAxis& axis : axes) {
        if (axis.variable < 0 || axis.variable >= forest.n_features())
            throw Error("no such feature: " + std::to_string(axis.variable));
        const std::vector<double>& v = axis.values;
        const bool has_nan = std::any_of(v.begin(), v.end(), [](double value) { return std::isnan(value); });
        if (v.empty() || has_nan || !std::is_sorted(v.begin(), v.end()))
            throw Error("the values of an axis must be ascending numbers");
    }
    for (const auto& grid : grids) {
        if (grid.empty() || grid.size() > kMostGridAxes) throw Error("a grid must have one to four axes");
        Subspace variables;
        for (const index a : grid) {
            if (a < 0 || a >= index(axes.size())) throw Error("no such axis: " + std::to_string(a));
            variables.push_back(axes[a].variable);
        }
        std::sort(variables.begin(), variables.end());
        if (std::adjacent_find(variables.begin(), variables.end()) != variables.end())
            throw Error("the axes of a grid must be of different variables");
    }
}

// Rows per block. Blocks are large, because every block adds boxes to all grids, but limited in memory.
index block_rows(index n_features) { return std::clamp(index(1 << 24) / n_features, index(1) << 10, index(1) << 14); }

}  // namespace

std::vector<std::vector<double>> partial_dependence(const Forest& forest, const Table& x, const double* weight,
                                                    const std::vector<GridAxis>& axes,
                                                    const std::vector<std::vector<index>>& grids, int n_threads,
                                                    index batch_bytes) {
    check(forest, x, axes, grids);
    const Rows all{0, 1, x.rows, nullptr};
    const index block = block_rows(forest.columns());
    std::vector<std::vector<double>> result;
    WeightedRows rows;
    for (std::size_t first = 0; first < grids.size(); first += kGridsPerPass) {
        const index n_grids = index(std::min(kGridsPerPass, grids.size() - first));
        Pass pass(forest, axes, grids.data() + first, n_grids, batch_bytes);
        double total = 0.0;
        for (index start = 0; start < x.rows; start += block) {
            rows.load(*forest.comparison(), x, weight, all.slice(start, std::min(block, x.rows - start)), n_threads);
            for (const double w : rows.weight) total += w;
            pass.add(rows, n_threads);
        }
        for (index g = 0; g < n_grids; ++g) result.push_back(pass.means(g, total));
    }
    return result;
}

}  // namespace fasthdmr
