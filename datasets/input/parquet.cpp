// Opens libxlm_parquet.so on first use.
#include "datasets/input/parquet.h"

#include <algorithm>

#include "base/shared_library.h"

namespace xlm {

std::unique_ptr<ParquetColumn> open_parquet(const fs::path& file, const std::string& column,
                                            std::int64_t max_unpacked) {
  using Open = ParquetColumn* (*)(const fs::path& file, const std::string& column, std::int64_t max_unpacked);
  static const auto open = reinterpret_cast<Open>(library_function("libxlm_parquet.so", "xlm_open_parquet"));
  if (max_unpacked <= 0) {
    constexpr std::int64_t kGigabyte = 1'000'000'000;
    max_unpacked = std::max(kGigabyte, static_cast<std::int64_t>(fs::file_size(file)) * 1000);
  }
  return std::unique_ptr<ParquetColumn>(open(file, column, max_unpacked));
}

}  // namespace xlm
