// The numbers that training, evaluations and models report: one table for lists, boards, tables, figures and
// docs/numbers.md. A number that is not in it is stored and shown, too.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "results/quantities/number_format.h"

namespace xlm {

enum class Better { kLower, kHigher };
inline constexpr std::array<std::string_view, 2> kBetterNames{"lower", "higher"};

/// The units that a text may be split into. A quantity is measured on texts of some of these.
struct TextUnits {
  static constexpr unsigned kCharacters = 1;
  static constexpr unsigned kBytes = 2;
  static constexpr unsigned kBytePairs = 4;
  static constexpr unsigned kAny = kCharacters | kBytes | kBytePairs;
};

/// Who reports a quantity: an evaluation (its column is "test.NAME"), the run once (its column is the name), or only
/// training, from step to step.
enum class ReportedBy { kEvaluation, kRun, kTraining };

struct Quantity {
  std::string name;   // its name in reports
  std::string label;  // in words; empty: the name
  std::string head;   // for a narrow column; empty: the label
  std::string unit;   // shown after a number; empty: the label is shown before it
  std::string meaning;
  ReportedBy by = ReportedBy::kEvaluation;
  unsigned texts = TextUnits::kAny;
  bool per_token = false;  // of one text in other tokens it is another number
  Better better = Better::kLower;
  NumberFormat format = NumberFormat::kNumber;
  std::int64_t digits = 3;  // decimals in a table of results; lists show one more. < 0: the format decides
  int headline = 0;         // the smallest rank that a run has represents the run; 0: never
  bool exact = false;      // depends only on the configuration, not on a seed, unless the model learns what it computes
  bool learnable = false;  // exact, but some models learn what they compute: then seeds change it
  bool leads = false;      // comes first if all numbers of an evaluation are listed
  std::string live;        // its name on the screen during training; empty: not shown
  std::string live_head;
  std::string live_most;  // the quantity shown after it, with a slash between
};

/// All known quantities, in the order of docs/numbers.md.
const std::vector<Quantity>& quantities();

/// The row of a name, or null.
const Quantity* find_quantity(std::string_view name);

/// The row of a name. For an unknown name a row with common values and the name's words as its label.
Quantity quantity(std::string_view name);

/// "test.bpc" as split and quantity.
struct EvaluationColumn {
  std::string split;
  std::string name;
};

/// Returns nullopt if a column of the store is no evaluation's.
std::optional<EvaluationColumn> evaluation_column(std::string_view column);

/// The row of the quantity in a column of the store ("test.bpc", "params"), or null.
const Quantity* quantity_of_column(std::string_view column);

/// The name of the quantity in a column, without its split and the settings behind it: "bpc" of
/// test.bpc@data.name=pg-19.
std::string quantity_in(std::string_view column);

/// Which way a quantity is better, by its name: as the table says, and of what is measured of every program's run.
/// Nothing for another.
std::optional<Better> known_direction(std::string_view name);

/// What to say of a quantity whose direction is needed, and neither known nor declared: the second line is the remedy.
std::string unknown_direction(std::string_view name);

/// A column in words: "test bpc", "span" of model.span, "peak memory, bytes".
std::string column_label(std::string_view column);

/// The quantities with a headline rank, in that order.
const std::vector<const Quantity*>& headlines();

/// The headline of one run or several: the first one that `has` reports as present, or null.
const Quantity* headline_of(const std::function<bool(const std::string& name)>& has);

/// Names in the order of lists: the leading ones, then the others alphabetically.
std::vector<std::string> listing_order(const std::set<std::string>& names);

/// A number in a list, with one digit more than in a table: "1.2345", "38.1M".
std::string list_number(const Quantity& quantity, double value);

/// A number of a column of the store in a list. Its format is the quantity's, or follows from its size.
std::string column_number(std::string_view column, double value);

/// A number as a table shows it, with unit or label: "1.234 bpc", "loss 1.234".
std::string named_number(const Quantity& quantity, double value);

inline constexpr std::array<const char*, 6> kSweepCosts{"processor_hours",  "gpu_hours", "training_flops",
                                                        "evaluation_flops", "energy",    "energy_gpu"};

/// What the run itself spent: a run that goes on from another's checkpoint inherits the arithmetic behind that.
inline double own_cost(std::string_view name, double value, double inherited_flops) {
  return name == "training_flops" ? value - inherited_flops : value;
}

}  // namespace xlm
