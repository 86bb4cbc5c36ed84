#include "features/lookup_tables.hpp"

#include <algorithm>

#include "kernels/kernels.hpp"
#include "support/interruption.hpp"

namespace fasthdmr {

namespace {

constexpr index kBoxesAPoll = 4096;

}  // namespace

Tables::Tables(const Thresholds& thresholds, const std::vector<Box>& boxes) {
    std::map<std::int32_t, std::int32_t> axis_of;
    std::vector<std::vector<char>> is_edge;
    for (const Box& box : boxes)
        for (int s = 0; s < box.sides; ++s) {
            const Box::Side& side = box.side[s];
            const auto [entry, is_new] = axis_of.try_emplace(side.variable, std::int32_t(axes_.size()));
            if (is_new) {
                axes_.push_back({side.variable, {}});
                is_edge.emplace_back(thresholds.count(side.variable) + 2, 0);
            }
            is_edge[entry->second][side.low] = is_edge[entry->second][side.high] = 1;
        }
    for (std::size_t k = 0; k < axes_.size(); ++k) {
        std::vector<char>& edges = is_edge[k];
        edges.front() = 0;
        edges.back() = 1;
        axes_[k].places.resize(edges.size());
        std::int32_t place = 0;
        for (std::size_t rank = 0; rank < edges.size(); ++rank) axes_[k].places[rank] = place += edges[rank];
    }
    // Boxes of one variable come last: most fit into a table of two variables.
    for (const std::int32_t sides : {2, 1})
        for (const Box& box : boxes)
            if (box.sides == sides && !table_of_.count(variables(box))) lay_out_table(variables(box), axis_of);
}

void Tables::lay_out_table(Variables variables, const std::map<std::int32_t, std::int32_t>& axis_of) {
    const std::int32_t number = std::int32_t(tables_.size()), a = axis_of.at(variables.first);
    const std::int32_t b = variables.second < 0 ? -1 : axis_of.at(variables.second);
    tables_.push_back({{a, b}, b < 0 ? 1 : axes_[b].size(), {}});
    table_of_.emplace(variables, number);
    table_of_.try_emplace({variables.first, -1}, number);
    table_of_.try_emplace({variables.second, -1}, number);
}

void Tables::fill(const std::vector<Box>& boxes) {
    for (Table& table : tables_) table.cells.assign(cells_of(table), 0.0);
    struct Range {
        std::int32_t begin, end;
    };
    // The intervals of an axis that a box covers: its ranks, and the place of missing values.
    const auto ranges = [&](std::int32_t axis, const Box& box, Range(&out)[2]) {
        if (axis < 0) return out[0] = {0, 1}, 1;
        const std::vector<std::int32_t>& places = axes_[axis].places;
        const std::int32_t missing = places.back();
        for (int s = 0; s < box.sides; ++s) {
            const Box::Side& side = box.side[s];
            if (side.variable != axes_[axis].variable) continue;
            int n = 0;
            if (side.low < side.high) out[n++] = {places[side.low], places[side.high]};
            if (side.missing) out[n++] = {missing, missing + 1};
            return n;
        }
        return out[0] = {0, missing + 1}, 1;
    };
    index added = 0;
    for (const Box& box : boxes) {
        if (++added % kBoxesAPoll == 0) poll();
        if (box.sides == 0) {
            constant_ += box.value;
            continue;
        }
        Table& table = tables_[table_of_.at(variables(box))];
        const std::int32_t rows = index(table.cells.size()) / table.stride;
        Range a[2], b[2];
        const int n_a = ranges(table.axis[0], box, a), n_b = ranges(table.axis[1], box, b);
        const auto add = [&](std::int32_t i, std::int32_t j, double change) {
            if (i < rows && j < table.stride) table.cells[index(i) * table.stride + j] += change;
        };
        for (int p = 0; p < n_a; ++p)
            for (int q = 0; q < n_b; ++q) {
                add(a[p].begin, b[q].begin, box.value);
                add(a[p].begin, b[q].end, -box.value);
                add(a[p].end, b[q].begin, -box.value);
                add(a[p].end, b[q].end, box.value);
            }
    }
    for (Table& table : tables_) accumulate(table);
    table_of_.clear();
}

// Prefix sums along the axes: from differences at the corners of boxes to values.
void Tables::accumulate(Table& table) const {
    const index columns = table.stride, rows = index(table.cells.size()) / columns;
    double* cells = table.cells.data();
    for (index i = 0; i < rows; ++i) {
        double* row = cells + i * columns;
        for (index j = 1; j < columns; ++j) row[j] += row[j - 1];
        if (i > 0)
            for (index j = 0; j < columns; ++j) row[j] += row[j - columns];
    }
}

std::vector<double> Tables::probabilities(std::int32_t axis, const Marginals& marginals) const {
    if (axis < 0) return {1.0};
    const std::vector<std::int32_t>& places = axes_[axis].places;
    std::vector<double> result(axes_[axis].size(), 0.0);
    for (std::int32_t begin = 0, rank = 1; rank <= std::int32_t(places.size()); ++rank) {
        if (rank < std::int32_t(places.size()) && places[rank] == places[begin]) continue;
        result[places[begin]] = marginals.probability(axes_[axis].variable, begin, rank);
        begin = rank;
    }
    return result;
}

double Tables::centre(const Marginals& marginals) {
    Table& table = tables_.front();
    const std::vector<double> down = probabilities(table.axis[0], marginals);
    const std::vector<double> across = probabilities(table.axis[1], marginals);
    const index rows = index(down.size()), columns = table.stride;
    std::vector<double> means(columns, 0.0);
    for (index i = 0; i < rows; ++i) {
        double* row = table.cells.data() + i * columns;
        double mean = 0.0;
        if (table.axis[1] >= 0)
            for (index j = 0; j < columns; ++j) mean += across[j] * row[j];
        for (index j = 0; j < columns; ++j) means[j] += down[i] * (row[j] -= mean);
    }
    double variance = 0.0;
    for (index i = 0; i < rows; ++i) {
        double* row = table.cells.data() + i * columns;
        double square = 0.0;
        for (index j = 0; j < columns; ++j) {
            row[j] -= means[j];
            square += across[j] * row[j] * row[j];
        }
        variance += down[i] * square;
    }
    return variance;
}

void Tables::add(const RankedBlock& block, double* out) const {
    if (tables_.empty() && constant_ == 0.0) return;
    Buffer<std::int32_t> places(axes_.size() * kBlockRows);
    const index rows = block.rows();
    std::vector<const std::int32_t*> of;
    for (const Axis& axis : axes_) {
        of.push_back(block.ranks(axis.variable));
        if (axis.cuts_everywhere()) continue;
        std::int32_t* taken = places.data() + (of.size() - 1) * kBlockRows;
        kernels().take(axis.places.data(), of.back(), rows, taken);
        of.back() = taken;
    }
    for (const Table& table : tables_)
        kernels().add_cells(table.cells.data(), table.stride, of[table.axis[0]],
                            table.axis[1] < 0 ? nullptr : of[table.axis[1]], rows, out);
    if (constant_ != 0.0)
        for (index r = 0; r < rows; ++r) out[r] += constant_;
}

std::uint64_t Tables::cells_of(const Table& table) const {
    return std::uint64_t(axes_[table.axis[0]].size()) * std::uint64_t(table.stride);
}

std::uint64_t Tables::cells() const {
    std::uint64_t sum = 0;
    for (const Table& table : tables_) sum += cells_of(table);
    return sum;
}

std::uint64_t Tables::bytes() const {
    std::uint64_t sum = cells() * sizeof(double);
    for (const Axis& axis : axes_) sum += axis.places.size() * sizeof(std::int32_t);
    return sum;
}

}  // namespace fasthdmr
