// What is known of the numbers that training, evaluations and models report: one table, from which lists, boards,
// tables, figures and docs/results.md take what they show. A number that is not in it is stored and shown all the same.
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

/// What a text may be cut into; a quantity is measured on texts of some of these.
struct TextUnits {
  static constexpr unsigned kCharacters = 1;
  static constexpr unsigned kBytes = 2;
  static constexpr unsigned kBytePairs = 4;
  static constexpr unsigned kAny = kCharacters | kBytes | kBytePairs;
};

/// What reports a quantity: an evaluation (its column is "test.NAME"), the run once (its column is the name alone), or
/// training alone, from step to step.
enum class ReportedBy { kEvaluation, kRun, kTraining };

struct Quantity {
  std::string name;   // as it is reported
  std::string label;  // in words; empty: the name
  std::string head;   // above a narrow column; empty: the label
  std::string unit;   // what stands behind a number of it; empty: its label stands before the number
  std::string meaning;
  ReportedBy by = ReportedBy::kEvaluation;
  unsigned texts = TextUnits::kAny;
  Better better = Better::kLower;
  NumberFormat format = NumberFormat::kNumber;
  std::int64_t digits = 3;  // behind the point in a table of results; lists show one more. < 0: as the format likes
  int headline = 0;         // of all that a run has, the least rank stands for it; 0: never
  bool exact = false;  // follows from the configuration: no seed changes it unless the model learns what it computes
  bool leads = false;  // stands before the others where all numbers of an evaluation are listed
  std::string live;    // what it is called on the screen while a run trains; empty: it is not shown
  std::string live_head;
  std::string live_most;  // the quantity that is shown behind it after a slash
};

/// All that are known, in the order of docs/results.md.
const std::vector<Quantity>& quantities();

/// The row of a name, or null.
const Quantity* find_quantity(std::string_view name);

/// The row of a name; for one that is not in the table what suits most, with the name's words as its label.
Quantity quantity(std::string_view name);

/// "test.bpc" as the split and what was measured on it.
struct EvaluationColumn {
  std::string split;
  std::string name;
};

/// Nothing where a column of the store is not an evaluation's.
std::optional<EvaluationColumn> evaluation_column(std::string_view column);

/// The row of what a column of the store shows ("test.bpc", "params"), or null.
const Quantity* quantity_of_column(std::string_view column);

/// A column in words: "test bpc", "span" of model.span, "peak memory, bytes".
std::string column_label(std::string_view column);

/// Those with a headline rank, from the least.
const std::vector<const Quantity*>& headlines();

/// The headline of a run or of several: the first that `has` says is there, or null.
const Quantity* headline_of(const std::function<bool(const std::string& name)>& has);

/// Names in the order of lists: those that lead, then the others by the alphabet.
std::vector<std::string> listing_order(const std::set<std::string>& names);

/// A number in a list, with a digit more than in a table: "1.2345", "38.1M".
std::string list_number(const Quantity& quantity, double value);

/// A number of a column of the store in a list: a quantity as lists show it, anything else as its size suggests.
std::string column_number(std::string_view column, double value);

/// A number as a table shows it, with what it is: "1.234 bpc", "loss 1.234".
std::string named_number(const Quantity& quantity, double value);

}  // namespace xlm
