// xlm pareto: the Pareto front of two or more columns of the store.
#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "cmd/results_store.h"
#include "results/quantities/quantities.h"
#include "results/store/pareto.h"

namespace xlm {
namespace {

struct Options {
  std::string x;
  std::string y;
  std::vector<std::string> further;
  std::vector<std::string> where;
  std::vector<std::string> group_by;
  std::vector<std::string> maximize;
  std::string reference;
  std::string format = "text";
  fs::path out;
};

/// --maximize takes x, y, or the name of a column.
std::vector<bool> maximized(const Options& options, const std::vector<std::string>& columns) {
  std::vector<bool> flags(columns.size());
  for (const std::string& name : options.maximize) {
    const auto found = std::find(columns.begin(), columns.end(), name);
    if (name == "x" || name == "y") {
      flags[name == "x" ? 0 : 1] = true;
    } else if (found != columns.end()) {
      flags[static_cast<std::size_t>(found - columns.begin())] = true;
    } else {
      throw UsageError(fmt::format("--maximize takes x, y or one of {}, not '{}'", join(columns, ", "), name));
    }
  }
  return flags;
}

std::vector<double> reference_point(const std::string& text, std::size_t columns) {
  std::vector<double> reference;
  if (text.empty()) return reference;
  for (const std::string& part : split(text, ',')) {
    double value = 0;
    if (!parse_real(trim(part), value)) throw UsageError(fmt::format("--reference: '{}' is not a number", part));
    reference.push_back(value);
  }
  if (reference.size() != columns) {
    throw UsageError(fmt::format("--reference needs {} numbers, one per column, not {}", columns, reference.size()));
  }
  return reference;
}

ParetoQuery query_of(const Options& options) {
  ParetoQuery query;
  query.columns = {options.x, options.y};
  query.columns.insert(query.columns.end(), options.further.begin(), options.further.end());
  query.maximize = maximized(options, query.columns);
  query.group_by = options.group_by;
  query.where = parse_filters(options.where);
  query.reference = reference_point(options.reference, query.columns.size());
  return query;
}

std::string number(double value) { return std::abs(value) >= 1e5 ? human_count(value) : fmt::format("{:.4g}", value); }

/// Names of the runs behind a point, or of its group.
std::string who(const ParetoPoint& point) {
  const std::string runs = point.runs.size() == 1
                               ? point.runs.front()
                               : fmt::format("{} and {} more", point.runs.front(), point.runs.size() - 1);
  return point.group.empty()
             ? runs
             : fmt::format("{} ({} run{})", point.group, point.runs.size(), point.runs.size() == 1 ? "" : "s");
}

TextTable table_of(const ParetoQuery& query, const ParetoFront& front, bool full_numbers) {
  std::vector<TextTable::Column> columns{{"front"}};
  for (const std::string& name : query.columns) columns.push_back({name, true});
  columns.push_back({query.group_by.empty() ? "runs" : join(query.group_by, ", ")});
  TextTable table(std::move(columns));
  const auto add = [&](const ParetoPoint& point, const std::string& mark) {
    std::vector<std::string> cells{mark};
    for (const double value : point.values) cells.push_back(full_numbers ? json_number(value) : number(value));
    cells.push_back(full_numbers ? join(point.runs, " ") : who(point));
    table.add(std::move(cells));
  };
  for (const ParetoPoint& point : front.front) add(point, full_numbers ? "front" : "●");
  for (const ParetoPoint& point : front.dominated) add(point, "dominated");
  return table;
}

std::string as_text(const ParetoQuery& query, const ParetoResult& result, int width) {
  const ParetoFront& front = result.front;
  std::string text = table_of(query, front, false).render(TextTable::Format::kText, width) + "\n";
  text += fmt::format("{} on the front (●), {} dominated", front.front.size(), front.dominated.size());
  if (result.incomplete > 0) {
    text +=
        fmt::format(", {} run{} without all of these columns", result.incomplete, result.incomplete == 1 ? "" : "s");
  }
  std::vector<std::string> reference;
  for (const double value : front.reference) reference.push_back(number(value));
  text += fmt::format(".\nHypervolume {} against ({}).\n",
                      front.hypervolume ? fmt::format("{:.6g}", *front.hypervolume) : "not computed (too many points)",
                      join(reference, ", "));
  return text;
}

int run(const Options& options, const GlobalOptions& global) {
  const ParetoQuery query = query_of(options);
  Store store = open_store(global);
  RunTable runs(store);
  if (runs.size() == 0) throw DataError(no_runs_hint(global).substr(0, no_runs_hint(global).size() - 1));
  const ParetoResult result = run_pareto(runs, query);
  if (result.front.front.empty()) {
    throw DataError(
        fmt::format("no run has all of {} ({} runs fulfil the conditions)\n"
                    "final evaluations and costs appear when a run is done; see `xlm runs ls`",
                    join(query.columns, ", "), result.incomplete));
  }
  const std::string format = global.json ? "json" : options.format;
  const int width = global.standard_output.is_terminal && options.out.empty() ? global.standard_output.width : 0;
  if (format == "json") {
    print_or_write(json_text(to_json(query, result.front)), options.out);
  } else if (format == "text") {
    print_or_write(as_text(query, result, width), options.out);
  } else {
    const auto kind = format == "csv" ? TextTable::Format::kCsv : TextTable::Format::kMarkdown;
    print_or_write(table_of(query, result.front, format == "csv").render(kind), options.out);
  }
  return kDone;
}

}  // namespace

std::function<int()> declare_pareto(CLI::App& app, const GlobalOptions& global) {
  const auto options = std::make_shared<Options>();
  app.add_option("--x", options->x, "First column")->required()->type_name("COLUMN");
  app.add_option("--y", options->y, "Second column")->required()->type_name("COLUMN");
  app.add_option("--also", options->further, "Further columns that count")
      ->allow_extra_args(false)
      ->type_name("COLUMN")
      ->delimiter(',');
  app.add_option("--where", options->where, "Runs that count: KEY=VALUE, !=, <, <=, >, >=; all must hold")
      ->allow_extra_args(false)
      ->type_name("CONDITION");
  app.add_option("--group-by", options->group_by, "Average runs that agree in these columns")
      ->allow_extra_args(false)
      ->type_name("COLUMN")
      ->delimiter(',');
  app.add_option("--maximize", options->maximize, "Axis on which more is better: x, y or a column")
      ->allow_extra_args(false)
      ->type_name("AXIS")
      ->delimiter(',');
  app.add_option("--reference", options->reference, "Reference of the hypervolume (default: the worst of each column)")
      ->type_name("X,Y");
  app.add_option("--format", options->format, "text, markdown, csv or json")
      ->check(CLI::IsMember({"text", "markdown", "csv", "json"}))
      ->capture_default_str()
      ->type_name("FORMAT");
  app.add_option("--out", options->out, "Write to a file")->type_name("FILE");
  std::vector<std::string> costs;
  for (const Quantity& quantity : quantities()) {
    if (quantity.by == ReportedBy::kRun) costs.push_back(quantity.name);
  }
  app.footer(
      "Columns are resolved keys (model.span, seed, data.name), evaluations (test.bpc, valid.bpc) and costs\n"
      "(" +
      join(costs, ", ") +
      "). Less is better unless --maximize says otherwise.\n\n"
      "Examples:\n"
      "  xlm pareto --x flops_per_token --y test.bpc\n"
      "  xlm pareto --x test.average_span --y valid.bpc --where experiment=spans --group-by "
      "model.span,model.span_type\n"
      "  xlm pareto --x step_seconds --y test.bpc --also peak_memory --where model.span=256,512 --where status=done");
  return [options, &global] { return run(*options, global); };
}

}  // namespace xlm
