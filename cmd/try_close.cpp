// Closing a line of tries.
#include "cmd/try_close.h"

#include <map>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "cmd/claims_record.h"
#include "cmd/results_store.h"
#include "experiments/sweeps/try_line.h"
#include "results/judgement/limits.h"
#include "results/quantities/number_format.h"
#include "results/store/directions.h"

namespace xlm {
namespace {

using RunBySeed = std::map<std::string, std::size_t>;  // rows of a RunTable

/// The runs that are done of the setting that a run has.
RunBySeed runs_of_setting(RunTable& runs, const std::string& id) {
  const std::optional<std::size_t> first = runs.row_of(id);
  if (!first) throw DataError(fmt::format("the run {} of the line is gone", id));
  const Value& setting = runs.column("seed_group")[*first];
  RunBySeed found;
  for (std::size_t row = 0; row < runs.size(); ++row) {
    const bool is_done = to_text(runs.column("status")[row]) == name_of(RunStatus::kDone);
    if (is_done && same_value(runs.column("seed_group")[row], setting)) found[to_text(runs.column("seed")[row])] = row;
  }
  return found;
}

struct ClosingPairs {
  std::vector<std::string> best;
  std::vector<std::string> base;
};

ClosingPairs pairs_of(RunTable& runs, const std::string& best, const std::string& base) {
  const RunBySeed of_best = runs_of_setting(runs, best);
  const RunBySeed of_base = runs_of_setting(runs, base);
  ClosingPairs pairs;
  for (const auto& [seed, row] : of_best) {
    const auto partner = of_base.find(seed);
    if (partner == of_base.end()) continue;
    pairs.best.push_back(runs.id(row));
    pairs.base.push_back(runs.id(partner->second));
  }
  if (pairs.best.size() < 2) throw DataError("the line's best and its first base have no two seeds in common");
  return pairs;
}

std::vector<double> numbers_in(RunTable& runs, const std::vector<std::string>& ids, const std::string& value,
                               AskedRows& rows) {
  const std::vector<Value>& column = runs.column(value);
  std::vector<double> numbers;
  for (const std::string& id : ids) {
    const std::optional<std::size_t> row = runs.row_of(id);
    const std::optional<double> number = row ? as_number(column[*row]) : std::nullopt;
    if (!number)
      throw DataError(fmt::format(
          "{} has no {}\nname what it has with --value; a program prints its test itself, in runs of the line", id,
          value));
    numbers.push_back(*number);
    rows.push_back(*row);
  }
  return numbers;
}

std::string value_of_test(const TryLine& line, const std::string& asked) {
  constexpr std::string_view kValid = "valid.";
  if (!asked.empty()) return asked;
  const std::string value = line.tries().front().question.value("value", "");
  if (value.starts_with(kValid)) return "test." + value.substr(kValid.size());
  throw UsageError(fmt::format("the line chose by {}: name its test with --value", value));
}

Json measured(TryLine& line, const std::string& value, const GlobalOptions& global) {
  const std::string base = line.tries().front().base();
  const std::string best = line.best();
  ClosingPairs pairs;
  {
    Store store = open_store(global);
    RunTable runs(store);
    pairs = pairs_of(runs, best, base);
  }
  std::vector<Run> both;
  for (const std::vector<std::string>* side : {&pairs.best, &pairs.base}) {
    for (const std::string& id : *side) both.push_back(read_run(global.runs / id));
  }
  line.begin_closing();
  if (line.best() != best) throw Error("the best of the line has just moved; the same command closes it");
  open_test_of(both, Json{{"line", line.name()}}, global);
  Store store = open_store(global);
  RunTable runs(store);
  AskedRows rows;
  const std::vector<double> after = numbers_in(runs, pairs.best, value, rows);
  const std::vector<double> before = numbers_in(runs, pairs.base, value, rows);
  const Better better = needed_direction(runs, rows, value, "try", "declare it in the file: program.better");
  const Estimate gain =
      better == Better::kLower ? difference_of_pairs(before, after) : difference_of_pairs(after, before);
  const LimitsTest test = test_limits(gain, {.high = 0});
  Json outcome = {{"line", line.name()}, {"best", best},       {"base", base},
                  {"value", value},      {"gain", gain.value}, {"pairs", gain.seeds}};
  if (test.half_width)
    outcome.update({{"low", gain.value - *test.half_width}, {"high", gain.value + *test.half_width}});
  if (test.p) outcome["p"] = *test.p;
  return outcome;
}

std::string closing_text(const Json& outcome) {
  const double gain = outcome["gain"];
  std::optional<double> half;
  if (outcome.contains("low")) half = gain - outcome["low"].get<double>();
  const int digits = digits_beside(gain, half);
  std::string text = fmt::format("{}: {} of its best is better by {} than of its first base", outcome.value("line", ""),
                                 outcome.value("value", ""), with_digits(gain, digits));
  if (half) {
    text += fmt::format(", 95 % interval {}", interval_text(gain - *half, gain + *half,
                                                            [&](double end) { return with_digits(end, digits); }));
  }
  if (outcome.contains("p")) text += ", " + p_in_words(outcome["p"]);
  return text + fmt::format(", {} of seeds\nbest: {}\nthe line is closed\n",
                            counted(outcome.value("pairs", std::size_t{0}), "pair"), outcome.value("best", ""));
}

}  // namespace

int close_line(const std::string& name, const std::string& value, const GlobalOptions& global) {
  if (name.empty()) throw UsageError("which line is closed? name it with --line");
  TryLine line(global.runs, name);
  if (!line.exists()) throw DataError(fmt::format("there is no line '{}'", name));
  if (line.closing().is_null()) {
    if (line.best() == line.tries().front().base()) {
      throw DataError(fmt::format("no try of the line {} was kept: there is nothing to measure its test for", name));
    }
    line.close(measured(line, value_of_test(line, value), global));
  }
  print(global.json ? line.closing().dump() + "\n" : closing_text(line.closing()));
  return kDone;
}

}  // namespace xlm
