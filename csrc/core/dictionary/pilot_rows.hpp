// Pilot sample for Cholesky QR. From a few rows per column, the condition number and the column eliminations that
// reduce it are estimated before the pass over all rows. This saves a pass whose result would be rejected.
#pragma once

#include <functional>
#include <optional>

#include "linalg/column_elimination.hpp"

namespace fasthdmr {

class PilotRows {
public:
    // Writes the columns of some rows, column-major, with a leading dimension.
    using Fill = std::function<void(const Rows& rows, double* out, index leading)>;

    // `together`: the number of neighbouring rows that are read in about the time of a single one.
    PilotRows(const Rows& rows, index columns, index together);

    // Eliminations after which Cholesky QR is accurate, estimated from the pilot rows; nullopt if no elimination helps.
    // An empty list if the pilot would be a large part of the rows: Cholesky QR is then tried without an estimate.
    std::optional<Eliminations> eliminations(const Fill& fill) const;

private:
    std::vector<index> choose_rows(index count, index run) const;
    std::optional<Eliminations> from_runs(const Fill& fill, index run) const;

    Rows rows_;
    index columns_, run_;
};

}  // namespace fasthdmr
