// The runs of a store while jobs write to their folders.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "results/pages/run_explorer.h"
#include "results/store/run_table.h"
#include "results/store/store.h"

namespace xlm {

/// The runs as they were at one moment. Columns are read from the store when they are first asked for, so values may be
/// a little newer.
struct RunsAtOneTime {
  RunsAtOneTime(Store opened, std::int64_t number) : runs(std::move(opened)), explorer(runs), version(number) {}

  RunTable runs;
  RunExplorer explorer;
  std::int64_t version;
  std::mutex in_use;
};

/// Runs for several threads that read, and one that brings them up to date. Readers never wait for a slow file system:
/// they have the runs of the last look until the next one is complete.
class LiveRuns {
 public:
  /// Opens the store, up to date with the run folders.
  using OpenStore = std::function<Store()>;

  /// Opens the store. Throws what `open` throws.
  explicit LiveRuns(OpenStore open);

  /// Opens the store again. If that fails, the runs stay as they are, and `problem` says why.
  void refresh();

  /// Why the last look failed; empty: it did not.
  std::string problem() const;

  /// Calls `use` with the runs as they are. Calls for the same runs wait for each other.
  template <class Use>
  decltype(auto) with(Use&& use) const {
    const std::shared_ptr<RunsAtOneTime> present = now();
    const std::scoped_lock lock(present->in_use);
    return use(*present);
  }

 private:
  std::shared_ptr<RunsAtOneTime> now() const;

  OpenStore open_;
  std::string mark_;  // changes if the store has changed
  mutable std::mutex mutex_;
  std::shared_ptr<RunsAtOneTime> runs_;
  std::string problem_;
};

}  // namespace xlm
