// The numbers that the sides of a claim have: of runs by seed, of a grid, or of configurations.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "results/claims/claim_description.h"
#include "results/claims/judged_claim.h"
#include "results/claims/trend.h"
#include "results/judgement/shared_noise.h"
#include "results/store/selection.h"
#include "results/store/shown_runs.h"

namespace xlm {

/// What the runs of one side have in one column.
struct SideNumbers {
  SeedValues values;
  std::vector<std::size_t> rows = {};          // all that were looked at, with and without a number
  std::string missing;                         // why there are none
  bool is_exact = false;                       // they follow from the configuration
  bool ignores_seeds = false;                  // and if they do not, no seed changes them either
  std::int64_t planned = 0;                    // seeds; 0: there is no plan
  std::int64_t looked_at = 0;                  // of a plan: seeds that are there, as far as none before them is missing
  std::vector<std::string> waits_for = {};     // of a plan: the seeds from the first on that has not come to an end
  std::vector<std::string> beyond_plan = {};   // seeds
  std::vector<std::string> chosen_among = {};  // keys in which settings differ of which the nearest one was taken
};

inline constexpr std::int64_t kAllLooks = std::numeric_limits<std::int64_t>::max();

/// What a reader did with the runs of sides.
struct SideReport {
  std::map<std::string, SettingChoice> choices;  // by the label of the side
  HiddenRuns left_out;
  std::set<std::size_t> used;          // rows whose numbers went in
  std::set<std::size_t> later;         // those of later looks of xlm decide
  std::int64_t open_look = kAllLooks;  // the first look of which a run has not ended
};

/// Finds the numbers of sides, under the conditions of the claim and of what is asked. Enters into `report` which
/// settings were chosen, if the claim asks for that, and which runs were left out: also those that `xlm decide` made
/// for looks after `last_look`.
class SideReader {
 public:
  SideReader(RunTable& runs, const ClaimDescription& claim, const ClaimContext& context, SideReport& report,
             std::int64_t last_look = kAllLooks)
      : runs_(runs), claim_(claim), context_(context), report_(report), last_look_(last_look) {}

  /// Values of the column `each` that runs of the sides have, and the empty filter where the claim has none.
  std::vector<std::vector<Filter>> each_of() const;

  /// A column of a side, or the claim's grid if it is empty. Without a side, all runs of the claim.
  SideNumbers numbers(const ClaimSide* side, const std::vector<Filter>& each, const std::string& column) const;

  /// The claim's own value of the one setting of `side` whose mean in the column `nearest` is the nearest to that of
  /// `other`. The label of the setting's value there is written to `chosen`.
  SideNumbers nearest(const ClaimSide& side, const ClaimSide& other, const std::vector<Filter>& each,
                      std::string& chosen) const;

  /// How much the claim's own value differs over seeds, in the settings of the sweep or of another experiment (see
  /// ClaimSpread), of those that were measured on the same corpora as `rows`: of all, and of those without `rows`.
  struct Noise {
    SharedNoise all;
    SharedNoise others;
  };
  Noise noise(const std::vector<std::size_t>& rows, const std::vector<Filter>& each) const;

  /// The claim's own value along the column of a trend.
  std::vector<TrendPoint> along(const ClaimSide* side, const std::vector<Filter>& each, SideNumbers& numbers) const;

 private:
  /// Leaves the rows of the seeds that a plan looks at: of its first ones, those before one that has not come to an
  /// end. The sweep's seeds come first, whether they have run or not.
  std::vector<std::size_t> planned_of(const std::vector<std::size_t>& rows, const std::string& column,
                                      const std::vector<Filter>& filters, SideNumbers& numbers) const;
  std::string why_no_number(const SideNumbers& numbers, const std::string& column) const;
  std::vector<std::size_t> chosen_of(const std::vector<std::size_t>& rows, const ClaimSide* side,
                                     const std::vector<Filter>& each) const;
  std::vector<Filter> conditions(const ClaimSide* side, const std::vector<Filter>& each) const;
  /// Runs under these conditions, but for those of later looks.
  ShownRows shown(const std::vector<Filter>& filters, const std::vector<std::string>& named = {}) const;
  /// What rows have in a column, or in the claim's grid if it is empty.
  SeedValues of_rows(std::vector<std::size_t> rows, const std::string& column) const;
  SideNumbers of_configuration(const ClaimSide* side, const std::string& column) const;

  RunTable& runs_;
  const ClaimDescription& claim_;
  const ClaimContext& context_;
  SideReport& report_;
  std::int64_t last_look_;
};

}  // namespace xlm
