// The runs of a store while jobs write to their folders.
#include "results/live/live_runs.h"

#include <exception>

namespace xlm {
namespace {

/// Differs if runs came or went, if a journal grew, and if a worker was lost.
std::string mark_of_store(Store& store) {
  return store.use([](SQLite::Database& database) {
    return database
        .execAndGet(
            "SELECT count(*) || ' ' || coalesce(sum(journal_bytes), 0) || ' ' || coalesce(max(journal_time), 0) || ' ' "
            "|| coalesce(sum(status = 'running'), 0) || ' ' || coalesce(sum(status = 'stale'), 0) FROM stored_runs")
        .getString();
  });
}

}  // namespace

LiveRuns::LiveRuns(OpenStore open) : open_(std::move(open)) {
  Store store = open_();
  mark_ = mark_of_store(store);
  runs_ = std::make_shared<RunsAtOneTime>(std::move(store), 1);
}

void LiveRuns::refresh() {
  std::shared_ptr<RunsAtOneTime> next;
  std::string problem;
  try {
    Store store = open_();
    std::string mark = mark_of_store(store);
    if (mark != mark_) {
      next = std::make_shared<RunsAtOneTime>(std::move(store), now()->version + 1);
      mark_ = std::move(mark);
    }
  } catch (const std::exception& error) {
    problem = error.what();
  }
  const std::scoped_lock lock(mutex_);
  problem_ = std::move(problem);
  if (next) runs_.swap(next);
}

std::string LiveRuns::problem() const {
  const std::scoped_lock lock(mutex_);
  return problem_;
}

std::shared_ptr<RunsAtOneTime> LiveRuns::now() const {
  const std::scoped_lock lock(mutex_);
  return runs_;
}

}  // namespace xlm
