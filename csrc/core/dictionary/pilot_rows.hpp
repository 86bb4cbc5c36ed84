// Pilot sample for Cholesky QR: a few rows per column tell, before the pass over all rows, whether it will be accurate
// and which column eliminations it needs. That saves a pass whose result would be refused.
#pragma once

#include <functional>
#include <optional>

#include "linalg/column_elimination.hpp"

namespace fasthdmr {

class PilotRows {
public:
    // Writes the columns of some rows, column-major, with a leading dimension.
    using Fill = std::function<void(const Rows& rows, double* out, index leading)>;

    // `together`: how many neighbouring rows cost no more than one.
    PilotRows(const Rows& rows, index columns, index together);

    // Eliminations after which Cholesky QR is accurate, estimated from the pilot rows; nullopt if no elimination helps.
    // None are needed where the pilot would be a large part of the rows: then Cholesky QR is tried at once.
    std::optional<Eliminations> eliminations(const Fill& fill) const;

private:
    std::vector<index> spread(index count, index run) const;
    std::optional<Eliminations> in_runs(const Fill& fill, index run) const;

    Rows rows_;
    index columns_, run_;
};

}  // namespace fasthdmr
