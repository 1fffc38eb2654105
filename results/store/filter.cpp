// Values of columns, and conditions on them.
#include "results/store/filter.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/core_schema.h"
#include "base/error.h"
#include "base/sha256.h"
#include "base/text.h"
#include "base/utf8.h"

namespace xlm {
namespace {

struct Operator {
  std::string_view sign;
  Filter::Relation relation;
};
constexpr std::array<Operator, 6> kOperators{{{"!=", Filter::Relation::kNotEqual},
                                              {"<=", Filter::Relation::kLessOrEqual},
                                              {">=", Filter::Relation::kGreaterOrEqual},
                                              {"<", Filter::Relation::kLess},
                                              {">", Filter::Relation::kGreater},
                                              {"=", Filter::Relation::kEqual}}};

std::string_view sign_of(Filter::Relation relation) {
  for (const Operator& candidate : kOperators) {
    if (candidate.relation == relation) return candidate.sign;
  }
  return "=";
}

bool is_key_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
}

/// Where the operator of "KEY <= VALUE" stands; npos when `text` is only a value.
std::size_t operator_place(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && is_key_character(text[end])) ++end;
  if (end == 0) return std::string_view::npos;
  while (end < text.size() && text[end] == ' ') ++end;
  const bool is_operator = end < text.size() && std::string_view("=!<>").find(text[end]) != std::string_view::npos;
  return is_operator ? end : std::string_view::npos;
}

void check_ordered(const Filter& filter, const std::string& where) {
  using Relation = Filter::Relation;
  if (filter.relation == Relation::kEqual || filter.relation == Relation::kNotEqual) return;
  if (filter.values.size() == 1 && as_number(filter.values.front().value)) return;
  throw UsageError(fmt::format("{}: after '{}' there must be one number", where, sign_of(filter.relation)));
}

/// Of text, and of what is shown as a word.
std::string_view word_of(const Value& value) {
  if (const auto* holds = std::get_if<bool>(&value)) return *holds ? "true" : "false";
  return std::get<std::string>(value);
}

}  // namespace

std::optional<double> as_number(const Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  return std::nullopt;
}

std::string to_text(const Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *integer);
  if (const auto* real = std::get_if<double>(&value)) return fmt::format("{}", *real);
  return is_missing(value) ? "" : std::string(word_of(value));
}

std::string shown_hash(std::string text) {
  constexpr std::size_t kAll = 64;
  constexpr std::size_t kShown = 8;
  const bool is_hash = text.size() == kAll && text.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (is_hash) text.resize(kShown);
  return text;
}

std::string shown_text(const Value& value) { return shown_hash(to_text(value)); }

std::string short_text(const Value& value) {
  constexpr std::size_t kLongest = 40;
  constexpr std::size_t kKept = 20;
  constexpr std::size_t kDigits = 8;
  std::string text = shown_text(value);
  if (text.size() <= kLongest || !text.starts_with('[')) return text;
  return repaired_utf8(text.substr(0, kKept)) + "… (" + sha256(text).substr(0, kDigits) + ")";
}

std::string to_word(const Value& value) {
  if (is_missing(value)) return "null";
  const std::string text = to_text(value);
  const bool is_list = text.starts_with('[') && text.ends_with(']');
  return is_list ? text : as_word(text);
}

Value to_value(std::string_view text) {
  text = trim(text);
  if (text.starts_with('[')) {  // the way lists stand in the store
    const std::optional<Json> list = parse_json_if_any(text);
    if (list && list->is_array()) return list->dump();
  }
  const Json value = core_value(text);
  if (value.is_null()) return std::monostate();
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_number()) return value.get<double>();
  return std::string(text);
}

AskedValue asked_value(const Word& word) {
  if (word.quoted) return word.text;
  AskedValue asked = to_value(word.text);
  asked.written = word.text;
  return asked;
}

bool value_less(const Value& a, const Value& b) {
  const std::optional<double> x = as_number(a);
  const std::optional<double> y = as_number(b);
  if (x && y) return *x < *y;
  const auto rank = [](const Value& value) { return is_missing(value) ? 0 : as_number(value) ? 1 : 2; };
  if (rank(a) != rank(b)) return rank(a) < rank(b);
  return rank(a) == 2 && word_of(a) < word_of(b);
}

bool Filter::holds_for(const Value& value) const {
  const auto is_one_of = [&] {
    return std::ranges::any_of(values, [&](const AskedValue& asked) {
      const auto* text = std::get_if<std::string>(&value);
      return same_value(value, asked.value) || (text != nullptr && asked.written == *text);
    });
  };
  if (relation == Relation::kEqual) return is_one_of();
  if (relation == Relation::kNotEqual) return !is_one_of();
  const std::optional<double> number = as_number(value);
  if (!number) return false;
  const double limit = *as_number(values.front().value);
  switch (relation) {
    case Relation::kLess:
      return *number < limit;
    case Relation::kLessOrEqual:
      return *number <= limit;
    case Relation::kGreater:
      return *number > limit;
    default:
      return *number >= limit;
  }
}

std::string Filter::text() const {
  std::vector<std::string> parts;
  for (const auto& [value, written] : values) {
    parts.push_back(to_word(written && !is_missing(value) ? Value(*written) : value));
  }
  return fmt::format("{}{}{}", column, sign_of(relation), join(parts, ","));
}

std::vector<Filter> with_conditions(std::vector<Filter> filters, const std::vector<Filter>& more) {
  filters.insert(filters.end(), more.begin(), more.end());
  return filters;
}

std::vector<Filter> parse_filters(const std::vector<std::string>& texts) {
  std::vector<Filter> filters;
  for (const std::string& text : texts) {
    bool first = true;
    for (const std::string& part : split_words(text, ',', "[]")) {
      const std::string_view trimmed = trim(part);
      const std::size_t place = operator_place(trimmed);
      if (place == std::string_view::npos) {
        if (first)
          throw UsageError(fmt::format("'{}' is not a condition (for example model.span=256, or seed<4)", text));
        filters.back().values.push_back(asked_value(read_word(trimmed)));
        continue;
      }
      first = false;
      const std::string_view rest = trimmed.substr(place);
      const auto found =
          std::ranges::find_if(kOperators, [&](const Operator& candidate) { return rest.starts_with(candidate.sign); });
      if (found == kOperators.end()) throw UsageError(fmt::format("'{}': expected =, !=, <, <=, > or >=", text));
      filters.push_back({std::string(trim(trimmed.substr(0, place))),
                         found->relation,
                         {asked_value(read_word(rest.substr(found->sign.size())))}});
    }
  }
  for (const Filter& filter : filters) check_ordered(filter, "'" + filter.text() + "'");
  return filters;
}

std::vector<std::string> read_texts(const Yaml& node, std::string_view what) {
  std::vector<std::string> texts;
  for (const Yaml& item : node.is_sequence() ? node.items : std::vector<Yaml>{node}) {
    texts.push_back(scalar_text(item, what));
  }
  return texts;
}

std::vector<std::string> read_columns(const Yaml& node, const std::string& key) {
  if (node.is_null()) return {};
  std::vector<std::string> columns;
  for (const Yaml& item : node.is_sequence() ? node.items : std::vector<Yaml>{node}) {
    if (!item.is_scalar() || item.scalar.empty()) {
      fail_at(item, key + " takes a column of the store, or a list of columns");
    }
    if (std::ranges::find(columns, item.scalar) != columns.end()) {
      fail_at(item, fmt::format("{} names {} twice", key, item.scalar));
    }
    columns.push_back(item.scalar);
  }
  return columns;
}

std::vector<Filter> read_filters(const Yaml& where) {
  if (where.is_null()) return {};
  if (!where.is_map()) fail_at(where, "'where' must be a map of conditions");
  std::vector<Filter> filters;
  for (const auto& [key, node] : where.entries) {
    Filter filter{key, Filter::Relation::kEqual, {}};
    const std::vector<Yaml> items = node.is_sequence() ? node.items : std::vector<Yaml>{node};
    for (const Yaml& item : items) {
      if (item.is_map()) fail_at(item, fmt::format("the condition on '{}' cannot be a map", key));
      std::string_view text = item.is_scalar() ? std::string_view(item.scalar) : std::string_view();
      if (item.is_scalar() && items.size() == 1) {
        for (const Operator& candidate : kOperators) {
          if (filter.relation == Filter::Relation::kEqual && text.starts_with(candidate.sign)) {
            filter.relation = candidate.relation;
            text.remove_prefix(candidate.sign.size());
          }
        }
      }
      const bool is_exact = item.quoted && text == item.scalar && trim(text) != text;  // blanks are part of it
      if (item.is_sequence()) {
        filter.values.emplace_back(to_json(item).dump());
      } else {
        filter.values.push_back(asked_value({.text = std::string(is_exact ? text : trim(text)), .quoted = is_exact}));
      }
    }
    check_ordered(filter, fmt::format("{}: the condition on '{}'", node.where(), key));
    filters.push_back(std::move(filter));
  }
  return filters;
}

}  // namespace xlm
