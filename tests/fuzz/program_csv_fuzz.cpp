// libFuzzer target: any bytes as a table that a program writes.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/program_reports.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const xlm::TemporaryFolder folder;
  const xlm::fs::path table = folder.path() / "log.csv";
  const std::string_view report(reinterpret_cast<const char*>(data), size);
  const xlm::MetricDescription plain{.kind = xlm::MetricKind::kCsv, .target = table.string()};
  const xlm::MetricDescription named{
      .kind = xlm::MetricKind::kCsv, .target = table.string(), .names = {{"it", "step"}, {"l", "valid.loss"}}};
  for (const auto& description : {plain, named}) {
    xlm::follow_growing_file({description}, folder.path() / "metrics.jsonl", table, report);
  }
  return 0;
}
