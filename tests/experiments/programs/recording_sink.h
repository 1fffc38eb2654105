// A sink that keeps what it gets as lines of text.
#pragma once

#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/files.h"
#include "experiments/programs/metric_readers.h"
#include "experiments/programs/program_records.h"

namespace xlm {

class RecordingSink : public RecordSink {
 public:
  void metrics(std::int64_t step, const std::map<std::string, double>& values) override {
    lines.push_back(fmt::format("{}:{}", step, text(values)));
  }
  void evaluation(const ProgramEvaluation& one) override {
    lines.push_back(fmt::format("{} {}:{}{}", one.split, one.step, text(one.values), one.final ? " final" : ""));
  }
  void costs(const std::map<std::string, double>& values) override { lines.push_back("costs:" + text(values)); }
  void grid(std::int64_t step, const ProgramGrid& grid) override {
    std::string rows;
    for (const std::vector<double>& row : grid.rows) rows += fmt::format(" [{}]", fmt::join(row, ", "));
    const std::string columns = grid.columns.empty() ? "" : fmt::format(" at {}", fmt::join(grid.columns, ", "));
    lines.push_back(fmt::format("{} {}:{}{}", grid.name, step, rows, columns));
  }

  void go_back(std::int64_t step, const std::vector<std::string>& names) override {
    lines.push_back(fmt::format("back to {}: {}", step, fmt::join(names, " ")));
  }

  /// What came since the last call.
  std::vector<std::string> take() { return std::exchange(lines, {}); }

  std::vector<std::string> lines;

 private:
  static std::string text(const std::map<std::string, double>& values) {
    std::string shown;
    for (const auto& [name, value] : values) shown += fmt::format(" {}={}", name, value);
    return shown;
  }
};

inline void write_whole(const fs::path& file, std::string_view text, const char* mode = "wb") {
  std::FILE* out = std::fopen(file.c_str(), mode);
  if (out == nullptr || std::fwrite(text.data(), 1, text.size(), out) != text.size() || std::fclose(out) != 0) {
    throw std::runtime_error("cannot write " + file.string());
  }
}

inline void append(const fs::path& file, std::string_view text) { write_whole(file, text, "ab"); }

}  // namespace xlm
