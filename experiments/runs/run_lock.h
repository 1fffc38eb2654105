// One worker per run: a lock in the run folder with a heartbeat and a fencing token. It needs nothing of the file
// system but exclusive creation of files, so it holds over network file systems too.
//
// The lock is the file lock.N with the highest N, the fencing token. It names its holder, whose heartbeat is the file's
// time of change. Taking the lock over is creating lock.N+1, which one of several contenders can do; releasing it is
// marking lock.N. The highest file is never removed, so a token is never given twice; where the files are lost
// nevertheless, tokens go on above those of the journal.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

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
  double heartbeat = 10;                  // seconds between heartbeats
  double stale_after = 180;               // seconds without one, after which a holder on another machine is given up
  std::function<double()> clock;          // seconds since 1970, for judging heartbeats; null: the system's
  std::optional<ProcessIdentity> holder;  // who takes the lock; nothing: this process
  std::optional<ProcessIdentity> from;    // who may hold the lock and hands it over
};

/// The lock as others see it.
struct LockState {
  std::int64_t token = 0;  // 0: never taken
  bool held = false;       // by a worker that lives as far as can be known from here
  ProcessIdentity holder;
  bool released = false;
};

LockState read_lock(const fs::path& run_folder, const LockSettings& settings = {});

/// True while a worker holds the run's lock and lives.
bool has_live_worker(const fs::path& run_folder);

/// Holds the lock of a run folder until destroyed.
class RunLock {
 public:
  /// Takes the lock, or takes it over when its holder is gone. Throws RunLockedError when another live worker has it.
  explicit RunLock(fs::path run_folder, LockSettings settings = {});
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;
  /// Releases the lock, unless it has been taken over.
  ~RunLock();

  /// Higher than that of every holder before.
  std::int64_t token() const { return token_; }

  /// False once another worker has taken the lock over; nothing may be written into the run folder then.
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
