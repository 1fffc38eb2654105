// Columns of a file that a program writes: which of them are read, and the quantities that they become.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "experiments/programs/program_records.h"

namespace xlm {

/// Columns whose text may say the split of a row's numbers.
inline constexpr std::array<std::string_view, 4> kSplitColumns{"split", "mode", "phase", "subset"};

/// A cell of a row. It may be a number or not.
struct ForeignCell {
  std::string_view text;
  std::optional<double> number;  // nullopt: to be parsed from the text
};

class ForeignColumns {
 public:
  /// `names`: the columns to read, and their quantities. If it is empty, every column with numbers is read, and its
  /// quantity is quantity_name_from(column).
  ForeignColumns(const std::vector<std::pair<std::string, std::string>>& names, ProgramRecords& records)
      : names_(names.begin(), names.end()), records_(records) {}

  void begin_row(const LinePlace& place, std::optional<std::int64_t> step = std::nullopt) {
    records_.reading(place);
    row_.clear();
    row_step_ = step;
  }
  /// Adds a cell, in any order. `line` is shown if the cell is wrong. `from` tells columns of the same name apart: a
  /// split, or a folder. `names` may have the column with FROM/ before it.
  void add(std::string_view theirs, const ForeignCell& cell, const LinePlace& place, std::string_view line,
           const std::string& from = "");
  /// Hands the row on. If it has no step, the step of the row before counts. `log`: what can go back together; null:
  /// it cannot.
  void end_row(const LinePlace& place, const std::string* log = nullptr);

  /// What `add` is told of a column in a row that says its split: nothing for the step, for numbers of training, and
  /// for a column whose name says a split itself.
  std::string from_row(const std::string& theirs, const std::string& split) const;
  /// Whether `names` has this column.
  bool is_named(std::string_view theirs) const { return names_.contains(theirs); }
  bool has_names() const { return !names_.empty(); }
  /// The step of the newest row.
  std::optional<std::int64_t> step() const { return step_.last(); }
  void set_step(std::optional<std::int64_t> step) { step_.set(step, records_.attempt()); }
  /// Names the columns in `names` that had no number, and says so if no row had a step.
  std::vector<std::string> warnings(const std::string& source) const;
  /// Says so if rows of two kinds, each with a number that the other lacks, have one measure; and which cells were
  /// taken for texts that may be numbers.
  std::vector<std::string> doubts(const std::string& source) const;

 private:
  struct Column {
    bool is_step = false;
    bool is_known = false;   // it has had a number
    std::int64_t texts = 0;  // cells before that
    std::string first_text = {};
    std::string_view named;  // in `names`; empty: it is not
    ProgramRecords::Name* name = nullptr;
  };

  Column& column_of(std::string_view theirs, const LinePlace& place, const std::string& from);
  std::string name_of(std::string_view theirs, const std::string& from, Column& column) const;
  void note_kind();
  std::vector<std::string> passed_texts(const std::string& source) const;

  std::map<std::string, std::string, std::less<>> names_;
  ProgramRecords& records_;
  std::map<std::string, Column, std::less<>> columns_;
  Column unwanted_;                            // stands for all columns beyond kMaxColumns
  std::map<std::string, std::string> owners_;  // the column of each quantity
  std::vector<std::pair<ProgramRecords::Name*, double>> row_;
  std::map<std::set<std::string_view>, std::int64_t> kinds_;  // the names of a row: how many rows there are
  std::optional<std::int64_t> row_step_;
  bool has_wrong_step_ = false;  // the row
  SourceStep step_;
  std::int64_t rows_ = 0;
};

}  // namespace xlm
