// A sink that adds up what a journal would: of each number the newest.
#pragma once

#include <map>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiments/programs/program_records.h"

namespace xlm {

class NewestValues : public RecordSink {
 public:
  void metrics(std::int64_t step, const std::map<std::string, double>& numbers) override {
    for (const auto& [name, value] : numbers) values[fmt::format("{} {}", step, name)] = fmt::format("{}", value);
  }
  void evaluation(const ProgramEvaluation& one) override {
    std::string& text = values[fmt::format("{} {}", one.split, one.step)] = one.final ? "final" : "";
    for (const auto& [name, value] : one.values) text += fmt::format(" {}={}", name, value);
  }
  void costs(const std::map<std::string, double>& numbers) override {
    for (const auto& [name, value] : numbers) values["costs " + name] = fmt::format("{}", value);
  }
  void grid(std::int64_t step, const ProgramGrid& grid) override {
    std::string& text = values[fmt::format("grid {} {}", grid.name, step)] = fmt::format("{}", grid.columns.size());
    for (const auto& row : grid.rows) text += fmt::format(" [{}]", fmt::join(row, ", "));
  }

  std::map<std::string, std::string> values;
};

}  // namespace xlm
