// Parser of JSON and UBJSON.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "support/arrays.hpp"

namespace fasthdmr {

// A value of a document. It refers to the bytes that it was parsed from, which must outlive it.
class Value {
public:
    enum class Kind { null, boolean, number, text, array, object };

    Kind kind() const { return kind_; }
    // The number of items of an array or object.
    index size() const { return is_packed() ? packed_count_ : index(items_.size()); }
    // The name of a member of an object.
    std::string_view name() const { return name_; }
    // An item of an array or object. An error if it does not exist, or if the array is packed.
    const Value& at(index k) const;

    // Whether an array stores its numbers without a Value for each, to save memory.
    bool is_packed() const { return packed_ || numbers_; }

    double number() const;
    bool boolean() const { return kind_ == Kind::boolean && number_ != 0.0; }
    std::string_view text() const;
    // The k-th number of an array.
    double number(index k) const { return is_packed() ? packed_number(k) : at(k).number(); }
    // The same, but an error if it is not a whole number.
    std::int64_t integer(index k) const { return whole(number(k)); }
    std::int64_t integer() const { return whole(number()); }
    // A member of an object. If it does not exist, `find` returns null and `at` throws an error.
    const Value* find(std::string_view key) const;
    const Value& at(std::string_view key) const;
    // A member that is an array of the given size.
    const Value& array(std::string_view key, index size) const;

private:
    friend class Parser;
    static std::int64_t whole(double number);
    double packed_number(index k) const;

    Kind kind_ = Kind::null;
    char packed_ = 0;                  // the type of the packed numbers of UBJSON, or 0
    const double* numbers_ = nullptr;  // the packed numbers of JSON, or null
    index packed_count_ = 0;
    double number_ = 0.0;
    std::string_view text_;  // a text, or the bytes of packed numbers of UBJSON
    std::string_view name_;
    std::vector<Value> items_;
};

class Document {
public:
    // JSON or UBJSON, which are distinguished by content: after the first brace UBJSON has a type marker.
    explicit Document(std::string_view bytes);
    const Value& root() const { return root_; }

private:
    std::deque<std::string> unescaped_;        // texts with escape sequences, decoded
    std::deque<std::vector<double>> numbers_;  // the packed numbers of JSON
    Value root_;
};

}  // namespace fasthdmr
