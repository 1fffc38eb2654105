// Values of the store's columns, and conditions on them as the command line and table files write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/yaml.h"

namespace xlm {

/// What a run has in a column: nothing, a whole number, a real number, or text (lists are JSON text).
using Value = std::variant<std::monostate, std::int64_t, double, std::string>;

inline bool is_missing(const Value& value) { return std::holds_alternative<std::monostate>(value); }
std::optional<double> as_number(const Value& value);
/// "512", "0.07", "adaptive"; empty for a missing value.
std::string to_text(const Value& value);
/// Reads text the way a configuration would: a whole number, a real one, or text; "null" is missing.
Value to_value(std::string_view text);
/// Numbers by size before text by alphabet; missing values come first.
bool value_less(const Value& a, const Value& b);
inline bool same_value(const Value& a, const Value& b) { return !value_less(a, b) && !value_less(b, a); }

/// A condition on one column: the value is (or is not) one of several, or lies on one side of a number.
struct Filter {
  enum class Relation { kEqual, kNotEqual, kLess, kLessOrEqual, kGreater, kGreaterOrEqual };

  std::string column;
  Relation relation = Relation::kEqual;
  std::vector<Value> values;

  bool holds_for(const Value& value) const;
  /// "model.span=256,512", as the user would write it.
  std::string text() const;
};

/// Reads conditions as the command line has them: KEY=VALUE, KEY!=VALUE, KEY<VALUE, …; a comma separates several
/// values, or several conditions where KEY= follows it. Throws UsageError.
std::vector<Filter> parse_filters(const std::vector<std::string>& texts);

/// Reads `where: {key: value, key: [value, value], key: "<= 512"}`. Throws UsageError with file:line.
std::vector<Filter> read_filters(const Yaml& where);

}  // namespace xlm
