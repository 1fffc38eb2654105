// libFuzzer target: any bytes as a pattern, and what follows its line end as the output of a program.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/program_reports.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t end = std::min(size, bytes.find('\n'));
  std::vector<xlm::MetricDescription> descriptions;
  try {
    const xlm::Json entry = {{"lines", std::string(bytes.substr(0, end))}};
    descriptions = xlm::metric_descriptions(xlm::Json::array({entry}));
  } catch (const xlm::UsageError&) {
    descriptions.push_back({.target = R"(step (?<step>\S+) loss (?<valid.loss>\S+))"});
  }
  if (size % 2 == 1) descriptions.front().thousands = ',';
  const std::string_view output = bytes.substr(std::min(size, end + 1));
  const auto give = [](xlm::MetricReaders& readers, std::string_view piece) { readers.output(piece); };
  const auto at_once = xlm::numbers_of(descriptions, "none", output, output.size() + 1, give);
  if (xlm::numbers_of(descriptions, "none", output, 1 + output.size() / 7, give) != at_once) std::abort();
  return 0;
}
