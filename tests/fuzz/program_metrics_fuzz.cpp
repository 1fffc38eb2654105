// libFuzzer target: any bytes as $XLM_METRICS, and as JSON lines of a program's own.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/program_reports.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const xlm::TemporaryFolder folder;
  const xlm::fs::path metrics = folder.path() / "metrics.jsonl";
  const xlm::fs::path own = folder.path() / "own.jsonl";
  const std::string_view report(reinterpret_cast<const char*>(data), size);
  xlm::follow_growing_file({}, metrics, metrics, report);
  xlm::fs::remove(metrics);
  xlm::follow_growing_file({{.kind = xlm::MetricKind::kJsonLines, .target = own.string()}}, metrics, own, report);
  return 0;
}
