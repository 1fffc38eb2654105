// xlm table: a paper's tables from the store.
#include <algorithm>
#include <map>
#include <memory>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "base/error.h"
#include "base/text.h"
#include "cmd/results_store.h"
#include "experiments/configuration.h"
#include "results/spec.h"
#include "results/table.h"
#include "results/table_text.h"

namespace xlm {
namespace {

struct Options {
  fs::path file;
  std::string profile;
  std::string experiment;
  std::string name;
  std::vector<std::string> where;
  std::string format;
  fs::path out;
};

TableFormat format_of(const Options& options, const Context& context) {
  if (context.json) return TableFormat::kJson;
  std::string name = options.format;
  if (name.empty()) {  // a file's name says what it should hold
    static const std::map<std::string, std::string> endings{
        {".md", "markdown"}, {".csv", "csv"}, {".json", "json"}, {".tex", "latex"}};
    const auto known = endings.find(options.out.extension().string());
    name = known == endings.end() ? "text" : known->second;
  }
  const auto found = std::find(kTableFormatNames.begin(), kTableFormatNames.end(), name);
  return static_cast<TableFormat>(found - kTableFormatNames.begin());
}

std::string render(const std::vector<Table>& tables, TableFormat format, int width) {
  if (format == TableFormat::kJson) {
    Json list = Json::array();
    for (const Table& table : tables) list.push_back(to_json(table));
    return list.dump(2) + "\n";
  }
  std::vector<std::string> texts;
  for (const Table& table : tables) texts.push_back(render_table(table, format, width));
  return join(texts, "\n");
}

int run(const Options& options, const Context& context) {
  const Yaml file = read_configuration(options.file, options.profile, {});
  std::vector<TableSpec> specs;
  for (const Yaml& spec : choose_specs(find_specs(file, SpecKind::kTable), SpecKind::kTable, options.name)) {
    specs.push_back(read_table_spec(spec));
  }
  std::vector<Condition> conditions = parse_conditions(options.where);
  const std::string experiment = options.experiment.empty() ? recipe_experiment(file) : options.experiment;
  if (!experiment.empty()) conditions.push_back({"experiment", Condition::Relation::kEqual, {experiment}});
  Store store = open_store(context);
  RunSet runs(store);
  if (!experiment.empty() && runs.select(conditions).empty()) {
    spdlog::warn("no run of the experiment '{}' is in {} yet: `xlm sweep {}` makes them", experiment,
                 context.runs.string(), options.file.string());
  }
  std::vector<Table> tables;
  for (const TableSpec& spec : specs) {
    try {
      tables.push_back(build_table(runs, spec, conditions));
    } catch (const DataError& error) {  // the others may have something to show
      if (specs.size() == 1) throw;
      spdlog::warn(error.what());
    }
  }
  const bool to_terminal = context.standard_output.is_terminal && options.out.empty();
  const int width = to_terminal ? context.standard_output.width : 0;
  print_or_write(render(tables, format_of(options, context), width), options.out);
  return tables.size() == specs.size() ? kDone : kBadData;
}

}  // namespace

std::function<int()> declare_table(CLI::App& app, const Context& context) {
  const auto options = std::make_shared<Options>();
  app.add_option("SPEC.yaml", options->file, "A table file, or a recipe with tables in it")->required();
  app.add_option("--profile", options->profile, "Lay this profile of the file over it")->type_name("NAME");
  app.add_option("--experiment", options->experiment, "Show runs of this experiment (default: the recipe's own)")
      ->type_name("NAME");
  app.add_option("--name", options->name, "Only the table of this name")->type_name("NAME");
  app.add_option("--where", options->where, "Only runs with KEY=VALUE (!=, <, <=, >, >=)")
      ->allow_extra_args(false)
      ->type_name("CONDITION");
  app.add_option("--format", options->format, "text, markdown, csv, json or latex (default: by --out, else text)")
      ->check(CLI::IsMember(std::vector<std::string>(kTableFormatNames.begin(), kTableFormatNames.end())))
      ->type_name("FORMAT");
  app.add_option("--out", options->out, "Write to a file")->type_name("FILE");
  app.footer(
      "docs/results.md describes table files.\n\n"
      "Examples:\n"
      "  xlm table experiments/recipes/adaptive-span/span-limit.yaml\n"
      "  xlm table experiments/recipes/adaptive-span/span-limit.yaml --profile smoke --format markdown\n"
      "  xlm table table1.yaml --where status=done --out table1.tex");
  return [options, &context] { return run(*options, context); };
}

}  // namespace xlm
