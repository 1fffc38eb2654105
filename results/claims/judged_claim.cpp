// What the runs of a store say of a claim.
#include "results/claims/judged_claim.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "results/claims/limits.h"
#include "results/claims/side_formula.h"
#include "results/claims/side_numbers.h"
#include "results/quantities/quantities.h"
#include "results/store/directions.h"
#include "results/store/formula.h"
#include "results/store/reproduction.h"
#include "results/store/shown_runs.h"
#include "results/store/statistics.h"
#include "results/store/variation.h"
#include "results/tables/printed_number.h"

namespace xlm {
namespace {

constexpr double kRefuted = 0.05;  // corrected p below which one part refutes the whole claim

/// A part's number, and which of its limits it was tested with.
struct PartNumber {
  ClaimPart part;
  Estimate estimate;
  Limits limits;
};

void add_runs(ClaimPart& part, const SeedValues& values) {
  for (const std::string& run : values.runs) {
    if (std::find(part.runs.begin(), part.runs.end(), run) == part.runs.end()) part.runs.push_back(run);
  }
  part.rows.insert(part.rows.end(), values.rows.begin(), values.rows.end());
  for (const std::string& key : values.mixes) {
    if (std::find(part.mixes.begin(), part.mixes.end(), key) == part.mixes.end()) part.mixes.push_back(key);
  }
}

class ClaimJudge {
 public:
  ClaimJudge(RunTable& runs, const ClaimDescription& claim, const ClaimContext& context)
      : runs_(runs), claim_(claim), context_(context), reader_(runs, claim, context, report_) {}

  JudgedClaim judge() {
    JudgedClaim judged{.description = claim_};
    std::vector<PartNumber> numbers;
    for (const std::vector<Filter>& each : reader_.each_of()) {
      const std::string prefix = each.empty() ? "" : to_text(each.front().values.front().value) + ": ";
      for (PartNumber& number : parts_of(each)) {
        number.part.label = prefix + number.part.label;
        decide(number);
        leave_if_smaller(number.part);
        numbers.push_back(std::move(number));
      }
    }
    judged.verdict = verdict_of(numbers);
    if (numbers.size() == 1) judged.against = against_printed(numbers.front());
    for (PartNumber& number : numbers) judged.parts.push_back(std::move(number.part));
    if (judged.parts.empty()) {
      judged.parts.push_back({.label = claim_.each, .missing = fmt::format("no run has a value of {}", claim_.each)});
    }
    judged.notes = notes_of(judged);
    return judged;
  }

 private:
  std::vector<PartNumber> parts_of(const std::vector<Filter>& each) {
    std::vector<PartNumber> parts;
    switch (claim_.expects) {
      case Expectation::kBetter:
      case Expectation::kNotBetter:
      case Expectation::kAlike:
        for (const ClaimSide* a : claim_.sides_called(claim_.b_is_better ? 'b' : 'a')) {
          for (const ClaimSide* b : claim_.sides_called(claim_.b_is_better ? 'a' : 'b')) {
            parts.push_back(difference(*a, *b, each));
          }
        }
        break;
      case Expectation::kOrder:
        for (std::size_t i = 0; i + 1 < claim_.sides.size(); ++i) {
          parts.push_back(difference(claim_.sides[i], claim_.sides[i + 1], each));
        }
        break;
      case Expectation::kTrend:
        parts.push_back(trend(each));
        break;
      case Expectation::kValue:
        parts.push_back(value(each));
        break;
    }
    return parts;
  }

  /// +1 if a higher number is better, for the runs of these rows. Of a grid, less counts as better.
  double sign(const std::vector<std::size_t>& rows) const {
    if (claim_.direction != Direction::kOfTheQuantity) return claim_.direction == Direction::kHigher ? 1 : -1;
    const std::string asker = fmt::format("the claim '{}'", claim_.claim);
    const char* other = claim_.expects == Expectation::kBetter
                            ? "say it in this claim alone: `lower: a` or `higher: a`"
                            : "write claims with `lower: a` or `higher: a`, which say it themselves";
    return needed_direction(runs_, rows, claim_.value, asker, other) == Better::kHigher ? 1 : -1;
  }

  /// Limits of first − second, of which the claim says that the first is better, or not better, or alike.
  Limits limits_of_difference(const std::vector<std::size_t>& rows) const {
    if (claim_.expects == Expectation::kAlike) return {.low = -*claim_.within, .high = *claim_.within};
    if (claim_.expects == Expectation::kValue) return {};  // they are those of the value
    Limits limits{.open = claim_.expects != Expectation::kNotBetter};
    const double up = sign(rows);
    const double margin = up * claim_.margin;
    const bool is_above = (up > 0) == (claim_.expects != Expectation::kNotBetter);
    (is_above ? limits.low : limits.high) = margin;
    return limits;
  }

  /// The values of a column in some rows.
  std::set<std::string> texts_in(const std::vector<std::size_t>& rows, const std::string& column) {
    std::set<std::string> texts;
    for (const std::size_t row : rows) texts.insert(to_text(runs_.column_or_nothing(column)[row]));
    return texts;
  }

  /// Whether a program was edited between the runs of two sides, and no condition asks for that.
  bool differ_in_code(const ClaimSide& first, const std::vector<std::size_t>& rows, const ClaimSide& second,
                      const std::vector<std::size_t>& other_rows) {
    const auto asks_for_it = [](const ClaimSide& side) {
      return std::any_of(side.where.begin(), side.where.end(),
                         [](const Filter& filter) { return filter.column.starts_with("program."); });
    };
    if (asks_for_it(first) || asks_for_it(second) || rows.empty() || other_rows.empty()) return false;
    return texts_in(rows, "program.name") == texts_in(other_rows, "program.name") &&
           texts_in(rows, kProgramFingerprint) != texts_in(other_rows, kProgramFingerprint);
  }

  PartNumber difference(const ClaimSide& first, const ClaimSide& second, const std::vector<Filter>& each) {
    PartNumber number;
    ClaimPart& part = number.part;
    part.label = fmt::format("{} − {}", first.label, second.label);
    const SideNumbers a = reader_.numbers(&first, each);
    std::string chosen;
    const SideNumbers b =
        claim_.nearest.empty() ? reader_.numbers(&second, each) : reader_.nearest(second, first, each, chosen);
    if (!chosen.empty()) part.label += fmt::format(" ({} {})", column_label(claim_.nearest), chosen);
    add_runs(part, a.values);
    add_runs(part, b.values);
    part.is_of_other_code = differ_in_code(first, a.values.rows, second, b.values.rows);
    for (const auto& [side, of] : {std::pair(&first, &a), std::pair(&second, &b)}) {
      if (!of->missing.empty() && part.missing.empty()) part.missing = fmt::format("{}: {}", side->label, of->missing);
    }
    if (!part.missing.empty()) return number;
    number.limits = limits_of_difference(part.rows);
    const SeedPairs pairs = common_seeds(a.values, b.values);
    part.is_paired = !pairs.a.empty();
    if (part.is_paired) {
      std::vector<double> differences(pairs.a.size());
      std::transform(pairs.a.begin(), pairs.a.end(), pairs.b.begin(), differences.begin(), std::minus<>());
      number.estimate = estimate_of(differences);
    } else {
      number.estimate = difference_of_means(a.values.means(), b.values.means());
    }
    set_exact(number, a.is_exact && b.is_exact);
    return number;
  }

  PartNumber trend(const std::vector<Filter>& each) {
    PartNumber number{.limits = {.open = true}};
    (claim_.rises ? number.limits.low : number.limits.high) = claim_.rises ? claim_.margin : -claim_.margin;
    ClaimPart& part = number.part;
    const std::vector<const ClaimSide*> a = claim_.sides_called('a');
    const std::vector<const ClaimSide*> b = claim_.sides_called('b');
    const ClaimSide* first = a.empty() ? nullptr : a.front();
    part.label = fmt::format("slope along {}{}", claim_.scale == TrendScale::kLog ? "log " : "", claim_.along);
    if (first != nullptr) part.label += " of " + first->label;
    std::vector<TrendPoint> points = points_of(first, each, part);
    if (!b.empty()) {
      part.label += " − " + b.front()->label;
      points = less(points, points_of(b.front(), each, part));
    }
    if (claim_.scale == TrendScale::kLog) {
      std::erase_if(points, [](const TrendPoint& point) { return point.x <= 0; });
      for (TrendPoint& point : points) point.x = std::log(point.x);
    }
    const std::optional<Trend> found = trend_of(points);
    if (!found) {
      if (part.missing.empty()) {
        part.missing = fmt::format("no seed has runs at several values of {}", claim_.along);
      }
      return number;
    }
    number.estimate = found->slope;
    part.rank_correlation = found->rank_correlation;
    part.is_paired = true;
    return number;
  }

  std::vector<TrendPoint> points_of(const ClaimSide* side, const std::vector<Filter>& each, ClaimPart& part) {
    SideNumbers numbers;
    std::vector<TrendPoint> points = reader_.along(side, each, numbers);
    add_runs(part, numbers.values);
    if (!numbers.missing.empty() && part.missing.empty()) part.missing = numbers.missing;
    return points;
  }

  /// Where both have a point of the same seed and place, their difference.
  static std::vector<TrendPoint> less(const std::vector<TrendPoint>& a, const std::vector<TrendPoint>& b) {
    std::vector<TrendPoint> differences;
    for (const TrendPoint& point : a) {
      const auto other = std::find_if(b.begin(), b.end(), [&](const TrendPoint& candidate) {
        return candidate.seed == point.seed && candidate.x == point.x;
      });
      if (other != b.end()) differences.push_back({point.seed, point.x, point.y - other->y});
    }
    return differences;
  }

  PartNumber value(const std::vector<Filter>& each) {
    PartNumber number{.limits = limits_of_value()};
    if (claim_.is_over_sides()) {
      formula_over_sides(each, number);
      return number;
    }
    const std::vector<const ClaimSide*> a = claim_.sides_called('a');
    const std::vector<const ClaimSide*> b = claim_.sides_called('b');
    if (!a.empty() && !b.empty()) {
      const Limits limits = number.limits;
      number = difference(*a.front(), *b.front(), each);
      number.limits = limits;
      return number;
    }
    const ClaimSide* side = a.empty() ? nullptr : a.front();
    const SideNumbers numbers = reader_.numbers(side, each);
    number.part.label = side == nullptr ? (claim_.value.empty() ? claim_.grid.name : claim_.value) : side->label;
    add_runs(number.part, numbers.values);
    number.part.missing = numbers.missing;
    if (!numbers.missing.empty()) return number;
    number.estimate = estimate_of(numbers.values.means());
    set_exact(number, numbers.is_exact);
    return number;
  }

  Limits limits_of_value() const {
    Limits limits;
    if (claim_.at_least) limits.low = *claim_.at_least;
    if (claim_.at_most) limits.high = *claim_.at_most;
    if (claim_.at_least || claim_.at_most) return limits;
    const PrintedNumber printed = *printed_number(claim_.printed, NumberFormat::kNumber);
    const double around = claim_.tolerance.value_or(0) + printed.rounding;
    return {.low = printed.value - around, .high = printed.value + around};
  }

  void formula_over_sides(const std::vector<Filter>& each, PartNumber& number) {
    const Formula formula(bound_to_sides(claim_.value));
    number.part.label = claim_.value.substr(1);
    std::vector<SideNumbers> columns;
    bool is_exact = true;
    for (const std::string& name : formula.columns()) {
      const SideColumn wanted = side_column(name);
      const ClaimSide* side = wanted.letter == 0 ? nullptr : claim_.sides_called(wanted.letter).front();
      columns.push_back(reader_.numbers(side, each, wanted.column));
      const SideNumbers& found = columns.back();
      add_runs(number.part, found.values);
      is_exact = is_exact && found.is_exact;
      if (found.missing.empty() || !number.part.missing.empty()) continue;
      number.part.missing = side == nullptr ? found.missing : fmt::format("{}: {}", side->label, found.missing);
    }
    if (!number.part.missing.empty()) return;
    const std::vector<double> values = is_exact ? value_of_means(formula, columns) : values_by_seed(formula, columns);
    if (values.empty()) {
      number.part.missing =
          fmt::format("the sides have no {} in common for which the formula has a value", claim_.over);
      return;
    }
    number.part.is_paired = true;
    number.estimate = estimate_of(values);
    set_exact(number, is_exact);
  }

  static std::vector<double> value_of_means(const Formula& formula, const std::vector<SideNumbers>& columns) {
    std::vector<double> of_columns;
    for (const SideNumbers& column : columns) of_columns.push_back(mean(column.values.means()));
    const std::optional<double> value = formula.value(of_columns);
    return value ? std::vector<double>{*value} : std::vector<double>{};
  }

  /// The formula for each seed that all of its columns have.
  static std::vector<double> values_by_seed(const Formula& formula, const std::vector<SideNumbers>& columns) {
    std::vector<double> values;
    for (const auto& [seed, numbers] : columns.front().values.by_group) {
      std::vector<double> of_columns;
      for (const SideNumbers& column : columns) {
        const auto found = column.values.by_group.find(seed);
        if (found != column.values.by_group.end()) of_columns.push_back(mean(found->second));
      }
      if (of_columns.size() < columns.size()) continue;
      if (const auto value = formula.value(of_columns)) values.push_back(*value);
    }
    return values;
  }

  /// Numbers that follow from the configuration have no error, unless the runs differ in it.
  static void set_exact(PartNumber& number, bool is_exact) {
    number.estimate.is_exact = is_exact && number.estimate.error == 0;
  }

  static void decide(PartNumber& number) {
    ClaimPart& part = number.part;
    if (number.estimate.seeds == 0) return;
    const LimitsTest test = test_limits(number.estimate, number.limits);
    part.value = number.estimate.value;
    part.seeds = number.estimate.is_exact ? 0 : number.estimate.seeds;
    part.is_exact = number.estimate.is_exact;
    part.half_width = test.half_width;
    part.p = test.p;
    switch (test.decision) {
      case LimitsDecision::kInside:
        part.verdict = ClaimVerdict::kConfirmed;
        break;
      case LimitsDecision::kOutside:
        part.verdict = ClaimVerdict::kRefuted;
        break;
      case LimitsDecision::kUndecided:
        part.verdict = ClaimVerdict::kUndecided;
        part.seeds_to_decide = seeds_to_decide(number.estimate, number.limits);
        break;
    }
  }

  /// Whether the runs behind a part are configured as runs of the paper; configurations are.
  bool is_as_the_papers(const ClaimPart& part) const {
    return context_.paper == nullptr || part.rows.empty() ||
           context_.paper->keys_apart(runs_, part.rows, {}, {}).empty();
  }

  /// A printed number alone is of the paper's sizes; of other runs it says nothing.
  void leave_if_smaller(ClaimPart& part) const {
    const bool is_printed = claim_.expects == Expectation::kValue && !claim_.at_least && !claim_.at_most;
    if (!is_printed || !part.value || is_as_the_papers(part)) return;
    part.verdict = ClaimVerdict::kNotTried;
    part.seeds_to_decide.reset();
    part.missing = "the runs are not configured as the paper's";
  }

  /// A claim holds where each of its parts does, so no part needs a correction for that. It is refuted where one part
  /// is; of many parts one would be by chance, so these are corrected.
  static ClaimVerdict verdict_of(const std::vector<PartNumber>& numbers) {
    const auto all = [&](ClaimVerdict verdict) {
      return std::all_of(numbers.begin(), numbers.end(),
                         [&](const PartNumber& number) { return number.part.verdict == verdict; });
    };
    if (numbers.empty() || all(ClaimVerdict::kNotTried)) return ClaimVerdict::kNotTried;
    if (all(ClaimVerdict::kConfirmed)) return ClaimVerdict::kConfirmed;
    std::vector<double> p;
    for (const PartNumber& number : numbers) {
      const bool refuted = number.part.verdict == ClaimVerdict::kRefuted;
      p.push_back(refuted ? number.part.p.value_or(0) : 1);
    }
    const std::vector<double> corrected = holm(p);
    const bool refuted = std::any_of(corrected.begin(), corrected.end(), [](double one) { return one <= kRefuted; });
    return refuted ? ClaimVerdict::kRefuted : ClaimVerdict::kUndecided;
  }

  AgainstPrinted against_printed(const PartNumber& number) const {
    if (claim_.printed.empty() || !number.part.value) return AgainstPrinted::kNone;
    if (!is_as_the_papers(number.part)) return AgainstPrinted::kNotComparable;
    const PrintedNumber printed = *printed_number(claim_.printed, NumberFormat::kNumber);
    const double theirs = claim_.b_is_better ? -printed.value : printed.value;  // a − b, as the paper has it
    const bool is_value = claim_.expects == Expectation::kValue;
    const double of_paper = is_value ? printed.value : theirs;
    const double allowed = printed.rounding + claim_.tolerance.value_or(0);
    const Estimate& ours = number.estimate;
    if (ours.is_exact) {
      return std::abs(ours.value - of_paper) <= allowed ? AgainstPrinted::kConsistent : AgainstPrinted::kDiffers;
    }
    if (ours.freedom <= 0) return AgainstPrinted::kUndecided;
    const OwnMean own{
        .value = ours.value,
        .runs = ours.seeds,
        .spread = {.deviation = ours.error * std::sqrt(static_cast<double>(ours.seeds)), .freedom = ours.freedom}};
    const PrintedMean paper{.value = of_paper, .rounding = allowed, .runs = claim_.printed_runs};
    const PrintedDifference difference = difference_from_printed(own, paper, {});
    return std::abs(difference.difference) <= difference.half_width ? AgainstPrinted::kConsistent
                                                                    : AgainstPrinted::kDiffers;
  }

  std::vector<std::string> notes_of(const JudgedClaim& judged) const {
    std::vector<std::string> notes = claim_.notes;
    for (std::string& note : choice_notes(claim_.choose, {report_.choices.begin(), report_.choices.end()})) {
      notes.push_back(std::move(note));
    }
    if (!report_.left_out.empty()) notes.push_back(left_out_note({report_.left_out.begin(), report_.left_out.end()}));
    for (const ClaimPart& part : judged.parts) {
      if (part.is_of_other_code) {
        notes.push_back(fmt::format("{}: the sides were run with different versions of the program's code ({})",
                                    part.label, kProgramFingerprint));
      }
      if (part.mixes.empty()) continue;
      constexpr std::size_t kMaxNamedKeys = 4;
      notes.push_back(fmt::format("{}: runs of one side differ in {}; conditions of the sides choose among them",
                                  part.label, listed_names(part.mixes, kMaxNamedKeys)));
    }
    return notes;
  }

  RunTable& runs_;
  const ClaimDescription& claim_;
  const ClaimContext& context_;
  SideReport report_;
  SideReader reader_;
};

}  // namespace

JudgedClaim judge_claim(RunTable& runs, const ClaimDescription& description, const ClaimContext& context) {
  return ClaimJudge(runs, description, context).judge();
}

std::vector<std::string> runs_of(const JudgedClaim& claim) {
  std::vector<std::string> runs;
  for (const ClaimPart& part : claim.parts) {
    for (const std::string& run : part.runs) {
      if (std::find(runs.begin(), runs.end(), run) == runs.end()) runs.push_back(run);
    }
  }
  return runs;
}

ClaimCounts count_claims(const std::vector<JudgedClaim>& claims) {
  ClaimCounts counts{};
  for (const JudgedClaim& claim : claims) ++counts.at(static_cast<std::size_t>(claim.verdict));
  return counts;
}

}  // namespace xlm
