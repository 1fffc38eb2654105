// Reading again what a program has reported.
#include "experiments/worker/reread.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "experiments/programs/metric_readers.h"
#include "experiments/runs/run_lock.h"
#include "experiments/worker/program_results.h"
#include "experiments/worker/program_setting.h"

namespace xlm {
namespace {

/// Where the last attempt ended. Null if that is not known: a damaged note of it is no reason to read nothing.
Json known_position(const fs::path& file) {
  try {
    return fs::exists(file) ? read_json(file) : Json();
  } catch (const DataError&) {
    return {};
  }
}

/// Whether a run has numbers of steps before all that can be read again.
bool has_earlier(const Run& run, const ProgramResults& results) {
  return std::ranges::any_of(run.metrics, [&](const auto& series) {
    return !series.second.empty() && series.second.begin()->first < results.least_step();
  });
}

}  // namespace

Reread reread_run(const fs::path& folder, const RunConfiguration& configuration) {
  const RunLock lock(folder);
  const Run before = read_run(folder);
  const bool is_done = before.status == RunStatus::kDone;
  const RunPaths run{folder};
  const ProgramPaths paths{fs::absolute(folder).lexically_normal()};
  const auto metrics = described_metrics(*configuration.program, places_of(configuration, paths), paths.work());
  Reread reread;
  ProgramResults looked(nullptr, {});  // whether all can be read
  MetricReaders first(metrics, paths.metrics(), looked, paths.output());
  const Json position = known_position(paths.position());
  reread.is_whole = first.read_all(is_done, position) && !(first.has_lost_lines() && has_earlier(before, looked));
  reread.lines = first.lines();
  reread.warnings = first.warnings();
  if (reread.lines == 0) {
    throw DataError(fmt::format("nothing that the program has left has a number, and nothing was changed\n{}",
                                join(reread.warnings, "\n")));
  }
  Json record = {{"metrics", configuration.program->metrics}};
  if (!reread.is_whole) record["keeps"] = true;
  std::string reason;
  for (const std::string& doubt : doubts_of_numbers(looked, first)) add_warning(reason, doubt);
  for (const std::string& doubt : first.never_came()) add_warning(reason, doubt);
  if (const std::optional<ProgramResults::Steps>& steps = looked.steps()) {
    const std::optional<std::int64_t> gap = steps->first != steps->last ? std::optional(steps->gap) : std::nullopt;
    const std::string other = looked.other_length(configuration.train.steps, gap);
    if (!other.empty()) add_warning(reason, other);
  }
  for (const std::string& warning : before.lasting) add_warning(reason, warning);
  if (!reason.empty()) record["reason"] = reason;
  JournalSink sink(run, lock, {});
  sink.batch_evaluations();
  sink.reread(record);
  ProgramResults results(&sink, {});
  MetricReaders readers(metrics, paths.metrics(), results, paths.output());
  readers.read_all(is_done, position);
  sink.sync();
  write_file(paths.position(), json_text(readers.position()));
  return reread;
}

}  // namespace xlm
