// A component of three and more variables as a sum of lookup tables. Boxes of a few trees have few distinct ends, so
// the table of some tens of boxes is small, and looking it up is faster than evaluating these boxes.
#pragma once

#include "forest/quantiser.hpp"
#include "product_measure/leaf_boxes.hpp"

namespace fasthdmr {

constexpr index kMostTableVariables = 6;      // the table of a single box has up to 4^6 cells
constexpr double kTableBytesPerBox = 4096.0;  // with larger tables a component remains a list of boxes

class BoxTable {
public:
    // The ranks of each variable, divided into intervals at the ends of some boxes. Missing values have the last one.
    class Axes {
    public:
        Axes(const Constraint* box, index order, const Marginals& marginals);
        // Divides at the ends of a further box, unless there are too many cells then.
        bool add(const Constraint* box);
        index order() const { return index(is_edge_.size()); }
        double bytes() const;

    private:
        friend class BoxTable;
        static index new_edges(const std::vector<char>& is_edge, const Constraint& constraint);

        std::vector<std::vector<char>> is_edge_;  // by variable and rank, whether an interval begins there
        std::vector<index> sizes_;                // numbers of intervals
    };

    // Boxes [begin, end) of a list, each indicator less its mean.
    BoxTable(const BoxList& boxes, index begin, index end, const Axes& axes, const Marginals& marginals);
    void add(const RankedBlock& block, double* out) const;

private:
    void add_corners(const Constraint* box, double value);
    void accumulate();
    void centre(const Marginals& marginals);

    std::vector<std::int32_t> variables_;
    std::vector<std::vector<std::int32_t>> positions_;  // by variable and rank, the number of the interval
    std::vector<index> strides_;
    std::vector<std::vector<std::int32_t>>
        offsets_;  // positions times the stride, in units of the last variable's size
    Buffer<double> cells_;
};

// Tables of the boxes of a component. None if the boxes have too many variables or too many distinct ends.
std::vector<BoxTable> tables_of(const BoxList& boxes, const Marginals& marginals);

}  // namespace fasthdmr
