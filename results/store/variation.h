// What the runs behind one number differ in, and how that is said: the captions of figures, the notes of tables and
// what `pareto` says of its groups.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "results/store/run_table.h"

namespace xlm {

/// "3 seeds", "1 seed"; of another column "3 values of model.span".
std::string counted_over(std::int64_t count, std::string_view over);

/// Keys of the configuration in which rows differ, by name, but those that only say where a run was made, and
/// data.fingerprint if data.name tells as much; at.KEY where evaluations differ in a setting that their runs share.
std::vector<std::string> differing_keys(RunTable& runs, const std::vector<std::size_t>& rows);

/// The differing_keys of all these rows whose values in rows `a` are not those in rows `b`, without `over`, which pairs
/// them.
std::vector<std::string> keys_between(RunTable& runs, const std::vector<std::size_t>& a,
                                      const std::vector<std::size_t>& b, const std::string& over);

/// Whether a key, or at.KEY, says which text is measured.
bool says_which_text(std::string_view key);

/// On which corpus the numbers of `columns` in each of `rows` were measured; equal where they can be compared. A corpus
/// is called by its name, with the part of it if that is not all (eval.max_windows), and where `rows` have several
/// contents of one name by the beginning of its fingerprint too: "text8", "text8 (data.fingerprint 3fa9c1d2)". Empty
/// for all rows where no column is a measurement, or each says itself on which corpus (test.bpc@data.name=pg-19).
std::vector<std::string> corpora_of(RunTable& runs, const std::vector<std::size_t>& rows,
                                    const std::vector<std::string>& columns);

/// Whether two sets of rows read one text in other tokens (characters, bytes, other byte pairs) and the column holds
/// numbers per token. Bits per byte compare these.
bool are_per_other_token(RunTable& runs, const std::vector<std::size_t>& a, const std::vector<std::size_t>& b,
                         const std::string& column);

/// Where the numbers of a column or formula come from.
enum class NumberOrigin {
  kMeasured,    // training or the text changes them
  kLearnable,   // they follow from the configuration, unless the model learns what it computes
  kConfigured,  // they follow from the configuration
};
/// Of a formula, the least certain of its columns counts. Settings of evaluations (COLUMN@KEY=VALUE) change nothing.
NumberOrigin origin_of(RunTable& runs, const std::string& column);

/// Takes in the rows behind one number after another, which should differ in `over` alone.
class Variation {
 public:
  Variation(RunTable& runs, std::string over) : runs_(runs), over_(std::move(over)) {}

  /// The keys other than `over` in which these rows differ; empty if they differ as they should.
  std::vector<std::string> add(const std::vector<std::size_t>& rows);

  /// Whether some number was made of runs that differ in more than `over`, or do not even differ in that.
  bool is_mixed() const { return mixed_; }

  /// What a number was made of: "3 seeds", "up to 12 runs that differ in model.span, optimizer.lr and seed"; empty
  /// if each is of one run.
  std::string text() const;

 private:
  struct Found {
    std::vector<std::string> beside_over;
    std::size_t groups = 0;  // values of `over`
    bool over_differs = false;
  };
  const Found& found(const std::vector<std::size_t>& rows);

  RunTable& runs_;
  std::string over_;
  std::map<std::vector<std::size_t>, Found> known_;  // curves ask for the same rows at every step
  std::set<std::string> keys_;                       // in which runs of one number differ
  bool mixed_ = false;
  std::size_t most_ = 0;  // rows behind one number
  std::size_t least_ = std::numeric_limits<std::size_t>::max();
};

}  // namespace xlm
