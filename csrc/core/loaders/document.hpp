// Parser of JSON and UBJSON.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "loaders/value.hpp"

namespace fasthdmr {

// Stores contiguous ranges of values at fixed addresses, many ranges in one allocation.
template <class T>
class Kept {
public:
    const T* keep(const T* first, index count) {
        constexpr index piece = index(1) << 10;
        if (pieces_.empty() || index(pieces_.back().capacity() - pieces_.back().size()) < count) {
            pieces_.emplace_back();
            pieces_.back().reserve(std::max(piece, count));
        }
        std::vector<T>& last = pieces_.back();
        last.insert(last.end(), first, first + count);
        return last.data() + last.size() - count;
    }
    void clear() {
        pieces_.resize(std::min<std::size_t>(1, pieces_.size()));
        if (!pieces_.empty()) pieces_[0].clear();
    }

private:
    std::deque<std::vector<T>> pieces_;
};

// What values refer to, other than the parsed bytes.
struct Storage {
    std::deque<std::string> unescaped;  // texts with escape sequences, decoded
    Kept<double> numbers;               // packed numbers of JSON; those of UBJSON stay in the parsed bytes
    Kept<Value> items;

    void clear();
};

// Reads the items of the array at a path, which are the names of members from the root on. The items are read one by
// one while the document is parsed, and are not kept in it: then they need little memory, and stay in the cache.
struct ItemReader {
    std::vector<std::string_view> path;
    std::function<void(const Value& item)> read;
};

// A parsed document. Texts without escape sequences and packed numbers of UBJSON refer to the parsed bytes, which must
// outlive it.
class Document {
public:
    // JSON or UBJSON. After the first brace UBJSON has a type marker, which JSON cannot have.
    explicit Document(std::string_view bytes, const std::vector<ItemReader>& readers = {});
    Document(const Document&) = delete;
    Document& operator=(const Document&) = delete;
    const Value& root() const { return root_; }

private:
    Storage storage_;
    Value root_;
};

}  // namespace fasthdmr
