// The cost of a sweep's runs, and the finished runs in the store from which their time is estimated.
#include "cmd/sweep_experience.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include <spdlog/spdlog.h>

#include "base/error.h"
#include "experiments/runs/core_library.h"
#include "experiments/runs/live_run.h"
#include "results/store/run_list.h"
#include "results/store/run_table.h"

namespace xlm {
namespace {

// Limits on the folders that are read. Runs of one outline may differ, as the store knows only a part of a shape.
constexpr std::size_t kOfEachOutline = 32;
constexpr std::size_t kOfOutlines = 128;
constexpr std::size_t kOfEachModel = 16;  // of other outlines

/// What the store knows about a run's shape: the model's type, parameters, batch and block.
using Outline = std::tuple<std::string, double, double, double>;

/// Outlines of the runs to do.
std::set<Outline> outlines_of(const std::vector<SweepRun>& runs, const std::vector<CostEstimate>& costs) {
  std::set<Outline> outlines;
  for (std::size_t i = 0; i < std::min(runs.size(), costs.size()); ++i) {
    const RunOptions& options = runs[i].planned.options;
    if (runs[i].action != SweepAction::kRun) continue;
    outlines.emplace(options.model.type(), costs[i].params, static_cast<double>(options.train.batch),
                     static_cast<double>(options.train.block));
  }
  return outlines;
}

/// Finished trainings of the models to train, newest first.
std::vector<std::size_t> finished_rows(RunTable& table, const std::vector<SweepRun>& runs) {
  std::set<std::string> models;
  for (const SweepRun& run : runs) {
    if (run.action == SweepAction::kRun) models.insert(run.planned.options.model.type());
  }
  const auto is = [](const char* column, std::vector<AskedValue> values) {
    return Filter{.column = column, .relation = Filter::Relation::kEqual, .values = std::move(values)};
  };
  return newest_first(table,
                      {is("status", {std::string(name_of(RunStatus::kDone))}), is("is_evaluation", {std::int64_t{0}}),
                       is("model.type", {models.begin(), models.end()})});
}

/// Ids of the runs that may resemble the wanted ones; their folders are read.
std::vector<std::string> candidates(RunTable& table, const std::vector<std::size_t>& rows,
                                    const std::set<Outline>& wanted) {
  const std::vector<Value>& model = table.column_or_nothing("model.type");
  const std::vector<Value>& params = table.column_or_nothing("params");
  const std::vector<Value>& batch = table.column_or_nothing("train.batch");
  const std::vector<Value>& block = table.column_or_nothing("train.block");
  const auto number = [](const Value& value) { return as_number(value).value_or(0); };
  std::map<Outline, std::size_t> taken;
  std::map<std::string, std::size_t> others;
  std::size_t alike = 0;
  std::vector<std::string> ids;
  for (const std::size_t row : rows) {
    const Outline outline{to_text(model[row]), number(params[row]), number(batch[row]), number(block[row])};
    const bool take = wanted.contains(outline) ? ++taken[outline] <= kOfEachOutline && ++alike <= kOfOutlines
                                               : ++others[std::get<0>(outline)] <= kOfEachModel;
    if (take) ids.push_back(table.id(row));
  }
  return ids;
}

}  // namespace

std::vector<CostEstimate> estimate_costs(const std::vector<SweepRun>& runs) {
  std::vector<CostEstimate> costs;
  try {
    CostEstimator estimator(core());
    for (const SweepRun& run : runs) costs.push_back(estimator.of(run));
  } catch (const Error& error) {
    spdlog::warn("no costs: {}", error.what());
    costs.clear();
  }
  return costs;
}

Experience experience_for(const std::vector<SweepRun>& runs, const GlobalOptions& global) {
  Experience experience;
  if (!fs::exists(global.store_file())) return experience;
  try {
    Store store = Store::open_read_only(global.store_file());
    RunTable table(store);
    const std::vector<std::size_t> rows = finished_rows(table, runs);
    if (rows.empty()) return experience;  // core need not be opened
    experience.costs = estimate_costs(runs);
    for (const std::string& id : candidates(table, rows, outlines_of(runs, experience.costs))) {
      try {
        if (auto finished = finished_run(read_run(global.runs / id))) {
          experience.finished.push_back(std::move(*finished));
        }
      } catch (const std::exception&) {
        // The folder is elsewhere, damaged, or not ours: the run is skipped.
      }
    }
  } catch (const Error& error) {
    spdlog::warn("runs of other sweeps cannot be used for estimates: {}", error.what());
  }
  return experience;
}

}  // namespace xlm
