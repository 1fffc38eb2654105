// How much the seeds of a table's cells differ.
#include "results/tables/cell_spreads.h"

#include <algorithm>

namespace xlm {
namespace {

constexpr double kUnequal = 0.05;  // p of Bartlett's test below which cells keep their own spreads

bool share_a_run(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return std::any_of(a.begin(), a.end(),
                     [&](const std::string& run) { return std::find(b.begin(), b.end(), run) != b.end(); });
}

}  // namespace

void CellSpreads::add(const std::vector<double>& by_seed, const std::vector<std::string>& runs) {
  fewest_ = fewest_ == 0 ? by_seed.size() : std::min(fewest_, by_seed.size());
  const std::optional<SpreadEstimate> spread = spread_of(by_seed);
  if (!spread || spread->deviation == 0) return;
  ++varying_;
  Group joined{runs, {*spread}};
  std::vector<Group> others;
  for (Group& group : groups_) {
    if (!share_a_run(group.runs, runs)) {
      others.push_back(std::move(group));
      continue;
    }
    joined.runs.insert(joined.runs.end(), group.runs.begin(), group.runs.end());
    joined.cells.insert(joined.cells.end(), group.cells.begin(), group.cells.end());
  }
  others.push_back(std::move(joined));
  groups_ = std::move(others);
}

void CellSpreads::settle() {
  std::vector<SpreadEstimate> independent;
  for (const Group& group : groups_) {
    SpreadEstimate one = *pooled_spread(group.cells);
    one.freedom = 0;
    for (const SpreadEstimate& cell : group.cells) one.freedom = std::max(one.freedom, cell.freedom);
    independent.push_back(one);
  }
  shared_ = pooled_spread(independent);
  test_p_ = equal_spread_test(independent);
  pooled_ = source_ == SpreadSource::kPooled ||
            (source_ == SpreadSource::kAuto && fewest_ < kEnoughSeeds && test_p_.value_or(1) >= kUnequal);
}

std::optional<SpreadEstimate> CellSpreads::of(const std::vector<double>& by_seed) const {
  const std::optional<SpreadEstimate> own = spread_of(by_seed);
  return is_pooled(by_seed) ? shared_ : own;
}

bool CellSpreads::is_pooled(const std::vector<double>& by_seed) const {
  const std::optional<SpreadEstimate> own = spread_of(by_seed);
  return pooled_ && shared_ && (!own || own->deviation > 0);
}

bool CellSpreads::changes(const std::vector<double>& by_seed) const {
  const std::optional<SpreadEstimate> own = spread_of(by_seed);
  return own ? own->deviation > 0 : !groups_.empty();
}

ValueSpread CellSpreads::summary(const std::string& value) const {
  ValueSpread summary{.value = value, .pooled = pooled_, .cells = varying_, .test_p = test_p_};
  if (shared_) {
    summary.deviation = shared_->deviation;
    summary.freedom = shared_->freedom;
  }
  return summary;
}

}  // namespace xlm
