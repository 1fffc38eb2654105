// libFuzzer target: any bytes as a Parquet file with a column of text. Only a DataError may be thrown.
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>

#include "base/error.h"
#include "datasets/input/parquet.h"
#include "tests/temporary_folder.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const xlm::TemporaryFolder folder;
  static const xlm::fs::path file = folder.path() / "file.parquet";
  std::ofstream(file, std::ios::binary | std::ios::trunc)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  try {
    const auto column = xlm::open_parquet(file, "text", 1 << 20);
    std::string value;
    while (column->next(value)) {
    }
  } catch (const xlm::DataError&) {
  }
  return 0;
}
