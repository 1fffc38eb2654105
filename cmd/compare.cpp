// xlm compare: whether two settings differ in one value, and how sure that is.
#include <algorithm>
#include <array>
#include <memory>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "cmd/results_store.h"
#include "experiments/configuration/run_id.h"
#include "results/judgement/comparison.h"

namespace xlm {
namespace {

constexpr std::string_view kRelationSigns = "=<>";  // a condition has one, a run has none

struct CompareOptions {
  std::string a;
  std::string b;
  std::vector<std::string> where;
  std::string value;
  std::string over = "seed";
  std::vector<std::string> choose;
  std::string by;
  double level = 95;
};

bool is_condition(const std::string& text) { return text.find_first_of(kRelationSigns) != std::string::npos; }

/// The runs that differ only in the seed from the one that `text` names by its id, or by the beginning of its id or
/// hash.
std::set<std::string> seeds_of(RunTable& runs, const std::string& text) {
  const std::vector<std::string> ids = ids_called(text, runs.ids());
  if (ids.empty()) {
    throw DataError(fmt::format("'{}' is neither a run nor a condition (KEY=VALUE){}\nsee `xlm runs ls`", text,
                                did_you_mean(text, runs.ids())));
  }
  const std::vector<Value>& groups = runs.column("seed_group");
  const Value group = groups[*runs.row_of(ids.front())];
  if (std::ranges::any_of(ids, [&](const std::string& id) { return !same_value(groups[*runs.row_of(id)], group); })) {
    const std::size_t shown = std::min<std::size_t>(ids.size(), 5);
    throw UsageError(fmt::format("'{}' matches several different runs: {}{}\ngive more of the id", text,
                                 join({ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(shown)}, ", "),
                                 shown < ids.size() ? ", …" : ""));
  }
  std::set<std::string> all;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    if (same_value(groups[run], group)) all.insert(runs.id(run));
  }
  return all;
}

/// The runs of a condition, or a run and its seeds, that fulfil the conditions of --where too. Both together say which
/// settings of evaluations (at.KEY) are asked for.
SettingQuestion asked_setting(RunTable& runs, const std::string& text, const std::vector<std::string>& where) {
  SettingQuestion side{.name = text, .filters = parse_filters(where), .ids = {}};
  if (!is_condition(text)) {
    side.ids = seeds_of(runs, text);
    return side;
  }
  for (Filter& filter : parse_filters({text})) side.filters.push_back(std::move(filter));
  return side;
}

/// What is compared by itself: the first of these that runs of a side have.
std::string usual_value(RunTable& runs, const SettingQuestion& side) {
  constexpr std::array<const char*, 4> kUsual{"test.bpc", "test.loss", "valid.bpc", "valid.loss"};
  const std::vector<std::size_t> rows = runs.select(side.filters);
  for (const char* name : kUsual) {
    const std::vector<Value>& column = runs.column_or_nothing(name);
    const bool has_any = std::ranges::any_of(rows, [&](std::size_t row) {
      return (side.ids.empty() || side.ids.contains(runs.id(row))) && !is_missing(column[row]);
    });
    if (has_any) return name;
  }
  return kUsual.front();
}

int run_compare(const CompareOptions& options, const GlobalOptions& global) {
  RunTable runs = open_runs(global);
  const SettingQuestion of_a = asked_setting(runs, options.a, options.where);
  const ComparisonQuestion question{.value = options.value.empty() ? usual_value(runs, of_a) : options.value,
                                    .over = options.over,
                                    .choose = selection_of(listed_columns(options.choose), options.by),
                                    .level = options.level / 100};
  Setting a = read_setting(runs, of_a, question);
  Setting b = read_setting(runs, asked_setting(runs, options.b, options.where), question);
  const Comparison compared = compare_settings(runs, std::move(a), std::move(b), question, global.runs);
  print(global.json ? json_text(to_json(compared)) : comparison_text(compared));
  return kDone;
}

}  // namespace

std::function<int()> declare_compare(CLI::App& app, const GlobalOptions& global) {
  const auto options = std::make_shared<CompareOptions>();
  app.add_option("A", options->a, "A condition (model.span_type=fixed), or a run, which stands for all its seeds")
      ->required();
  app.add_option("B", options->b, "The setting to compare with")->required();
  app.add_option("--value", options->value,
                 "Column to compare; by itself test.bpc, test.loss, valid.bpc or valid.loss, the first that A has");
  app.add_option("--where", options->where, "Only runs with KEY=VALUE");
  app.add_option("--over", options->over, "Column that pairs runs")->capture_default_str();
  app.add_option("--choose", options->choose, "Compare the best settings over these keys, by the column of --by")
      ->allow_extra_args(false)
      ->type_name("KEY,…");
  app.add_option("--by", options->by, "With --choose: the column that decides, such as valid.bpc")->type_name("COLUMN");
  app.add_option("--level", options->level, "Confidence level of the interval, in percent")
      ->capture_default_str()
      ->check([](const std::string& text) {  // CLI11's Range accepts nan
        double level = 0;
        return parse_real(text, level) && level >= 1 && level < 100 ? "" : text + " is not from 1 to below 100";
      });
  app.footer(
      "Pairs the runs of both settings by seed and prints the mean difference, its interval (Student's t), p\n"
      "and effect size. If they have no two seeds in common, several seeds of each do: Welch's t-test.\n"
      "If the runs kept the losses of documents (eval.by_document), a comparison over these follows.\n\n"
      "Examples:\n"
      "  xlm compare model.span_type=fixed model.span_type=adaptive --where experiment=spans,model.span=256\n"
      "  xlm compare model.span_type=fixed model.span_type=adaptive --choose optimizer.lr --by valid.bpc\n"
      "  xlm compare hourglass-text8-3fa9c1d240b7e115 hourglass-text8-90ab12cd5c02ffe8 --value valid.bpc\n"
      "  xlm compare model.boundaries.type=none model.boundaries.type=gumbel --where experiment=table-1 --json");
  return [options, &global] { return run_compare(*options, global); };
}

}  // namespace xlm
