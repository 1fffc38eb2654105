// libFuzzer target: any text as the description of a search, with the answer of the process that is asked in its last
// line. Nothing but an Error may come out. What was read gives points for every setting.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/error.h"
#include "base/yaml.h"
#include "experiments/sweeps/search.h"
#include "experiments/sweeps/search_sampler.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::size_t last = text.rfind('\n');
  const std::string answer = last == std::string::npos ? "" : text.substr(last + 1);
  try {
    const xlm::Yaml tree = xlm::parse_yaml(text.substr(0, last), "fuzz");
    const auto search = xlm::read_search(tree);
    if (!search) return 0;
    if (search->trials <= 100) (void)xlm::supposed_points(*search);
    for (const xlm::SearchSetting& setting : xlm::settings_in_answer(answer, 2, search->keys.size())) {
      (void)xlm::points_of_trial(*search, setting);
    }
  } catch (const xlm::Error&) {
  }
  return 0;
}
