#include "loaders/value.hpp"

#include <algorithm>
#include <string>

#include "loaders/packed_numbers.hpp"

namespace fasthdmr {

double Value::number() const {
    if (kind_ != Kind::number) throw Error("The model's export is damaged: a number is missing.");
    return number_;
}

std::string_view Value::text() const {
    if (kind_ != Kind::text) throw Error("The model's export is damaged: a text is missing.");
    return {bytes_, std::size_t(count_)};
}

const Value& Value::at(index k) const {
    if (is_packed() || k < 0 || k >= size()) throw Error("The model's export is damaged: an array is too short.");
    return items_[k];
}

double Value::packed_number(index k) const {
    if (k < 0 || k >= count_) throw Error("The model's export is damaged: an array is too short.");
    double number;
    decode(packed_, bytes_ + k * bytes_of_packed(packed_), 1, &number);
    return number;
}

void Value::numbers(std::vector<double>& out) const {
    out.resize(size());
    if (is_packed()) return decode(packed_, bytes_, count_, out.data());
    for (index k = 0; k < size(); ++k) out[k] = items_[k].number();
}

void Value::integers(std::vector<std::int64_t>& out) const {
    out.resize(size());
    if (is_packed() && decode(packed_, bytes_, count_, out.data()))
        for (const std::int64_t number : out) whole(number);
    else
        for (index k = 0; k < size(); ++k) out[k] = integer(k);
}

const Value* Value::find(std::string_view key) const {
    if (kind_ != Kind::object) return nullptr;
    const Value* found = std::find_if(items_, items_ + count_, [&](const Value& item) { return item.name_ == key; });
    return found == items_ + count_ ? nullptr : found;
}

const Value* Value::find(Key& key) const {
    if (kind_ != Kind::object) return nullptr;
    if (key.last < count_ && items_[key.last].name_ == key.name) return items_ + key.last;
    const Value* found = find(key.name);
    if (found) key.last = found - items_;
    return found;
}

namespace {

const Value& existing(const Value* found, std::string_view name) {
    if (!found) throw Error("The model's export has no field '" + std::string(name) + "'.");
    return *found;
}

}  // namespace

const Value& Value::at(std::string_view key) const { return existing(find(key), key); }
const Value& Value::at(Key& key) const { return existing(find(key), key.name); }
const Value& Value::array(std::string_view key, index size) const { return at(key).as_array(key, size); }
const Value& Value::array(Key& key, index size) const { return at(key).as_array(key.name, size); }

const Value& Value::as_array(std::string_view name, index size) const {
    if (kind_ != Kind::array || this->size() != size)
        throw Error("The model's export is damaged: '" + std::string(name) + "' should have " + std::to_string(size) +
                    " values.");
    return *this;
}

}  // namespace fasthdmr
