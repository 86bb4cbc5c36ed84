// Means, variances and covariances of terms, outputs and the columns of spans, in one pass over the rows.
#pragma once

#include <vector>

#include "spans/bsplines.hpp"
#include "spans/targets.hpp"

namespace fasthdmr {

// Means and covariances under the weighted empirical measure.
struct TermSums {
    index n_outputs = 0;
    double total = 0.0;                               // of the weights
    std::vector<double> column_mean;                  // of all columns
    std::vector<index> output_of;                     // by term
    std::vector<Spanning> spans;                      // by term: the spans whose covariances with it are computed
    std::vector<std::vector<double>> with_columns;    // by term: covariances with their columns, span by span
    std::vector<double> mean, variance, with_output;  // by term; the last: covariance with its own output; may be empty
    std::vector<double> output_mean, output_variance;
    std::vector<double> output_with_columns;  // (all columns, outputs), row-major; may be empty

    double output_with(index column, index k) const { return output_with_columns[column * n_outputs + k]; }
};

// What is computed besides the covariances of terms with the columns of their spans.
struct SumOptions {
    // Means and variances of the outputs, and their covariances with all columns. Then all terms are evaluated.
    bool outputs;
    // Variances of the terms, and their covariances with their outputs.
    bool terms;
};

// Sums are of differences from a value near each mean, so that large means cause no cancellation.
TermSums term_sums(const Spans& spans, const Table& x, const double* weight, const Targets& targets,
                   std::vector<Spanning> spans_of_term, const SumOptions& options, int n_threads);

// Throws if the sizes of the parts do not agree, as in a damaged file.
void check_sizes(const Spans& spans, const TermSums& sums);

// The sums over the rows of both, which must be of the same terms, and of positive weight.
TermSums merged(const Spans& spans, const TermSums& a, const TermSums& b);

}  // namespace fasthdmr
