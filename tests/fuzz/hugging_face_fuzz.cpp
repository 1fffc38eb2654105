// libFuzzer target: any bytes as the config.json of a Hugging Face folder. Only an Error may be thrown, and an accepted
// shape has no numbers out of range.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/error.h"
#include "base/json.h"
#include "core/api/gpt2_options.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    xlm::Gpt2Options options;
    options.pretrained = "fuzz";
    options.adopt(xlm::parse_json({reinterpret_cast<const char*>(data), size}, "fuzz"), "fuzz");
    options.complete();
    if (options.problem()) return 0;
    if (options.width <= 0 || options.heads <= 0 || options.layers <= 0 || options.positions <= 0) std::abort();
    if (options.width % options.heads != 0) std::abort();
  } catch (const xlm::Error&) {
  }
  return 0;
}
