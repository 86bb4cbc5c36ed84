#include "features/lookup_tables.hpp"

#include <algorithm>

#include "kernels/kernels.hpp"
#include "support/interruption.hpp"

namespace fasthdmr {

namespace {

constexpr index kBoxesPerPoll = 4096;

}  // namespace

Tables::Tables(const Thresholds& thresholds, const std::vector<Box>& boxes) {
    std::map<std::int32_t, std::int32_t> axis_of;
    std::vector<std::vector<char>> is_edge;
    for (const Box& box : boxes)
        for (int s = 0; s < box.order; ++s) {
            const Box::Interval& interval = box.interval[s];
            const auto [entry, is_new] = axis_of.try_emplace(interval.variable, std::int32_t(axes_.size()));
            if (is_new) {
                axes_.push_back({interval.variable, {}});
                is_edge.emplace_back(thresholds.count(interval.variable) + 2, 0);
            }
            is_edge[entry->second][interval.low] = is_edge[entry->second][interval.high] = 1;
        }
    for (std::size_t k = 0; k < axes_.size(); ++k) {
        std::vector<char>& edges = is_edge[k];
        edges.front() = 0;
        edges.back() = 1;
        axes_[k].positions.resize(edges.size());
        std::int32_t position = 0;
        for (std::size_t rank = 0; rank < edges.size(); ++rank) axes_[k].positions[rank] = position += edges[rank];
    }
    // Boxes of one variable come last, because most can be added to a table of two variables.
    for (const std::int32_t order : {2, 1})
        for (const Box& box : boxes)
            if (box.order == order && !table_of_.count(variables(box))) lay_out_table(variables(box), axis_of);
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
    index added = 0;
    for (const Box& box : boxes) {
        if (++added % kBoxesPerPoll == 0) poll();
        if (box.order == 0) constant_ += box.value;
        else add_corners(box, tables_[table_of_.at(variables(box))]);
    }
    for (Table& table : tables_) accumulate(table);
    table_of_.clear();
}

int Tables::ranges(std::int32_t axis, const Box& box, Range (&out)[2]) const {
    if (axis < 0) return out[0] = {0, 1}, 1;
    const std::vector<std::int32_t>& positions = axes_[axis].positions;
    const std::int32_t missing = positions.back();
    for (int s = 0; s < box.order; ++s) {
        const Box::Interval& interval = box.interval[s];
        if (interval.variable != axes_[axis].variable) continue;
        int n = 0;
        if (interval.low < interval.high) out[n++] = {positions[interval.low], positions[interval.high]};
        if (interval.missing) out[n++] = {missing, missing + 1};
        return n;
    }
    return out[0] = {0, missing + 1}, 1;
}

// Adds the mixed differences of a box at its corners, from which `accumulate` computes its values.
void Tables::add_corners(const Box& box, Table& table) const {
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

// Prefix sums along both axes: from differences at the corners of boxes to values.
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
    const std::vector<std::int32_t>& positions = axes_[axis].positions;
    std::vector<double> result(axes_[axis].size(), 0.0);
    for (std::int32_t begin = 0, rank = 1; rank <= std::int32_t(positions.size()); ++rank) {
        if (rank < std::int32_t(positions.size()) && positions[rank] == positions[begin]) continue;
        result[positions[begin]] = marginals.probability(axes_[axis].variable, begin, rank);
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
    const index rows = block.rows();
    UnsetBuffer<std::int32_t> buffer(axes_.size() * rows);
    std::vector<const std::int32_t*> positions;  // by axis, of all rows
    for (const Axis& axis : axes_) {
        positions.push_back(block.ranks(axis.variable));
        if (axis.is_identity()) continue;
        std::int32_t* own = buffer.data() + (positions.size() - 1) * rows;
        kernels().take(axis.positions.data(), positions.back(), rows, own);
        positions.back() = own;
    }
    for (const Table& table : tables_)
        kernels().add_cells(table.cells.data(), table.stride, positions[table.axis[0]],
                            table.axis[1] < 0 ? nullptr : positions[table.axis[1]], rows, out);
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
    for (const Axis& axis : axes_) sum += axis.positions.size() * sizeof(std::int32_t);
    return sum;
}

}  // namespace fasthdmr
