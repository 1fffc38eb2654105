// Runs as they are now.
#include "experiments/runs/live_run.h"

#include "experiments/runs/run_lock.h"

namespace xlm {

Run read_live_run(const fs::path& folder) {
  // Whether a worker lives is asked before the journal is read: one that ends in between is then seen as ended.
  const bool alive = has_live_worker(folder);
  return read_run(folder, [alive](const fs::path&) { return alive; });
}

std::int64_t checkpoint_step(const Run& run) { return run.checkpoints.empty() ? 0 : run.checkpoints.back().step; }

}  // namespace xlm
