#include "spans/span_hierarchy.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>

#include "hierarchy/from_above.hpp"

namespace fasthdmr {

namespace {

using Vector = std::vector<double>;
using Pairs = std::set<std::pair<index, index>>;

void add_pairs(const Spanning& spanning, Pairs& pairs) {
    for (std::size_t i = 0; i < spanning.size(); ++i)
        for (std::size_t j = i; j < spanning.size(); ++j) pairs.emplace(spanning[i], spanning[j]);
}

double dot(const Vector& a, const Vector& b) {
    double sum = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
}

Vector times(const Buffer<double>& g, const Vector& x) {
    Vector y(x.empty() ? 0 : g.size() / x.size(), 0.0);
    for (std::size_t i = 0; i < y.size(); ++i)
        for (std::size_t j = 0; j < x.size(); ++j) y[i] += g[i * x.size() + j] * x[j];
    return y;
}

Spanning below(const Spans& spans, index s) {
    const Subspace& u = spans.all()[s].subspace;
    return spans_inside(spans, u, index(u.size()) - 1);
}

// A component of one output: its coefficients on its own span, and the coefficients of its projection on the spans of
// proper subsets.
struct Purified {
    bool exists = false;
    Vector own, down;
    double mean = 0.0;
};

class TopDown {
public:
    TopDown(const SpanGram& gram, const TermSums& sums, const std::vector<OutputStart>& starts, double ridge)
        : spans_(gram.spans()),
          gram_(gram),
          sums_(sums),
          starts_(starts),
          ridge_(ridge),
          purified_(starts.size(), std::vector<Purified>(spans_.all().size())) {
        for (const OutputStart& start : starts)
            pushed_.emplace_back(start.coefficients, start.coefficients + spans_.columns());
    }
    std::vector<Decomposition> run(int n_threads);

private:
    void purify(index s);
    void purify_output(index s, index k, const Spanning& lower, const RidgeSystem* system);
    void hand_down(index s);
    void append(Decomposition& result, index s, index k) const;
    Vector term_products(index term, const Spanning& spanning) const;

    const Spans& spans_;
    const SpanGram& gram_;
    const TermSums& sums_;
    const std::vector<OutputStart>& starts_;
    double ridge_;
    std::vector<Vector> pushed_;                   // by output, over (constant, all columns)
    std::vector<std::vector<Purified>> purified_;  // by output and span
};

// The covariances of a term with the columns of some of its spans.
Vector TopDown::term_products(index term, const Spanning& spanning) const {
    Vector result;
    const double* values = sums_.with_columns[term].data();
    for (const index s : sums_.spans[term]) {
        const index n = spans_.all()[s].columns;
        if (std::find(spanning.begin(), spanning.end(), s) != spanning.end())
            result.insert(result.end(), values, values + n);
        values += n;
    }
    return result;
}

void TopDown::purify(index s) {
    const Span& span = spans_.all()[s];
    bool any = false;
    for (std::size_t k = 0; k < starts_.size(); ++k) {
        Purified& p = purified_[k][s];
        p.own.assign(pushed_[k].begin() + span.first, pushed_[k].begin() + span.first + span.columns);
        p.exists = starts_[k].kept[s] >= 0 || std::any_of(p.own.begin(), p.own.end(), [](double c) { return c != 0; });
        any |= p.exists;
    }
    if (!any) return;
    const Spanning lower = below(spans_, s);
    std::optional<RidgeSystem> system;
    if (!lower.empty()) system.emplace(gram_, lower, ridge_);
    for (std::size_t k = 0; k < starts_.size(); ++k)
        if (purified_[k][s].exists) purify_output(s, index(k), lower, system ? &*system : nullptr);
}

void TopDown::purify_output(index s, index k, const Spanning& lower, const RidgeSystem* system) {
    const Span& span = spans_.all()[s];
    const index kept = starts_[k].kept[s];
    Purified& p = purified_[k][s];
    for (index j = 0; j < span.columns; ++j) p.mean += p.own[j] * gram_.mean(span.first + j);
    if (kept >= 0) p.mean += sums_.mean[kept];
    if (!system) return;
    Vector right = times(gram_.covariance(lower, {s}), p.own);
    if (kept >= 0) {
        const Vector terms = term_products(kept, lower);
        for (std::size_t i = 0; i < right.size(); ++i) right[i] += terms[i];
    }
    p.down = system->solve(std::move(right));
    std::size_t c = 0;
    for (const index v : lower)
        for (index j = 0; j < spans_.all()[v].columns; ++j)
            p.mean -= p.down[c++] * gram_.mean(spans_.all()[v].first + j);
}

void TopDown::hand_down(index s) {
    const Spanning lower = below(spans_, s);
    for (std::size_t k = 0; k < starts_.size(); ++k) {
        if (purified_[k][s].down.empty()) continue;
        std::size_t c = 0;
        for (const index v : lower)
            for (index j = 0; j < spans_.all()[v].columns; ++j)
                pushed_[k][spans_.all()[v].first + j] += purified_[k][s].down[c++];
    }
}

std::vector<Decomposition> TopDown::run(int n_threads) {
    const index n = index(spans_.all().size());
    from_above(
        n, n_threads, [&](index s) { return spans_.all()[s].subspace.size(); }, [&](index s) { purify(s); },
        [&](index s) { hand_down(s); });
    std::vector<Decomposition> results;
    for (index k = 0; k < index(starts_.size()); ++k) {
        Decomposition result;
        result.constant = sums_.output_mean[k];
        result.total = sums_.output_variance[k];
        for (index s = 0; s < n; ++s) {
            poll();
            append(result, s, k);
        }
        results.push_back(std::move(result));
    }
    return results;
}

void TopDown::append(Decomposition& result, index s, index k) const {
    const Purified& p = purified_[k][s];
    Components& all = result.components;
    double variance = 0.0, covariance = 0.0;
    if (p.exists) {
        Spanning spanning = below(spans_, s);
        spanning.push_back(s);
        Vector coefficients;
        for (const double d : p.down) coefficients.push_back(-d);
        coefficients.insert(coefficients.end(), p.own.begin(), p.own.end());
        variance = dot(coefficients, times(gram_.covariance(spanning, spanning), coefficients));
        if (const index kept = starts_[k].kept[s]; kept >= 0) {
            variance += sums_.variance[kept] + 2 * dot(coefficients, term_products(kept, spanning));
            covariance += sums_.with_output[kept];
        }
        all.column.push_back(0);
        all.weight.push_back(-p.mean);
        std::size_t c = 0;
        for (const index v : spanning)
            for (index j = 0; j < spans_.all()[v].columns; ++j, ++c) {
                const index column = spans_.all()[v].first + j;
                covariance += coefficients[c] * sums_.output_with(column, k);
                all.column.push_back(column);
                all.weight.push_back(coefficients[c]);
            }
    }
    all.begin.push_back(index(all.column.size()));
    result.variance.push_back(std::max(0.0, variance));
    result.covariance.push_back(covariance);
}

}  // namespace

std::vector<Decomposition> span_top_down(const SpanGram& gram, const TermSums& sums,
                                         const std::vector<OutputStart>& starts, double ridge, int n_threads) {
    if (index(starts.size()) != sums.n_outputs) throw Error("every output needs its coefficients");
    for (const OutputStart& start : starts) {
        if (start.kept.size() != gram.spans().all().size()) throw Error("every span needs a term, or none");
        for (const index t : start.kept)
            if (t < -1 || t >= index(sums.spans.size())) throw Error("no such term: " + std::to_string(t));
    }
    return TopDown(gram, sums, starts, ridge).run(n_threads);
}

SpanPairs pairs_inside(const Spans& spans) {
    Pairs pairs;
    for (const Span& span : spans.all())
        add_pairs(spans_inside(spans, span.subspace, index(span.subspace.size())), pairs);
    return {pairs.begin(), pairs.end()};
}

SpanPairs pairs_of_terms(const Spans& spans, const TermSums& sums) {
    const SpanPairs inside = pairs_inside(spans);
    Pairs pairs(inside.begin(), inside.end());
    for (const Spanning& of_term : std::set<Spanning>(sums.spans.begin(), sums.spans.end())) add_pairs(of_term, pairs);
    return {pairs.begin(), pairs.end()};
}

SpanPairs all_pairs(const Spans& spans) {
    Spanning every(spans.all().size());
    std::iota(every.begin(), every.end(), index(0));
    Pairs pairs;
    add_pairs(every, pairs);
    return {pairs.begin(), pairs.end()};
}

}  // namespace fasthdmr
