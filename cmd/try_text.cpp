// What is said of tries.
#include "cmd/try_text.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "experiments/sweeps/try_budget.h"
#include "results/judgement/verdict.h"
#include "results/quantities/number_format.h"

namespace xlm {
namespace {

constexpr std::array<std::pair<std::string_view, int>, 4> kCodes{
    {{"keep", kDone}, {"discard", 10}, {"undecided", 11}, {"broken", 12}}};

int digits_of_gain(const Json& outcome) {
  const double gain = outcome["gain"];
  std::optional<double> half;
  if (outcome.contains("low")) half = gain - outcome["low"].get<double>();
  return digits_beside(gain, half);
}

/// ", 95 % interval 0.0101 to 0.0327, p = 0.003"; empty without an interval.
std::string interval_of_gain(const Json& outcome) {
  if (!outcome.contains("low")) return "";
  const double level = outcome.value("level", 0.0);
  const double inside = level > 0 ? 100 * (1 - 2 * level) : 95;
  const auto shown = [digits = digits_of_gain(outcome)](double value) { return with_digits(value, digits); };
  return fmt::format(", {} % interval {}{}", with_digits(inside, 3),
                     interval_text(outcome["low"], outcome["high"], shown),
                     outcome.contains("p") ? ", " + p_in_words(outcome["p"]) : "");
}

/// "gain +0.0214, 95 % interval 0.0101 to 0.0327, p = 0.003, 5 fresh pairs".
std::string gain_text(const Json& outcome) {
  if (!outcome.contains("gain")) return "";
  const bool is_fresh = outcome.value("level", 0.0) > 0;
  return fmt::format("gain {}{}, {}", difference_with_digits(outcome["gain"], digits_of_gain(outcome)),
                     interval_of_gain(outcome),
                     counted(outcome.value("pairs", std::size_t{0}), is_fresh ? "fresh pair" : "pair"));
}

std::string cost_text(const Json& outcome) {
  const TryCost cost = cost_from_json(outcome.value("cost", Json::object()));
  return fmt::format("{}, {}", counted(static_cast<std::size_t>(cost.runs), "new run"), human_duration(cost.seconds));
}

std::string joined(const std::vector<std::string>& parts) {
  std::vector<std::string> filled;
  std::copy_if(parts.begin(), parts.end(), std::back_inserter(filled), [](const auto& part) { return !part.empty(); });
  return join(filled, "; ");
}

/// At most so many bytes, cut between characters.
std::string cut(const std::string& text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end) + "…";
}

std::string line_of_try(const TryRecord& tried) {
  const Json& outcome = tried.outcome;
  const std::string verdict = outcome.is_null() ? "open" : outcome.value("verdict", "");
  const std::string what = listed_names(tried.differ_in, 3);
  const std::string gain =
      outcome.is_null() || !outcome.contains("gain") ? "" : difference_with_digits(outcome["gain"].get<double>(), 3);
  return fmt::format("{:>3} {:<9} {:>9}  {}\n", tried.number, verdict, gain,
                     joined({what, outcome.is_null() ? "" : cost_text(outcome), tried.note,
                             tried.is_kept() && !tried.moved_best ? "not against the best" : ""}));
}

void add_tries_against(const TryLine& line, const std::string& base, std::size_t depth, std::string& text) {
  for (const TryRecord& tried : line.tries()) {
    if (tried.base() != base) continue;
    text += std::string(2 * depth, ' ') + line_of_try(tried);
    if (tried.moved_best && tried.change() != base) add_tries_against(line, tried.change(), depth + 1, text);
  }
}

}  // namespace

int code_of_outcome(const Json& outcome) {
  const std::string verdict = outcome.value("verdict", "");
  const auto code = std::ranges::find_if(kCodes, [&](const auto& one) { return one.first == verdict; });
  return code == kCodes.end() ? static_cast<int>(kFailed) : code->second;
}

std::string outcome_text(const Json& outcome) {
  const std::string gain = gain_text(outcome);
  return fmt::format("{}: {}\n", outcome.value("verdict", ""),
                     joined({gain.empty() ? "" : outcome.value("value", "") + " " + gain, outcome.value("reason", ""),
                             outcome.value("equal", ""), cost_text(outcome),
                             outcome.value("repeated", false) ? "as answered before" : ""}));
}

std::string outcome_json(const Json& outcome) {
  constexpr std::size_t kReason = 240;
  constexpr std::size_t kKeys = 160;
  Json shown = outcome;
  if (outcome.contains("reason")) shown["reason"] = cut(outcome.value("reason", ""), kReason);
  const auto keys = outcome.value("differ_in", std::vector<std::string>());
  shown["differ_in"] = cut(listed_names(keys, 5), kKeys);
  return shown.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string closing_text(const Json& outcome) {
  return fmt::format(
      "{}: {} of its best is better by {} than of its first base{}, {} of seeds\nbest: {}\nthe line is closed\n",
      outcome.value("line", ""), outcome.value("value", ""), with_digits(outcome["gain"], digits_of_gain(outcome)),
      interval_of_gain(outcome), counted(outcome.value("pairs", std::size_t{0}), "pair"), outcome.value("best", ""));
}

void add_interval(Json& outcome, double gain, const LimitsTest& test) {
  if (test.half_width) outcome.update({{"low", gain - *test.half_width}, {"high", gain + *test.half_width}});
  if (test.p) outcome["p"] = *test.p;
}

std::string line_text(const TryLine& line) {
  const auto kept = std::ranges::count_if(line.tries(), [](const TryRecord& tried) { return tried.is_kept(); });
  const TryCost cost = line.cost();
  const std::size_t all = line.tries().size();
  std::string text = fmt::format("{}: {} {}, {} kept; {}, {}\n", line.name(), all, all == 1 ? "try" : "tries", kept,
                                 counted(static_cast<std::size_t>(cost.runs), "run"), human_duration(cost.seconds));
  std::vector<std::string> roots;  // what is tried against, and no change that was kept
  for (const TryRecord& tried : line.tries()) {
    const bool is_below = std::ranges::any_of(
        line.tries(), [&](const TryRecord& other) { return other.moved_best && other.change() == tried.base(); });
    if (!is_below && std::ranges::find(roots, tried.base()) == roots.end()) roots.push_back(tried.base());
  }
  for (const std::string& root : roots) {
    text += fmt::format("against {}\n", root);
    add_tries_against(line, root, 0, text);
  }
  text += fmt::format("best: {}\n", line.best());
  if (line.closing().is_null()) return text;
  return text + fmt::format("closed: {} is better by {}\n", line.closing().value("value", ""),
                            with_digits(line.closing().value("gain", 0.0), 3));
}

Json line_json(const TryLine& line) {
  Json tries = Json::array();
  for (const TryRecord& tried : line.tries()) {
    tries.push_back({{"try", tried.number},
                     {"question", tried.question},
                     {"note", tried.note},
                     {"differ_in", tried.differ_in},
                     {"outcome", tried.outcome},
                     {"is_best_then", tried.moved_best}});
  }
  return {{"line", line.name()}, {"best", line.best()}, {"closing", line.closing()}, {"tries", std::move(tries)}};
}

}  // namespace xlm
