// Opens libxlm_parquet.so on first use.
#include "datasets/input/parquet.h"

#include "base/shared_library.h"
#include "datasets/input/archive.h"

namespace xlm {

std::unique_ptr<ParquetColumn> open_parquet(const fs::path& file, const std::string& column, std::int64_t max_unpacked,
                                            bool is_arrow) {
  using Open =
      ParquetColumn* (*)(const fs::path& file, const std::string& column, std::int64_t max_unpacked, bool is_arrow);
  static const auto open = reinterpret_cast<Open>(library_function("libxlm_parquet.so", "xlm_open_parquet"));
  if (max_unpacked <= 0) max_unpacked = static_cast<std::int64_t>(usual_most_unpacked(fs::file_size(file)));
  return std::unique_ptr<ParquetColumn>(open(file, column, max_unpacked, is_arrow));
}

}  // namespace xlm
