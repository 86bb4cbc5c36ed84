#include "spans/term_sums.hpp"

#include <algorithm>
#include <numeric>

#include "kernels/kernels.hpp"
#include "spans/column_products.hpp"
#include "spans/gram_blocks.hpp"
#include "support/parallel.hpp"
#include "support/progress.hpp"

namespace fasthdmr {

namespace {

constexpr index kPilotRows = 256;

// Terms are evaluated in batches, on panels of several blocks of rows, so that their values stay in the third-level cache
// until the products with all spans are computed.
constexpr index kRows = 512;  // of a block
constexpr index kTermsInBatch = 2048, kTermBytes = index(16) << 20;

struct Batch {
    index first, last;  // terms, of one output
    index size() const { return last - first; }
};

// Divides the required terms into batches of bounded size; all terms of a batch belong to one output.
std::vector<Batch> batches_of(const Targets& targets, const std::vector<Spanning>& spans, bool with_outputs) {
    std::vector<Batch> batches;
    for (index t = 0; t < targets.terms(); ++t) {
        if (!with_outputs && spans[t].empty()) continue;
        const bool joins = !batches.empty() && batches.back().last == t && batches.back().size() < kTermsInBatch &&
                           targets.output_of(batches.back().first) == targets.output_of(t);
        if (joins) ++batches.back().last;
        else batches.push_back({t, t + 1});
    }
    return batches;
}

struct Block {
    index row, begin, rows;         // its first row, counted from that of all rows and of the panel
    Buffer<double> terms, outputs;  // minus their shifts
};

// A function whose inner products with the columns of a span are computed, and the address for the results.
struct Factor {
    bool is_output;
    index place;  // among the outputs, or the terms of a batch
    double* sums;
    index stride;
};

// A pilot sample: the rows at evenly spaced quantiles of the cumulative weight.
std::vector<index> pilot_rows(index rows, const double* weight) {
    const index count = std::min(kPilotRows, rows);
    std::vector<index> chosen;
    if (!weight) {
        for (index k = 0; k < count; ++k) chosen.push_back(rows / count * k + rows / count / 2);
        return chosen;
    }
    const double total = std::accumulate(weight, weight + rows, 0.0);
    double sum = 0.0;
    for (index r = 0; index(chosen.size()) < count && r < rows; ++r) {
        sum += weight[r];
        while (index(chosen.size()) < count && sum > total * (double(chosen.size()) + 0.5) / double(count))
            chosen.push_back(r);
    }
    return chosen;
}

class Pass {
public:
    Pass(const Spans& spans, const Table& x, const double* weight, const Targets& targets, const SumOptions& options,
         TermSums& sums, int n_threads)
        : spans_(spans),
          x_(x),
          given_weight_(weight),
          targets_(targets),
          options_(options),
          sums_(sums),
          n_threads_(n_threads),
          batches_(batches_of(targets, sums.spans, options.outputs)),
          n_blocks_((x.rows + kRows - 1) / kRows),
          panel_(panel_size()),
          blocks_(panel_),
          weight_(panel_ * kRows, 1.0),
          one_(kRows, 1.0),
          axes_(spans, panel_ * kRows),
          shift_(targets.terms(), 0.0),
          output_shift_(targets.outputs(), 0.0) {}
    void run();

private:
    index panel_size() const;
    void start_panel(index first_row);
    void fill(const Batch& batch, bool add_to_outputs);
    void shift_outputs();
    void choose_shifts();
    void sum_terms(const Batch& batch);
    void sum_outputs();
    void multiply(const Batch* batch, bool is_last);
    void add_products(index s, const std::vector<Factor>& factors, bool with_constant);
    void centre();

    const Spans& spans_;
    const Table& x_;
    const double* given_weight_;
    const Targets& targets_;
    const SumOptions options_;
    TermSums& sums_;
    int n_threads_;
    std::vector<Batch> batches_;
    index n_blocks_, panel_, count_ = 0;  // numbers of blocks: of all rows, of a full panel, of this panel
    std::vector<Block> blocks_;
    std::vector<double> weight_, one_;
    SpanBlock axes_;
    std::vector<double> shift_, output_shift_;
    double total_ = 0.0;
};

index Pass::panel_size() const {
    index most = std::max<index>(1, targets_.outputs());
    for (const Batch& batch : batches_) most = std::max(most, batch.size());
    const index within = kTermBytes / (most * kRows * index(sizeof(double)));
    return std::max<index>(1, std::min(within, blocks_in_panel(index(spans_.axes().size()), n_blocks_)));
}

void Pass::run() {
    choose_shifts();
    for (index first = 0; first < n_blocks_; first += panel_) {
        start_panel(first * kRows);
        // With the last batch the outputs are complete: their products are computed together with its own.
        for (const Batch& batch : batches_) {
            fill(batch, options_.outputs);
            if (&batch != &batches_.back()) multiply(&batch, false);
        }
        shift_outputs();
        multiply(batches_.empty() ? nullptr : &batches_.back(), true);
        if (options_.outputs) sum_outputs();
        for (const Batch& batch : batches_) {
            if (!options_.terms) break;
            if (batches_.size() > 1)
                fill(batch, false);  // the sums need complete outputs, so terms are evaluated again
            sum_terms(batch);
        }
        rows_done() += axes_.rows();
    }
    sums_.total = total_;
    centre();
}

void Pass::start_panel(index first_row) {
    const index rows = std::min(panel_ * kRows, x_.rows - first_row);
    count_ = (rows + kRows - 1) / kRows;
    if (given_weight_) std::copy_n(given_weight_ + first_row, rows, weight_.begin());
    for (index r = 0; r < rows; ++r) total_ += weight_[r];
    axes_.load(x_, {first_row, 1, rows, nullptr}, n_threads_);
    parallel_for(count_, n_threads_, [&](index k) {
        Block& block = blocks_[k];
        block.row = first_row + k * kRows;
        block.begin = k * kRows;
        block.rows = std::min(kRows, rows - block.begin);
        block.outputs.resize(targets_.outputs() * kRows);
        targets_.start({block.row, 1, block.rows, nullptr}, block.outputs.data(), kRows);
    });
}

void Pass::fill(const Batch& batch, bool add_to_outputs) {
    const index k = targets_.output_of(batch.first);
    parallel_for(count_, n_threads_, [&](index b) {
        Block& block = blocks_[b];
        block.terms.resize(batch.size() * kRows);
        targets_.fill({block.row, 1, block.rows, nullptr}, batch.first, batch.last, block.terms.data(), kRows);
        double* output = block.outputs.data() + k * kRows;
        for (index t = 0; t < batch.size(); ++t) {
            double* term = block.terms.data() + t * kRows;
            if (add_to_outputs) kernels().add_scaled(1.0, term, block.rows, output);
            for (index r = 0; r < block.rows; ++r) term[r] -= shift_[batch.first + t];
        }
    });
}

void Pass::shift_outputs() {
    parallel_for(count_, n_threads_, [&](index b) {
        for (index k = 0; k < targets_.outputs(); ++k)
            for (index r = 0; r < blocks_[b].rows; ++r) blocks_[b].outputs[k * kRows + r] -= output_shift_[k];
    });
}

// Uses means over a pilot sample as shifts. `centre` corrects for their differences from the exact means.
void Pass::choose_shifts() {
    const std::vector<index> list = pilot_rows(x_.rows, given_weight_);
    const index n = index(list.size()), K = targets_.outputs();
    if (n == 0) return;
    const Rows rows{0, 1, n, list.data()};
    const auto mean = [&](const double* values) { return std::accumulate(values, values + n, 0.0) / double(n); };
    Buffer<double> outputs(K * n);
    targets_.start(rows, outputs.data(), n);
    for (const Batch& batch : batches_) {
        Buffer<double> terms(batch.size() * n);
        targets_.fill(rows, batch.first, batch.last, terms.data(), n);
        for (index t = batch.first; t < batch.last; ++t) {
            const double* values = terms.data() + (t - batch.first) * n;
            shift_[t] = mean(values);
            kernels().add_scaled(1.0, values, n, outputs.data() + targets_.output_of(t) * n);
        }
    }
    for (index k = 0; k < K; ++k) output_shift_[k] = mean(outputs.data() + k * n);
}

void Pass::add_products(index s, const std::vector<Factor>& factors, bool with_constant) {
    const Span& span = spans_.all()[s];
    const index n_factors = index(factors.size()), n = n_factors + (with_constant ? 1 : 0);  // the last is the constant
    ColumnProducts products(spans_, span, axes_, n);
    std::vector<const double*> functions(n, one_.data());
    for (index b = 0; b < count_; ++b) {
        const Block& block = blocks_[b];
        for (index k = 0; k < n_factors; ++k)
            functions[k] = (factors[k].is_output ? block.outputs : block.terms).data() + factors[k].place * kRows;
        products.add(block.begin, block.rows, functions, weight_.data() + block.begin);
    }
    for (index j = 0; j < span.columns; ++j) {
        for (index k = 0; k < n_factors; ++k) factors[k].sums[j * factors[k].stride] += products.sum(j, k);
        if (with_constant) sums_.column_mean[span.first + j] += products.sum(j, n_factors);
    }
}

// Inner products of the columns of all spans with the terms of a batch and, in the last call for a panel, with the
// outputs and the constant.
void Pass::multiply(const Batch* batch, bool is_last) {
    std::vector<std::vector<Factor>> factors(spans_.all().size());
    for (index t = batch ? batch->first : 0; batch && t < batch->last; ++t) {
        double* sums = sums_.with_columns[t].data();
        for (const index s : sums_.spans[t]) {
            factors[s].push_back({false, t - batch->first, sums, 1});
            sums += spans_.all()[s].columns;
        }
    }
    const index K = targets_.outputs();
    for (index s = 0; s < index(factors.size()) && is_last && options_.outputs; ++s)
        for (index k = 0; k < K; ++k)
            factors[s].push_back({true, k, sums_.output_with_columns.data() + spans_.all()[s].first * K + k, K});
    parallel_for(index(factors.size()), n_threads_, [&](index s) {
        if (is_last || !factors[s].empty()) add_products(s, factors[s], is_last);
    });
    parallel_for(batch ? batch->size() : 0, n_threads_, [&](index place) {
        const index t = batch->first + place;
        for (index b = 0; b < count_; ++b) {
            const double* term = blocks_[b].terms.data() + place * kRows;
            for (index r = 0; r < blocks_[b].rows; ++r) sums_.mean[t] += weight_[blocks_[b].begin + r] * term[r];
        }
    });
}

void Pass::sum_terms(const Batch& batch) {
    const index k = targets_.output_of(batch.first);
    parallel_for(batch.size(), n_threads_, [&](index place) {
        const index t = batch.first + place;
        for (index b = 0; b < count_; ++b) {
            const Block& block = blocks_[b];
            const double *term = block.terms.data() + place * kRows, *output = block.outputs.data() + k * kRows;
            for (index r = 0; r < block.rows; ++r) {
                const double moved = weight_[block.begin + r] * term[r];
                sums_.variance[t] += moved * term[r];
                sums_.with_output[t] += moved * output[r];
            }
        }
    });
}

void Pass::sum_outputs() {
    parallel_for(targets_.outputs(), n_threads_, [&](index k) {
        for (index b = 0; b < count_; ++b) {
            const double* output = blocks_[b].outputs.data() + k * kRows;
            for (index r = 0; r < blocks_[b].rows; ++r) {
                const double moved = weight_[blocks_[b].begin + r] * output[r];
                sums_.output_mean[k] += moved;
                sums_.output_variance[k] += moved * output[r];
            }
        }
    });
}

// Converts sums of differences from the shifts to means and covariances.
void Pass::centre() {
    for (double& mean : sums_.column_mean) mean /= total_;
    for (index k = 0; k < sums_.n_outputs && options_.outputs; ++k) {
        const double mean = sums_.output_mean[k] / total_;
        sums_.output_variance[k] = std::max(0.0, sums_.output_variance[k] / total_ - mean * mean);
        for (index j = 0; j < spans_.columns(); ++j) {
            double& product = sums_.output_with_columns[j * sums_.n_outputs + k];
            product = product / total_ - sums_.column_mean[j] * mean;
        }
        sums_.output_mean[k] = mean;  // minus the shift, for the covariances of terms; the shift is added below
    }
    for (index t = 0; t < index(sums_.spans.size()); ++t) {
        const double mean = sums_.mean[t] / total_;
        if (options_.terms) {
            sums_.variance[t] = std::max(0.0, sums_.variance[t] / total_ - mean * mean);
            sums_.with_output[t] = sums_.with_output[t] / total_ - mean * sums_.output_mean[sums_.output_of[t]];
        }
        index c = 0;
        for (const index s : sums_.spans[t])
            for (index j = 0; j < spans_.all()[s].columns; ++j, ++c)
                sums_.with_columns[t][c] =
                    sums_.with_columns[t][c] / total_ - sums_.column_mean[spans_.all()[s].first + j] * mean;
        sums_.mean[t] = shift_[t] + mean;
    }
    for (index k = 0; k < sums_.n_outputs && options_.outputs; ++k) sums_.output_mean[k] += output_shift_[k];
}

}  // namespace

TermSums term_sums(const Spans& spans, const Table& x, const double* weight, const Targets& targets,
                   std::vector<Spanning> spans_of_term, const SumOptions& options, int n_threads) {
    if (index(spans_of_term.size()) != targets.terms()) throw Error("every term needs a list of spans");
    TermSums sums;
    sums.n_outputs = targets.outputs();
    sums.column_mean.assign(spans.columns(), 0.0);
    sums.spans = std::move(spans_of_term);
    for (index t = 0; t < targets.terms(); ++t) {
        index columns = 0;
        for (const index s : sums.spans[t]) columns += spans.all()[s].columns;
        sums.output_of.push_back(targets.output_of(t));
        sums.with_columns.emplace_back(columns, 0.0);
    }
    sums.mean.assign(targets.terms(), 0.0);
    for (auto* values : {&sums.variance, &sums.with_output}) values->assign(options.terms ? targets.terms() : 0, 0.0);
    for (auto* values : {&sums.output_mean, &sums.output_variance}) values->assign(sums.n_outputs, 0.0);
    if (options.outputs) sums.output_with_columns.assign(spans.columns() * sums.n_outputs, 0.0);
    Pass(spans, x, weight, targets, options, sums, n_threads).run();
    return sums;
}

void check_sizes(const Spans& spans, const TermSums& sums) {
    const std::size_t terms = sums.spans.size(), outputs = sums.n_outputs;
    const auto is_size_or_empty = [](const std::vector<double>& v, std::size_t size) {
        return v.empty() || v.size() == size;
    };
    bool fits = sums.output_of.size() == terms && sums.with_columns.size() == terms && sums.mean.size() == terms &&
                is_size_or_empty(sums.variance, terms) && sums.with_output.size() == sums.variance.size() &&
                sums.output_variance.size() == outputs && sums.column_mean.size() == std::size_t(spans.columns()) &&
                is_size_or_empty(sums.output_with_columns, spans.columns() * outputs);
    for (std::size_t t = 0; t < terms && fits; ++t) {
        index columns = 0;
        for (const index s : sums.spans[t]) {
            if (s < 0 || s >= index(spans.all().size())) throw Error("no such span: " + std::to_string(s));
            columns += spans.all()[s].columns;
        }
        fits = index(sums.with_columns[t].size()) == columns && sums.output_of[t] >= 0 &&
               sums.output_of[t] < sums.n_outputs;
    }
    if (!fits) throw Error("the sizes of sums do not agree");
}

TermSums merged(const Spans& spans, const TermSums& a, const TermSums& b) {
    const bool alike = a.spans == b.spans && a.output_of == b.output_of && a.n_outputs == b.n_outputs &&
                       a.variance.size() == b.variance.size() && a.column_mean.size() == b.column_mean.size() &&
                       a.output_with_columns.size() == b.output_with_columns.size();
    if (!alike) throw Error("sums of different terms cannot be merged");
    TermSums sum = a;
    sum.total = a.total + b.total;
    const double share = b.total / sum.total, both = share * (1.0 - share);
    const auto differences = [](const std::vector<double>& from, const std::vector<double>& to) {
        std::vector<double> result(to);
        for (std::size_t k = 0; k < result.size(); ++k) result[k] -= from[k];
        return result;
    };
    const std::vector<double> column = differences(a.column_mean, b.column_mean), term = differences(a.mean, b.mean),
                              output = differences(a.output_mean, b.output_mean);
    const auto move = [&](std::vector<double>& mean, const std::vector<double>& difference) {
        for (std::size_t k = 0; k < mean.size(); ++k) mean[k] += share * difference[k];
    };
    move(sum.column_mean, column);
    move(sum.mean, term);
    move(sum.output_mean, output);
    // The covariance over all rows, from those within both sets of rows and the differences of the means.
    const auto add = [&](double& covariance, double other, double difference, double factor) {
        covariance += share * (other - covariance) + both * difference * factor;
    };
    for (std::size_t t = 0; t < a.spans.size(); ++t) {
        std::size_t c = 0;
        for (const index s : a.spans[t])
            for (index j = spans.all()[s].first; j < spans.all()[s].first + spans.all()[s].columns; ++j, ++c)
                add(sum.with_columns[t][c], b.with_columns[t][c], term[t], column[j]);
    }
    for (std::size_t t = 0; t < a.variance.size(); ++t) {
        add(sum.variance[t], b.variance[t], term[t], term[t]);
        add(sum.with_output[t], b.with_output[t], term[t], output[a.output_of[t]]);
    }
    for (std::size_t k = 0; k < output.size(); ++k)
        add(sum.output_variance[k], b.output_variance[k], output[k], output[k]);
    for (std::size_t i = 0; i < a.output_with_columns.size(); ++i)
        add(sum.output_with_columns[i], b.output_with_columns[i], column[i / a.n_outputs], output[i % a.n_outputs]);
    return sum;
}

}  // namespace fasthdmr
