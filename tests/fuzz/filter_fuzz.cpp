// libFuzzer target: any text as conditions on runs, one per line, and as `where:` of a recipe. Only a UsageError may be
// thrown, also if a condition is written and read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/error.h"
#include "base/text.h"
#include "base/yaml.h"
#include "results/store/filter.h"

namespace {

void check(const xlm::Filter& filter) {
  (void)filter.holds_for(xlm::to_value("5"));
  (void)filter.holds_for(xlm::Value());
  const std::string text = filter.text();
  try {
    for (const xlm::Filter& again : xlm::parse_filters({text})) (void)again.text();
  } catch (const xlm::UsageError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    for (const xlm::Filter& filter : xlm::parse_filters(xlm::split(text, '\n'))) {
      if (filter.column.empty()) std::abort();
      check(filter);
    }
  } catch (const xlm::UsageError&) {
  }
  try {
    for (const xlm::Filter& filter : xlm::read_filters(xlm::parse_yaml(text, "fuzz"))) check(filter);
  } catch (const xlm::UsageError&) {
  }
  return 0;
}
