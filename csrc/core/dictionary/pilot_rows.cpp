#include "dictionary/pilot_rows.hpp"

#include <algorithm>
#include <cmath>

#include "linalg/cholesky_qr.hpp"
#include "support/interruption.hpp"

namespace fasthdmr {

namespace {

// Pilot rows per column, used to estimate the condition number of the whole matrix. The pilot is skipped if it would be
// more than 1/kRowsPerPilotRow of the rows.
constexpr index kPilotRows = 2, kRowsPerPilotRow = 8;
// On the pilot, the norm of the inverse Gram matrix may be overestimated by this factor.
constexpr double kPilotOverestimate = 4.0;
// Neighbouring rows are taken in runs, if the pilot then still consists of at least this many runs.
constexpr index kLeastRuns = 64;

// Whether the eliminations take little time, so that superfluous ones do no harm.
bool is_cheap(const std::optional<Eliminations>& steps) {
    return steps && std::all_of(steps->begin(), steps->end(), [](const Elimination& step) { return step.is_sparse(); });
}

}  // namespace

PilotRows::PilotRows(const Rows& rows, index columns, index together)
    : rows_(rows), columns_(columns), run_(std::clamp<index>(kPilotRows * columns / kLeastRuns, 1, together)) {}

std::optional<Eliminations> PilotRows::eliminations(const Fill& fill) const {
    auto steps = from_runs(fill, run_);
    // Neighbouring rows may be similar, so that columns appear to be dependent. Then single rows are tried.
    if (run_ > 1 && !is_cheap(steps)) steps = from_runs(fill, 1);
    return steps;
}

// Run starts follow a golden-ratio (Weyl) sequence: every prefix is evenly spread, and periodic row orders do not
// alias. Runs are disjoint if they cover at most an eighth of the rows.
std::vector<index> PilotRows::choose_rows(index count, index run) const {
    constexpr double golden = 0.6180339887498949;
    std::vector<index> chosen;
    for (index k = 0; k < count; ++k) {
        const index number = k / run;
        const double multiple = double(number) * golden, fraction = multiple - std::floor(multiple);
        chosen.push_back(rows_[index(fraction * double(rows_.count - run + 1)) + k % run]);
    }
    return chosen;
}

std::optional<Eliminations> PilotRows::from_runs(const Fill& fill, index run) const {
    const index count = (kPilotRows * columns_ + run - 1) / run * run;
    if (rows_.count < kRowsPerPilotRow * count) return Eliminations{};
    const std::vector<index> chosen = choose_rows(count, run);
    const Rows pilot{0, 1, count, chosen.data()};
    Buffer<double> x(count * columns_);
    for (index begin = 0; begin < count; begin += kBlockRows) {
        poll();
        fill(pilot.slice(begin, std::min(kBlockRows, count - begin)), x.data() + begin, count);
    }
    return fasthdmr::eliminations(x, count, columns_, kPilotOverestimate * CholeskyQr::kLargestInverse);
}

}  // namespace fasthdmr
