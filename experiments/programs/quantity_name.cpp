// Names of quantities.
#include "experiments/programs/quantity_name.h"

#include <array>
#include <cctype>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "results/quantities/quantities.h"

namespace xlm {
namespace {

constexpr std::size_t kMostNameBytes = 100;

bool is_name_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_name_sign(char c) { return is_name_letter(c) || (c >= '0' && c <= '9') || c == '-'; }

}  // namespace

bool is_quantity_name(std::string_view name) {
  if (name.empty() || name.size() > kMostNameBytes || !is_name_letter(name.front()) || name.ends_with('.')) return false;
  char before = 0;
  for (const char c : name) {
    if (!is_name_sign(c) && (c != '.' || before == '.')) return false;
    before = c;
  }
  return true;
}

void check_quantity_name(std::string_view name, std::string_view where) {
  if (is_quantity_name(name)) return;
  const std::string better = quantity_name_from(name);
  throw DataError(fmt::format(
      "{}: no quantity can be called '{}'\nits name has letters, digits, '_', '-' and dots, begins with a letter, and "
      "has {} bytes at most{}",
      where, printable(name.substr(0, 2 * kMostNameBytes)), kMostNameBytes,
      better.empty() ? "" : fmt::format(" (for example '{}')", better)));
}

std::string quantity_name_from(std::string_view theirs) {
  std::string name;
  char gap = 0;  // what stands between the last sign and the next
  for (const char c : theirs) {
    if (is_name_sign(c)) {
      const bool is_first = name.empty();
      if (is_first && !is_name_letter(c)) name += '_';
      if (!is_first && gap != 0) name += gap;
      name += c;
      gap = 0;
    } else if (c == '/' || c == '.') {
      gap = '.';
    } else if (gap == 0) {
      gap = '_';
    }
    if (name.size() > kMostNameBytes) break;
  }
  if (name.size() > kMostNameBytes) name.resize(kMostNameBytes);
  while (name.ends_with('.')) name.pop_back();
  return name;
}

std::string quantity_name_from_tag(std::string_view tag) {
  const std::size_t slash = tag.find('/');
  if (slash == std::string_view::npos) return quantity_name_from(tag);
  const std::string_view first = tag.substr(0, slash);
  const std::string_view rest = tag.substr(slash + 1);
  if (first == "train") return quantity_name_from(rest);
  for (const std::string_view word : {"eval", "val", "validation", "dev"}) {
    if (first == word) return "valid." + quantity_name_from(rest);
  }
  return quantity_name_from(tag);
}

QuantityPlace quantity_place(std::string_view name) {
  using Kind = QuantityPlace::Kind;
  if (auto evaluation = evaluation_column(name)) {
    return {Kind::kEvaluation, std::move(evaluation->split), std::move(evaluation->name)};
  }
  constexpr std::string_view kOfTheRun = "costs.";
  if (name.starts_with(kOfTheRun)) return {Kind::kRun, "", std::string(name.substr(kOfTheRun.size()))};
  const Quantity* known = find_quantity(name);
  return {known != nullptr && known->by == ReportedBy::kRun ? Kind::kRun : Kind::kTraining, "", std::string(name)};
}

bool is_split(std::string_view name) {
  const auto column = evaluation_column(fmt::format("{}.loss", name));
  return column && column->split == name;
}

}  // namespace xlm
