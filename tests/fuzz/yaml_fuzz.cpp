// Configurations from anywhere: parsing ends in a tree or in a UsageError, and printing a tree gives the same tree.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/error.h"
#include "base/yaml.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const xlm::Yaml tree = xlm::parse_yaml(text, "fuzz");
    const std::string printed = xlm::to_text(tree);
    if (xlm::to_text(xlm::parse_yaml(printed, "printed")) != printed) std::abort();
  } catch (const xlm::UsageError&) {
  }
  return 0;
}
