// Whether runs that are compared trained with equal arithmetic.
#include "results/store/equal_budgets.h"

#include <algorithm>

#include <fmt/format.h>

#include "results/quantities/number_format.h"

namespace xlm {
namespace {

constexpr double kEqual = 0.01;

std::string flops_text(double flops) { return format_number(flops, NumberFormat::kCount, -1); }

}  // namespace

bool RunBudgets::are_equal() const { return known > 0 && unknown == 0 && timed == 0 && most - least < kEqual * most; }

RunBudgets budgets_of(RunTable& runs, const std::vector<std::size_t>& rows) {
  const std::vector<Value>& spent = runs.column_or_nothing("training_flops");
  const std::vector<Value>& flops = runs.column_or_nothing("train.flops");
  const std::vector<Value>& seconds = runs.column_or_nothing("train.seconds");
  RunBudgets budgets;
  for (const std::size_t row : rows) {
    const bool is_timed = as_number(seconds[row]).value_or(0) > 0;
    if (is_timed) ++budgets.timed;
    budgets.is_asked = budgets.is_asked || is_timed || as_number(flops[row]).value_or(0) > 0;
    const std::optional<double> own = as_number(spent[row]);
    if (!own) {
      ++budgets.unknown;
      continue;
    }
    budgets.least = budgets.known == 0 ? *own : std::min(budgets.least, *own);
    budgets.most = std::max(budgets.most, *own);
    ++budgets.known;
  }
  return budgets;
}

std::string budget_text(const RunBudgets& budgets) {
  if (budgets.known == 0) return "";
  if (budgets.are_equal()) return fmt::format("equal budgets: {} FLOPs of training each", flops_text(budgets.most));
  if (budgets.timed > 0) {
    return fmt::format(
        "warning: not of equal arithmetic: {} {} as long as train.seconds says, which depends on the machine",
        budgets.timed, budgets.timed == 1 ? "run is" : "runs are");
  }
  if (budgets.most - budgets.least < kEqual * budgets.most) {
    return fmt::format("warning: {} {} not say how much arithmetic training took; the others took {} FLOPs",
                       budgets.unknown, budgets.unknown == 1 ? "run does" : "runs do", flops_text(budgets.most));
  }
  return fmt::format("warning: not of equal arithmetic: training took {} to {} FLOPs", flops_text(budgets.least),
                     flops_text(budgets.most));
}

}  // namespace xlm
