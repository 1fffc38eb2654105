// libFuzzer target: any bytes as a file that holds texts: plain, compressed, zip or tar. Nothing but a DataError may
// come out, and no more than the bound unpacks.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>

#include "base/error.h"
#include "datasets/input/archive.h"
#include "tests/temporary_folder.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const xlm::TemporaryFolder folder;
  // What a name promises is held against what the file is.
  static const std::array<xlm::fs::path, 4> names{folder.path() / "file", folder.path() / "file.zip",
                                                  folder.path() / "file.tar.gz", folder.path() / "file.xz"};
  constexpr std::size_t kMost = 1 << 20;
  for (const xlm::fs::path& file : names) {
    std::ofstream(file, std::ios::binary | std::ios::trunc)
        .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
    std::size_t unpacked = 0;
    try {
      xlm::ArchiveReader reader(file, kMost);
      while (const auto name = reader.next()) {
        if (name->starts_with('/') || xlm::is_hidden_name(*name)) std::abort();
        std::array<char, 700> buffer{};
        while (const std::size_t bytes = reader.read(buffer.data(), buffer.size())) unpacked += bytes;
      }
    } catch (const xlm::DataError&) {
    }
    if (unpacked > kMost + 700) std::abort();
  }
  return 0;
}
