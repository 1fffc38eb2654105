// Tables on their way into files that other programs read: rows one by one, so that a table of any length fits.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "results/store/filter.h"

namespace xlm {

enum class ExportType { kInteger, kReal, kText, kTime, kBoolean };  // a time: seconds since 1970, shown as a date

struct ExportColumn {
  std::string name;
  ExportType type = ExportType::kText;
};

/// A table that is being written; it appears whole, or not at all.
class ExportWriter {
 public:
  virtual ~ExportWriter() = default;
  /// The next row, a value for each column. A missing value stays missing.
  virtual void add(const std::vector<Value>& row) = 0;
  /// Makes the file appear.
  virtual void finish() = 0;
};

/// Times are in ISO 8601, real numbers have a point or an exponent, missing values are empty. Text is written as it is:
/// a spreadsheet may take what begins with = + - @ for a formula.
std::unique_ptr<ExportWriter> csv_writer(const fs::path& file, const std::vector<ExportColumn>& columns);

/// A JSON object on each line, with every column: times in ISO 8601, missing values and numbers that are not finite
/// null.
std::unique_ptr<ExportWriter> json_lines_writer(const fs::path& file, const std::vector<ExportColumn>& columns);

/// Parquet, by Arrow's C++ library, which is opened on first use.
std::unique_ptr<ExportWriter> parquet_writer(const fs::path& file, const std::vector<ExportColumn>& columns);

}  // namespace xlm
