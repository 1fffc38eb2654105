// xlm runs cost: what runs cost, one by one and in all.
#include <array>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "base/text.h"
#include "cmd/results_store.h"
#include "results/quantities/quantities.h"
#include "results/store/run_list.h"
#include "results/store/unmet_condition.h"

namespace xlm {
namespace {

struct CostCommand {
  std::vector<std::string> where;
  std::string format = "text";
};

struct CostRow {
  std::string name;
  std::string status;
  std::array<std::optional<double>, kSweepCosts.size()> costs;
};

/// The sum of each cost over the runs that say it. Unset: none does.
CostRow sum_of(const std::vector<CostRow>& rows) {
  CostRow all{.name = "all", .status = counted(rows.size(), "run"), .costs = {}};
  for (const CostRow& row : rows) {
    for (std::size_t i = 0; i < row.costs.size(); ++i) {
      if (row.costs.at(i)) all.costs.at(i) = all.costs.at(i).value_or(0) + *row.costs.at(i);
    }
  }
  return all;
}

Json costs_json(const CostRow& row) {
  Json json = Json::object();
  for (std::size_t i = 0; i < kSweepCosts.size(); ++i) {
    json[kSweepCosts.at(i)] = row.costs.at(i) ? Json(*row.costs.at(i)) : Json();
  }
  return json;
}

std::string cost_json(const std::vector<CostRow>& rows) {
  Json list = Json::array();
  for (const CostRow& row : rows) {
    Json entry = costs_json(row);
    entry["run_id"] = row.name;
    entry["status"] = row.status;
    list.push_back(std::move(entry));
  }
  return json_text({{"runs", list}, {"all", costs_json(sum_of(rows))}});
}

/// A column that no run has is left out, except in CSV.
std::string cost_table(std::vector<CostRow> rows, const std::string& format) {
  const bool csv = format == "csv";
  const CostRow all = sum_of(rows);
  if (!csv) rows.push_back(all);
  std::vector<TextTable::Column> columns{{"run"}, {"status"}};
  for (std::size_t i = 0; i < kSweepCosts.size(); ++i) {
    if (csv || all.costs.at(i)) columns.push_back({csv ? kSweepCosts.at(i) : quantity(kSweepCosts.at(i)).head, true});
  }
  TextTable table(columns);
  for (const CostRow& row : rows) {
    std::vector<std::string> cells{row.name, row.status};
    for (std::size_t i = 0; i < kSweepCosts.size(); ++i) {
      if (!csv && !all.costs.at(i)) continue;
      const std::optional<double>& cost = row.costs.at(i);
      cells.push_back(!cost ? "" : csv ? fmt::format("{}", *cost) : column_number(kSweepCosts.at(i), *cost));
    }
    table.add(std::move(cells));
  }
  return table.render(csv                    ? TextTable::Format::kCsv
                      : format == "markdown" ? TextTable::Format::kMarkdown
                                             : TextTable::Format::kText);
}

int show_cost(const CostCommand& command, const GlobalOptions& global) {
  const std::vector<Filter> filters = parse_filters(command.where);
  Store store = open_store(global);
  RunTable runs(store);
  std::vector<CostRow> rows;
  const std::vector<Value>& inherited = runs.column_or_nothing("inherited_flops");
  for (const std::size_t run : newest_first(runs, filters, {})) {
    CostRow row{.name = runs.id(run), .status = to_text(runs.column("status")[run]), .costs = {}};
    for (std::size_t i = 0; i < kSweepCosts.size(); ++i) {
      row.costs.at(i) = as_number(runs.column_or_nothing(kSweepCosts.at(i))[run]);
      if (row.costs.at(i)) {
        row.costs.at(i) = own_cost(kSweepCosts.at(i), *row.costs.at(i), as_number(inherited[run]).value_or(0));
      }
    }
    rows.push_back(std::move(row));
  }
  if (global.json || command.format == "json") {
    print(cost_json(rows));
    return kDone;
  }
  if (rows.empty()) {
    say(runs.size() == 0 ? no_runs_hint(global) : printable(unmet_condition(runs, filters, {})) + "\n");
    return kDone;
  }
  print(cost_table(std::move(rows), command.format));
  return kDone;
}

}  // namespace

std::function<int()> declare_runs_cost(CLI::App& app, const GlobalOptions& global) {
  const auto command = std::make_shared<CostCommand>();
  add_where(app, command->where);
  app.add_option("--format", command->format, "text, markdown, csv or json")
      ->check(CLI::IsMember({"text", "markdown", "csv", "json"}))
      ->capture_default_str()
      ->type_name("FORMAT");
  app.footer(
      "Hours are those of all threads or GPUs that a worker held. A quantity that no run knows is left out.\n\n"
      "Examples:\n"
      "  xlm runs cost\n"
      "  xlm runs cost --where experiment=spans --format csv");
  return [command, &global] { return show_cost(*command, global); };
}

}  // namespace xlm
