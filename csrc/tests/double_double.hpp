// Sums in higher precision: a number is the sum of two doubles, about 106 bits. The type long double has another
// precision on each platform, and on some only that of double; these results are the same everywhere.
#pragma once

#include <cmath>

namespace fasthdmr {

class DoubleDouble {
public:
    DoubleDouble(double value = 0.0) : high_(value) {}
    explicit operator double() const { return high_; }

    friend DoubleDouble operator-(DoubleDouble a) { return {-a.high_, -a.low_}; }
    friend DoubleDouble operator+(DoubleDouble a, DoubleDouble b) {
        const double sum = a.high_ + b.high_, of_b = sum - a.high_;  // Knuth's exact sum
        return normal(sum, (a.high_ - (sum - of_b)) + (b.high_ - of_b) + (a.low_ + b.low_));
    }
    friend DoubleDouble operator-(DoubleDouble a, DoubleDouble b) { return a + -b; }
    friend DoubleDouble operator*(DoubleDouble a, DoubleDouble b) {
        const double product = a.high_ * b.high_;
        return normal(product, std::fma(a.high_, b.high_, -product) + (a.high_ * b.low_ + a.low_ * b.high_));
    }
    friend DoubleDouble operator/(DoubleDouble a, DoubleDouble b) {
        const double quotient = a.high_ / b.high_;
        return normal(quotient, (a - quotient * b).high_ / b.high_);
    }
    friend DoubleDouble sqrt(DoubleDouble a) {
        const double root = std::sqrt(a.high_);
        return root > 0.0 ? normal(root, (a - DoubleDouble(root) * root).high_ / (2.0 * root)) : DoubleDouble(root);
    }
    friend bool operator>(DoubleDouble a, DoubleDouble b) { return (a - b).high_ > 0.0; }

    DoubleDouble& operator+=(DoubleDouble b) { return *this = *this + b; }
    DoubleDouble& operator-=(DoubleDouble b) { return *this = *this - b; }
    DoubleDouble& operator/=(DoubleDouble b) { return *this = *this / b; }

private:
    DoubleDouble(double high, double low) : high_(high), low_(low) {}
    static DoubleDouble normal(double high, double low) {
        const double sum = high + low;
        return {sum, low - (sum - high)};
    }

    double high_, low_ = 0.0;
};

}  // namespace fasthdmr
