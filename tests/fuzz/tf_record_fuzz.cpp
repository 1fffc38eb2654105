// libFuzzer target: any bytes as a TFRecord file, and as the content of a record.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/error.h"
#include "base/tf_record.h"
#include "datasets/input/tf_example.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    std::string_view rest = bytes;
    xlm::TfRecordReader records(
        [&](char* buffer, std::size_t count) {
          const std::size_t taken = rest.copy(buffer, std::min<std::size_t>(count, 7));
          rest.remove_prefix(taken);
          return taken;
        },
        "fuzz");
    while (records.next()) {
    }
  } catch (const xlm::DataError&) {
  }
  try {
    (void)xlm::example_bytes(bytes, "text", "fuzz");
  } catch (const xlm::DataError&) {
  }
  return 0;
}
