// Results of a run as train and sweep show them.
#include "cmd/run_results.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/terminal.h"
#include "base/text.h"
#include "results/quantities/quantities.h"

namespace xlm {

std::vector<std::string> short_ids(const std::vector<std::string>& ids) {
  constexpr std::size_t kDigits = 8;  // of the hash at the end
  const std::set<std::string> all(ids.begin(), ids.end());
  for (const std::size_t digits : {kDigits, 2 * kDigits}) {
    std::vector<std::string> shorter;
    for (const std::string& id : ids) {
      const std::size_t dash = id.rfind('-');
      shorter.push_back(dash == std::string::npos ? id : "…" + id.substr(dash + 1, digits));
    }
    if (std::set<std::string>(shorter.begin(), shorter.end()).size() == all.size()) return shorter;
  }
  return ids;
}

Json run_json(const Run& run) {
  Json json = {{"run_id", run.id}, {"experiment", run.experiment}, {"status", name_of(run.status)}};
  if (!run.reason.empty()) json["reason"] = run.reason;
  json["evaluations"] = Json::array();
  for (const RunEvaluation& evaluation : run.evaluations) {
    if (!evaluation.main) continue;
    Json entry = {{"split", evaluation.split}, {"step", evaluation.step}};
    for (const auto& [name, value] : evaluation.numbers()) entry[name] = value;
    json["evaluations"].push_back(std::move(entry));
  }
  return json;
}

std::string results_table(const Run& run, int width) {
  if (std::ranges::none_of(run.evaluations, &RunEvaluation::main)) return "";
  std::set<std::string> names;
  for (const RunEvaluation& evaluation : run.evaluations) {
    if (!evaluation.main) continue;
    for (const auto& [name, value] : evaluation.numbers()) names.insert(name);
  }
  const std::vector<std::string> order = listing_order(names);
  std::vector<TextTable::Column> columns{{"split"}};
  for (const std::string& name : order) columns.push_back({name, true});
  TextTable table(std::move(columns));
  for (const RunEvaluation& evaluation : run.evaluations) {
    if (!evaluation.main) continue;
    std::vector<std::string> cells{evaluation.split};
    const std::map<std::string, double> numbers = evaluation.numbers();
    for (const std::string& name : order) {
      const auto value = numbers.find(name);
      cells.push_back(value == numbers.end() ? "" : column_number(name, value->second));
    }
    table.add(std::move(cells));
  }
  return table.render(TextTable::Format::kText, width);
}

}  // namespace xlm
