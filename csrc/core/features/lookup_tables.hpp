// A sum of boxes, represented as lookup tables over the ranks of one or two variables each.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "features/leaf_boxes.hpp"
#include "forest/marginals.hpp"

namespace fasthdmr {

class Tables {
public:
    Tables() = default;
    // Determines the axes and sizes of the tables. Before use they must be filled with the same boxes.
    Tables(const Thresholds& thresholds, const std::vector<Box>& boxes);
    void fill(const std::vector<Box>& boxes);
    // For a single table: subtracts the marginal means along each axis, so that it becomes a component function under
    // the product of the marginals. Returns the variance.
    double centre(const Marginals& marginals);

    index count() const { return index(tables_.size()); }
    index axes() const { return index(axes_.size()); }
    std::uint64_t cells() const;
    std::uint64_t bytes() const;

    void add(const RankedBlock& block, double* out) const;

private:
    // The ranks of a variable, divided into intervals at the ends of all boxes. Missing values have the last position.
    struct Axis {
        std::int32_t variable;
        std::vector<std::int32_t> positions;  // by rank, the number of its interval
        std::int32_t size() const { return positions.back() + 1; }
        bool is_identity() const { return size() == std::int32_t(positions.size()); }  // positions are ranks
    };
    struct Table {
        std::int32_t axis[2];  // the second is -1 if the table has one variable
        std::int32_t stride;
        std::vector<double> cells;
    };
    using Variables = std::pair<std::int32_t, std::int32_t>;  // the second is -1 if there is one only
    static Variables variables(const Box& box) {
        return {box.interval[0].variable, box.order == 2 ? box.interval[1].variable : -1};
    }
    struct Range {
        std::int32_t begin, end;
    };
    void lay_out_table(Variables variables, const std::map<std::int32_t, std::int32_t>& axis_of);
    std::uint64_t cells_of(const Table& table) const;
    // The ranges of positions of an axis that a box covers: those of its interval, and that of missing values. Returns
    // their number.
    int ranges(std::int32_t axis, const Box& box, Range (&out)[2]) const;
    void add_corners(const Box& box, Table& table) const;
    void accumulate(Table& table) const;
    std::vector<double> probabilities(std::int32_t axis, const Marginals& marginals) const;

    std::vector<Axis> axes_;
    std::vector<Table> tables_;
    std::map<Variables, std::int32_t> table_of_;  // by the variables of boxes; empty once the tables are filled
    double constant_ = 0.0;
};

}  // namespace fasthdmr
