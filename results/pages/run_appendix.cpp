// The runs behind a page.
#include "results/pages/run_appendix.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/text.h"
#include "results/quantities/quantities.h"
#include "results/store/run_list.h"

namespace xlm {
namespace {

std::string text_of(const Json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  return value.is_number_float() ? with_digits(value.get<double>(), 6) : value.dump();
}

std::string shown_value(const std::string& column, const Json& value) {
  return value.is_number() ? column_number(column, value.get<double>()) : text_of(value);
}

/// Every evaluation and cost, as "test.bpc" and its value in a list's format.
Json measured(const Json& run) {
  Json values = Json::object();
  for (const Json& evaluation : run.value("evaluations", Json::array())) {
    for (const auto& [metric, value] : evaluation.items()) {
      if (metric == "split" || metric == "step") continue;
      const std::string column = evaluation["split"].get<std::string>() + "." + metric;
      values[column] = shown_value(column, value);
    }
  }
  const Json costs = run.value("costs", Json::object());
  for (const auto& [name, value] : costs.items()) values[name] = shown_value(name, value);
  return values;
}

/// "valid bpc 2.0483, test bpc 2.0395": the final evaluation of each split, in the measure that papers print.
std::string main_results(const Json& run) {
  std::vector<std::string> parts;
  for (const Json& evaluation : run.value("evaluations", Json::array())) {
    const Quantity* measure = headline_of([&](const std::string& name) { return evaluation.contains(name); });
    if (measure == nullptr) continue;
    parts.push_back(fmt::format("{} {} {}", evaluation["split"].get<std::string>(), measure->label,
                                list_number(*measure, evaluation[measure->name].get<double>())));
  }
  std::ranges::reverse(parts);  // validation before test
  return join(parts, ", ");
}

}  // namespace

void RunAppendix::add(const std::vector<std::string>& runs) {
  std::optional<RunLister> lister;  // created on first use
  for (const std::string& run : runs) {
    if (!places_.try_emplace(run, order_.size()).second) continue;
    if (!lister) lister.emplace(store_);
    order_.push_back(lister->run(run));
  }
}

std::vector<std::string> RunAppendix::ids() const {
  std::vector<std::string> found;
  for (const Json& run : order_) found.push_back(run["run_id"].get<std::string>());
  return found;
}

Json RunAppendix::json() const {
  Json json = Json::object();
  for (Json run : order_) {
    run["results"] = main_results(run);
    run["measured"] = measured(run);
    const std::string id = run["run_id"].get<std::string>();
    json[id] = std::move(run);
  }
  return json;
}

}  // namespace xlm
