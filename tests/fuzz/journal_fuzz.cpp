// libFuzzer target: any bytes as a journal. Reading it never throws and keeps every whole record.
#include <cstddef>
#include <cstdint>
#include <fstream>

#include "base/error.h"
#include "results/run_folder/journal.h"
#include "tests/temporary_folder.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const xlm::TemporaryFolder folder;
  const xlm::fs::path file = folder.path() / "journal.jsonl";
  std::ofstream(file, std::ios::binary | std::ios::trunc)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  xlm::read_journal(file);
  return 0;
}
