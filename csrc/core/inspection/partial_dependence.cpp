#include "inspection/partial_dependence.hpp"

#include <algorithm>

#include "inspection/path_weights.hpp"
#include "support/parallel.hpp"

namespace fasthdmr {

namespace {

// An interval of a grid's axis: low <= place < high.
struct Side {
    std::int32_t low, high;
};

// The intervals of an axis that lead to each node of a tree: one, unless there are splits by sets of values.
struct Sides {
    std::vector<index> begin;  // by node
    std::vector<Side> all;

    const Side& of(index m, index k) const { return all[begin[m] + k]; }
    index count(index m) const { return (m + 1 < index(begin.size()) ? begin[m + 1] : index(all.size())) - begin[m]; }
};

// Positions of an axis' values among the thresholds of the forest, as it compares them.
class Cuts {
public:
    Cuts(const Comparison& comparison, const GridAxis& axis)
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

    Sides sides(const Forest& forest, index t) const {
        const Node* tree = forest.tree(t);
        Sides result{{0}, {{0, std::int32_t(values_.size())}}};
        result.begin.reserve(forest.tree_size(t));
        result.all.reserve(forest.tree_size(t));
        for (index m = 0; m < forest.tree_size(t); ++m) {
            if (Forest::is_leaf(tree, m)) continue;
            for (const bool right : {false, true}) {  // nodes are numbered in this order
                result.begin.push_back(index(result.all.size()));
                for (index k = 0, n = result.count(m); k < n; ++k)
                    append(forest, tree[m], right, result.of(m, k), result.all);
            }
        }
        return result;
    }

private:
    // What is left of an interval at a child.
    void append(const Forest& forest, const Node& node, bool right, Side side, std::vector<Side>& out) const {
        if (node.feature == variable_) {
            const auto cut = std::upper_bound(values_.begin(), values_.end(), node.threshold) - values_.begin();
            (right ? side.low : side.high) = std::clamp(std::int32_t(cut), side.low, side.high);
        } else if (node.feature >= forest.n_features() && forest.variable(node) == variable_) {
            return append_set(node, right, side, out);
        }
        out.push_back(side);
    }

    void append_set(const Node& node, bool right, const Side& side, std::vector<Side>& out) const {
        const std::vector<float>& outside = outside_[node.feature - first_set_];
        for (std::int32_t end = side.low; end < side.high;) {
            const std::int32_t begin = end;
            while (end < side.high && outside[end] == outside[begin]) ++end;
            if ((outside[begin] > node.threshold) == right) out.push_back({begin, end});
        }
    }

    std::int32_t variable_;
    index first_set_;  // the column of the first set of values
    std::vector<float> values_;
    std::vector<std::vector<float>> outside_;  // by set of the axis' variable, whether each value is outside
};

// A sum of boxes on a grid, for each output. Boxes are added as differences at their corners, and prefix sums along all
// axes give the values. Each axis has one more cell behind its end.
class Grid {
public:
    Grid(index n_outputs, std::vector<index> sizes) : sizes_(std::move(sizes)), strides_(sizes_.size()) {
        index cells = 1;
        for (std::size_t a = sizes_.size(); a-- > 0;) {
            strides_[a] = cells;
            cells *= sizes_[a] + 1;
        }
        per_output_ = cells;
        cells_.assign(n_outputs * cells, 0.0);
    }

    void add(const Side* sides, index output, double value) {
        for (std::size_t corner = 0; corner < std::size_t(1) << sizes_.size(); ++corner) {
            index cell = output * per_output_;
            double change = value;
            for (std::size_t a = 0; a < sizes_.size(); ++a) {
                const bool far = corner >> a & 1;
                cell += strides_[a] * (far ? sides[a].high : sides[a].low);
                if (far) change = -change;
            }
            cells_[cell] += change;
        }
    }

    std::vector<double> means(const std::vector<double>& offset, double weight) {
        for (std::size_t a = 0; a < sizes_.size(); ++a)
            for (index i = 0; i < index(cells_.size()); ++i) {
                if (i % kCellsAPoll == 0) poll();
                if (place(i, a) > 0) cells_[i] += cells_[i - strides_[a]];
            }
        std::vector<double> result;
        for (index i = 0; i < index(cells_.size()); ++i) {
            if (i % kCellsAPoll == 0) poll();
            bool inside = true;
            for (std::size_t a = 0; a < sizes_.size(); ++a) inside &= place(i, a) < sizes_[a];
            if (inside) result.push_back(offset[i / per_output_] + cells_[i] / weight);
        }
        return result;
    }

private:
    static constexpr index kCellsAPoll = 1 << 16;
    index place(index cell, std::size_t axis) const { return cell / strides_[axis] % (sizes_[axis] + 1); }

    std::vector<index> sizes_, strides_;
    index per_output_;
    std::vector<double> cells_;
};

// Path weights and box sides of the leaves of a tree.
struct TreeBoxes {
    std::vector<double> weights;
    std::vector<Sides> sides;  // by axis
};

// One pass over the rows, for a batch of grids whose path weights are small.
constexpr std::size_t kGridsOfAPass = 64;

class Pass {
public:
    Pass(const Forest& forest, const std::vector<GridAxis>& axes, const std::vector<index>* grids, index n_grids,
         index batch_bytes)
        : forest_(forest), batch_bytes_(batch_bytes), free_(0, {}), axes_(grids, grids + n_grids) {
        std::vector<Subspace> variables;
        std::vector<index> cut_of(axes.size(), -1);
        for (auto& grid : axes_) {
            std::vector<index> sizes;
            Subspace u;
            for (index& a : grid) {
                sizes.push_back(index(axes[a].values.size()));
                u.push_back(axes[a].variable);
                if (cut_of[a] < 0) {
                    cut_of[a] = index(cuts_.size());
                    cuts_.emplace_back(*forest.comparison(), axes[a]);
                }
                a = cut_of[a];
            }
            std::sort(u.begin(), u.end());
            variables.push_back(u);
            grids_.emplace_back(forest.n_outputs(), std::move(sizes));
        }
        free_ = FreeSets(forest.n_features(), variables);
        for (const Subspace& u : variables) inside_.push_back(free_.inside(u));
    }

    // First path weights of each tree; then every grid adds its boxes, tree after tree.
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
            free_.count() * index(sizeof(double)) + index(cuts_.size() * (sizeof(Side) + sizeof(index)));
        index last = first + 1, bytes = node_bytes * forest_.tree_size(first);
        while (last < forest_.n_trees() && (bytes += node_bytes * forest_.tree_size(last)) <= batch_bytes_) ++last;
        return last;
    }

    TreeBoxes boxes(index t, const WeightedRows& rows) const {
        TreeBoxes result{path_weights(forest_, t, rows, free_), {}};
        for (const Cuts& cuts : cuts_) result.sides.push_back(cuts.sides(forest_, t));
        return result;
    }

    void add_tree(index t, const TreeBoxes& tree, index g) {
        for (index m = 0; m < forest_.tree_size(t); ++m) {
            if (!Forest::is_leaf(forest_.tree(t), m)) continue;
            double weight = 0.0;
            for (const std::int32_t set : inside_[g]) weight += tree.weights[m * free_.count() + set];
            if (weight == 0.0) continue;
            add_leaf(t, m, tree, g, weight);
        }
    }

    // A box for each choice of one interval an axis.
    void add_leaf(index t, index m, const TreeBoxes& tree, index g, double weight) {
        const std::vector<index>& axes = axes_[g];
        index boxes = 1;
        for (const index a : axes) boxes *= tree.sides[a].count(m);
        const double* values = forest_.values(t) + m * forest_.width();
        for (index box = 0; box < boxes; ++box) {
            Side sides[kMostGridAxes];
            index rest = box;
            for (std::size_t a = 0; a < axes.size(); ++a) {
                const index count = tree.sides[axes[a]].count(m);
                sides[a] = tree.sides[axes[a]].of(m, rest % count);
                rest /= count;
            }
            for (index c = 0; c < forest_.width(); ++c)
                grids_[g].add(sides, forest_.width() > 1 ? c : forest_.tree_output(t), values[c] * weight);
        }
    }

    const Forest& forest_;
    index batch_bytes_;
    FreeSets free_;
    std::vector<Cuts> cuts_;
    std::vector<std::vector<index>> axes_;  // of a grid: numbers of cuts
    std::vector<std::vector<std::int32_t>> inside_;
    std::vector<Grid> grids_;
};

void check(const Forest& forest, const Table& x, const std::vector<GridAxis>& axes,
           const std::vector<std::vector<index>>& grids) {
    if (x.columns != forest.n_features()) throw Error("x and the forest have different numbers of features");
    for (const GridAxis& axis : axes) {
        if (axis.variable < 0 || axis.variable >= forest.n_features())
            throw Error("no such feature: " + std::to_string(axis.variable));
        const std::vector<double>& v = axis.values;
        const bool has_nan = std::any_of(v.begin(), v.end(), [](double value) { return std::isnan(value); });
        if (v.empty() || has_nan || !std::is_sorted(v.begin(), v.end()))
            throw Error("the values of an axis must be numbers that rise");
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

// Rows of a block: many, because every block adds boxes to all grids; fewer where they are long.
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
    for (std::size_t first = 0; first < grids.size(); first += kGridsOfAPass) {
        const index n_grids = index(std::min(kGridsOfAPass, grids.size() - first));
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
