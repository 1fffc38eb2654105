// libFuzzer target: any bytes as JSON. The fast parser agrees with the thorough one.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/json_parser.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static xlm::JsonParser parser;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (parser.parse(text) != xlm::parse_json_if_any(text)) std::abort();
  return 0;
}
