// A value of a parsed document.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "support/arrays.hpp"

namespace fasthdmr {

// The number as an integer. An error if it is not a whole number of at most 2^53, up to which float64 is exact.
template <class Number>
std::int64_t whole(Number number) {
    constexpr auto most = Number(std::int64_t(1) << 53);
    if (!(-most <= number && number <= most) || Number(std::int64_t(number)) != number)
        throw Error("The model's export is damaged: a whole number is missing.");
    return std::int64_t(number);
}

// The name of a member, and its position in the object where it was found last: objects of one kind have the same
// members in the same order.
struct Key {
    std::string_view name;
    index last = 0;
};

// A value of a document. It refers to the parsed bytes and to the document, which must outlive it.
class Value {
public:
    enum class Kind { null, boolean, number, text, array, object };

    Kind kind() const { return kind_; }
    // The number of items of an array or object.
    index size() const { return kind_ == Kind::array || kind_ == Kind::object ? count_ : 0; }
    // The name of a member of an object.
    std::string_view name() const { return name_; }
    // An item of an array or object. An error if it does not exist, or if the array is packed.
    const Value& at(index k) const;

    // Whether an array stores numbers only, without a Value for each, which saves memory.
    bool is_packed() const { return packed_; }

    double number() const;
    bool boolean() const { return kind_ == Kind::boolean && number_ != 0.0; }
    std::string_view text() const;
    // The k-th number of an array.
    double number(index k) const { return is_packed() ? packed_number(k) : at(k).number(); }
    // The k-th number of an array. An error if it is not a whole number.
    std::int64_t integer(index k) const { return whole(number(k)); }
    std::int64_t integer() const { return whole(number()); }
    // All numbers of an array of numbers.
    void numbers(std::vector<double>& out) const;
    // The same. An error if they are no whole numbers.
    void integers(std::vector<std::int64_t>& out) const;
    // A member of an object. If it does not exist, `find` returns null and `at` throws an error.
    const Value* find(std::string_view key) const;
    const Value* find(Key& key) const;
    const Value& at(std::string_view key) const;
    const Value& at(Key& key) const;
    // A member that is an array of the given size.
    const Value& array(std::string_view key, index size) const;
    const Value& array(Key& key, index size) const;

private:
    friend class Parser;
    double packed_number(index k) const;
    const Value& as_array(std::string_view name, index size) const;

    Kind kind_ = Kind::null;
    char packed_ = 0;  // the type of packed numbers, or 0
    index count_ = 0;  // number of items, or number of bytes of a text
    union {
        double number_ = 0.0;
        const char* bytes_;  // of a text or of packed numbers
        const Value* items_;
    };
    std::string_view name_;
};

}  // namespace fasthdmr
