#include "span_hierarchy.hpp"

#include <algorithm>
#include <map>

#include "gram.hpp"
#include "parallel.hpp"

namespace fasthdmr {

namespace {

using Spanning = std::vector<index>;  // numbers of spans

// Centred products of columns and targets under the measure.
class Products {
public:
    Products(const Spans& spans, const SpanMoments& m) : spans_(spans), m_(m), total_(m.of_targets[0]) {}

    double mean(index column) const { return m_.with_targets[column * m_.n_targets] / total_; }
    // Of what is left of a target when its shift is taken off: products are centred, and do not see it.
    double shifted_mean(index t) const { return m_.of_targets[t] / total_; }
    double target_mean(index t) const { return m_.shift[t] + shifted_mean(t); }
    double with_target(index column, index t) const {
        return m_.with_targets[column * m_.n_targets + t] / total_ - mean(column) * shifted_mean(t);
    }
    double of_targets(index s, index t) const {
        return m_.of_targets[s * m_.n_targets + t] / total_ - shifted_mean(s) * shifted_mean(t);
    }

    index size(const Spanning& u) const {
        index n = 0;
        for (const index s : u) n += spans_.all()[s].columns;
        return n;
    }
    std::vector<double> means(const Spanning& u) const {
        std::vector<double> result;
        for (const index s : u)
            for (index j = 0; j < spans_.all()[s].columns; ++j) result.push_back(mean(spans_.all()[s].first + j));
        return result;
    }
    std::vector<double> target_products(const Spanning& u, index t) const {
        std::vector<double> result;
        for (const index s : u)
            for (index j = 0; j < spans_.all()[s].columns; ++j) result.push_back(with_target(spans_.all()[s].first + j, t));
        return result;
    }
    // (columns of a, columns of b), row-major.
    Buffer<double> span_products(const Spanning& a, const Spanning& b, int n_threads = 1) const {
        const index columns = size(b);
        Buffer<double> g(size(a) * columns);
        std::vector<index> row{0};
        for (const index s : a) row.push_back(row.back() + spans_.all()[s].columns);
        parallel_for(index(a.size()), n_threads, [&](index k) {
            double* out = g.data() + row[k] * columns;
            for (const index t : b) {
                copy_block(a[k], t, out, columns);
                out += spans_.all()[t].columns;
            }
        });
        return g;
    }

private:
    void copy_block(index s, index t, double* out, index ld) const {
        const Span &a = spans_.all()[s], &b = spans_.all()[t];
        const bool turned = s > t;
        const index p = turned ? m_.find(t, s) : m_.find(s, t);
        if (p < 0) throw Error("the products of two spans are missing");
        const std::vector<double>& g = m_.products[p];
        for (index i = 0; i < a.columns; ++i)
            for (index j = 0; j < b.columns; ++j)
                out[i * ld + j] = (turned ? g[j * a.columns + i] : g[i * b.columns + j]) / total_ -
                                  mean(a.first + i) * mean(b.first + j);
    }

    const Spans& spans_;
    const SpanMoments& m_;
    double total_;
};

double dot(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
}

std::vector<double> times(const Buffer<double>& g, const std::vector<double>& x) {
    std::vector<double> y(x.empty() ? 0 : g.size() / x.size(), 0.0);
    for (std::size_t i = 0; i < y.size(); ++i)
        for (std::size_t j = 0; j < x.size(); ++j) y[i] += g[i * x.size() + j] * x[j];
    return y;
}

// One pass over one output.
class TopDown {
public:
    TopDown(const Spans& spans, const SpanMoments& moments, const OutputPlan& plan)
        : spans_(spans), of_(spans, moments), plan_(plan), pushed_(spans.columns(), 0.0), purified_(spans.all().size()) {}

    Decomposition run(int n_threads);

private:
    struct Purified {
        bool exists = false;
        Spanning lower;
        std::vector<double> down, own;  // what goes to the lower spans; the component's own coefficients
        std::vector<double> smoothed;   // what the projection of the own terms adds to the lower spans
        double mean = 0.0;
    };

    Spanning below(index s) const;
    void add(const Spanning& spanning, const std::vector<double>& coefficients);
    void project_rest(int n_threads);
    Purified purify(index s) const;
    void append(Decomposition& result, index s) const;

    const Spans& spans_;
    Products of_;
    const OutputPlan& plan_;
    std::vector<double> pushed_;  // over (constant, all columns)
    std::vector<Purified> purified_;
};

Spanning TopDown::below(index s) const {
    const Subspace& u = spans_.all()[s].subspace;
    Spanning result;
    for (index v = 0; v < s; ++v) {
        const Subspace& w = spans_.all()[v].subspace;
        if (w.size() < u.size() && std::includes(u.begin(), u.end(), w.begin(), w.end())) result.push_back(v);
    }
    return result;
}

void TopDown::add(const Spanning& spanning, const std::vector<double>& coefficients) {
    std::size_t k = 0;
    for (const index s : spanning)
        for (index j = 0; j < spans_.all()[s].columns; ++j) pushed_[spans_.all()[s].first + j] += coefficients[k++];
}

void TopDown::project_rest(int n_threads) {
    Spanning all(spans_.all().size());
    for (std::size_t s = 0; s < all.size(); ++s) all[s] = index(s);
    const Gram gram(of_.span_products(all, all, n_threads), of_.size(all), kRidge, n_threads);
    add(all, gram.solve(of_.target_products(all, plan_.rest)));
}

TopDown::Purified TopDown::purify(index s) const {
    const Span& span = spans_.all()[s];
    const index target = plan_.own[s];
    Purified p;
    p.lower = below(s);
    p.own.assign(pushed_.begin() + span.first, pushed_.begin() + span.first + span.columns);
    p.exists = target >= 0 || std::any_of(p.own.begin(), p.own.end(), [](double c) { return c != 0; });
    if (!p.exists) return p;
    const Spanning self{s};
    const index n_lower = of_.size(p.lower);
    if (target >= 0 && plan_.smooth) {
        Spanning spanning = p.lower;
        spanning.push_back(s);
        const Gram gram(of_.span_products(spanning, spanning), of_.size(spanning), kRidge);
        const std::vector<double> a = gram.solve(of_.target_products(spanning, target));
        p.smoothed.assign(a.begin(), a.begin() + n_lower);
        for (index j = 0; j < span.columns; ++j) p.own[j] += a[n_lower + j];
    }
    std::vector<double> right = times(of_.span_products(p.lower, self), p.own);
    if (target >= 0 && !plan_.smooth) {
        const std::vector<double> terms = of_.target_products(p.lower, target);
        for (index i = 0; i < n_lower; ++i) right[i] += terms[i];
        p.mean += of_.target_mean(target);
    }
    if (n_lower > 0) p.down = Gram(of_.span_products(p.lower, p.lower), n_lower).solve(right);
    p.mean += dot(of_.means(self), p.own) - dot(of_.means(p.lower), p.down);
    return p;
}

Decomposition TopDown::run(int n_threads) {
    if (plan_.rest >= 0) project_rest(n_threads);
    const index n = index(spans_.all().size());
    for (index end = n; end > 0;) {
        index begin = end;
        while (begin > 0 && spans_.all()[begin - 1].subspace.size() == spans_.all()[end - 1].subspace.size()) --begin;
        parallel_for(end - begin, n_threads, [&](index k) { purified_[begin + k] = purify(begin + k); });
        for (index s = begin; s < end; ++s) {
            if (!purified_[s].exists) continue;
            add(purified_[s].lower, purified_[s].down);
            if (!purified_[s].smoothed.empty()) add(purified_[s].lower, purified_[s].smoothed);
        }
        end = begin;
    }
    Decomposition result;
    result.constant = of_.target_mean(plan_.whole);
    result.total = of_.of_targets(plan_.whole, plan_.whole);
    for (index s = 0; s < n; ++s) {
        poll();
        append(result, s);
    }
    return result;
}

void TopDown::append(Decomposition& result, index s) const {
    const Purified& p = purified_[s];
    Components& all = result.components;
    double variance = 0.0, covariance = 0.0;
    if (p.exists) {
        Spanning spanning = p.lower;
        spanning.push_back(s);
        std::vector<double> coefficients;
        for (const double d : p.down) coefficients.push_back(-d);
        coefficients.insert(coefficients.end(), p.own.begin(), p.own.end());
        const std::vector<double> image = times(of_.span_products(spanning, spanning), coefficients);
        variance = dot(coefficients, image);
        covariance = dot(coefficients, of_.target_products(spanning, plan_.whole));
        if (plan_.own[s] >= 0 && !plan_.smooth) {
            variance += of_.of_targets(plan_.own[s], plan_.own[s]) +
                        2 * dot(coefficients, of_.target_products(spanning, plan_.own[s]));
            covariance += of_.of_targets(plan_.own[s], plan_.whole);
        }
        all.column.push_back(0);
        all.weight.push_back(-p.mean);
        std::size_t k = 0;
        for (const index v : spanning)
            for (index j = 0; j < spans_.all()[v].columns; ++j, ++k) {
                all.column.push_back(spans_.all()[v].first + j);
                all.weight.push_back(coefficients[k]);
            }
    }
    all.begin.push_back(index(all.column.size()));
    result.variance.push_back(variance);
    result.covariance.push_back(covariance);
}

}  // namespace

Decomposition span_top_down(const Spans& spans, const SpanMoments& moments, const OutputPlan& plan, int n_threads) {
    if (plan.own.size() != spans.all().size()) throw Error("the plan must name a target, or none, for every span");
    for (const index t : plan.own)
        if (t < -1 || t >= moments.n_targets) throw Error("no such target: " + std::to_string(t));
    if (plan.rest < -1 || plan.rest >= moments.n_targets || plan.whole < 1 || plan.whole >= moments.n_targets)
        throw Error("no such target");
    return TopDown(spans, moments, plan).run(n_threads);
}

std::pair<index, index> additive_rank(const Spans& spans, const SpanMoments& moments, double tolerance) {
    const Products of(spans, moments);
    Spanning additive;
    index expected = 1;
    for (index s = 0; s < index(spans.all().size()); ++s)
        if (spans.all()[s].subspace.size() == 1) {
            additive.push_back(s);
            expected += rank_of(of.span_products({s}, {s}), spans.all()[s].columns, tolerance);
        }
    return {1 + rank_of(of.span_products(additive, additive), of.size(additive), tolerance), expected};
}

}  // namespace fasthdmr
