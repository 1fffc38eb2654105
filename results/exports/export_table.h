// Writes tables for other programs: row by row, so a table of any length fits in memory.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/files.h"
#include "results/store/filter.h"

namespace xlm {

enum class ExportType { kInteger, kReal, kText, kTime, kBoolean };  // kTime: seconds since 1970, shown as a date

struct ExportColumn {
  std::string name;
  ExportType type = ExportType::kText;
};

/// A table that is being written. Its file appears whole or not at all.
class ExportWriter {
 public:
  virtual ~ExportWriter() = default;
  /// Adds a row with a value for each column. A missing value stays missing.
  virtual void add(const std::vector<Value>& row) = 0;
  /// Finishes the file, which then appears.
  virtual void finish() = 0;
};

/// CSV. Times are in ISO 8601, real numbers have a point or an exponent, missing values are empty. Text is written
/// unchanged: a spreadsheet may take a text that begins with = + - @ for a formula.
std::unique_ptr<ExportWriter> csv_writer(const fs::path& file, const std::vector<ExportColumn>& columns);

/// A JSON object on each line, with every column: times in ISO 8601, missing values and numbers that are not finite
/// null.
std::unique_ptr<ExportWriter> json_lines_writer(const fs::path& file, const std::vector<ExportColumn>& columns);

/// Parquet. Opens the library with Arrow on first use.
std::unique_ptr<ExportWriter> parquet_writer(const fs::path& file, const std::vector<ExportColumn>& columns);

}  // namespace xlm
