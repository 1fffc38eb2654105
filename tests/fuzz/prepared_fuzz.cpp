// libFuzzer target: any bytes as vocab.json, and as meta.json of a prepared data folder. Only an Error may be thrown.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string_view>

#include "base/error.h"
#include "datasets/prepared/prepared.h"
#include "tests/temporary_folder.h"

namespace {

void write(const xlm::fs::path& path, std::string_view content) {  // without fsync: thousands a second
  std::ofstream(path, std::ios::binary).write(content.data(), static_cast<std::streamsize>(content.size()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const xlm::Vocabulary vocabulary = xlm::parse_vocabulary(text, "fuzz");
    if (xlm::parse_vocabulary(xlm::vocabulary_json(vocabulary), "again") != vocabulary) std::abort();
  } catch (const xlm::Error&) {
  }
  try {
    const xlm::TemporaryFolder folder;
    write(folder.path() / "meta.json", text);
    write(folder.path() / "vocab.json", "{\"unit\": \"character\", \"symbols\": [\"a\"]}");
    write(folder.path() / "train.bin", "");
    xlm::open_prepared(folder.path());
  } catch (const xlm::Error&) {
  }
  return 0;
}
