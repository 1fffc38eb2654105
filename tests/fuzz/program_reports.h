// What the fuzzers of programs' reports share: however a report comes, in pieces or at once, its numbers are the same.
#pragma once

#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "experiments/programs/metric_readers.h"
#include "tests/experiments/programs/newest_values.h"
#include "tests/temporary_folder.h"

namespace xlm {

/// What is wrong in a report is an error, and no more.
inline void tolerate(const std::function<void()>& action) {
  try {
    action();
  } catch (const DataError&) {
  } catch (const DivergedError&) {
  }
}

/// The numbers of `report`, given in pieces of so many bytes by `give`, which gets the readers and a piece.
inline std::map<std::string, std::string> numbers_of(
    const std::vector<MetricDescription>& descriptions, const fs::path& metrics_file, std::string_view report,
    std::size_t piece, const std::function<void(MetricReaders& readers, std::string_view bytes)>& give) {
  NewestValues sink;
  MetricReaders readers(descriptions, metrics_file, sink);
  readers.begin(Json());
  for (std::size_t at = 0; at < report.size(); at += piece) {
    tolerate([&] { give(readers, report.substr(at, piece)); });
  }
  tolerate([&] { readers.finish(true); });
  (void)readers.warnings();
  (void)readers.position().dump();
  return sink.values;
}

/// Writes `report` into `file` at once, and in pieces, and compares.
inline void follow_growing_file(const std::vector<MetricDescription>& descriptions, const fs::path& metrics_file,
                                const fs::path& file, std::string_view report) {
  const auto grow = [&](MetricReaders& readers, std::string_view bytes) {
    std::ofstream(file, std::ios::binary | std::ios::app)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    readers.poll();
  };
  fs::remove(file);
  const auto at_once = numbers_of(descriptions, metrics_file, report, report.size() + 1, grow);
  fs::remove(file);
  const std::size_t piece = 1 + report.size() / 4;
  if (numbers_of(descriptions, metrics_file, report, piece, grow) != at_once) std::abort();
}

}  // namespace xlm
