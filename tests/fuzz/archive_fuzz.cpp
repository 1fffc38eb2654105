// libFuzzer target: any bytes as a file of texts: plain, compressed, zip or tar. Only a DataError may be thrown, and no
// more than the bound is unpacked.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>

#include "base/error.h"
#include "datasets/input/archive.h"
#include "tests/temporary_folder.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const xlm::TemporaryFolder folder;
  // The content must fit the file's name.
  static const std::array<xlm::fs::path, 4> names{folder.path() / "file", folder.path() / "file.zip",
                                                  folder.path() / "file.tar.gz", folder.path() / "file.xz"};
  constexpr std::size_t kMax = 1 << 20;
  for (const xlm::fs::path& file : names) {
    std::ofstream(file, std::ios::binary | std::ios::trunc)
        .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
    std::size_t unpacked = 0;
    try {
      xlm::ArchiveReader reader(file, kMax);
      while (const auto name = reader.next()) {
        if (name->starts_with('/') || xlm::is_hidden_name(*name)) std::abort();
        std::array<char, 700> buffer{};
        while (const std::size_t bytes = reader.read(buffer.data(), buffer.size())) unpacked += bytes;
      }
    } catch (const xlm::DataError&) {
    }
    if (unpacked > kMax + 700) std::abort();
  }
  return 0;
}
