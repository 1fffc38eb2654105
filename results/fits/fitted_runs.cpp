// Fits laws to runs.
#include "results/fits/fitted_runs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>
#include <boost/math/statistics/bivariate_statistics.hpp>

#include "base/error.h"
#include "base/text.h"
#include "results/figures/figure_series.h"
#include "results/quantities/number_format.h"
#include "results/store/statistics.h"
#include "results/store/unmet_condition.h"
#include "results/store/variation.h"

namespace xlm {
namespace {

constexpr double kOffCentre = 0.5;   // share of half the range of ln N
constexpr double kTogether = 0.999;  // correlation of the logarithms of two columns that cannot be told apart

std::vector<std::string> all_columns(const FitDescription& description) {
  std::vector<std::string> columns = description.columns();
  columns.push_back(description.loss);
  columns.insert(columns.end(), description.by.begin(), description.by.end());
  return columns;
}

NothingToShow no_fit(const FitDescription& description, const FitProblem& problem) {
  return {
      description.title, problem.reason,
      fmt::format("the fit '{}' has nothing to show: {}\n{}", description.title, problem.reason,
                  problem.advice.empty() ? "to list the runs: xlm runs ls; to make them: xlm sweep" : problem.advice)};
}

double correlation_of_logs(const LossPoints& points) {
  std::vector<double> a;
  std::vector<double> b;
  for (const std::vector<double>& x : points.x) {
    a.push_back(std::log(x[0]));
    b.push_back(std::log(x[1]));
  }
  return boost::math::statistics::correlation_coefficient(a, b);
}

/// The share by which a number is off, with its sign: "+0.31 %".
std::string share_text(double share) { return difference_with_digits(100 * share, 2) + " %"; }

void describe_law(const FitDescription& description, FittedLaw& fitted) {
  const LawEstimate& estimate = *fitted.estimate;
  if (estimate.growth() > 0) {
    fitted.notes.push_back(
        fmt::format("Noise grows: {} times as much at 10 times the {}, which the intervals allow for",
                    with_digits(std::pow(10, estimate.growth()), 2), join(description.letters(), "·")));
  }
  if (estimate.found().floor_is_zero) {
    fitted.notes.emplace_back("E cannot be told from 0: larger budgets would show where the loss flattens");
  }
  if (estimate.found().at_limit) {
    fitted.notes.emplace_back("An exponent ended at the limit of what is tried: the runs do not follow this law");
  }
  for (std::size_t i = 0; i < description.predict.size(); ++i) {
    const std::vector<double>& x = description.predict[i];
    for (std::size_t k = 0; k < x.size(); ++k) {
      double largest = 0;
      for (const std::vector<double>& of_run : fitted.of.points.x) largest = std::max(largest, of_run[k]);
      constexpr double kFar = 10;
      if (x[k] <= kFar * largest) continue;
      fitted.notes.push_back(
          fmt::format("{} is {:.0f} times beyond the largest run: the interval holds only if the law does",
                      fit_place_text(description, x), x[k] / largest));
      break;
    }
  }
  if (!fitted.left_out) {
    fitted.notes.emplace_back("Too few settings to predict the largest from the others");
    return;
  }
  const double error = fitted.left_out->predicted.loss / fitted.left_out->loss - 1;
  const LawInterval& interval = fitted.left_out->predicted.run;
  const bool inside = interval.low <= fitted.left_out->loss && fitted.left_out->loss <= interval.high;
  fitted.notes.push_back(fmt::format("Without the largest runs, the law predicts them {} off, {} its interval",
                                     share_text(error), inside ? "within" : "outside"));
}

/// What may mislead about a budget's best size.
std::string note_on_budget(const IsoFlopBudget& budget) {
  const std::string name = "C=" + short_number(budget.compute);
  if (!budget.parabola) {
    return budget.sizes < 3
               ? fmt::format("{} has {} sizes, too few for a parabola, and is left out", name, budget.sizes)
               : fmt::format("the loss at {} has no minimum over the sizes, so it is left out", name);
  }
  const double off = budget.off_centre();
  if (std::abs(off) > 1) {
    return fmt::format("the best N at {} lies beyond the {} size that was tried: try {} ones", name,
                       off > 0 ? "largest" : "smallest", off > 0 ? "larger" : "smaller");
  }
  if (std::abs(off) <= kOffCentre) return "";
  return fmt::format("the best N at {} lies off the middle of the sizes that were tried, which biases it", name);
}

void fit_best_sizes(const FitDescription& description, FittedLaw& fitted) {
  std::vector<IsoFlopBudget> budgets = find_iso_flops(fitted.of.points);
  for (const IsoFlopBudget& budget : budgets) {
    if (std::string note = note_on_budget(budget); !note.empty()) fitted.notes.push_back(std::move(note));
  }
  std::erase_if(budgets, [](const IsoFlopBudget& budget) { return !budget.parabola; });
  fitted.best_sizes.emplace(std::move(budgets), description.estimate_options());
  for (const std::vector<double>& x : description.predict) {
    fitted.size_predictions.push_back(fitted.best_sizes->predict(x.front()));
  }
  if (fitted.best_sizes->failed_draws() == description.draws) {
    fitted.notes.emplace_back(
        "Each draw has a budget without a minimum, so no interval is known: the losses scatter more than they depend "
        "on the size");
  } else if (fitted.best_sizes->failed_draws() > 0) {
    fitted.notes.push_back(fmt::format("{} of {} draws have a budget without a minimum; intervals leave them out",
                                       in_thousands(fitted.best_sizes->failed_draws()),
                                       in_thousands(description.draws)));
  }
}

/// Why there are no best sizes of at least two budgets with something to estimate their errors by.
FitProblem problem_of_budgets(const FitDescription& description, const LossPoints& points) {
  const std::vector<IsoFlopBudget> budgets = find_iso_flops(points);
  std::size_t usable = 0;
  std::size_t settings = 0;
  for (const IsoFlopBudget& budget : budgets) {
    if (!budget.parabola) continue;
    ++usable;
    settings += budget.losses.size();
  }
  if (usable < 2) {
    return {fmt::format("{} of {} values of {} has a minimum of the loss over {}, and two are needed", usable,
                        budgets.size(), description.c, description.n),
            "train at least three sizes with each budget, some larger and some smaller than the best"};
  }
  if (settings > 3 * usable) return {};
  return {"three sizes for each budget leave nothing to estimate errors by",
          "train a fourth size with at least one of the budgets"};
}

/// Why these points cannot give a law: too few sizes, a constant budget, sizes and data that rise together.
FitProblem problem_of_points(const FitDescription& description, const LossPoints& points) {
  if (description.law == FitLaw::kIsoFlops) return problem_of_budgets(description, points);
  const std::vector<std::string> columns = description.columns();
  const std::size_t needed = least_sizes(columns.size());
  for (std::size_t k = 0; k < columns.size(); ++k) {
    const std::size_t sizes = different_sizes(points.column(k)).size();
    if (sizes >= needed) continue;
    const std::string reason = sizes == 1 ? fmt::format("all runs have the same {}", columns[k])
                                          : fmt::format("{} has only {} sizes", columns[k], sizes);
    return {fmt::format("{}, and the law needs at least {}", reason, needed),
            fmt::format("train with further sizes, such as factors of 2 or 3 apart, or name another column with --{}",
                        columns.size() == 1 ? "c"
                        : k == 0            ? "n"
                                            : "d")};
  }
  if (FitProblem problem = problem_of_count(description, points.count_settings()); !problem.reason.empty()) {
    return problem;
  }
  if (columns.size() == 2 && std::abs(correlation_of_logs(points)) > kTogether) {
    return {fmt::format("{} and {} determine each other in these runs, so their terms cannot be told apart", columns[0],
                        columns[1]),
            "train each size with several budgets, or fit `law: compute`"};
  }
  return {};
}

FittedLaw fit_law(const FitDescription& description, FitRuns of) {
  FittedLaw fitted{.of = std::move(of)};
  if (fitted.of.corpora.size() > 1) {
    fitted.problem = {"the losses are of several corpora: " + join(fitted.of.corpora, ", "),
                      "choose one with --where data.name=NAME, or separate them with `by: data.name`"};
    return fitted;
  }
  fitted.problem = problem_of_points(description, fitted.of.points);
  if (!fitted.problem.reason.empty()) return fitted;
  if (description.law == FitLaw::kIsoFlops) {
    fit_best_sizes(description, fitted);
    return fitted;
  }
  const EstimateOptions options = description.estimate_options();
  fitted.estimate.emplace(fitted.of.points, options);
  for (const std::vector<double>& x : description.predict) fitted.predictions.push_back(fitted.estimate->predict(x));
  fitted.left_out = leave_largest_out(fitted.of.points, options);
  describe_law(description, fitted);
  return fitted;
}

/// What the law of `faster_than` needs to reach the losses of the others' largest runs.
void add_speed_ups(FitResult& result) {
  const std::string& name = result.description.faster_than;
  if (name.empty()) return;
  if (result.description.law != FitLaw::kCompute || result.description.by.empty()) {
    throw UsageError(result.description.place +
                     ": faster_than compares laws of compute: it needs `law: compute` and `by`");
  }
  std::vector<std::string> labels;
  for (const FittedLaw& fitted : result.laws) labels.push_back(fitted.of.label);
  const auto base = std::ranges::find(labels, name);
  if (base == labels.end()) {
    throw UsageError(fmt::format("{}: faster_than is '{}', and the laws are of {}", result.description.place, name,
                                 join(labels, ", ")));
  }
  const FittedLaw& old = result.laws[static_cast<std::size_t>(base - labels.begin())];
  if (!old.estimate) return;
  for (FittedLaw& fitted : result.laws) {
    if (fitted.of.label == name) continue;
    if (fitted.of.corpora != old.of.corpora) {
      fitted.notes.push_back(fmt::format("No speed-up over {}, whose losses are of other text", name));
      continue;
    }
    const LossPoints& points = fitted.of.points;
    const std::vector<double> sizes = points.column(0);
    const auto largest = std::ranges::max_element(sizes);
    std::vector<double> logs;
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (points.setting[i] == points.setting[static_cast<std::size_t>(largest - sizes.begin())])
        logs.push_back(std::log(points.loss[i]));
    }
    const double loss = std::exp(mean(logs));
    const Needed needed = old.estimate->needed_for(loss);
    if (needed.x >= kNever) {
      fitted.notes.push_back(fmt::format("No compute brings {} to {} by its law", name, with_digits(loss, 4)));
      continue;
    }
    const auto factor = [&](double x) { return x >= kNever ? std::numeric_limits<double>::infinity() : x / *largest; };
    fitted.speed_up = {{*largest}, factor(needed.x), {factor(needed.interval.low), factor(needed.interval.high)}};
  }
}

}  // namespace

std::vector<FitRuns> find_fit_runs(RunTable& runs, const FitDescription& description,
                                   const std::vector<Filter>& filters, std::size_t& incomplete, HiddenRuns& left_out) {
  ShownRows shown = shown_rows(runs, with_conditions(filters, description.where), all_columns(description));
  left_out = std::move(shown.left_out);
  const std::vector<std::size_t>& selected = shown.rows;
  std::vector<const std::vector<Value>*> by;
  for (const std::string& column : description.by) by.push_back(&runs.column(column));
  std::vector<const std::vector<Value>*> columns;
  for (const std::string& column : description.columns()) columns.push_back(&runs.column(column));
  const std::vector<Value>& losses = runs.column(description.loss);
  const std::vector<Value>& settings = runs.column("seed_group");
  const std::vector<std::string> corpora = corpora_of(runs, selected, {description.loss});
  struct Group {
    FitRuns found;
    std::map<std::string, std::size_t> settings;
    std::set<std::string> corpora;
  };
  std::map<std::vector<Value>, Group, ValueOrder> groups;
  incomplete = 0;
  for (std::size_t i = 0; i < selected.size(); ++i) {
    const std::size_t row = selected[i];
    const auto above_zero = [row](const std::vector<Value>& column) {
      const double number = as_number(column[row]).value_or(0);
      return std::isfinite(number) && number > 0 ? number : 0;
    };
    std::vector<double> x;
    for (const std::vector<Value>* column : columns) x.push_back(above_zero(*column));
    const double loss = above_zero(losses);
    if (loss == 0 || std::ranges::find(x, 0.0) != x.end()) {
      ++incomplete;
      continue;
    }
    std::vector<Value> key;
    for (const std::vector<Value>* column : by) key.push_back((*column)[row]);
    Group& group = groups[key];
    LossPoints& points = group.found.points;
    points.x.push_back(std::move(x));
    points.loss.push_back(loss);
    points.setting.push_back(group.settings.try_emplace(to_text(settings[row]), group.settings.size()).first->second);
    group.found.runs.push_back(runs.id(row));
    group.found.rows.push_back(row);
    if (!corpora[i].empty()) group.corpora.insert(corpora[i]);
  }
  std::vector<FitRuns> found;
  for (auto& [key, group] : groups) {
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < key.size(); ++i) {
      parts.push_back(series_label(description.by[i], key[i]));
    }
    group.found.label = join(parts, ", ");
    group.found.corpora.assign(group.corpora.begin(), group.corpora.end());
    found.push_back(std::move(group.found));
  }
  return found;
}

FitProblem problem_of_count(const FitDescription& description, std::size_t settings) {
  constexpr std::size_t kOfTwoParabolas = 6;
  const std::size_t parameters =
      description.law == FitLaw::kIsoFlops ? kOfTwoParabolas : description.parameter_names().size();
  if (settings > parameters) return {};
  return {fmt::format("a law of {} parameters needs at least {} settings, and there are {}", parameters, parameters + 1,
                      settings),
          fmt::format("train more sizes or budgets ({} are comfortable); seeds of one setting do not count",
                      2 * parameters)};
}

std::variant<FitResult, NothingToShow> build_fit(RunTable& runs, const FitDescription& description,
                                                 const std::vector<Filter>& filters) {
  FitResult result{.description = description, .laws = {}};
  std::vector<FitRuns> found = find_fit_runs(runs, description, filters, result.incomplete, result.left_out);
  if (found.empty() && !result.left_out.empty()) return no_fit(description, {why_all_are_hidden(result.left_out), ""});
  if (found.empty()) {
    const std::string unmet =
        unmet_condition(runs, with_conditions(filters, description.where), all_columns(description));
    return no_fit(description,
                  {!unmet.empty() ? unmet
                                  : fmt::format("none of {} runs has numbers above 0 in {} and {}", result.incomplete,
                                                join(description.columns(), ", "), description.loss),
                   ""});
  }
  result.unproved =
      notes_on_runs(runs, shown_rows(runs, with_conditions(filters, description.where), all_columns(description)).rows,
                    description.columns());
  for (FitRuns& of : found) result.laws.push_back(fit_law(description, std::move(of)));
  const bool any = std::ranges::any_of(result.laws, [](const FittedLaw& fitted) { return fitted.is_fitted(); });
  if (!any) {
    const FittedLaw& first = result.laws.front();
    const std::string label = first.of.label.empty() ? "" : first.of.label + ": ";
    return no_fit(description, {label + first.problem.reason, first.problem.advice});
  }
  add_speed_ups(result);
  return result;
}

std::vector<std::string> runs_of(const FitResult& fit) {
  std::vector<std::string> runs;
  for (const FittedLaw& fitted : fit.laws) runs.insert(runs.end(), fitted.of.runs.begin(), fitted.of.runs.end());
  return runs;
}

}  // namespace xlm
