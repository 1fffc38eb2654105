// The verdicts on a table's printed values.
#include "results/tables/printed_comparison.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "results/store/statistics.h"
#include "results/tables/table.h"
#include "results/tables/table_marks.h"

namespace xlm {
namespace {

constexpr double kCostTolerance = 0.01;  // relative; where a table states none

class VerdictMaker {
 public:
  VerdictMaker(Table& table, const VerdictRules& rules, const std::vector<std::vector<CellSample>>& samples,
               const std::vector<bool>& is_cost)
      : table_(table), samples_(samples), is_cost_(is_cost) {
    basis_.rules = rules;
  }

  VerdictBasis make() {
    find_spreads();
    for (std::size_t r = 0; r < table_.rows.size(); ++r) {
      for (std::size_t c = 0; c < table_.columns.size(); ++c) compare(r, c);
    }
    correct();
    return std::move(basis_);
  }

 private:
  /// A comparison whose outcome is left to chance.
  struct Tested {
    PrintedComparison* compared;
    std::string value;  // column of the store
    OwnMean ours;
    PrintedMean printed;
    Limits limits;  // of the difference
    Estimate difference;
    LimitsTest test;

    bool is_left_to_chance() const { return difference.error > 0; }
  };

  bool is_mean(std::size_t column) const {
    const CellOptions& cells = table_.columns[column].cells;
    return cells.aggregate == Aggregate::kMean && cells.against.empty();
  }

  void find_spreads() {
    for (std::size_t c = 0; c < table_.columns.size(); ++c) {
      const std::string& value = table_.columns[c].cells.value;
      if (!is_mean(c)) continue;
      SpreadPool& spreads = spreads_.try_emplace(value, value, basis_.rules.spread).first->second;
      for (std::size_t r = 0; r < table_.rows.size(); ++r) {
        const CellSample& sample = samples_[r][c];
        if (sample.by_group.empty() || !sample.apart.empty()) continue;
        spreads.add(seeded_sample(sample.by_group), table_.rows[r].cells[c].runs);
      }
    }
    for (auto& [value, spreads] : spreads_) spreads.settle();
  }

  void compare(std::size_t r, std::size_t c) {
    TableCell& cell = table_.rows[r].cells[c];
    const CellOptions& options = table_.columns[c].cells;
    const CellSample& sample = samples_[r][c];
    const std::optional<PrintedNumber> printed = printed_number(cell.printed, options.format);
    if (!printed || !cell.value || sample.by_group.empty() || !is_mean(c)) return;
    const std::vector<double> by_seed = means_of(sample.by_group);
    PrintedComparison& compared = cell.compared.emplace();
    compared.printed = printed->value;
    compared.difference = mean(by_seed) - printed->value;
    compared.apart = sample.apart;
    if (options.margin >= 0) compared.margin = options.margin;
    const SpreadPool& spreads = spreads_.at(options.value);
    const bool is_exact = is_cost_[c] && !spreads.changes(by_seed);
    if (is_cost_[c]) {
      const double tolerance = options.tolerance >= 0 ? options.tolerance : kCostTolerance;
      // The interval of a cost that seeds change has the rounding in it.
      compared.margin = tolerance * std::abs(printed->value) + (is_exact ? printed->rounding : 0);
    }
    if (!compared.apart.empty()) {
      compared.verdict = Verdict::kNotComparable;
    } else if (is_exact) {
      const Estimate difference{.value = compared.difference, .varies = Varies::kOverNothing};
      compared.verdict = verdict_on_printed(test_limits(difference, Limits::within(*compared.margin)).decision, true);
    } else if (spreads.of(by_seed)) {
      tests_.push_back(test_of(compared, options.value, by_seed, *printed));
    }
  }

  Tested test_of(PrintedComparison& compared, const std::string& value, const std::vector<double>& by_seed,
                 const PrintedNumber& printed) const {
    const SpreadPool& spreads = spreads_.at(value);
    Tested tested{.compared = &compared,
                  .value = value,
                  .ours = {.value = mean(by_seed),
                           .runs = static_cast<std::int64_t>(by_seed.size()),
                           .spread = *spreads.of(by_seed),
                           .rounding = shift_of_rounded(by_seed, spreads.step()),
                           .is_pooled = spreads.is_shared(by_seed)},
                  .printed = {.value = printed.value,
                              .rounding = printed.rounding,
                              .runs = basis_.rules.printed_runs,
                              .deviation = printed.deviation},
                  .limits = Limits::within(compared.margin.value_or(0)),
                  .difference = {},
                  .test = {}};
    compared.is_noisy = spreads.is_noisy(by_seed);
    tested.difference = difference_from_printed(tested.ours, tested.printed);
    tested.test = test_limits(tested.difference, tested.limits);
    compared.half_width = tested.test.half_width;
    // Of "the true difference is at most the margin": a difference within it says nothing against that.
    compared.p = tested.limits.contain(tested.difference.value) ? 1 : *tested.test.p;
    return tested;
  }

  /// "Differs" is corrected over all comparisons that are left to chance.
  void correct() {
    std::vector<double> p;
    for (const Tested& tested : tests_) {
      if (tested.is_left_to_chance()) p.push_back(*tested.compared->p);
    }
    const std::vector<double> corrected = holm(p);
    basis_.tests = p.size();
    auto next = corrected.begin();
    for (const Tested& tested : tests_) {
      PrintedComparison& compared = *tested.compared;
      compared.differs_alone = tested.is_left_to_chance() && tested.test.decision == Decision::kOutside;
      if (compared.differs_alone) ++basis_.differ_alone;
      if (tested.is_left_to_chance()) compared.p = *next++;
      compared.verdict = verdict_on_printed(tested.test.corrected(*compared.p), compared.margin.has_value());
      if (compared.verdict == Verdict::kUndecided) {
        compared.decides = range_to_decide(tested.ours, tested.printed, tested.limits, p.size());
      }
    }
    for (const auto& [value, spreads] : spreads_) {
      const bool is_compared = std::ranges::any_of(
          tests_, [&name = value](const Tested& tested) { return tested.is_left_to_chance() && tested.value == name; });
      if (is_compared) basis_.spreads.push_back(spreads.found());
    }
  }

  Table& table_;
  const std::vector<std::vector<CellSample>>& samples_;
  const std::vector<bool>& is_cost_;
  std::map<std::string, SpreadPool> spreads_;  // by the value that cells show
  std::vector<Tested> tests_;
  VerdictBasis basis_;
};

}  // namespace

VerdictBasis set_verdicts(Table& table, const VerdictRules& rules, const std::vector<std::vector<CellSample>>& samples,
                          const std::vector<bool>& is_cost) {
  VerdictBasis basis = VerdictMaker(table, rules, samples, is_cost).make();
  const auto is_assumed = [](const ValueSpread& spread) { return spread.is_assumed; };
  if (std::ranges::none_of(basis.spreads, is_assumed)) return basis;
  Table by_own = table;
  VerdictRules own = rules;
  own.spread = SpreadSource::kOwn;
  VerdictMaker(by_own, own, samples, is_cost).make();
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      if (auto& compared = table.rows[r].cells[c].compared)
        compared->by_own = by_own.rows[r].cells[c].compared->verdict;
    }
  }
  return basis;
}

}  // namespace xlm
