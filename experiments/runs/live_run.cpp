// Reads runs with their current state.
#include "experiments/runs/live_run.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "experiments/runs/run_checkpoints.h"
#include "experiments/runs/run_lock.h"
#include "results/run_folder/imported.h"

namespace xlm {
namespace {

std::int64_t whole(const Run& run, const char* key) {
  const Json* value = run.param(key);
  return value != nullptr && value->is_number_integer() ? value->get<std::int64_t>() : 0;
}

}  // namespace

Run read_live_run(const fs::path& folder) {
  // Look for the worker before reading the journal: a worker that exits in between then counts as exited.
  const bool alive = has_live_worker(folder);
  return read_run(folder, [alive](const fs::path&) { return alive; });
}

void refuse_imported(const Run& run) {
  const Json* source = run.param(kImportedSource);
  if (source == nullptr) return;
  throw DataError(fmt::format("{} was imported from {}: it has numbers, but no model, and is never trained here",
                              run.id, source->get<std::string>()));
}

std::int64_t checkpoint_step(const Run& run) { return run.checkpoints.empty() ? 0 : run.checkpoints.back().step; }

bool has_unseen_checkpoint(const Run& run) {
  const Json* resume = run.param("program.resume");
  if (checkpoint_step(run) > 0 || !is_of_program(run) || (resume != nullptr && *resume != "checkpoint")) return false;
  return has_saved_files(run.folder);
}

std::int64_t rows_at_once(const Run& run, std::int64_t chosen) {
  const std::int64_t processes = std::max<std::int64_t>(whole(run, "train.processes"), 1);
  std::int64_t rows = (whole(run, "train.batch") + processes - 1) / processes;
  for (const std::int64_t bound : {whole(run, "train.micro_batch"), run.micro_batch, chosen}) {
    if (bound > 0) rows = std::min(rows, bound);
  }
  return rows;
}

std::optional<std::int64_t> fewer_rows(const Run& run, std::int64_t chosen) {
  const std::int64_t batch = whole(run, "train.batch");
  for (std::int64_t rows = rows_at_once(run, chosen) / 2; rows >= 1; --rows) {
    if (batch % rows == 0) return rows;
  }
  return std::nullopt;
}

}  // namespace xlm
