#include "loaders/document.hpp"

#include <charconv>
#include <cstring>
#include <utility>

#include "loaders/number_text.hpp"
#include "loaders/packed_numbers.hpp"
#include "support/interruption.hpp"

namespace fasthdmr {

namespace {

constexpr int kDeepest = 200;  // levels of nesting; a limit, because the parser is recursive
constexpr index kValuesPerPoll = 1 << 12;

[[noreturn]] void fail(const std::string& what, index byte) {
    throw Error("The model's export is damaged: " + what + " at byte " + std::to_string(byte) + ".");
}

}  // namespace

void Storage::clear() {
    unescaped.clear();
    numbers.clear();
    items.clear();
}

class Parser {
public:
    Parser(std::string_view bytes, Storage& storage, const std::vector<ItemReader>& readers)
        : bytes_(bytes), readers_(readers), storage_(&storage) {}

    Value ubjson() {
        ubjson_value(next(), 0);
        if (left() != 0) fail("more bytes than a document", at_);
        return stack_.back();
    }

    Value json() {
        json_value(0);
        skip_space();
        if (left() != 0) fail("more bytes than a document", at_);
        return stack_.back();
    }

private:
    index left() const { return index(bytes_.size()) - at_; }

    // Parsed values are constructed on a stack. The items of an array or object stay there until their number is known,
    // then they are moved to the storage.
    Value& push(Value::Kind kind) {
        Value& value = stack_.emplace_back();
        value.kind_ = kind;
        return value;
    }

    void push_number(double number, Value::Kind kind = Value::Kind::number) { push(kind).number_ = number; }

    void push_text(std::string_view text) {
        Value& value = push(Value::Kind::text);
        value.bytes_ = text.data();
        value.count_ = index(text.size());
    }

    void push_packed(char type, const void* numbers, index count) {
        Value& value = push(Value::Kind::array);
        value.packed_ = type;
        value.bytes_ = static_cast<const char*>(numbers);
        value.count_ = count;
    }

    // Replaces the items, from position `first` on, by the array or object that contains them.
    void collect(Value::Kind kind, std::size_t first) {
        const auto count = index(stack_.size() - first);
        const Value* const items = storage_->items.keep(stack_.data() + first, count);
        stack_.resize(first);
        Value& value = push(kind);
        value.count_ = count;
        value.items_ = items;
    }

    // Adds a member to an object; `parse` pushes its value.
    template <class Parse>
    void push_member(std::string_view name, const Parse& parse) {
        if (!in_item_) path_.push_back(name);
        parse();
        stack_.back().name_ = name;
        if (!in_item_) path_.pop_back();
    }

    // The reader of the items of an array that begins at the current path, or null.
    const ItemReader* reader_of_items(int depth) const {
        if (in_item_ || std::size_t(depth) != path_.size()) return nullptr;
        const auto found = std::find_if(readers_.begin(), readers_.end(),
                                        [&](const ItemReader& reader) { return reader.path == path_; });
        return found == readers_.end() ? nullptr : &*found;
    }

    // Adds an item to an array, or passes it to its reader; `parse` pushes the item.
    template <class Parse>
    void push_item(const ItemReader* reader, const Parse& parse) {
        if (!reader) return parse();
        Storage* const outer = std::exchange(storage_, &of_item_);
        in_item_ = true;
        parse();
        reader->read(stack_.back());
        stack_.pop_back();
        in_item_ = false;
        storage_ = outer;
        of_item_.clear();
    }

    void enter(int depth) {
        if (depth > kDeepest) fail("too many levels", at_);
        if (++values_ % kValuesPerPoll == 0) poll();
    }

    char next() {
        if (left() < 1) fail("it ends too early", at_);
        return bytes_[at_++];
    }

    char peek() const { return left() < 1 ? '\0' : bytes_[at_]; }

    std::string_view take(index count) {
        if (count < 0 || count > left()) fail("it ends too early", at_);
        at_ += count;
        return bytes_.substr(at_ - count, count);
    }

    // UBJSON

    double ubjson_number(char type) {
        const index size = bytes_of(type);
        if (size == 0) fail("a number is missing", at_);
        double number;
        decode(type, take(size).data(), 1, &number);
        return number;
    }

    index ubjson_count() {
        const char type = next();
        if (type == 'L') {  // the type of all lengths in exports of xgboost
            const auto count = big_endian<std::uint64_t>(take(8).data());
            if (count > std::uint64_t(left())) fail("a length that is more than the rest", at_);
            return index(count);
        }
        if (type == 'd' || type == 'D') fail("a length is no whole number", at_);
        const double count = ubjson_number(type);
        if (!(count >= 0.0 && count <= double(left()))) fail("a length that is more than the rest", at_);
        return index(count);
    }

    void ubjson_value(char type, int depth) {
        enter(depth);
        if (bytes_of(type) > 0) push_number(ubjson_number(type));
        else if (type == 'T' || type == 'F') push_number(type == 'T', Value::Kind::boolean);
        else if (type == 'S') push_text(take(ubjson_count()));
        else if (type == '[') ubjson_array(depth);
        else if (type == '{') ubjson_object(depth);
        else if (type == 'Z') push(Value::Kind::null);
        else fail("an unknown type", at_ - 1);
    }

    void ubjson_array(int depth) {
        const std::size_t first = stack_.size();
        const ItemReader* const reader = reader_of_items(depth);
        if (peek() == '$') {
            next();
            const char type = next();
            if (bytes_of(type) == 0 || next() != '#') fail("an array of an unknown type", at_);
            const index count = ubjson_count();
            return push_packed(type, take(count * bytes_of(type)).data(), count);
        } else if (peek() == '#') {
            next();
            const index count = ubjson_count();  // at most the number of bytes left
            for (index k = 0; k < count; ++k) push_item(reader, [&] { ubjson_value(next(), depth + 1); });
        } else {
            for (char type; (type = next()) != ']';) push_item(reader, [&] { ubjson_value(type, depth + 1); });
        }
        collect(Value::Kind::array, first);
    }

    void ubjson_object(int depth) {
        const std::size_t first = stack_.size();
        while (peek() != '}') {
            const std::string_view name = take(ubjson_count());
            push_member(name, [&] { ubjson_value(next(), depth + 1); });
        }
        next();
        collect(Value::Kind::object, first);
    }

    // JSON

    // Skips spaces eight at a time: CatBoost indents its JSON, so most bytes are spaces.
    void skip_space() {
        const char *p = bytes_.data() + at_, *const end = bytes_.data() + bytes_.size();
        while (p != end && (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r')) {
            ++p;
            while (skip_spaces<8>(p, end)) continue;
            skip_spaces<4>(p, end);
            skip_spaces<2>(p, end);
        }
        at_ = p - bytes_.data();
    }

    template <int count>
    static bool skip_spaces(const char*& p, const char* end) {
        static constexpr char spaces[] = "        ";
        const bool found = end - p >= count && std::memcmp(p, spaces, count) == 0;
        p += found ? count : 0;
        return found;
    }

    char next_sign() {
        skip_space();
        return next();
    }

    void json_value(int depth) {
        enter(depth);
        skip_space();
        const char first = peek();
        if (first == '"') {
            next();
            push_text(json_text());
        } else if (first == '[' || first == '{') {
            next();
            json_items(first == '[' ? ']' : '}', depth);
        } else if (first == 't' || first == 'f' || first == 'n') {
            const std::string_view word = first == 't' ? "true" : first == 'f' ? "false" : "null";
            if (left() < index(word.size()) || take(index(word.size())) != word) fail("an unknown word", at_);
            push_number(first == 't', first == 'n' ? Value::Kind::null : Value::Kind::boolean);
        } else {
            push_number(json_number());
        }
    }

    double json_number() {
        double number = 0.0;
        const char* begin = bytes_.data() + at_;
        const auto [end, error] = parse_number(begin, bytes_.data() + bytes_.size(), number);
        if (error == std::errc::invalid_argument) fail("a number is missing", at_);
        if (error == std::errc::result_out_of_range) fail("a number that float64 cannot hold", at_);
        at_ += end - begin;
        return number;
    }

    bool is_at_number() {
        skip_space();
        return peek() == '-' || (peek() >= '0' && peek() <= '9');
    }

    // Pushes an array if all its items are numbers. Otherwise restores the position and returns false.
    bool push_if_numbers() {
        const index begin = at_;
        found_.clear();
        for (char sign = ','; sign == ',';) {
            if (!is_at_number()) {
                at_ = begin;
                return false;
            }
            found_.push_back(json_number());
            sign = next_sign();
            if (sign != ',' && sign != ']') fail("',' is missing", at_);
        }
        const auto count = index(found_.size());
        push_packed(kDoubles, storage_->numbers.keep(found_.data(), count), count);
        return true;
    }

    void json_items(char last, int depth) {
        const Value::Kind kind = last == ']' ? Value::Kind::array : Value::Kind::object;
        const std::size_t first = stack_.size();
        skip_space();
        if (peek() == last) {
            next();
            return collect(kind, first);
        }
        if (last == ']' && push_if_numbers()) return;
        const ItemReader* const reader = last == ']' ? reader_of_items(depth) : nullptr;
        const auto parse = [&] { json_value(depth + 1); };
        for (char sign = ','; sign == ',';) {
            if (last == '}') {
                if (next_sign() != '"') fail("a name is missing", at_);
                const std::string_view name = json_text();
                if (next_sign() != ':') fail("':' is missing", at_);
                push_member(name, parse);
            } else {
                push_item(reader, parse);
            }
            sign = next_sign();
            if (sign != ',' && sign != last) fail("',' is missing", at_);
        }
        collect(kind, first);
    }

    // Parses a text; its first quote has been read. Only texts with a backslash are copied.
    std::string_view json_text() {
        const std::size_t begin = at_, end = bytes_.find('"', begin);
        if (end == bytes_.npos) fail("it ends too early", index(bytes_.size()));
        if (backslash_ < begin) backslash_ = bytes_.find('\\', begin);
        if (backslash_ < end) return escaped_text();
        at_ = index(end) + 1;
        return bytes_.substr(begin, end - begin);
    }

    std::string_view escaped_text() {
        std::string text;
        for (char c; (c = next()) != '"';) {
            if (c != '\\') {
                text += c;
                continue;
            }
            constexpr std::string_view from = "nrtbf", to = "\n\r\t\b\f";
            const char sign = next();
            const auto found = from.find(sign);
            if (sign == 'u') append_utf8(text, code_point());
            else text += found == from.npos ? sign : to[found];
        }
        return storage_->unescaped.emplace_back(std::move(text));
    }

    // The code point of an escape sequence \uXXXX, or of two that form a surrogate pair.
    std::uint32_t code_point() {
        const std::string_view digits = take(4);
        std::uint32_t code = 0;
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + 4, code, 16);
        if (error != std::errc() || end != digits.data() + 4) fail("a character's number is missing", at_);
        constexpr std::uint32_t high = 0xD800, low = 0xDC00, end_of_low = 0xE000;
        if (code >= low && code < end_of_low) fail("half a character", at_);
        if (code < high || code >= low) return code;
        if (take(2) != "\\u") fail("half a character", at_);
        const std::string_view more = take(4);
        std::uint32_t second = 0;
        std::from_chars(more.data(), more.data() + 4, second, 16);
        if (second < low || second >= end_of_low) fail("half a character", at_);
        return 0x10000 + ((code - high) << 10) + (second - low);
    }

    static void append_utf8(std::string& text, std::uint32_t code) {
        if (code < 0x80) {
            text += char(code);
            return;
        }
        const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
        constexpr std::uint32_t lead[] = {0, 0xC0, 0xE0, 0xF0};
        text += char(lead[more] | code >> (6 * more));
        for (int k = more - 1; k >= 0; --k) text += char(0x80 | (code >> (6 * k) & 0x3F));
    }

    std::string_view bytes_;
    const std::vector<ItemReader>& readers_;
    std::vector<std::string_view> path_;  // the names of members from the root on, outside of items that are read
    bool in_item_ = false;
    Storage* storage_;
    Storage of_item_;
    std::vector<Value> stack_;
    std::vector<double> found_;
    index at_ = 0, values_ = 0;
    std::size_t backslash_ = 0;  // where the next backslash is, if it is not before at_
};

Document::Document(std::string_view bytes, const std::vector<ItemReader>& readers) {
    Parser parser(bytes, storage_, readers);
    // In an object, the brace is followed by a quote, a brace or a space in JSON. In UBJSON it is followed by the type
    // of the length of the first name.
    const bool is_ubjson = bytes.size() > 1 && bytes[0] == '{' && bytes_of(bytes[1]) > 0;
    root_ = is_ubjson ? parser.ubjson() : parser.json();
}

}  // namespace fasthdmr
