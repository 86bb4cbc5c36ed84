#include "spans/local_projection.hpp"

#include <algorithm>
#include <map>
#include <unordered_set>

#include "linalg/cholesky.hpp"
#include "linalg/short_calls.hpp"
#include "spans/dense_systems.hpp"
#include "support/parallel.hpp"

namespace fasthdmr {

namespace {

constexpr index kManySides = 8;  // with at least this many right-hand sides, LAPACK's blocks are faster
constexpr index kProductBytes = index(96) << 20;  // of Gram blocks

using Members = std::pair<const Spanning, std::vector<index>>;  // terms that are projected on the same spans

// Systems whose missing Gram blocks are computed in a common pass over the rows.
struct Batch {
    std::vector<const Members*> systems;
    SpanPairs missing;
};

std::vector<Batch> batches_of(const std::vector<const Members*>& systems, const SpanGram& gram) {
    const index n = index(gram.spans().all().size());
    std::vector<Batch> batches(1);
    std::unordered_set<index> seen;  // pairs of spans, which many systems may share
    index bytes = 0;
    for (const Members* members : systems) {
        if (bytes > kProductBytes) {
            batches.emplace_back();
            seen.clear();
            bytes = 0;
        }
        Batch& batch = batches.back();
        const Spanning& spanning = members->first;
        for (std::size_t i = 0; i < spanning.size(); ++i)
            for (std::size_t j = i; j < spanning.size(); ++j) {
                const index s = spanning[i], t = spanning[j];
                if (!seen.insert(s * n + t).second || gram.has(s, t)) continue;
                batch.missing.emplace_back(s, t);
                bytes += gram.columns({s}) * gram.columns({t}) * index(sizeof(double));
            }
        batch.systems.push_back(members);
    }
    return batches;
}

}  // namespace

RidgeSystem::RidgeSystem(const SpanGram& gram, const Spanning& spanning, double ridge) : n_(gram.columns(spanning)) {
    if (const index variable = LevelElimination::variable(gram.spans(), spanning); variable >= 0) {
        levels_.emplace(gram, spanning, ridge, variable);
        return;
    }
    factor(gram, spanning, ridge, gram.covariance(spanning, spanning));
}

RidgeSystem::RidgeSystem(const SpanGram& gram, const Spanning& spanning, double ridge, Buffer<double> covariance)
    : n_(gram.columns(spanning)) {
    factor(gram, spanning, ridge, std::move(covariance));
}

void RidgeSystem::factor(const SpanGram& gram, const Spanning& spanning, double ridge, Buffer<double> covariance) {
    factor_ = std::move(covariance);
    index row = 0;
    for (const index s : spanning) {
        const index p = gram.columns({s});
        for (index j = 0; j < p; ++j, ++row) factor_[row * n_ + row] += ridge / double(p);
    }
    if (!cholesky(factor_.data(), n_)) throw Error("the products of splines are not finite: rescale the variables");
}

std::vector<double> RidgeSystem::solve(std::vector<double> b) const {
    if (levels_) return levels_->solve(b);
    if (n_ > 0 && index(b.size()) >= kManySides * n_) {
        for (const char transposed : {'N', 'T'})
            solve_triangle('L', transposed, factor_.data(), n_, n_, b.data(), index(b.size()) / n_);
        return b;
    }
    for (std::size_t first = 0; first < b.size(); first += n_) solve_factored(factor_.data(), n_, b.data() + first);
    return b;
}

void for_systems(const SpanGram& gram, const Table& x, const double* weight, const TermSums& sums,
                 const std::vector<char>& kept, double ridge, int n_threads,
                 const std::function<void(const RidgeSystem&, index)>& use) {
    std::map<Spanning, std::vector<index>> systems;
    for (index t = 0; t < index(sums.spans.size()); ++t)
        if (!sums.spans[t].empty() && !kept[t]) systems[sums.spans[t]].push_back(t);
    std::vector<const Spanning*> every;
    for (const Members& members : systems) every.push_back(&members.first);
    const std::vector<char> is_dense = dense_systems(gram, every);
    std::vector<const Members*> dense, others;
    for (const Members& members : systems)
        (is_dense[dense.size() + others.size()] ? dense : others).push_back(&members);
    const auto use_all = [&](const RidgeSystem& system, const Members& members) {
        for (const index t : members.second) use(system, t);
    };
    std::vector<const Spanning*> of_dense;
    for (const Members* members : dense) of_dense.push_back(&members->first);
    form_systems(gram, x, weight, of_dense, n_threads, [&](index k, Buffer<double> covariance) {
        use_all(RidgeSystem(gram, *of_dense[k], ridge, std::move(covariance)), *dense[k]);
    });
    for (Batch& batch : batches_of(others, gram)) {
        const SpanGram more(gram.spans(), x, weight, sums.total, sums.column_mean, std::move(batch.missing), n_threads,
                            &gram);
        parallel_for(index(batch.systems.size()), n_threads,
                     [&](index k) { use_all(RidgeSystem(more, batch.systems[k]->first, ridge), *batch.systems[k]); });
    }
}

std::vector<std::vector<double>> solve_terms(const SpanGram& gram, const Table& x, const double* weight,
                                             const TermSums& sums, const std::vector<char>& kept, double ridge,
                                             int n_threads) {
    std::vector<std::vector<double>> coefficients(sums.spans.size());
    for_systems(gram, x, weight, sums, kept, ridge, n_threads,
                [&](const RidgeSystem& system, index t) { coefficients[t] = system.solve(sums.with_columns[t]); });
    return coefficients;
}

Buffer<double> add_up(const Spans& spans, const TermSums& sums, const std::vector<std::vector<double>>& coefficients,
                      index count) {
    Buffer<double> total(spans.columns() * sums.n_outputs * count, 0.0);
    for (std::size_t t = 0; t < coefficients.size(); ++t) {
        if (coefficients[t].empty()) continue;
        std::size_t c = 0;
        for (index r = 0; r < count; ++r) {
            double* out = total.data() + (sums.output_of[t] * count + r) * spans.columns();
            for (const index s : sums.spans[t])
                for (index j = 0; j < spans.all()[s].columns; ++j)
                    out[spans.all()[s].first + j] += coefficients[t][c++];
        }
    }
    return total;
}

}  // namespace fasthdmr
