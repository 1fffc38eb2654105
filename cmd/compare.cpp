// xlm compare: whether two settings differ in one value, and how sure that is.
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "cmd/compare_documents.h"
#include "cmd/results_store.h"
#include "experiments/configuration/run_id.h"
#include "results/judgement/limits.h"
#include "results/judgement/pairing.h"
#include "results/quantities/number_format.h"
#include "results/store/equal_budgets.h"
#include "results/store/selection.h"
#include "results/store/shown_runs.h"
#include "results/store/statistics.h"
#include "results/store/variation.h"

namespace xlm {
namespace {

constexpr std::size_t kMaxKeys = 4;                 // that a line lists
constexpr std::string_view kRelationSigns = "=<>";  // a condition has one, a run has none

struct CompareOptions {
  std::string a;
  std::string b;
  std::vector<std::string> where;
  std::string value = "test.bpc";
  std::string over = "seed";
  std::vector<std::string> choose;
  std::string by;
  double level = 95;

  Selection selection() const { return selection_of(listed_columns(choose), by); }
};

/// Runs of one setting, and the numbers of each seed.
struct Setting : SeedValues {
  std::string name;
  SettingChoice choice = {};
  std::vector<std::string> left_out = {};  // bad runs
};

/// The difference of two settings: of pairs with the same seed, or of both means if too few seeds are in common.
struct Compared {
  bool is_paired = true;
  bool is_of_one_corpus = true;  // what is subtracted was measured on the same data
  std::int64_t pairs = 0;
  double freedom = 0;  // degrees of freedom; 0: nothing says how much seeds differ
  double difference = 0;
  std::optional<double> half_width;
  std::optional<double> p;
  std::optional<double> effect;
};

bool is_condition(const std::string& text) { return text.find_first_of(kRelationSigns) != std::string::npos; }

/// The runs that differ only in the seed from the one that `text` names by its id, or by the beginning of its id or
/// hash.
std::set<std::string> seeds_of(RunTable& runs, const std::string& text) {
  const std::vector<std::string> ids = ids_called(text, runs.ids());
  std::vector<std::size_t> named;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    if (std::find(ids.begin(), ids.end(), runs.id(run)) != ids.end()) named.push_back(run);
  }
  if (named.empty()) {
    throw DataError(fmt::format("'{}' is neither a run nor a condition (KEY=VALUE){}\nsee `xlm runs ls`", text,
                                did_you_mean(text, runs.ids())));
  }
  const std::vector<Value>& groups = runs.column("seed_group");
  const Value group = groups[named.front()];
  for (const std::size_t run : named) {
    if (!same_value(groups[run], group)) {
      const std::size_t shown = std::min<std::size_t>(ids.size(), 5);
      throw UsageError(fmt::format("'{}' matches several different runs: {}{}\ngive more of the id", text,
                                   join({ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(shown)}, ", "),
                                   shown < ids.size() ? ", …" : ""));
    }
  }
  std::set<std::string> all;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    if (same_value(groups[run], group)) all.insert(runs.id(run));
  }
  return all;
}

/// The rows of a condition, or of a run and its seeds, that fulfil the conditions of --where too. Both together say
/// which settings of evaluations (at.KEY) are asked for.
ShownRows rows_of_side(RunTable& runs, const std::string& text, const std::vector<std::string>& where) {
  std::vector<Filter> filters = parse_filters(where);
  if (is_condition(text)) {
    for (Filter& filter : parse_filters({text})) filters.push_back(std::move(filter));
    return shown_rows(runs, filters);
  }
  const std::set<std::string> ids = seeds_of(runs, text);
  std::vector<std::size_t> rows = runs.select(filters);
  std::erase_if(rows, [&](std::size_t row) { return !ids.contains(runs.id(row)); });
  return without_bad(runs, rows, filters);
}

/// Why a setting has no number at all: " (2 diverged, 1 queued)".
std::string why_empty(const Setting& setting) {
  if (!setting.without_number.empty()) return " (" + setting.without_number_text() + ")";
  return setting.left_out.empty() ? ": no such run" : ": its runs are marked as bad";
}

Setting read_setting(RunTable& runs, const std::string& text, const CompareOptions& options) {
  ShownRows shown = rows_of_side(runs, text, options.where);
  SettingChoice choice = choose_rows(runs, shown.rows, options.selection(), options.over);
  if (choice.rows.empty() && !choice.undecided.empty()) {
    throw DataError(
        fmt::format("no setting of '{}' can be chosen: each has a run that diverged or was pruned, or none "
                    "that is done with a {}\nsee `xlm runs ls --where {}`",
                    text, options.by, text));
  }
  Setting setting{seed_values(runs, choice.rows, options.value, options.over), text};
  setting.choice = std::move(choice);
  setting.left_out = std::move(shown.left_out);
  if (!setting.runs.empty()) return setting;
  throw DataError(fmt::format("no run of '{}' has {}{}\nsee `xlm runs ls --where {}`", text, options.value,
                              why_empty(setting), text));
}

std::set<std::string> values_of_rows(RunTable& runs, const std::vector<std::size_t>& rows, const std::string& key) {
  std::set<std::string> values;
  for (const std::size_t row : rows) values.insert(to_text(runs.column_or_nothing(key)[row]));
  return values;
}

std::vector<std::size_t> rows_of_both(const Setting& a, const Setting& b) {
  std::vector<std::size_t> both = a.rows;
  both.insert(both.end(), b.rows.begin(), b.rows.end());
  return both;
}

/// Keys whose values differ between the runs of `a` and those of `b`, without the key that pairs them.
std::vector<std::string> difference_of(RunTable& runs, const Setting& a, const Setting& b, const std::string& over) {
  std::vector<std::string> keys = differing_keys(runs, rows_of_both(a, b));
  std::erase_if(keys, [&](const std::string& key) {
    return key == over || values_of_rows(runs, a.rows, key) == values_of_rows(runs, b.rows, key);
  });
  return keys;
}

void check_apart(const Setting& a, const Setting& b) {
  std::vector<std::size_t> shared;
  std::set_intersection(a.rows.begin(), a.rows.end(), b.rows.begin(), b.rows.end(), std::back_inserter(shared));
  if (shared.empty()) return;
  throw UsageError(
      fmt::format("{} of the runs of '{}' {} of '{}' too: there is nothing to compare\n"
                  "name two settings, such as model.span=64 and model.span=256",
                  shared.size() == a.rows.size() ? "all" : std::to_string(shared.size()), a.name,
                  shared.size() == 1 ? "is" : "are", b.name));
}

std::string summary_line(const Setting& setting, std::string_view letter, const CompareOptions& options) {
  const std::vector<double> values = setting.means();
  const std::optional<double> deviation = sample_deviation(values);
  return fmt::format("{}  {}: {}{} ({})\n", letter, setting.name, shown_number(mean(values)),
                     deviation ? " ± " + with_digits(*deviation, 2) : "",
                     counted_over(std::ssize(values), options.over));
}

/// A warning if a setting's runs differ in more than the seed: their mean counts as one setting. Otherwise empty.
std::string mixed_line(const Setting& setting, std::string_view letter, const CompareOptions& options) {
  const bool several = setting.runs.size() > setting.by_group.size();
  if (!several && setting.mixes.empty()) return "";
  const std::string in =
      setting.mixes.empty() ? "" : fmt::format(" that differ in {}", listed_names(setting.mixes, kMaxKeys));
  return fmt::format("warning: {} mixes {} runs{}{}; --where KEY=VALUE chooses among them\n", letter,
                     setting.runs.size(), in,
                     several ? fmt::format(", and each {} counts as their mean", options.over) : "");
}

/// The keys in which the settings differ, which may be more than the user intended.
std::string difference_line(const std::vector<std::string>& keys, const Compared& compared) {
  return (keys.empty() ? "" : fmt::format("A and B differ in {}\n", listed_names(keys, kMaxKeys))) +
         (compared.is_of_one_corpus ? "" : "warning: they were measured on different data\n");
}

/// Runs of a setting that the user may take for a part of the number: "1 run of A diverged and is not in the number".
std::string without_number_lines(const Setting& setting, std::string_view letter, const CompareOptions& options) {
  std::string lines;
  for (const auto& [status, ids] : setting.without_number) {
    const bool one = ids.size() == 1;
    std::string state = fmt::format("{} {}", one ? "is" : "are", status);
    if (status == "diverged" || status == "failed") state = status;
    if (status == "pruned" || status == "preempted") state = fmt::format("{} {}", one ? "was" : "were", status);
    if (status == "done") state = fmt::format("{} no {}", one ? "has" : "have", options.value);
    lines += fmt::format("{} run{} of {} {} and {} not in the number\n", ids.size(), one ? "" : "s", letter, state,
                         one ? "is" : "are");
  }
  return lines;
}

/// Runs without a partner count in the means, but not in the difference.
std::string unpaired_line(const Setting& a, const Setting& b, const Compared& compared, const CompareOptions& options) {
  const std::size_t left = a.by_group.size() + b.by_group.size() - 2 * static_cast<std::size_t>(compared.pairs);
  return left == 0 || !compared.is_paired ? ""
                                          : fmt::format("{} {}{} without a partner: not in the difference\n", left,
                                                        options.over, left == 1 ? "" : "s");
}

std::string verdict_line(const Compared& compared, double level) {
  if (!compared.half_width) {
    return fmt::format("{} not show how much seeds differ: train more seeds\n",
                       compared.is_paired ? "one pair does" : "single seeds do");
  }
  const bool apart = std::abs(compared.difference) > *compared.half_width;
  return apart ? fmt::format("they differ: zero lies outside the {:g} % interval\n", level)
               : fmt::format("no difference is seen: zero lies inside the {:g} % interval\n", level);
}

/// With two or three numbers, nothing shows whether seeds scatter as the test takes it. Empty if there are more.
std::string caution_line(const Setting& a, const Setting& b, const Compared& compared, const CompareOptions& options) {
  constexpr std::size_t kEnough = 3;
  if (!compared.half_width) return "";
  const std::size_t least =
      compared.is_paired ? static_cast<std::size_t>(compared.pairs) : std::min(a.by_group.size(), b.by_group.size());
  if (least >= kEnough) return "";
  const std::string few = compared.is_paired ? "two pairs" : fmt::format("two {}s of a setting", options.over);
  return fmt::format(
      "caution: {} leave {:.3g} degree{} of freedom: the test then relies on a normal distribution\n"
      "train three {}s or more of both\n",
      few, compared.freedom, compared.freedom == 1 ? "" : "s", options.over);
}

/// How many numbers the difference is of.
std::string counted_line(const Setting& a, const Setting& b, const Compared& compared, const CompareOptions& options) {
  if (!compared.is_paired) {
    return fmt::format(" ({} and {} {}s, without pairs)\n", a.by_group.size(), b.by_group.size(), options.over);
  }
  return fmt::format(" ({} pair{}, each of one {})\n", compared.pairs, compared.pairs == 1 ? "" : "s", options.over);
}

std::string test_line(const Compared& compared) {
  if (!compared.p) return "";
  std::string text = fmt::format("p = {} by ", with_digits(*compared.p, 2));
  text += compared.is_paired ? "a two-sided paired t-test"
                             : fmt::format("Welch's two-sided t-test ({:.3g} degrees of freedom)", compared.freedom);
  if (compared.effect) text += fmt::format(", effect {} standard deviations", with_digits(*compared.effect, 2));
  return text + "\n";
}

/// The settings that were chosen on both sides, and what was left out.
std::string choice_lines(const Setting& a, const Setting& b, const CompareOptions& options) {
  std::string lines;
  for (const std::string& note : choice_notes(options.selection(), {{"A", a.choice}, {"B", b.choice}})) {
    lines += note + "\n";
  }
  std::set<std::string> left_out(a.left_out.begin(), a.left_out.end());
  left_out.insert(b.left_out.begin(), b.left_out.end());
  if (!left_out.empty()) lines += left_out_note({left_out.begin(), left_out.end()}) + "\n";
  return lines;
}

std::string comparison_text(const Setting& a, const Setting& b, const std::vector<std::string>& difference,
                            const Compared& compared, const RunBudgets& budgets, const CompareOptions& options) {
  std::string text = options.value + "\n" + summary_line(a, "A", options) + summary_line(b, "B", options);
  if (const std::string line = budget_text(budgets); !line.empty()) text += line + "\n";
  text += choice_lines(a, b, options);
  text += difference_line(difference, compared) + without_number_lines(a, "A", options) +
          without_number_lines(b, "B", options) + unpaired_line(a, b, compared, options) + "\n";
  text += "A − B = " + difference_with_digits(compared.difference, 3);
  if (compared.half_width) {
    text += fmt::format(", {:g} % interval {} to {}", options.level,
                        difference_with_digits(compared.difference - *compared.half_width, 3),
                        difference_with_digits(compared.difference + *compared.half_width, 3));
  }
  text += counted_line(a, b, compared, options) + test_line(compared) + verdict_line(compared, options.level);
  return text + caution_line(a, b, compared, options) + mixed_line(a, "A", options) + mixed_line(b, "B", options);
}

Json setting_json(const Setting& setting, const CompareOptions& options) {
  const std::vector<double> values = setting.means();
  const std::optional<double> deviation = sample_deviation(values);
  Json json = {{"setting", setting.name}, {"mean", mean(values)}, {"sd", deviation ? Json(*deviation) : Json()},
               {"n", values.size()},      {"runs", setting.runs}, {"mixes", setting.mixes}};
  if (!setting.left_out.empty()) json["left_out"] = setting.left_out;
  if (!setting.without_number.empty()) json["without_number"] = setting.without_number;
  const Selection selection = options.selection();
  if (!selection.is_asked()) return json;
  json["chosen"] = Json::array();
  for (const ChosenSetting& chosen : setting.choice.settings) json["chosen"].push_back(chosen_text(selection, chosen));
  return json;
}

Json comparison_json(const Setting& a, const Setting& b, const std::vector<std::string>& difference,
                     const Compared& compared, const RunBudgets& budgets, const CompareOptions& options) {
  const auto or_null = [](const std::optional<double>& value) { return value ? Json(*value) : Json(); };
  Json json = {{"value", options.value},        {"a", setting_json(a, options)},
               {"b", setting_json(b, options)}, {"differ_in", difference},
               {"pairs", compared.pairs},       {"difference", compared.difference},
               {"level", options.level / 100},  {"half_width", or_null(compared.half_width)},
               {"p", or_null(compared.p)},      {"effect", or_null(compared.effect)}};
  json["test"] = compared.is_paired ? Json("paired-t") : compared.half_width ? Json("welch") : Json();
  json["freedom"] = compared.freedom;
  json["same_data"] = compared.is_of_one_corpus;
  if (budgets.known == 0) return json;
  json["budgets"] = {{"equal", budgets.are_equal()},
                     {"least_flops", budgets.least},
                     {"most_flops", budgets.most},
                     {"unknown", budgets.unknown},
                     {"timed", budgets.timed}};
  return json;
}

/// Pairs by seed. If fewer than two seeds are in common, and both settings have several, without pairs. If neither is
/// possible, the difference alone if there is another test, otherwise throws DataError.
Compared compare_settings(const Setting& a, const Setting& b, const CompareOptions& options, bool has_other_test) {
  const SeedComparison seeds = compare_seeds(a.by_group, b.by_group);
  if (!seeds.is_paired && !seeds.difference.has_error() && !has_other_test) {
    throw DataError(
        fmt::format("'{}' and '{}' have no {} in common, and one of them has a single {}: nothing can be tested\n"
                    "train both with the same {}s, or several of each, or name another column with --over",
                    options.a, options.b, options.over, options.over, options.over));
  }
  const LimitsTest test = test_limits(seeds.difference, Limits::within(0), options.level / 100);
  return {.is_paired = seeds.is_paired,
          .pairs = seeds.is_paired ? seeds.difference.seeds : 0,
          .freedom = seeds.difference.freedom,
          .difference = seeds.difference.value,
          .half_width = test.half_width,
          .p = test.p,
          .effect = seeds.effect};
}

int run_compare(const CompareOptions& options, const GlobalOptions& global) {
  Store store = open_store(global);
  RunTable runs(store);
  const Setting a = read_setting(runs, options.a, options);
  const Setting b = read_setting(runs, options.b, options);
  check_apart(a, b);
  const std::vector<std::size_t> both = rows_of_both(a, b);
  const std::vector<std::string> corpora = corpora_of(runs, both, {options.value});
  const std::optional<DocumentComparison> documents = compare_documents(
      {.column = options.value,
       .a = a.runs,
       .b = b.runs,
       .is_of_evaluations = std::any_of(both.begin(), both.end(), [&](auto row) { return row >= runs.size(); }),
       .is_of_one_corpus = std::set<std::string>(corpora.begin(), corpora.end()).size() == 1},
      global.runs, options.level / 100);
  Compared compared = compare_settings(a, b, options, documents && documents->test);
  compared.is_of_one_corpus =
      have_same_corpora(runs, a.rows, b.rows, options.value, compared.is_paired ? options.over : "");
  const std::vector<std::string> difference = difference_of(runs, a, b, options.over);
  const RunBudgets budgets = budgets_of(runs, both);
  if (global.json) {
    Json json = comparison_json(a, b, difference, compared, budgets, options);
    if (documents) json["documents"] = document_json(*documents);
    print(json_text(json));
    return kDone;
  }
  const std::string over_documents = documents ? "\n" + document_lines(*documents, options.level / 100) : "";
  print(comparison_text(a, b, difference, compared, budgets, options) + over_documents);
  return kDone;
}

}  // namespace

std::function<int()> declare_compare(CLI::App& app, const GlobalOptions& global) {
  const auto options = std::make_shared<CompareOptions>();
  app.add_option("A", options->a, "A condition (model.span_type=fixed), or a run, which stands for all its seeds")
      ->required();
  app.add_option("B", options->b, "The setting to compare with")->required();
  app.add_option("--value", options->value, "Column to compare")->capture_default_str();
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
      "If the runs kept the losses of documents (eval.by_document), a paired bootstrap over these follows.\n\n"
      "Examples:\n"
      "  xlm compare model.span_type=fixed model.span_type=adaptive --where experiment=spans,model.span=256\n"
      "  xlm compare model.span_type=fixed model.span_type=adaptive --choose optimizer.lr --by valid.bpc\n"
      "  xlm compare hourglass-text8-3fa9c1d240b7e115 hourglass-text8-90ab12cd5c02ffe8 --value valid.bpc\n"
      "  xlm compare model.boundaries.type=none model.boundaries.type=gumbel --where experiment=table-1 --json");
  return [options, &global] { return run_compare(*options, global); };
}

}  // namespace xlm
