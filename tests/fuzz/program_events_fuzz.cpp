// libFuzzer target: any bytes as an event file, and as the content of an event.
#include <cstddef>
#include <cstdint>

#include "experiments/programs/event_scalars.h"
#include "tests/fuzz/program_reports.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const xlm::TemporaryFolder folder;
  const xlm::fs::path file = folder.path() / "x.tfevents";
  const std::string_view report(reinterpret_cast<const char*>(data), size);
  (void)xlm::event_scalars(report);
  const xlm::MetricDescription description{.kind = xlm::MetricKind::kTensorBoard, .target = folder.path().string()};
  xlm::follow_growing_file({description}, folder.path() / "metrics.jsonl", file, report);
  return 0;
}
