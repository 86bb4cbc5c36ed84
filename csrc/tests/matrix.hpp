// A column-major matrix, and the same numbers stored in any type and memory order.
#pragma once

#include <algorithm>
#include <cstdlib>

#include "double_double.hpp"
#include "support/arrays.hpp"

namespace fasthdmr {

struct Matrix {
    index rows, columns;
    std::vector<double> values;

    Matrix(index rows_, index columns_) : rows(rows_), columns(columns_), values(rows_ * columns_) {}
    double& operator()(index i, index j) { return values[j * rows + i]; }
    double operator()(index i, index j) const { return values[j * rows + i]; }
    double* column(index j) { return values.data() + j * rows; }
    const double* column(index j) const { return values.data() + j * rows; }

    Table table() const {
        constexpr index item = sizeof(double);
        return {reinterpret_cast<const char*>(values.data()), false, rows, columns, item, item * rows};
    }
};

inline Matrix with_ones(const Matrix& x) {
    Matrix all(x.rows, x.columns + 1);
    std::fill_n(all.column(0), x.rows, 1.0);
    std::copy(x.values.begin(), x.values.end(), all.column(1));
    return all;
}

struct StoredTable {
    std::vector<char> bytes;
    Table table;
};

// Strides are in bytes. With a negative stride the first element is at the end of the memory.
template <class T>
StoredTable store(const Matrix& x, index row_stride, index column_stride) {
    const index down = std::max<index>(x.rows - 1, 0) * row_stride,
                across = std::max<index>(x.columns - 1, 0) * column_stride;
    const index start = std::max<index>(-down, 0) + std::max<index>(-across, 0);
    StoredTable stored{std::vector<char>(std::abs(down) + std::abs(across) + sizeof(T)), {}};
    for (index j = 0; j < x.columns; ++j)
        for (index i = 0; i < x.rows; ++i) {
            const T value = T(x(i, j));
            std::memcpy(stored.bytes.data() + start + i * row_stride + j * column_stride, &value, sizeof value);
        }
    stored.table = {
        stored.bytes.data() + start, sizeof(T) == sizeof(float), x.rows, x.columns, row_stride, column_stride};
    return stored;
}

// a'b, summed in higher precision.
inline Matrix transposed_times(const Matrix& a, const Matrix& b) {
    Matrix product(a.columns, b.columns);
    for (index j = 0; j < b.columns; ++j)
        for (index i = 0; i < a.columns; ++i) {
            DoubleDouble sum;
            for (index r = 0; r < a.rows; ++r) sum += DoubleDouble(a(r, i)) * b(r, j);
            product(i, j) = double(sum);
        }
    return product;
}

}  // namespace fasthdmr
