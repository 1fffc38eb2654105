// Reading again what a program has reported.
#include "experiments/worker/reread.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "experiments/programs/metric_readers.h"
#include "experiments/runs/run_lock.h"
#include "experiments/worker/program_results.h"
#include "experiments/worker/program_setting.h"

namespace xlm {
namespace {

/// Looks whether all can be read.
class NoRecords final : public RecordSink {
 public:
  void metrics(std::int64_t /*step*/, const std::map<std::string, double>& /*values*/) override {}
  void evaluation(const ProgramEvaluation& /*evaluation*/) override {}
  void costs(const std::map<std::string, double>& /*values*/) override {}
  void grid(std::int64_t /*step*/, const ProgramGrid& /*grid*/) override {}
};

/// Where the last attempt ended. Null if that is not known: a damaged note of it is no reason to read nothing.
Json known_position(const fs::path& file) {
  try {
    return fs::exists(file) ? read_json(file) : Json();
  } catch (const DataError&) {
    return {};
  }
}

}  // namespace

Reread reread_run(const fs::path& folder, const RunConfiguration& configuration) {
  const RunLock lock(folder);
  const bool is_done = read_run(folder).status == RunStatus::kDone;
  const RunPaths run{folder};
  const ProgramPaths paths{fs::absolute(folder).lexically_normal()};
  const auto metrics = described_metrics(*configuration.program, places_of(configuration, paths), paths.work());
  Reread reread;
  NoRecords nothing;
  MetricReaders first(metrics, paths.metrics(), nothing, paths.output());
  const Json position = known_position(paths.position());
  reread.is_whole = first.read_all(is_done, position);
  reread.lines = first.lines();
  reread.warnings = first.warnings();
  if (reread.lines == 0) {
    throw DataError(fmt::format("nothing that the program has left has a number, and nothing was changed\n{}",
                                join(reread.warnings, "\n")));
  }
  Json record = {{"metrics", configuration.program->metrics}};
  if (!reread.is_whole) record["keeps"] = true;
  std::vector<std::string> doubts;
  for (const std::string& doubt : first.doubts()) doubts.push_back(std::string(kWarning) + first_line(doubt));
  if (!doubts.empty()) record["reason"] = join(doubts, "; ");
  JournalSink sink(run, lock, {});
  sink.batch_evaluations();
  sink.reread(record);
  ProgramResults results(sink, {});
  MetricReaders readers(metrics, paths.metrics(), results, paths.output());
  readers.read_all(is_done, position);
  sink.sync();
  write_file(paths.position(), json_text(readers.position()));
  return reread;
}

}  // namespace xlm
