// What a recipe says that a paper claims: which runs are compared, on which value, and what has to come out.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/yaml.h"
#include "results/judgement/spread.h"
#include "results/store/filter.h"
#include "results/store/selection.h"

namespace xlm {

/// A group of runs that a claim speaks of.
struct ClaimSide {
  char letter = 'a';          // by which formulas name it; of an order 'a' for all
  std::string label;          // "model.span=1024", or as the file calls it
  std::string name;           // what sets it apart from other sides, in words: "adaptive", "span limit 1024"
  std::vector<Filter> where;  // conditions on its runs
  Yaml settings;              // the same as the file writes them: of `needs: costs`, what a configuration is made with
};

enum class Expectation {
  kBetter,     // each of `a` is better than each of `b`
  kNotBetter,  // no run of `a` is better than `b` by more than the margin
  kAlike,      // `a` and `b` differ by at most `within`
  kOrder,      // each side is better than the next
  kTrend,      // the value rises or falls along a column
  kValue,      // the value lies between limits, or is the printed one
};

enum class Direction { kOfTheQuantity, kLower, kHigher };

enum class ClaimNeeds { kRuns, kCosts };
inline constexpr std::array<std::string_view, 2> kClaimNeedsNames{"runs", "costs"};

/// How the values of the column along which a trend goes are placed.
enum class TrendScale { kLinear, kLog };
inline constexpr std::array<std::string_view, 2> kTrendScaleNames{"linear", "log"};

/// Numbers of a grid that a run reports, such as the spans of heads, as one value of the run.
/// The slope is by the row: positive if later rows have higher numbers.
enum class GridReduction { kMean, kMin, kMax, kSlope };
inline constexpr std::array<std::string_view, 4> kGridReductionNames{"mean", "min", "max", "slope"};
struct ClaimGrid {
  std::string name;            // empty: the claim is about a column of the store
  std::int64_t first_row = 1;  // counted from 1
  std::int64_t last_row = 0;   // 0: the last there is
  GridReduction as = GridReduction::kMean;
};

/// What says how much seeds differ.
struct ClaimSpread {
  bool is_pooled = false;                // the settings of the sweep, or of `from`; otherwise the claim's own runs
  std::string from;                      // an experiment
  std::optional<SpreadEstimate> stated;  // of single runs
};

struct ClaimDescription {
  std::string claim;   // what the paper says, with its section
  std::string name;    // for --name
  std::string family;  // of claims that are corrected together; empty: of all without one
  Expectation expects = Expectation::kBetter;
  std::string value;             // a column, a formula over runs, or one over sides: =1 - params[a]/params[b]
  ClaimGrid grid;                // instead of `value`
  std::vector<Filter> where;     // holds for all sides
  Yaml settings;                 // the same as the file writes it
  std::vector<ClaimSide> sides;  // by letter: several of one letter where the file has a list; of an order best first
  bool b_is_better = false;      // `better: b`: a and b change places
  Direction direction = Direction::kOfTheQuantity;
  double margin = 0;  // a difference that does not count
  std::optional<double> within;
  std::optional<double> at_least;
  std::optional<double> at_most;
  std::string along;   // column of a trend
  bool rises = false;  // the trend; otherwise it falls
  bool tends = false;  // its slope does; otherwise each neighbouring step
  TrendScale scale = TrendScale::kLinear;
  std::string printed;              // as the paper prints the number; empty: it prints none
  std::optional<double> tolerance;  // around `printed`
  std::int64_t printed_runs = 1;    // behind the printed number
  std::string nearest;              // column: of the settings of `b`, the one that is nearest to `a` in it is compared
  std::string each;                 // column: the claim has to hold for each of its values
  std::string over = "seed";        // what the runs of a side differ in, and what pairs them
  Selection choose;                 // which of the settings of a side counts
  ClaimSpread spread;
  std::int64_t planned = 0;  // seeds; 0: no plan, each look may decide
  std::int64_t digits = -1;  // of what is shown; < 0: as the size suggests
  ClaimNeeds needs = ClaimNeeds::kRuns;
  std::vector<std::string> notes;
  std::string place;  // file:line, for messages

  /// Whether `value` is a formula that names sides.
  bool is_over_sides() const;
  std::vector<const ClaimSide*> sides_called(char letter) const;
};

const std::vector<std::string>& claim_keys();

/// Reads one description (see find_exhibits). Throws UsageError with file:line.
ClaimDescription read_claim_description(const Yaml& description);

}  // namespace xlm
