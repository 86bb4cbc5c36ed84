#include "loaders/lightgbm.hpp"

#include <cmath>
#include <cstring>
#include <optional>

#include "loaders/number_text.hpp"
#include "support/interruption.hpp"

namespace fasthdmr {

namespace {

constexpr index kMostColumns = index(1) << 21;

// Bits of a split's type.
constexpr int kCategorical = 1, kDefaultLeft = 2;
enum class Missing { none, zero, nan };  // which values are missing; if none, NaN counts as 0
constexpr int kMissingShift = 2, kMissingMask = 3;

[[noreturn]] void fail(const std::string& what) { throw Error("The model's text is damaged: " + what + "."); }

// The remaining part of a text, read line by line or number by number.
class Scanner {
public:
    explicit Scanner(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

    bool is_done() const { return at_ == end_; }

    std::string_view line() {
        const char* begin = at_;
        const void* found = at_ == end_ ? nullptr : std::memchr(at_, '\n', std::size_t(end_ - at_));
        const char* stop = found ? static_cast<const char*>(found) : end_;
        at_ = found ? stop + 1 : end_;
        if (stop != begin && stop[-1] == '\r') --stop;
        return {begin, std::size_t(stop - begin)};
    }

    template <class Number>
    Number number() {
        while (at_ != end_ && *at_ == ' ') ++at_;
        Number value{};
        const auto [stop, error] = parse(value);
        if (error == std::errc::invalid_argument) fail("a number is missing");
        if (error == std::errc::result_out_of_range) fail("a number is out of range");
        at_ = stop;
        return value;
    }

private:
    std::from_chars_result parse(double& value) const { return parse_number(at_, end_, value); }
    template <class Integer>
    std::from_chars_result parse(Integer& value) const {
        return std::from_chars(at_, end_, value);
    }

    const char *at_, *end_;
};

template <class Number>
Number only_number(std::string_view text) {
    return Scanner(text).number<Number>();
}

// The lines of a tree that are read.
struct TreeLines {
    std::optional<std::string_view> num_leaves, split_feature, threshold, decision_type, left_child, right_child,
        leaf_value, leaf_count, internal_count, is_linear, cat_boundaries, cat_threshold;

    std::optional<std::string_view>* field(std::string_view key) {
        using Lines = TreeLines;
        static constexpr std::pair<std::string_view, std::optional<std::string_view> Lines::*> fields[] = {
            {"num_leaves", &Lines::num_leaves},         {"split_feature", &Lines::split_feature},
            {"threshold", &Lines::threshold},           {"decision_type", &Lines::decision_type},
            {"left_child", &Lines::left_child},         {"right_child", &Lines::right_child},
            {"leaf_value", &Lines::leaf_value},         {"leaf_count", &Lines::leaf_count},
            {"is_linear", &Lines::is_linear},           {"internal_count", &Lines::internal_count},
            {"cat_boundaries", &Lines::cat_boundaries}, {"cat_threshold", &Lines::cat_threshold},
        };
        for (const auto& [name, line] : fields)
            if (name == key) return &(this->*line);
        return nullptr;
    }
};

std::string_view required(const std::optional<std::string_view>& line, const char* name) {
    if (!line) fail(std::string("a tree without '") + name + "'");
    return *line;
}

// The sets of categories of a tree, as bits of 32-bit words.
class CategorySets {
public:
    explicit CategorySets(const TreeLines& lines) {
        if (!lines.cat_boundaries) return;
        const std::string_view words = required(lines.cat_threshold, "cat_threshold");
        for (Scanner scanner(words); !scanner.is_done();) words_.push_back(scanner.number<std::uint32_t>());
        for (Scanner scanner(*lines.cat_boundaries); !scanner.is_done();)
            boundaries_.push_back(scanner.number<index>());
        words_left_ = index(words_.size());
    }

    // LightGBM truncates numbers to categories, so category 0 is the interval (-1, 1).
    void append(double number, ReadTrees& trees) {
        const auto s = number >= 0.0 && number < double(boundaries_.size()) ? std::size_t(number) : boundaries_.size();
        if (s + 1 >= boundaries_.size() || boundaries_[s] < 0 || boundaries_[s] > boundaries_[s + 1] ||
            boundaries_[s + 1] > index(words_.size()))
            fail("no such set of categories");
        // Each split has a set of its own. If they overlapped, a small file could need much memory.
        words_left_ -= boundaries_[s + 1] - boundaries_[s];
        if (words_left_ < 0) fail("splits share categories");
        const index begin = 32 * boundaries_[s], end = 32 * boundaries_[s + 1];
        for (index first = begin; first < end; ++first) {
            if (!has(first)) continue;
            index last = first;  // of consecutive categories, which are one interval
            while (last + 1 < end && has(last + 1)) ++last;
            trees.append_interval(first > begin ? double(first - begin) : std::nextafter(-1.0, 0.0),
                                  std::nextafter(double(last - begin + 1), 0.0));
            first = last;
        }
    }

private:
    bool has(index bit) const { return words_[bit / 32] >> (bit % 32) & 1; }

    std::vector<index> boundaries_;
    std::vector<std::uint32_t> words_;
    index words_left_ = 0;
};

class Reader {
public:
    explicit Reader(std::string_view text) : scanner_(text) { model_.trees.reserve_for(text.size()); }

    LightgbmModel read() {
        while (true) {
            if (scanner_.is_done()) fail("it ends before the trees");
            const std::string_view line = scanner_.line();
            if (line.rfind("Tree=", 0) == 0) {
                read_trees();
                break;
            }
            if (line == "end of trees") break;
            const auto equals = line.find('=');
            const auto name = line.substr(0, equals);
            if (equals == line.npos) model_.header.emplace_back(line, "");
            else model_.header.emplace_back(name, line.substr(equals + 1));
            if (name == "max_feature_idx") set_columns(only_number<index>(line.substr(equals + 1)));
        }
        return std::move(model_);
    }

private:
    void set_columns(index last) {
        if (last < 0 || last >= kMostColumns) fail("its number of columns is out of range");
        model_.zero_is_missing.assign(last + 1, 0);
        has_kind_.assign(last + 1, 0);
    }

    // Reads from after the line "Tree=0" to the end of all trees.
    void read_trees() {
        TreeLines lines;
        for (bool more = true; more;) {
            if (scanner_.is_done()) fail("it ends within the trees");
            const std::string_view line = scanner_.line();
            more = line != "end of trees";
            if (!more || line.rfind("Tree=", 0) == 0) {
                append_tree(lines);
                lines = {};
            } else if (const auto equals = line.find('='); equals != line.npos) {
                if (auto* field = lines.field(line.substr(0, equals))) *field = line.substr(equals + 1);
            }
        }
    }

    // Inner nodes come first, then the leaves. LightGBM numbers both from 0; a child -k is leaf k - 1.
    void append_tree(const TreeLines& lines) {
        poll();
        ReadTrees& trees = model_.trees;
        const std::string_view values = required(lines.leaf_value, "leaf_value");
        const index leaves = only_number<index>(required(lines.num_leaves, "num_leaves"));
        // A value takes at least one character and a space. This limits the number of leaves before memory is allocated.
        if (leaves < 1 || leaves > (index(values.size()) + 1) / 2) fail("a tree without leaves");
        if (lines.is_linear && only_number<int>(*lines.is_linear) != 0)
            throw Error(
                "Tree " + std::to_string(trees.n_trees()) +
                " of this LightGBM model has linear models in its leaves (linear_tree=True), so it is no sum of "
                "constants on boxes. Fit it with linear_tree=False, or use fasthdmr.HDMR.");
        const index splits = leaves - 1, first = trees.append(splits + leaves);
        if (splits > 0) append_splits(lines, splits, first);
        Scanner value(values);
        std::optional<Scanner> count;
        if (lines.leaf_count && !lines.leaf_count->empty()) count.emplace(*lines.leaf_count);
        for (index at = first + splits; at < trees.n_nodes(); ++at) {
            trees.value[at] = value.number<double>();
            trees.weight[at] = count ? count->number<double>() : 1.0;
        }
        trees.finish_tree();
    }

    void append_splits(const TreeLines& lines, index splits, index first) {
        ReadTrees& trees = model_.trees;
        Scanner feature(required(lines.split_feature, "split_feature")),
            threshold(required(lines.threshold, "threshold")), type(required(lines.decision_type, "decision_type")),
            left(required(lines.left_child, "left_child")), right(required(lines.right_child, "right_child"));
        CategorySets sets(lines);
        std::optional<Scanner> count;
        if (lines.internal_count && !lines.internal_count->empty()) count.emplace(*lines.internal_count);
        const auto child = [&](Scanner& scanner) {
            const index number = scanner.number<std::int32_t>();
            return number < 0 ? splits - number - 1 : number;
        };
        for (index at = first; at < first + splits; ++at) {
            const index column = feature.number<index>();
            const double most = threshold.number<double>();
            const int kind = type.number<int>();
            const index to_left = child(left), to_right = child(right);
            if (column < 0 || column >= index(has_kind_.size())) fail("no such column");
            if (kind & kCategorical) {
                trees.split_by_set(at, column, false, to_left, to_right);  // missing values go right
                sets.append(most, trees);
            } else trees.split(at, column, most, goes_left_if_missing(kind, column, most), to_left, to_right);
            trees.weight[at] = count ? count->number<double>() : 1.0;
        }
    }

    bool goes_left_if_missing(int type, index column, double threshold) {
        const int kind = type >> kMissingShift & kMissingMask;
        if (kind > int(Missing::nan)) fail("an unknown kind of missing values");
        // A column may combine Missing::none with one of the others, since NaN then counts as 0 or is missing as 0 is.
        has_kind_[column] |= std::uint8_t(1 << kind);
        if (has_kind_[column] >> int(Missing::zero) & has_kind_[column] >> int(Missing::nan) & 1)
            throw Error("Column " + std::to_string(column) +
                        " of this LightGBM model has zeros as missing values in some trees and not in others, which is "
                        "not read. Fit all trees with the same zero_as_missing.");
        if (kind == int(Missing::zero)) model_.zero_is_missing[column] = 1;
        return kind == int(Missing::none) ? 0.0 <= threshold : (type & kDefaultLeft) != 0;
    }

    Scanner scanner_;
    LightgbmModel model_;
    std::vector<std::uint8_t> has_kind_;  // by column, one bit for each kind of missing values
};

}  // namespace

LightgbmModel read_lightgbm(std::string_view text) { return Reader(text).read(); }

}  // namespace fasthdmr
