// A paper's runs for tests: one run of these settings.
#pragma once

#include <memory>
#include <string>

#include "results/tables/paper_runs.h"

namespace xlm {

inline std::shared_ptr<PaperRuns> paper_with(const SettingList& settings, const std::string& length = "") {
  PaperRunsKnown known{.length = length};
  Run& run = known.runs.emplace_back();
  run.id = "of-the-paper";
  run.status = RunStatus::kDone;
  run.params = settings;
  for (const auto& [key, value] : settings) known.keys.insert(key);
  return std::make_shared<PaperRuns>(std::move(known));
}

}  // namespace xlm
