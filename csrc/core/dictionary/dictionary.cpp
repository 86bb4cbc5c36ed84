#include "dictionary/dictionary.hpp"

namespace fasthdmr {

ArrayDictionary::ArrayDictionary(const Table& columns, std::vector<Subspace> subspaces,
                                 std::vector<index> column_subspace)
    : table_(columns) {
    if (index(column_subspace.size()) != columns.columns) throw Error("every column needs a subspace");
    subspaces_ = std::move(subspaces);
    column_subspace_ = std::move(column_subspace);
}

void ArrayDictionary::fill(const Rows& rows, double* out, index leading) const {
    // Contiguous columns are copied at once. Compared with the time of the Gram matrix, this matters.
    const bool is_contiguous =
        !rows.list && !table_.is_float32 && rows.stride * table_.row_stride == index(sizeof(double));
    for (index j = 0; j < columns(); ++j) {
        const char* column = table_.data + rows[0] * table_.row_stride + j * table_.column_stride;
        if (is_contiguous) std::memcpy(out + j * leading, column, rows.count * sizeof(double));
        else
            for (index r = 0; r < rows.count; ++r) out[j * leading + r] = table_.at(rows[r], j);
    }
}

}  // namespace fasthdmr
