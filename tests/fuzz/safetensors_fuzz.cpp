// libFuzzer target: any bytes as a safetensors file. A header is refused with an error, or its tensors lie inside the
// file, one after the other.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/error.h"
#include "base/safetensors_header.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto header = xlm::parse_safetensors_header({reinterpret_cast<const char*>(data), size}, "fuzz");
    std::uint64_t end = size;
    for (auto entry = header.entries.rbegin(); entry != header.entries.rend(); ++entry) {
      if (entry->end != end || entry->begin > entry->end) std::abort();
      end = entry->begin;
    }
  } catch (const xlm::Error&) {
  }
  return 0;
}
