#include "spans/targets.hpp"

#include <algorithm>

#include "kernels/kernels.hpp"

namespace fasthdmr {

TreeTargets::TreeTargets(std::vector<TreeOutput> outputs, const Table& x) : outputs_(std::move(outputs)), x_(x) {
    for (const TreeOutput& output : outputs_) {
        const auto& columns = output.columns->columns();
        if (output.coefficient.size() != columns.size()) throw Error("every column needs a coefficient");
        if (x.columns != output.columns->input_columns())
            throw Error("x has another number of columns than the forests read");
        std::vector<index> begin(output.columns->subspaces().size() + 1, 0);
        for (const TreeColumns::Column& column : columns) ++begin[column.subspace + 1];
        for (std::size_t s = 1; s < begin.size(); ++s) begin[s] += begin[s - 1];
        first_term_.push_back(first_term_.back() + index(begin.size()) - 1);
        column_begin_.push_back(std::move(begin));
    }
}

index TreeTargets::output_of(index term) const {
    return std::upper_bound(first_term_.begin(), first_term_.end(), term) - first_term_.begin() - 1;
}

const Subspace& TreeTargets::subspace_of(index term) const {
    const index k = output_of(term);
    return outputs_[k].columns->subspaces()[term - first_term_[k]];
}

void TreeTargets::start(const Rows& rows, double* out, index leading) const {
    for (index k = 0; k < outputs(); ++k) std::fill_n(out + k * leading, rows.count, outputs_[k].constant);
}

void TreeTargets::fill(const Rows& rows, index first, index last, double* out, index leading) const {
    const index k = output_of(first);
    const TreeOutput& output = outputs_[k];
    const std::vector<index>& begin = column_begin_[k];
    // The first column of a term is computed in the place of the term. Most terms have no others.
    const auto first_column = [&](index t) { return begin[t - first_term_[k]]; };
    const index others = first_column(last) - first_column(first) - (last - first);
    UnsetBuffer<double> more(others * kBlockRows);
    std::vector<double*> places(output.columns->count(), nullptr);
    double* next = more.data();
    for (index t = first; t < last; ++t)
        for (index j = first_column(t); j < first_column(t + 1); ++j) {
            const bool is_first = j == first_column(t);
            places[j] = is_first ? out + (t - first) * leading : next;
            if (!is_first) next += kBlockRows;
        }
    InputBlock block(output.columns->comparison());
    block.load(x_, rows);
    output.columns->fill(block, places.data());
    for (index t = first; t < last; ++t) {
        double* term = out + (t - first) * leading;
        const double scale = output.coefficient[first_column(t)];
        for (index r = 0; r < rows.count; ++r) term[r] *= scale;
        for (index j = first_column(t) + 1; j < first_column(t + 1); ++j)
            kernels().add_scaled(output.coefficient[j], places[j], rows.count, term);
    }
}

void ArrayTargets::start(const Rows& rows, double* out, index leading) const {
    for (index t = 0; t < values_.columns; ++t)
        for (index r = 0; r < rows.count; ++r) out[t * leading + r] = values_.at(rows[r], t);
}

}  // namespace fasthdmr
