// Values in the store's columns, and conditions on them, as the command line and table files write them.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/words.h"
#include "base/yaml.h"

namespace xlm {

/// What a run has in a column: nothing, a whole number, a real number, text, or whether something is so. A list is
/// text, in JSON.
using Value = std::variant<std::monostate, std::int64_t, double, std::string, bool>;

inline bool is_missing(const Value& value) { return std::holds_alternative<std::monostate>(value); }
std::optional<double> as_number(const Value& value);
/// A value as text: "512", "0.07", "adaptive", "true". Empty for a missing one.
std::string to_text(const Value& value);
/// As tables and lists show it: of a hash of 64 digits the first 8.
std::string shown_text(const Value& value);

/// The same for a narrow column: of a long list, as a program's command, the beginning and 8 digits of a hash.
std::string short_text(const Value& value);
std::string shown_hash(std::string text);
/// The same as a condition names it: "null", and text in quotes where it needs them.
std::string to_word(const Value& value);
/// The value that a text stands for, as in a configuration: a number, true or false, nothing, otherwise the text
/// itself.
Value to_value(std::string_view text);
/// The order of values: missing ones first, then numbers by size, then text by alphabet, to which true and false
/// belong.
bool value_less(const Value& a, const Value& b);
/// This order, of single values and of lists of them, for maps and sets.
struct ValueOrder {
  bool operator()(const Value& a, const Value& b) const { return value_less(a, b); }
  bool operator()(const std::vector<Value>& a, const std::vector<Value>& b) const {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), value_less);
  }
};
inline bool same_value(const Value& a, const Value& b) { return !value_less(a, b) && !value_less(b, a); }

struct AskedValue {
  // Whatever is a value, and nothing else: no copy of an AskedValue comes here.
  template <class Given>
  // NOLINTNEXTLINE(google-explicit-constructor, bugprone-forwarding-reference-overload)
  requires std::convertible_to<Given, Value> AskedValue(Given&& given) : value(std::forward<Given>(given)) {}

  Value value;
  std::optional<std::string> written;  // a name that looks like another value will do too: 2023, 007, null
};

/// What a word asks for: in quotes a text, otherwise what it stands for, and a text that is written like it.
AskedValue asked_value(const Word& word);

/// A condition on one column. Either the value is one of several, or none of them, or it lies on one side of a number.
struct Filter {
  enum class Relation { kEqual, kNotEqual, kLess, kLessOrEqual, kGreater, kGreaterOrEqual };

  std::string column;
  Relation relation = Relation::kEqual;
  std::vector<AskedValue> values;

  bool holds_for(const Value& value) const;
  /// The condition as a user would write it, such as "model.span=256,512".
  std::string text() const;
};

/// Both, those of `more` last.
std::vector<Filter> with_conditions(std::vector<Filter> filters, const std::vector<Filter>& more);

/// Reads conditions from the command line: KEY=VALUE, KEY!=VALUE, KEY<VALUE, …. A comma separates several values of one
/// condition. Where KEY= follows the comma, it separates two conditions. Values are words (base/words.h), which may
/// stand in quotes. Throws UsageError for anything else.
std::vector<Filter> parse_filters(const std::vector<std::string>& texts);

/// Reads a text, or a list of texts. Throws UsageError with file:line, which names `what` each of them is.
std::vector<std::string> read_texts(const Yaml& node, std::string_view what);

/// Reads a column, or a list of different columns; none of null. Throws UsageError with file:line, which names `key`.
std::vector<std::string> read_columns(const Yaml& node, const std::string& key);

/// Reads `where: {key: value, key: [value, value], key: "<= 512"}`, quoted as YAML is; a text that begins with a sign
/// has another one before it: "=<x". Throws UsageError with file:line.
std::vector<Filter> read_filters(const Yaml& where);

}  // namespace xlm
