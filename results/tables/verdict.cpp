// The verdicts on a table's printed values.
#include "results/tables/verdict.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "results/store/reproduction.h"
#include "results/tables/cell_spreads.h"
#include "results/tables/table.h"
#include "results/tables/table_marks.h"

namespace xlm {
namespace {

constexpr double kCostTolerance = 0.01;  // relative; where a table states none

Verdict verdict_of(Decision decision) {
  switch (decision) {
    case Decision::kAgrees:
      return Verdict::kAgrees;
    case Decision::kConsistent:
      return Verdict::kConsistent;
    case Decision::kDiffers:
      return Verdict::kDiffers;
    case Decision::kUndecided:
      break;
  }
  return Verdict::kUndecided;
}

std::vector<double> means_by_seed(const CellSample& sample) {
  std::vector<double> by_seed;
  for (const auto& [group, values] : sample.by_group) by_seed.push_back(mean(values));
  return by_seed;
}

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
    DecisionRule rule;
    PrintedDifference difference;
  };

  bool is_mean(std::size_t column) const {
    const CellOptions& cells = table_.columns[column].cells;
    return cells.aggregate == Aggregate::kMean && cells.against.empty();
  }

  void find_spreads() {
    for (std::size_t c = 0; c < table_.columns.size(); ++c) {
      const std::string& value = table_.columns[c].cells.value;
      if (!is_mean(c)) continue;
      CellSpreads& spreads = spreads_.try_emplace(value, basis_.rules.spread).first->second;
      for (std::size_t r = 0; r < table_.rows.size(); ++r) {
        const CellSample& sample = samples_[r][c];
        if (sample.by_group.empty() || !sample.apart.empty()) continue;
        spreads.add(means_by_seed(sample), table_.rows[r].cells[c].runs);
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
    const std::vector<double> by_seed = means_by_seed(sample);
    PrintedComparison& compared = cell.compared.emplace();
    compared.printed = printed->value;
    compared.difference = mean(by_seed) - printed->value;
    compared.apart = sample.apart;
    if (options.margin >= 0) compared.margin = options.margin;
    const CellSpreads& spreads = spreads_.at(options.value);
    const bool is_exact = is_cost_[c] && !spreads.changes(by_seed);
    if (is_cost_[c]) {
      const double tolerance = options.tolerance >= 0 ? options.tolerance : kCostTolerance;
      // The interval of a cost that seeds change has the rounding in it.
      compared.margin = tolerance * std::abs(printed->value) + (is_exact ? printed->rounding : 0);
    }
    if (!compared.apart.empty()) {
      compared.verdict = Verdict::kNotComparable;
    } else if (is_exact) {
      compared.verdict = std::abs(compared.difference) <= *compared.margin ? Verdict::kAgrees : Verdict::kDiffers;
    } else if (spreads.of(by_seed)) {
      tests_.push_back(test_of(compared, options.value, by_seed, *printed));
    }
  }

  Tested test_of(PrintedComparison& compared, const std::string& value, const std::vector<double>& by_seed,
                 const PrintedNumber& printed) const {
    const CellSpreads& spreads = spreads_.at(value);
    Tested test{.compared = &compared,
                .value = value,
                .ours = {.value = mean(by_seed),
                         .runs = static_cast<std::int64_t>(by_seed.size()),
                         .spread = *spreads.of(by_seed),
                         .is_pooled = spreads.is_pooled(by_seed)},
                .printed = {.value = printed.value,
                            .rounding = printed.rounding,
                            .runs = basis_.rules.printed_runs,
                            .deviation = printed.deviation},
                .rule = {.level = basis_.level, .margin = compared.margin},
                .difference = {}};
    test.difference = difference_from_printed(test.ours, test.printed, test.rule);
    compared.half_width = test.difference.half_width;
    return test;
  }

  /// "Differs" is corrected over all comparisons that are left to chance.
  void correct() {
    std::vector<double> p;
    for (const Tested& test : tests_) {
      if (test.difference.error > 0) p.push_back(test.difference.p);
    }
    const std::vector<double> corrected = holm(p);
    basis_.tests = p.size();
    auto next = corrected.begin();
    for (const Tested& test : tests_) {
      PrintedComparison& compared = *test.compared;
      compared.p = test.difference.error > 0 ? *next++ : test.difference.p;
      compared.verdict = verdict_of(decide(test.difference, *compared.p, test.rule));
      compared.differs_alone = test.difference.error > 0 && test.difference.p < 1 - test.rule.level;
      if (compared.differs_alone) ++basis_.differ_alone;
      if (compared.verdict == Verdict::kUndecided) {
        compared.decides = runs_to_decide(test.ours, test.printed, test.rule, static_cast<std::int64_t>(p.size()));
      }
    }
    for (const auto& [value, spreads] : spreads_) {
      const bool is_compared = std::any_of(tests_.begin(), tests_.end(), [&name = value](const Tested& test) {
        return test.difference.error > 0 && test.value == name;
      });
      if (is_compared) basis_.spreads.push_back(spreads.summary(value));
    }
  }

  Table& table_;
  const std::vector<std::vector<CellSample>>& samples_;
  const std::vector<bool>& is_cost_;
  std::map<std::string, CellSpreads> spreads_;  // by the value that cells show
  std::vector<Tested> tests_;
  VerdictBasis basis_;
};

}  // namespace

VerdictBasis set_verdicts(Table& table, const VerdictRules& rules, const std::vector<std::vector<CellSample>>& samples,
                          const std::vector<bool>& is_cost) {
  return VerdictMaker(table, rules, samples, is_cost).make();
}

}  // namespace xlm
