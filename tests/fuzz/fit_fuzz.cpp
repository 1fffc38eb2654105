// libFuzzer target: any text as the description of fits. Nothing but a UsageError may come out, and what was read finds
// nothing to fit in an empty store.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/error.h"
#include "base/yaml.h"
#include "results/exhibits/exhibits.h"
#include "results/fits/fitted_runs.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  static xlm::Store store = xlm::Store::in_memory();
  try {
    for (const xlm::Yaml& node : xlm::find_exhibits(xlm::parse_yaml(text, "fuzz"), xlm::ExhibitKind::kFit)) {
      xlm::RunTable runs(store);
      const xlm::FitDescription description = xlm::read_fit_description(node);
      for (const std::vector<double>& x : description.predict) (void)xlm::fit_place_text(description, x);
      (void)xlm::build_fit(runs, description, {});
    }
  } catch (const xlm::UsageError&) {
  }
  return 0;
}
