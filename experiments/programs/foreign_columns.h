// Columns of a foreign file, by what the program calls them: which of them are wanted, and what the store calls those.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "experiments/programs/program_records.h"

namespace xlm {

/// A number in a row of a foreign file, not yet known to be one.
struct ForeignCell {
  std::string_view text;
  std::optional<double> number;  // nothing: it is the text
};

class ForeignColumns {
 public:
  /// Without `names` every column with numbers is wanted, under a name that is made of its own.
  ForeignColumns(const std::vector<std::pair<std::string, std::string>>& names, ProgramRecords& records)
      : names_(names.begin(), names.end()), records_(records) {}

  void begin_row(std::optional<std::int64_t> step = std::nullopt) {
    row_.clear();
    row_step_ = step;
  }
  /// A cell of the row, in any order. `line` is shown where the cell is wrong.
  void add(std::string_view theirs, const ForeignCell& cell, const LinePlace& place, std::string_view line);
  /// Hands the row on. One without a step belongs to that of the row before.
  void end_row(const LinePlace& place);

  /// Whether a column is asked for by its name.
  bool is_named(std::string_view theirs) const { return names_.contains(theirs); }
  bool has_names() const { return !names_.empty(); }
  /// The step of the newest row, to go on from it.
  std::optional<std::int64_t> step() const { return step_; }
  void set_step(std::optional<std::int64_t> step) { step_ = step; }
  /// What is asked for and did not come.
  std::vector<std::string> warnings(const std::string& source) const;

 private:
  struct Column {
    bool is_step = false;
    bool is_known = false;  // a number was seen
    ProgramRecords::Name* name = nullptr;
  };

  Column& column_of(std::string_view theirs, const LinePlace& place);

  std::map<std::string, std::string, std::less<>> names_;
  ProgramRecords& records_;
  std::map<std::string, Column, std::less<>> columns_;
  Column unwanted_;                            // for all where there are too many
  std::map<std::string, std::string> owners_;  // by our name
  std::vector<std::pair<ProgramRecords::Name*, double>> row_;
  std::optional<std::int64_t> row_step_;
  std::optional<std::int64_t> step_;
  std::int64_t rows_ = 0;
};

}  // namespace xlm
