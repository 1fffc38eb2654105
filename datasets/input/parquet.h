// Parquet and Arrow files, read by Arrow's C++ library. Arrow loads slowly, so it is in a separate library
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

/// One column of text, value by value, in any storage: plain, large or view strings, or a dictionary of these. Memory:
/// one batch of rows and its pages.
class ParquetColumn {
 public:
  virtual ~ParquetColumn() = default;
  /// Reads the next value into `value`, "" for a null. Returns false at the end. Throws DataError for damaged data.
  virtual bool next(std::string& value) = 0;
  /// Share of the file's rows that have been returned.
  virtual double progress() const = 0;
};

/// Throws DataError if the file is truncated or damaged, if it has no text column of that name, and if the column
/// unpacks to more than `max_unpacked` bytes (0: a thousand times the file's size, but at least 1 GB).
/// `is_arrow`: it is an Arrow file or stream.
std::unique_ptr<ParquetColumn> open_parquet(const fs::path& file, const std::string& column, std::int64_t max_unpacked,
                                            bool is_arrow = false);

}  // namespace xlm
