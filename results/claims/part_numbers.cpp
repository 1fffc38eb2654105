// The numbers of the comparisons that a claim is made of.
#include "results/claims/part_numbers.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "results/claims/claim_noise.h"
#include "results/claims/side_formula.h"
#include "results/claims/side_numbers.h"
#include "results/quantities/quantities.h"
#include "results/store/directions.h"
#include "results/store/formula.h"
#include "results/store/statistics.h"
#include "results/store/variation.h"
#include "results/tables/printed_number.h"

namespace xlm {
namespace {

void add_runs(ClaimPart& part, const SideNumbers& numbers, const std::string& side) {
  const SeedValues& values = numbers.values;
  if (numbers.planned > 0) {
    part.looked_at = part.planned == 0 ? numbers.looked_at : std::min(part.looked_at, numbers.looked_at);
    part.planned = numbers.planned;
  }
  if (!numbers.beyond_plan.empty()) {
    part.left_out.push_back(fmt::format("{}: seeds beyond the plan are left out ({})", side,
                                        listed_names(numbers.beyond_plan, numbers.beyond_plan.size())));
  }
  if (const std::string without = values.without_number_text(); !without.empty()) {
    part.left_out.push_back(fmt::format("{}: runs without a number are left out ({})", side, without));
  }
  for (const std::string& run : values.runs) {
    if (std::ranges::find(part.runs, run) == part.runs.end()) part.runs.push_back(run);
  }
  part.diverged += std::ssize(values.diverged);
  part.ignores_seeds = part.ignores_seeds || numbers.ignores_seeds;
  part.rows.insert(part.rows.end(), values.rows.begin(), values.rows.end());
  for (const std::string& key : values.mixes) {
    if (std::ranges::find(part.mixes, key) == part.mixes.end()) part.mixes.push_back(key);
  }
}

class PartMaker {
 public:
  PartMaker(RunTable& runs, const ClaimDescription& claim, const SideReader& reader)
      : runs_(runs), claim_(claim), reader_(reader) {}

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
        parts = trend(each);
        break;
      case Expectation::kValue:
        parts.push_back(value(each));
        break;
    }
    return parts;
  }

 private:
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

  /// Whether a program was edited between the runs of two sides, and no condition asks for that.
  bool differ_in_code(const ClaimSide& first, const std::vector<std::size_t>& rows, const ClaimSide& second,
                      const std::vector<std::size_t>& other_rows) {
    const auto asks_for_it = [](const ClaimSide& side) {
      return std::ranges::any_of(side.where,
                                 [](const Filter& filter) { return filter.column.starts_with("program."); });
    };
    if (asks_for_it(first) || asks_for_it(second) || rows.empty() || other_rows.empty()) return false;
    return runs_.texts_in(rows, "program.name") == runs_.texts_in(other_rows, "program.name") &&
           runs_.texts_in(rows, kProgramFingerprint) != runs_.texts_in(other_rows, kProgramFingerprint);
  }

  /// Whether the conditions of the sides say that numbers of different corpora are meant.
  bool asks_for_corpora() const {
    return std::ranges::any_of(claim_.sides, [](const ClaimSide& side) {
      return std::ranges::any_of(side.where, [](const Filter& filter) {
        const std::string key =
            filter.column.starts_with(kSettingPrefix) ? filter.column.substr(kSettingPrefix.size()) : filter.column;
        return says_which_text(key);
      });
    });
  }

  /// Numbers of different corpora cannot be compared, unless that is asked for. Bits per byte compare units, which
  /// needs one text. A grid is of the model, not of a text.
  void need_same_corpora(ClaimPart& part, const std::vector<std::size_t>& rows,
                         const std::vector<std::size_t>& other_rows, const std::string& column, bool is_paired) {
    if (!part.missing.empty() || column.empty()) return;
    if (are_alike(runs_, rows, other_rows, column, claim_.over, is_paired)) return;
    if (are_per_other_token(runs_, rows, other_rows, column)) {
      part.missing = fmt::format(
          "the sides read one text in other tokens, and {} is per token; bits_per_byte compares them", column);
      return;
    }
    if (asks_for_corpora() && quantity_in(column) != "bits_per_byte") {
      part.is_of_other_data = true;
      return;
    }
    part.missing =
        quantity_in(column) == "bits_per_byte" && asks_for_corpora()
            ? "bits_per_byte compares units on one text, and these are two; one document that is cut by "
              "tokens is another text for each unit, and files of a split (--valid, --test) are not"
            : fmt::format("the numbers were measured on different corpora; `each: {}` judges each corpus alone",
                          have_one_name(rows, other_rows) ? "data.fingerprint" : "data.name");
  }

  bool have_one_name(const std::vector<std::size_t>& rows, const std::vector<std::size_t>& other_rows) const {
    std::set<std::string> names = runs_.texts_in(rows, "at.data.name");
    names.merge(runs_.texts_in(other_rows, "at.data.name"));
    return names.size() == 1;
  }

  /// Keys in which two sides differ, and of which the claim says nothing: no condition names them, and nothing chooses
  /// among their values. A model without some option of the other's follows from a condition on a key of the model.
  std::vector<std::string> unsaid_keys(const ClaimSide& first, const SideNumbers& a, const ClaimSide& second,
                                       const SideNumbers& b) {
    if (a.values.rows.empty() || b.values.rows.empty()) return {};
    std::set<std::string> said(claim_.choose.over.begin(), claim_.choose.over.end());
    for (const ClaimSide* side : {&first, &second}) {
      for (const Filter& filter : side->where) said.insert(filter.column);
    }
    for (const SideNumbers* side : {&a, &b}) said.insert(side->chosen_among.begin(), side->chosen_among.end());
    const auto follows = [&](const std::string& key) {
      const auto is_absent = [&](const SideNumbers& side) {
        return runs_.texts_in(side.values.rows, key) == std::set<std::string>{""};
      };
      const std::string room = split(key, '.').front() + ".";
      return (is_absent(a) || is_absent(b)) &&
             std::ranges::any_of(said, [&](const std::string& one) { return one.starts_with(room); });
    };
    std::vector<std::string> keys = keys_between(runs_, a.values.rows, b.values.rows, claim_.over);
    std::erase_if(keys, [&](const std::string& key) {
      return said.contains(key) || follows(key) || key == kProgramFingerprint;  // which has a separate note
    });
    return keys;
  }

  void note_left_out(ClaimPart& part, const SeedComparison& compared) const {
    if (compared.left_out == 0) return;
    part.left_out.push_back(fmt::format("{}: {} without a partner {} left out", part.label,
                                        counted_over(compared.left_out, claim_.over),
                                        compared.left_out == 1 ? "is" : "are"));
  }

  /// Which way numbers are worse: +1 where higher ones are, otherwise −1, and both where nothing says it.
  std::vector<int> worse_ways(const std::vector<std::size_t>& rows) const {
    if (claim_.expects == Expectation::kAlike || claim_.expects == Expectation::kValue) return {1, -1};
    const bool may_lack_it = claim_.expects == Expectation::kTrend && claim_.direction == Direction::kOfTheQuantity;
    if (may_lack_it && (claim_.value.empty() || !direction_of(runs_, rows, claim_.value))) return {1, -1};
    return {sign(rows) > 0 ? -1 : 1};
  }

  /// The same for a trend; none if none of its runs diverged.
  std::vector<int> worse_ways(const std::vector<std::size_t>& rows, const std::vector<TrendPoint>& points) const {
    const bool any = std::ranges::any_of(points, [](const TrendPoint& point) { return point.diverged != 0; });
    return any ? worse_ways(rows) : std::vector<int>();
  }

  /// What a difference may be if the diverged seeds count as the worst.
  std::vector<Estimate> worst_differences(const ClaimPart& part, const SideNumbers& a, const SideNumbers& b) const {
    std::vector<Estimate> worst;
    if (part.diverged == 0) return worst;
    for (const int worse : worse_ways(part.rows)) {
      worst.push_back(compare_with_worst(a.values, b.values, worse).difference);
    }
    return worst;
  }

  PartNumber difference(const ClaimSide& first, const ClaimSide& second, const std::vector<Filter>& each) {
    PartNumber number;
    ClaimPart& part = number.part;
    part.label = fmt::format("{} − {}", first.name, second.name);
    std::string chosen;
    const auto numbers_of = [&](const ClaimSide& side, const ClaimSide& other) {
      const bool is_chosen = !claim_.nearest.empty() && side.letter == 'b';
      return is_chosen ? reader_.nearest(side, other, each, chosen) : reader_.numbers(&side, each, claim_.value);
    };
    const SideNumbers a = numbers_of(first, second);
    const SideNumbers b = numbers_of(second, first);
    if (!chosen.empty()) part.label += fmt::format(" ({} {})", column_label(claim_.nearest), chosen);
    add_runs(part, a, first.label);
    add_runs(part, b, second.label);
    part.is_of_other_code = differ_in_code(first, a.values.rows, second, b.values.rows);
    for (const auto& [side, of] : {std::pair(&first, &a), std::pair(&second, &b)}) {
      if (!of->missing.empty() && part.missing.empty()) part.missing = fmt::format("{}: {}", side->label, of->missing);
    }
    if (!part.missing.empty()) return number;
    const SeedComparison compared = compare_seeds(a.values.by_group, b.values.by_group);
    part.is_paired = compared.is_paired;
    part.is_of_two_sides = true;
    part.are_the_same = claim_.over == "seed" && have_same_numbers(runs_, a.values, b.values);
    need_same_corpora(part, a.values.rows, b.values.rows, claim_.value, part.is_paired);
    if (!part.missing.empty()) return number;
    number.limits = limits_of_difference(part.rows);
    note_left_out(part, compared);
    part.differ_in = unsaid_keys(first, a, second, b);
    number.estimate = compared.difference;
    number.worst = worst_differences(part, a, b);
    share_noise(number, claim_.spread, reader_, each, {a.values.means(), b.values.means()});
    set_exact(number, a.is_exact && b.is_exact);
    return number;
  }

  /// What lies on the way that the claim says, beyond `least`.
  Limits limits_of_trend(double least) const {
    Limits limits{.open = true};
    (claim_.rises ? limits.low : limits.high) = claim_.rises ? least : -least;
    return limits;
  }

  /// A slope, or each neighbouring step.
  std::vector<PartNumber> trend(const std::vector<Filter>& each) {
    PartNumber number{.limits = limits_of_trend(claim_.margin)};
    ClaimPart& part = number.part;
    const std::vector<const ClaimSide*> a = claim_.sides_called('a');
    const std::vector<const ClaimSide*> b = claim_.sides_called('b');
    const ClaimSide* first = a.empty() ? nullptr : a.front();
    std::string of = first == nullptr ? "" : " of " + first->name;
    std::vector<TrendPoint> points = points_of(first, each, part);
    if (!b.empty()) {
      of += " − " + b.front()->name;
      points = less(points, points_of(b.front(), each, part));
    }
    const bool is_log = claim_.scale == TrendScale::kLog && claim_.tends;
    part.label = fmt::format("slope along {}{}{}", is_log ? "log " : "", column_label(claim_.along), of);
    need_same_corpora_along(part);
    if (is_log) {
      if (std::erase_if(points, [](const TrendPoint& point) { return point.x <= 0; }) > 0) {
        part.left_out.push_back(
            fmt::format("{}: runs whose {} is not above 0 are left out (scale: log)", part.label, claim_.along));
      }
      for (TrendPoint& point : points) point.x = std::log(point.x);
    }
    if (part.missing.empty() && by_place(points).size() < 2) {
      part.missing = fmt::format("no runs have a number at several values of {}", claim_.along);
    }
    if (part.missing.empty() && !claim_.tends) return steps(number, points, of);
    if (part.missing.empty()) set_slope(number, points, is_log);
    return {number};
  }

  void set_slope(PartNumber& number, const std::vector<TrendPoint>& points, bool is_log) const {
    ClaimPart& part = number.part;
    const std::optional<Trend> found = trend_of(points);
    const std::string everywhere =
        runs_.is_measured(claim_.along) ? "of every setting" : fmt::format("at every value of {}", claim_.along);
    if (!found) {
      part.missing = fmt::format("no {} has a number {}", claim_.over, everywhere);
      return;
    }
    number.estimate = found->slope;
    part.is_paired = true;
    std::set<std::string> diverged;
    for (const TrendPoint& point : points) {
      if (point.diverged != 0) diverged.insert(point.seed);
    }
    for (const int worse : worse_ways(part.rows, points)) {
      const auto of_all = trend_of(with_worst(points, worse));
      // A seed that lacks other values, too, has no slope either way: nothing is said of it.
      const bool has_all = of_all && of_all->slope.seeds == found->slope.seeds + std::ssize(diverged);
      if (has_all) number.worst.push_back(of_all->slope);
    }
    if (found->incomplete > 0) {
      part.left_out.push_back(fmt::format("{}: {} without a number {} {} left out", part.label,
                                          counted_over(found->incomplete, claim_.over), everywhere,
                                          found->incomplete == 1 ? "is" : "are"));
    }
    const auto listed = [&](const std::vector<double>& places) {
      std::vector<std::string> names;
      for (const double place : places) names.push_back(fmt::format("{:g}", is_log ? std::exp(place) : place));
      return listed_names(names, names.size());
    };
    if (!found->lone.empty()) {
      part.left_out.push_back(fmt::format("{}: values of {} that a single {} has are left out ({})", part.label,
                                          claim_.along, claim_.over, listed(found->lone)));
    }
    if (!found->turns.empty())
      part.left_out.push_back(fmt::format("{}: the means turn at {}", part.label, listed(found->turns)));
  }

  /// Each step from a place to the next. With a margin, no step goes the other way by more than that, and the last
  /// place lies beyond the first.
  std::vector<PartNumber> steps(const PartNumber& whole, const std::vector<TrendPoint>& points,
                                const std::string& of) const {
    const std::map<double, ByGroup> places = by_place(points);
    std::vector<std::map<double, ByGroup>> worst;
    for (const int worse : worse_ways(whole.part.rows, points)) worst.push_back(by_place(with_worst(points, worse)));
    std::vector<PartNumber> numbers;
    const auto add = [&](auto from, auto to, double least) {
      PartNumber step = whole;
      step.limits = limits_of_trend(least);
      step.part.label = fmt::format("{} {:g} − {:g}{}", column_label(claim_.along), to->first, from->first, of);
      const SeedComparison compared = compare_seeds(to->second, from->second);
      step.estimate = compared.difference;
      step.part.is_paired = compared.is_paired;
      note_left_out(step.part, compared);
      step.part.diverged = std::ranges::count_if(points, [&](const TrendPoint& point) {
        return point.diverged != 0 && (point.x == from->first || point.x == to->first);
      });
      for (std::size_t i = 0; step.part.diverged > 0 && i < worst.size(); ++i) {
        step.worst.push_back(compare_seeds(worst[i].at(to->first), worst[i].at(from->first)).difference);
      }
      numbers.push_back(std::move(step));
    };
    for (auto from = places.begin(); std::next(from) != places.end(); ++from) {
      add(from, std::next(from), claim_.margin > 0 ? -claim_.margin : 0);
    }
    if (claim_.margin > 0) add(places.begin(), std::prev(places.end()), 0);
    return numbers;
  }

  /// A slope over places of different corpora would be one of the corpora.
  void need_same_corpora_along(ClaimPart& part) {
    std::map<std::string, std::vector<std::size_t>> places;
    for (const std::size_t row : part.rows) places[to_text(runs_.column(claim_.along)[row])].push_back(row);
    for (const auto& [place, rows] : places) need_same_corpora(part, places.begin()->second, rows, claim_.value, false);
  }

  std::vector<TrendPoint> points_of(const ClaimSide* side, const std::vector<Filter>& each, ClaimPart& part) {
    SideNumbers numbers;
    std::vector<TrendPoint> points = reader_.along(side, each, numbers);
    add_runs(part, numbers, side == nullptr ? claim_.value : side->label);
    if (!numbers.missing.empty() && part.missing.empty()) part.missing = numbers.missing;
    return points;
  }

  /// Where both have a point of the same seed and place, their difference, or which of them diverged.
  static std::vector<TrendPoint> less(const std::vector<TrendPoint>& a, const std::vector<TrendPoint>& b) {
    std::vector<TrendPoint> differences;
    for (const TrendPoint& point : a) {
      const auto other = std::ranges::find_if(
          b, [&](const TrendPoint& candidate) { return candidate.seed == point.seed && candidate.x == point.x; });
      if (other == b.end()) continue;
      const int diverged = point.diverged != 0 ? 1 : -other->diverged;
      differences.push_back({point.seed, point.x, point.y - other->y, diverged});
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
    const SideNumbers numbers = reader_.numbers(side, each, claim_.value);
    number.part.label =
        side == nullptr ? (claim_.value.empty() ? claim_.grid.name : column_label(claim_.value)) : side->name;
    add_runs(number.part, numbers, number.part.label);
    number.part.missing = numbers.missing;
    need_same_corpora(number.part, numbers.values.rows, numbers.values.rows, claim_.value, true);
    if (!number.part.missing.empty()) return number;
    number.estimate = estimate_of(numbers.values.means());
    share_noise(number, claim_.spread, reader_, each, {numbers.values.means()});
    if (number.part.diverged > 0) {
      for (const int worse : {1, -1})
        number.worst.push_back(estimate_of(means_of(with_worst(numbers.values, {}, worse))));
    }
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
      add_runs(number.part, found, side == nullptr ? wanted.column : side->label);
      is_exact = is_exact && found.is_exact;
      need_same_corpora(number.part, columns.front().values.rows, found.values.rows, wanted.column, true);
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
    if (!is_exact && std::ranges::any_of(columns, [&](const SideNumbers& column) {
          return column.values.by_group.size() > values.size();
        })) {
      number.part.left_out.push_back(
          fmt::format("{}: each {} that not all sides have is left out", number.part.label, claim_.over));
    }
    number.part.is_paired = true;
    number.estimate = estimate_of(values);
    for (const int worse : number.part.diverged > 0 ? worse_ways({}) : std::vector<int>()) {
      std::vector<SideNumbers> all = columns;
      for (SideNumbers& column : all) column.values.by_group = with_worst(column.values, {}, worse);
      if (const auto of_all = values_by_seed(formula, all); !of_all.empty())
        number.worst.push_back(estimate_of(of_all));
    }
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
    if (is_exact) make_exact(number.estimate);
  }

  RunTable& runs_;
  const ClaimDescription& claim_;
  const SideReader& reader_;
};

}  // namespace

std::vector<PartNumber> numbers_of_parts(RunTable& runs, const ClaimDescription& claim, const SideReader& reader) {
  PartMaker maker(runs, claim, reader);
  std::vector<PartNumber> numbers;
  for (const std::vector<Filter>& each : reader.each_of()) {
    const std::string prefix = each.empty() ? "" : to_text(each.front().values.front().value) + ": ";
    for (PartNumber& number : maker.parts_of(each)) {
      number.part.label = prefix + number.part.label;
      numbers.push_back(std::move(number));
    }
  }
  return numbers;
}

}  // namespace xlm
