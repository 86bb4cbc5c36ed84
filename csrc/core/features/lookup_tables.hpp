// A sum of boxes as lookup tables over the ranks of one or two variables.
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
    // Lays out the tables. They must be filled with the same boxes before use.
    Tables(const Thresholds& thresholds, const std::vector<Box>& boxes);
    void fill(const std::vector<Box>& boxes);
    // Subtracts the marginal means along each axis of a single table: it becomes a component function under the product
    // of the marginals. Returns its variance.
    double centre(const Marginals& marginals);

    index count() const { return index(tables_.size()); }
    index axes() const { return index(axes_.size()); }
    std::uint64_t cells() const;
    std::uint64_t bytes() const;

    void add(const RankedBlock& block, double* out) const;

private:
    // A variable divided into intervals at the ends of boxes. Missing values have the last place.
    struct Axis {
        std::int32_t variable;
        std::vector<std::int32_t> places;  // by rank
        std::int32_t size() const { return places.back() + 1; }
        bool cuts_everywhere() const { return size() == std::int32_t(places.size()); }  // places are ranks
    };
    struct Table {
        std::int32_t axis[2];  // the second one -1 if there is none
        std::int32_t stride;
        std::vector<double> cells;
    };
    using Variables = std::pair<std::int32_t, std::int32_t>;  // the second one -1 if there is one only
    static Variables variables(const Box& box) {
        return {box.side[0].variable, box.sides == 2 ? box.side[1].variable : -1};
    }
    void lay_out_table(Variables variables, const std::map<std::int32_t, std::int32_t>& axis_of);
    std::uint64_t cells_of(const Table& table) const;
    void accumulate(Table& table) const;
    std::vector<double> probabilities(std::int32_t axis, const Marginals& marginals) const;

    std::vector<Axis> axes_;
    std::vector<Table> tables_;
    std::map<Variables, std::int32_t> table_of_;  // by the variables of boxes; known until the tables are filled
    double constant_ = 0.0;
};

}  // namespace fasthdmr
