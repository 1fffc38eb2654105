// Opens libxlm_parquet.so on first use.
#include "datasets/input/parquet.h"

#include <algorithm>
#include "base/shared_library.h"
#include "datasets/input/archive.h"

namespace xlm {
namespace {

using Open = ParquetColumn* (*)(const fs::path& file, const std::string& column, std::int64_t max_unpacked);

std::unique_ptr<ParquetColumn> open_column(Open open, const fs::path& file, const std::string& column,
                                           std::int64_t max_unpacked) {
  if (max_unpacked <= 0) max_unpacked = static_cast<std::int64_t>(usual_most_unpacked(fs::file_size(file)));
  return std::unique_ptr<ParquetColumn>(open(file, column, max_unpacked));
}

}  // namespace

std::unique_ptr<ParquetColumn> open_parquet(const fs::path& file, const std::string& column,
                                            std::int64_t max_unpacked) {
  static const auto open = reinterpret_cast<Open>(library_function("libxlm_parquet.so", "xlm_open_parquet"));
  return open_column(open, file, column, max_unpacked);
}

std::unique_ptr<ParquetColumn> open_arrow(const fs::path& file, const std::string& column, std::int64_t max_unpacked) {
  static const auto open = reinterpret_cast<Open>(library_function("libxlm_parquet.so", "xlm_open_arrow"));
  return open_column(open, file, column, max_unpacked);
}

}  // namespace xlm
