// libFuzzer target: any text as a configuration with values that other sweeps choose. Nothing but a UsageError may come
// out, and what is chosen takes the places of all such maps.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/error.h"
#include "base/yaml.h"
#include "experiments/configuration/best_of.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const xlm::ChooseValue choose = [](const xlm::BestOf& best) {
    return xlm::ChosenValue{.value = xlm::make_scalar(best.by, best.place), .runs = {"run"}};
  };
  try {
    xlm::Yaml tree = xlm::parse_yaml(text, "fuzz");
    xlm::note_profile(tree, "small");
    xlm::choose_values(tree, choose);
    if (!xlm::choose_values(tree, choose).empty()) std::abort();
  } catch (const xlm::UsageError&) {
  }
  return 0;
}
