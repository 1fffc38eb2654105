// Parquet and Arrow files, read by Arrow's C++ library. Arrow takes a while to load, so it is in a library of its own
// (parquet_library.cpp), which is opened on first use.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/files.h"

namespace xlm {

constexpr std::string_view kParquetMagic = "PAR1";
constexpr std::string_view kArrowFileMagic = "ARROW1";
constexpr std::string_view kArrowStreamMagic = "\xFF\xFF\xFF\xFF";  // as the `datasets` library writes it

/// One column of text, value by value, however it is stored: plain, large or view strings, or a dictionary of these.
/// Memory: one batch of rows and the pages that it lies in.
class ParquetColumn {
 public:
  virtual ~ParquetColumn() = default;
  /// The next value into `value`, "" for a null. False at the end. Throws DataError for what is damaged.
  virtual bool next(std::string& value) = 0;
  /// Share of the file's rows that have been handed out.
  virtual double progress() const = 0;
};

/// Throws DataError for a truncated or damaged file, for one without a column of text of that name, and for one whose
/// column unpacks to more than `max_unpacked` bytes (0: a thousand times the file's size, but at least 1 GB).
std::unique_ptr<ParquetColumn> open_parquet(const fs::path& file, const std::string& column, std::int64_t max_unpacked);

/// The same of an Arrow file or stream.
std::unique_ptr<ParquetColumn> open_arrow(const fs::path& file, const std::string& column, std::int64_t max_unpacked);

}  // namespace xlm
