// One worker per run: a lock in the run folder with a heartbeat and a fencing token. It needs only exclusive creation
// of files, so it works on network file systems too.
//
// The lock is the file lock.N with the highest N, the fencing token. It names its holder, whose heartbeat is the file's
// time of change. To take the lock over, a worker creates lock.N+1. Only one of several contenders can do that. To
// release it, the holder marks lock.N. The highest file is never removed, so no token is given twice. If the files are
// lost nevertheless, tokens continue above those of the journal.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "base/error.h"
#include "base/files.h"
#include "experiments/runs/process_identity.h"

namespace xlm {

/// Another live worker holds the run.
class RunLockedError : public Error {
 public:
  using Error::Error;
};

struct LockSettings {
  double heartbeat = 10;          // seconds between heartbeats, its own and those of holders on other machines
  double stale_after = 180;       // seconds without a heartbeat after which a holder on another machine counts as gone;
                                  // if it seems gone for less than an hour, one heartbeat is waited for, because its
                                  // clock may be behind
  std::function<double()> clock;  // seconds since 1970, to judge heartbeats; null: the system's
  std::optional<ProcessIdentity> holder;  // the new holder; empty: this process
  std::optional<ProcessIdentity> from;    // a holder that hands the lock over
};

/// The lock as others see it.
struct LockState {
  std::int64_t token = 0;  // 0: never taken
  bool held = false;       // by a worker that lives, as far as this machine can tell
  ProcessIdentity holder;
  bool released = false;
};

LockState read_lock(const fs::path& run_folder, const LockSettings& settings = {});

/// Whether a worker holds the run's lock and lives.
bool has_live_worker(const fs::path& run_folder);

/// Holds the lock of a run folder until destroyed.
class RunLock {
 public:
  /// Takes the lock, or takes it over if its holder is gone. Throws RunLockedError if another live worker holds it.
  explicit RunLock(fs::path run_folder, LockSettings settings = {});
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;
  /// Releases the lock unless another worker has taken it over.
  ~RunLock();

  /// The fencing token, higher than that of any holder before.
  std::int64_t token() const { return token_; }

  /// Says that the run's folder was moved there: the lock in it is released at the end.
  void moved_to(const fs::path& folder) { folder_ = folder; }

  /// False once another worker has taken the lock over. Then nothing may be written into the run folder.
  bool still_owner() const;

 private:
  class Heartbeat;

  fs::path file(std::int64_t token) const;
  bool try_take(std::int64_t token);
  void remove_older() const;

  fs::path folder_;
  LockSettings settings_;
  std::int64_t token_ = 0;
  std::unique_ptr<Heartbeat> heartbeat_;
};

}  // namespace xlm
