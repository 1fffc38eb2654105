// xlm pareto: the Pareto front of two columns of the store.
#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "base/error.h"
#include "base/text.h"
#include "cmd/output_format.h"
#include "cmd/results_store.h"
#include "results/quantities/quantities.h"
#include "results/store/directions.h"
#include "results/store/equal_budgets.h"
#include "results/store/pareto.h"
#include "results/store/unmet_condition.h"
#include "results/tables/pareto_text.h"

namespace xlm {
namespace {

struct ParetoOptions {
  std::string x;
  std::string y;
  std::vector<std::string> where;
  std::vector<std::string> group_by;
  std::vector<std::string> maximize;
  std::vector<std::string> minimize;
  std::string reference;
  std::vector<std::string> choose;
  std::string by;
  std::string format;
  fs::path out;
};

/// The columns that `option` names as x, y or by their names.
std::vector<bool> named_axes(const std::string& option, const std::vector<std::string>& names,
                             const std::vector<std::string>& columns) {
  std::vector<bool> flags(columns.size());
  for (const std::string& name : listed_columns(names)) {
    const auto found = std::ranges::find(columns, name);
    if (name == "x" || name == "y") {
      flags[name == "x" ? 0 : 1] = true;
    } else if (found != columns.end()) {
      flags[static_cast<std::size_t>(found - columns.begin())] = true;
    } else {
      throw UsageError(fmt::format("{} takes x, y or one of {}, not '{}'", option, join(columns, ", "), name));
    }
  }
  return flags;
}

/// Of columns that neither option names the runs declare it, if they are not among the known quantities.
void add_declared(RunTable& runs, const std::vector<bool>& minimized, ParetoQuery& query) {
  const std::vector<std::size_t> rows = shown_rows_of(runs, query).rows;
  for (std::size_t i = 0; i < query.columns.size(); ++i) {
    if (query.maximize[i] || minimized[i]) continue;
    const std::string& column = query.columns[i];
    const Better better =
        front_direction(runs, rows, column, "a front over " + column,
                        fmt::format("say it here: --maximize {0}, or --minimize {0}", shell_word(column)));
    query.maximize[i] = better == Better::kHigher;
  }
}

/// An axis has one direction.
void refuse_both(const ParetoQuery& query, const std::vector<bool>& minimized) {
  for (std::size_t i = 0; i < query.columns.size(); ++i) {
    if (!query.maximize[i] || !minimized[i]) continue;
    throw UsageError(fmt::format("--maximize and --minimize both name {}", query.columns[i]));
  }
}

std::vector<double> reference_point(const std::string& text) {
  std::vector<double> reference;
  if (text.empty()) return reference;
  for (const std::string& part : split(text, ',')) {
    double value = 0;
    if (!parse_real(trim(part), value)) throw UsageError(fmt::format("--reference: '{}' is not a number", part));
    reference.push_back(value);
  }
  if (reference.size() != 2) {
    throw UsageError(fmt::format("--reference needs two numbers, X,Y, not {}", reference.size()));
  }
  return reference;
}

ParetoQuery query_of(const ParetoOptions& options) {
  ParetoQuery query;
  query.columns = {options.x, options.y};
  query.maximize = named_axes("--maximize", options.maximize, query.columns);
  query.group_by = listed_columns(options.group_by);
  query.where = parse_filters(options.where);
  query.choose = selection_of(listed_columns(options.choose), options.by);
  query.reference = reference_point(options.reference);
  return query;
}

/// Whether the runs of all fronts trained with equal arithmetic, if one of them has a budget.
void tell_budgets(RunTable& runs, const ParetoResult& result) {
  std::set<std::string> names;
  for (const auto& front : result.fronts) {
    for (const std::vector<ParetoPoint>* points : {&front.front.front, &front.front.dominated}) {
      for (const ParetoPoint& point : *points) names.insert(point.runs.begin(), point.runs.end());
    }
  }
  std::vector<std::size_t> rows;
  for (const std::string& name : names) rows.push_back(*runs.row_of(name));
  const RunBudgets budgets = budgets_of(runs, rows);
  if (budgets.is_asked) spdlog::info("{}", budget_text(budgets));
}

int run_pareto(const ParetoOptions& options, const GlobalOptions& global) {
  ParetoQuery query = query_of(options);
  const std::vector<bool> minimized = named_axes("--minimize", options.minimize, query.columns);
  refuse_both(query, minimized);
  const std::string format = output_format(options.format, options.out, table_formats(), global);
  RunTable runs = open_runs(global);
  if (runs.size() == 0) throw DataError(no_runs_hint(global));
  add_declared(runs, minimized, query);
  const ParetoResult result = run_pareto(runs, query);
  if (result.fronts.empty()) {
    if (!result.notes.empty()) throw DataError(join(result.notes, "\n"));
    if (const std::string unmet = unmet_condition(runs, query.where); !unmet.empty()) {
      throw DataError(unmet + "\n`xlm runs ls` lists the runs");
    }
    std::vector<std::string> named = query.columns;
    named.insert(named.end(), query.group_by.begin(), query.group_by.end());
    if (const std::string further = further_settings(runs, query.where, named); !further.empty()) {
      throw DataError(fmt::format("no run has all of {}; {}", join(query.columns, ", "), further));
    }
    throw DataError(
        fmt::format("no run has all of {} ({} runs fulfil the conditions)\n"
                    "final evaluations and costs appear when a run is done; see `xlm runs ls`",
                    join(query.columns, ", "), result.incomplete));
  }
  if (result.fronts.size() > 1) {
    spdlog::info("--where data.name=NAME (or data.fingerprint) chooses one corpus");
  }
  tell_budgets(runs, result);
  if (result.mixed) spdlog::info("groups mix different settings; --group-by or --where separates them");
  print_or_write(render_pareto(query, result, table_format(format), global.width(options.out)), options.out);
  return kDone;
}

}  // namespace

std::function<int()> declare_pareto(CLI::App& app, const GlobalOptions& global) {
  const auto options = std::make_shared<ParetoOptions>();
  app.add_option("--x", options->x, "First column")->required()->type_name("COLUMN");
  app.add_option("--y", options->y, "Second column")->required()->type_name("COLUMN");
  add_where(app, options->where);
  app.add_option("--group-by", options->group_by, "Average runs that agree in these columns")
      ->allow_extra_args(false)
      ->type_name(kColumnList);
  app.add_option("--maximize", options->maximize, "Axis on which more is better: x, y or a column")
      ->allow_extra_args(false)
      ->type_name("AXIS");
  app.add_option("--minimize", options->minimize, "Axis on which less is better, if nothing else says it")
      ->allow_extra_args(false)
      ->type_name("AXIS");
  app.add_option("--reference", options->reference, "Reference of the hypervolume (default: the worst of each column)")
      ->type_name("X,Y");
  app.add_option("--choose", options->choose, "Show the best setting over these keys, by the column of --by")
      ->allow_extra_args(false)
      ->type_name("KEY,…");
  app.add_option("--by", options->by, "With --choose: the column that decides, such as valid.bpc")->type_name("COLUMN");
  add_output_options(app, options->format, options->out, table_formats());
  std::vector<std::string> costs;
  for (const Quantity& quantity : quantities()) {
    if (quantity.by == ReportedBy::kRun) costs.push_back(quantity.name);
  }
  app.footer(
      "Columns are resolved keys (model.span, seed, data.name), evaluations (test.bpc, valid.bpc) and costs\n"
      "(" +
      join(costs, ", ") +
      "). Less is better unless --maximize says otherwise. Of a\n"
      "number that xlm does not know, its program declares it (program.better), or one of both options does.\n"
      "Runs of several corpora are not compared: each corpus has its own front.\n\n"
      "Examples:\n"
      "  xlm pareto --x flops_per_token --y test.bpc\n"
      "  xlm pareto --x test.average_span --y valid.bpc --where experiment=spans --group-by "
      "model.span,model.span_type\n"
      "  xlm pareto --x flops_per_token --y test.bpc --choose optimizer.lr --by valid.bpc --group-by model.span\n"
      "  xlm pareto --x step_seconds --y test.bpc --where model.span=256,512 --where status=done");
  return [options, &global] { return run_pareto(*options, global); };
}

}  // namespace xlm
