// Formulas over the sides of a claim.
#include "results/claims/side_formula.h"

#include <algorithm>

#include "base/words.h"
#include "results/store/formula.h"

namespace xlm {
namespace {

bool is_name_sign(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

/// Length of "[x]" at the beginning of `text`; 0 where something else stands there.
std::size_t side_at_beginning(std::string_view text) {
  return text.size() >= 3 && text[0] == '[' && text[1] >= 'a' && text[1] <= 'z' && text[2] == ']' ? 3 : 0;
}

/// The length of the name at the beginning of `text`, in braces or without; 0 where none stands there.
std::size_t name_at_beginning(std::string_view text) {
  if (text.front() == '{') {
    const std::size_t close = split_words(text, '}').front().size();
    return close == text.size() ? 0 : close + 1;
  }
  std::size_t end = 0;
  while (end < text.size() && is_name_sign(text[end])) ++end;
  return end;
}

}  // namespace

std::string bound_to_sides(std::string_view formula) {
  std::string out;
  while (!formula.empty()) {
    const std::size_t length = name_at_beginning(formula);
    if (length == 0) {
      out += formula.front();
      formula.remove_prefix(1);
      continue;
    }
    std::string_view name = formula.substr(0, length);
    formula.remove_prefix(length);
    const std::size_t side = side_at_beginning(formula);
    if (side == 0) {
      out += name;
      continue;
    }
    if (name.front() == '{') name = name.substr(1, name.size() - 2);
    out += "{" + std::string(name) + std::string(formula.substr(0, side)) + "}";
    formula.remove_prefix(side);
  }
  return out;
}

SideColumn side_column(std::string_view name) {
  if (name.size() > 3 && side_at_beginning(name.substr(name.size() - 3)) == 3) {
    return {std::string(name.substr(0, name.size() - 3)), name[name.size() - 2]};
  }
  return {std::string(name), 0};
}

std::vector<char> letters_in(std::string_view formula) {
  std::vector<char> letters;
  while (!formula.empty()) {
    const std::size_t length = name_at_beginning(formula);
    formula.remove_prefix(std::max<std::size_t>(length, 1));
    if (length == 0 || side_at_beginning(formula) == 0) continue;
    if (std::ranges::find(letters, formula[1]) == letters.end()) letters.push_back(formula[1]);
  }
  return letters;
}

std::vector<std::string> columns_of_value(const std::string& value) {
  if (value.empty()) return {};
  if (!is_formula(value)) return columns_behind(value);
  const Formula formula(bound_to_sides(value));
  std::vector<std::string> columns;
  for (const std::string& name : formula.columns()) columns.push_back(side_column(name).column);
  return columns;
}

}  // namespace xlm
