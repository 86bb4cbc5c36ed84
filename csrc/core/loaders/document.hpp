// JSON and UBJSON, read into one kind of value.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "support/arrays.hpp"

namespace fasthdmr {

// A value refers to the bytes that it was read from, which have to live as long.
class Value {
public:
    enum class Kind { null, boolean, number, text, array, object };

    Kind kind() const { return kind_; }
    // Of arrays and objects.
    index size() const { return is_packed() ? packed_count_ : index(items_.size()); }
    // Of a member of an object.
    std::string_view name() const { return name_; }
    // An item of an array or object; an error if there is none, or if they are packed numbers.
    const Value& at(index k) const;

    // Whether items are numbers without values of their own: they take little memory.
    bool is_packed() const { return packed_ || numbers_; }

    double number() const;
    bool boolean() const { return kind_ == Kind::boolean && number_ != 0.0; }
    std::string_view text() const;
    // The number in an array of numbers.
    double number(index k) const { return is_packed() ? packed_number(k) : at(k).number(); }
    // The same where it must be a whole number.
    std::int64_t integer(index k) const { return whole(number(k)); }
    std::int64_t integer() const { return whole(number()); }
    // A member of an object; null if there is none, or an error.
    const Value* find(std::string_view key) const;
    const Value& at(std::string_view key) const;
    // An array of so many numbers or values.
    const Value& array(std::string_view key, index size) const;

private:
    friend class Parser;
    static std::int64_t whole(double number);
    double packed_number(index k) const;

    Kind kind_ = Kind::null;
    char packed_ = 0;                  // the UBJSON type of packed numbers,
    const double* numbers_ = nullptr;  // or where those of JSON are
    index packed_count_ = 0;
    double number_ = 0.0;
    std::string_view text_;  // of text, or the bytes of packed numbers
    std::string_view name_;
    std::vector<Value> items_;
};

class Document {
public:
    // Told apart by content: UBJSON has type markers where JSON has quotes.
    explicit Document(std::string_view bytes);
    const Value& root() const { return root_; }

private:
    std::deque<std::string> unescaped_;        // texts that are no stretch of the bytes
    std::deque<std::vector<double>> numbers_;  // the arrays of numbers of JSON
    Value root_;
};

}  // namespace fasthdmr
