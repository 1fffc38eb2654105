// Updates the store after a run.
#include "experiments/runs/store_update.h"

#include <spdlog/spdlog.h>

#include "base/foreign_error.h"
#include "experiments/runs/run_lock.h"
#include "results/store/store.h"

namespace xlm {

void update_store(const fs::path& runs, const fs::path& store_file) {
  try {
    Store(store_file).sync(runs, {.is_alive = has_live_worker, .progress = nullptr});
  } catch (const std::exception& error) {
    spdlog::warn(
        "the store {} is not up to date: {}\nthe results are safe in the run folders\nto try again: xlm runs sync",
        store_file.string(), as_error(error).what());
  }
}

}  // namespace xlm
