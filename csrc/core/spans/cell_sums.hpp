// Gram blocks of spans of three variables, from sums over the rows of each cell of products of functions. A cell
// is a product of intervals, one of each variable.
#pragma once

#include "kernels/cell_records.hpp"
#include "spans/tensor_sums.hpp"

namespace fasthdmr {

// The product bases whose sums determine the Gram blocks of pairs of spans, which have the same three variables.
// In spans of several variables, each variable must have the same axis; some pair must have a variable in common, and
// none more than one. Empty if these conditions do not hold.
std::vector<index> cell_bases(const Spans& spans, ProductBases& bases, const SpanPairs& pairs);

// The intervals of product bases in which the rows of a panel lie, and the coordinates there.
class CellCoordinates {
public:
    static constexpr index kRowBytes = sizeof(double) + sizeof(std::int32_t);  // of a basis
    static constexpr index kMostRows = index(1) << 16;

    // For the bases with the numbers `used`.
    CellCoordinates(const ProductBases& bases, std::vector<index> used, index capacity);
    void load(const Table& x, const Rows& rows, int n_threads);

    index rows() const { return rows_; }
    const double* coordinates(index number) const { return coordinates_.data() + place_[number] * capacity_; }
    const std::int32_t* cells(index number) const { return cells_.data() + place_[number] * capacity_; }

private:
    const ProductBases& bases_;
    std::vector<index> used_, place_;
    index capacity_, rows_ = 0;
    Buffer<double> coordinates_;
    std::vector<std::int32_t> cells_;
};

class CellSums {
public:
    // With the bases of the variables, in their order. All products with at most one function that is not a cubic
    // polynomial are summed.
    CellSums(const Spans& spans, const ProductBases& bases, std::vector<index> numbers);
    // Adds the weighted sums over a panel of rows.
    void add(const CellCoordinates& panel, const double* weight);
    // The Gram block of two spans, (columns of a, columns of b), row-major.
    std::vector<double> products(const Span& a, const Span& b) const;

private:
    struct Range {  // of functions
        int first, end;
    };

    const ProductBasis& basis(index k) const { return bases_[numbers_[k]]; }
    void add_tiles(int variable, Range second, Range third);
    std::vector<std::int32_t> cells_of(const CellCoordinates& panel) const;
    Buffer<double> functions(const std::vector<int>& runs, const std::vector<index>& order) const;

    const Spans& spans_;
    const ProductBases& bases_;
    std::vector<index> numbers_, strides_;  // strides of the variables' cells
    index n_cells_ = 1, size_ = 0;          // number of sums of a cell
    std::vector<ProductTile> tiles_;
    Buffer<double> sums_;
};

}  // namespace fasthdmr
