// Compared settings for a terminal, and as JSON.
#include "results/judgement/comparison.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "results/quantities/number_format.h"
#include "results/store/shown_runs.h"
#include "results/store/statistics.h"
#include "results/store/variation.h"

namespace xlm {
namespace {

constexpr std::size_t kKeysOfALine = 4;  // that a line lists

std::string difference_text(double difference, const std::optional<double>& half_width) {
  return difference_with_digits(difference, digits_beside(difference, half_width));
}

/// An interval of differences, by digits that show its width.
std::string difference_interval(double low, double high) {
  return interval_text(low, high, [&](double end) { return difference_text(end, (high - low) / 2); });
}

std::string summary_line(const Comparison& compared, const Setting& setting, std::string_view letter) {
  const std::vector<double> values = setting.means();
  const std::optional<double> deviation = sample_deviation(values);
  return fmt::format("{}  {}: {}{} ({})\n", letter, setting.name, shown_number(mean(values)),
                     deviation ? " ± " + with_digits(*deviation, 2) : "",
                     counted_over(std::ssize(values), compared.question.over));
}

/// A warning if a setting's runs differ in more than the seed: their mean counts as one setting. Otherwise empty.
std::string mixed_line(const Comparison& compared, const Setting& setting, std::string_view letter) {
  const bool several = setting.runs.size() > setting.by_group.size();
  if (!several && setting.mixes.empty()) return "";
  const std::string in =
      setting.mixes.empty() ? "" : fmt::format(" that differ in {}", listed_names(setting.mixes, kKeysOfALine));
  return fmt::format("warning: {} mixes {} runs{}{}; --where KEY=VALUE chooses among them\n", letter,
                     setting.runs.size(), in,
                     several ? fmt::format(", and each {} counts as their mean", compared.question.over) : "");
}

/// Runs of a setting that the user may take for a part of the number: "1 run of A diverged and is not in the number".
std::string without_number_lines(const Comparison& compared, const Setting& setting, std::string_view letter) {
  std::string lines;
  for (const auto& [status, ids] : setting.without_number) {
    const bool one = ids.size() == 1;
    std::string state = fmt::format("{} {}", one ? "is" : "are", status);
    if (status == "diverged" || status == "failed") state = status;
    if (status == "pruned" || status == "preempted") state = fmt::format("{} {}", one ? "was" : "were", status);
    if (status == "done") state = fmt::format("{} no {}", one ? "has" : "have", compared.question.value);
    lines += fmt::format("{} run{} of {} {} and {} not in the number\n", ids.size(), one ? "" : "s", letter, state,
                         one ? "is" : "are");
  }
  return lines;
}

/// The settings that were chosen on both sides, and what was left out.
std::string choice_lines(const Comparison& compared) {
  std::string lines;
  for (const std::string& note :
       choice_notes(compared.question.choose, {{"A", compared.a.choice}, {"B", compared.b.choice}})) {
    lines += note + "\n";
  }
  HiddenRuns left_out = compared.a.left_out;
  left_out.add(compared.b.left_out);
  if (!left_out.empty()) lines += left_out_note(left_out) + "\n";
  return lines;
}

/// The settings, and what the reader may not know of them.
std::string about_settings(const Comparison& compared) {
  std::string text = compared.question.value + "\n";
  text += summary_line(compared, compared.a, "A") + summary_line(compared, compared.b, "B");
  if (const std::string line = budget_text(compared.budgets); !line.empty()) text += line + "\n";
  text += choice_lines(compared);
  if (!compared.differ_in.empty()) {
    text += fmt::format("A and B differ in {}\n", listed_names(compared.differ_in, kKeysOfALine));
  }
  if (!compared.unfrozen.empty()) text += compared.unfrozen + "\n";
  if (!compared.is_of_one_corpus) text += "warning: they were measured on different data\n";
  text += without_number_lines(compared, compared.a, "A") + without_number_lines(compared, compared.b, "B");
  if (compared.seeds.left_out > 0) {
    text += fmt::format("{} without a partner: not in the difference\n",
                        counted(compared.seeds.left_out, compared.question.over));
  }
  return text;
}

/// The difference, and how many numbers it is of.
std::string difference_line(const Comparison& compared) {
  const double difference = compared.seeds.difference.value;
  const std::string& over = compared.question.over;
  const std::optional<double>& half = compared.test.half_width;
  std::string text = "A − B = " + difference_text(difference, half);
  if (half && !compared.seeds.difference.is_exact()) {
    text += fmt::format(", {:g} % interval {}", 100 * compared.question.level,
                        difference_interval(difference - *half, difference + *half));
  }
  if (!compared.seeds.is_paired) {
    return text + fmt::format(" ({} and {} {}s, without pairs)\n", compared.a.by_group.size(),
                              compared.b.by_group.size(), over);
  }
  return text + fmt::format(" ({}, each of one {})\n", counted(compared.pairs(), "pair"), over);
}

std::string test_line(const Comparison& compared) {
  if (!compared.test.p) return "";
  std::string text = p_in_words(*compared.test.p) + " by ";
  text += compared.seeds.is_paired
              ? "a two-sided paired t-test"
              : fmt::format("Welch's two-sided t-test ({:.3g} degrees of freedom)", compared.seeds.difference.freedom);
  if (compared.seeds.effect) {
    text += fmt::format(", effect {} standard deviations", with_digits(*compared.seeds.effect, 2));
  }
  return text + "\n";
}

/// Why there is no interval.
std::string_view what_shows_nothing(const Comparison& compared) {
  if (compared.seeds.difference.seeds > 1) return "equal numbers do";
  return compared.seeds.is_paired ? "one pair does" : "single seeds do";
}

std::string verdict_line(const Comparison& compared) {
  const bool differs = compared.verdict == Verdict::kDiffers;
  std::string text;
  if (!compared.test.half_width) {
    text = fmt::format("undecided: {} not show how much seeds differ: train more seeds", what_shows_nothing(compared));
  } else if (compared.seeds.difference.is_exact()) {
    text = fmt::format("{}: no seed changes the numbers", differs ? "they differ" : "they are equal");
  } else {
    text = fmt::format("{}: zero lies {} the {:g} % interval", differs ? "they differ" : name_of(compared.verdict),
                       differs ? "outside" : "inside", 100 * compared.question.level);
  }
  const std::string diverged = diverged_in_words(compared.diverged(), compared.worst_case);
  return text + (diverged.empty() ? "" : "; " + diverged) + "\n";
}

/// Equal numbers say nothing about chance. With two or three numbers, nothing shows whether seeds scatter as the test
/// takes it. Empty if there are more.
std::string caution_line(const Comparison& compared) {
  constexpr std::int64_t kEnough = 3;
  const Estimate& difference = compared.seeds.difference;
  if (compared.ignores_seeds) return fmt::format("caution: {}\n", kSeedsSayNothing);
  if (compared.are_the_same) return fmt::format("caution: {}\n", kSidesSayNothing);
  if (!compared.test.half_width || difference.is_exact() || difference.seeds >= kEnough) return "";
  const std::string& over = compared.question.over;
  const std::string few = compared.seeds.is_paired ? "two pairs" : fmt::format("two {}s of a setting", over);
  return fmt::format(
      "caution: {} leave {:.3g} degree{} of freedom: the test then relies on a normal distribution\n"
      "train three {}s or more of both\n",
      few, difference.freedom, difference.freedom == 1 ? "" : "s", over);
}

std::string document_lines(const DocumentComparison& compared, double level) {
  if (!compared.test) return "no test over documents: " + compared.problem + "\n";
  const PartComparison& test = *compared.test;
  const std::string worth =
      test.effective < static_cast<double>(test.parts)
          ? fmt::format(", whose neighbours are alike: {:.0f} independent ones would say as much", test.effective)
          : "";
  const bool apart = decide(test.low, test.high, Limits::within(0)) == Decision::kOutside;
  return fmt::format(
      "over documents: A − B = {}, {:g} % interval {}\n{} by Student's t over {}{}\n"
      "these trained models {} on this text; whether new seeds would, only seeds tell\n",
      difference_text(test.difference, (test.high - test.low) / 2), level * 100,
      difference_interval(test.low, test.high), p_in_words(test.p), compared.parts, worth,
      apart ? "differ" : "are not told apart");
}

Json document_json(const DocumentComparison& compared) {
  if (!compared.test) return {{"problem", compared.problem}};
  const PartComparison& test = *compared.test;
  return {
      {"of", compared.parts},          {"parts", test.parts}, {"effective", test.effective}, {"freedom", test.freedom},
      {"difference", test.difference}, {"low", test.low},     {"high", test.high},           {"p", test.p}};
}

Json setting_json(const Setting& setting, const Selection& selection) {
  const std::vector<double> values = setting.means();
  const std::optional<double> deviation = sample_deviation(values);
  Json json = {{"setting", setting.name}, {"mean", mean(values)}, {"sd", deviation ? Json(*deviation) : Json()},
               {"n", values.size()},      {"runs", setting.runs}, {"mixes", setting.mixes}};
  if (!setting.left_out.bad.empty()) json["left_out"] = setting.left_out.bad;
  if (!setting.left_out.older.empty()) json["older_code"] = setting.left_out.older;
  if (!setting.without_number.empty()) json["without_number"] = setting.without_number;
  if (!selection.is_asked()) return json;
  json["chosen"] = Json::array();
  for (const ChosenSetting& chosen : setting.choice.settings) json["chosen"].push_back(chosen_text(selection, chosen));
  return json;
}

}  // namespace

std::string comparison_text(const Comparison& compared) {
  std::string text = about_settings(compared) + "\n" + difference_line(compared) + test_line(compared) +
                     verdict_line(compared) + caution_line(compared);
  text += mixed_line(compared, compared.a, "A") + mixed_line(compared, compared.b, "B");
  if (!compared.documents) return text;
  return text + "\n" + document_lines(*compared.documents, compared.question.level);
}

Json to_json(const Comparison& compared) {
  const auto or_null = [](const std::optional<double>& value) { return value ? Json(*value) : Json(); };
  const SeedComparison& seeds = compared.seeds;
  const std::optional<double>& half_width = compared.test.half_width;
  Json json = {{"value", compared.question.value},
               {"a", setting_json(compared.a, compared.question.choose)},
               {"b", setting_json(compared.b, compared.question.choose)},
               {"differ_in", compared.differ_in},
               {"pairs", compared.pairs()},
               {"difference", seeds.difference.value},
               {"level", compared.question.level},
               {"half_width", or_null(half_width)},
               {"p", or_null(compared.test.p)},
               {"effect", or_null(seeds.effect)},
               {"verdict", name_of(compared.verdict)},
               {"diverged", compared.diverged()},
               {"worst_case", compared.worst_case ? Json(name_of(*compared.worst_case)) : Json()}};
  json["test"] = seeds.is_paired ? Json("paired-t") : half_width ? Json("welch") : Json();
  json["freedom"] = seeds.difference.freedom;
  json["same_data"] = compared.is_of_one_corpus;
  json["ignores_seeds"] = compared.ignores_seeds;
  if (!compared.unfrozen.empty()) json["not_frozen"] = compared.unfrozen;
  if (const RunBudgets& budgets = compared.budgets; budgets.known > 0) {
    json["budgets"] = {{"equal", budgets.are_equal()},
                       {"least_flops", budgets.least},
                       {"most_flops", budgets.most},
                       {"unknown", budgets.unknown},
                       {"timed", budgets.timed}};
  }
  if (compared.documents) json["documents"] = document_json(*compared.documents);
  return json;
}

}  // namespace xlm
