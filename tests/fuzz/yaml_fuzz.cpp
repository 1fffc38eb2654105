// libFuzzer target: any bytes as YAML. Parsing gives a tree or a UsageError, and a printed tree reads back the same.
// Only aliases can make a printed tree too large to be read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/error.h"
#include "base/yaml.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  xlm::Yaml tree;
  try {
    tree = xlm::parse_yaml(text, "fuzz");
  } catch (const xlm::UsageError&) {
    return 0;
  }
  const std::string printed = xlm::to_text(tree);
  if (printed.size() > 100'000) return 0;
  const xlm::Yaml again = xlm::parse_yaml(printed, "printed");
  if (xlm::to_text(again) != printed || xlm::to_json(again) != xlm::to_json(tree)) std::abort();
  return 0;
}
