// Which way a column of the store is better.
#include "results/store/directions.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "base/error.h"
#include "results/run_folder/run_folder.h"
#include "results/store/formula.h"

namespace xlm {
namespace {

constexpr std::string_view kHigherWord = kBetterNames[static_cast<std::size_t>(Better::kHigher)];

/// Whether the program itself knows what a result is made of.
bool is_known_result(RunTable& runs, const std::string& column) {
  return known_direction(quantity_in(column)).has_value() || !runs.is_measured(column);
}

}  // namespace

std::optional<Better> declared_direction(RunTable& runs, const AskedRows& rows, const std::string& name) {
  const std::vector<Value>& words = runs.column_or_nothing(std::string(kDirectionPrefix) + name);
  std::array<std::string, kBetterNames.size()> runs_that_say;  // one for each direction
  for (const std::size_t row : rows) {
    if (is_missing(words[row])) continue;
    std::string& run = runs_that_say.at(to_text(words[row]) == kHigherWord ? std::size_t{1} : std::size_t{0});
    if (run.empty()) run = runs.id(row);
  }
  const auto& [lower, higher] = runs_that_say;
  if (lower.empty() && higher.empty()) return std::nullopt;
  if (!lower.empty() && !higher.empty()) {
    throw UsageError(
        fmt::format("runs declare both directions of '{}': {} says that lower is better, and {} that higher is\n"
                    "correct program.better in the file of one of them, and record it: xlm sweep FILE, which trains "
                    "nothing again",
                    name, lower, higher));
  }
  return higher.empty() ? Better::kLower : Better::kHigher;
}

std::optional<Better> direction_of(RunTable& runs, const AskedRows& rows, const std::string& column) {
  if (is_formula(column)) {
    const std::vector<std::string> operands = columns_behind(column);
    const bool all_known =
        std::ranges::all_of(operands, [&](const std::string& one) { return is_known_result(runs, one); });
    return all_known ? std::optional<Better>(Better::kLower) : std::nullopt;
  }
  if (column.empty() || !runs.is_measured(column)) return Better::kLower;
  const std::string name = quantity_in(column);
  if (const std::optional<Better> known = known_direction(name)) return known;
  return declared_direction(runs, rows, name);
}

Better needed_direction(RunTable& runs, const AskedRows& rows, const std::string& column, const std::string& asker,
                        const std::string& other) {
  if (const std::optional<Better> direction = direction_of(runs, rows, column)) return *direction;
  if (rows.empty()) return Better::kLower;
  throw UsageError(no_direction(column, asker, other));
}

Better front_direction(RunTable& runs, const AskedRows& rows, const std::string& column, const std::string& asker,
                       const std::string& other) {
  const bool is_known = !is_formula(column) && known_direction(quantity_in(column)).has_value();
  return is_known ? Better::kLower : needed_direction(runs, rows, column, asker, other);
}

std::string no_direction(const std::string& column, const std::string& asker, const std::string& other) {
  if (is_formula(column)) {
    return fmt::format("{}: nothing says whether less or more of '{}' is better\n{}", asker, column, other);
  }
  return fmt::format("{}: {}\nor {}", asker, unknown_direction(quantity_in(column)), other);
}

}  // namespace xlm
