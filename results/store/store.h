// The store of results: an SQLite index over the run folders, brought up to date in short transactions. The folders are
// the truth; the store can be made again from them at any time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>

#include "base/error.h"
#include "base/files.h"
#include "results/run_folder/run_folder.h"

namespace xlm {

class StoreUnwritable : public Error {
 public:
  explicit StoreUnwritable(const std::string& message, ExitCode code = kBadData) : Error(message, code) {}
};

struct SyncReport {
  std::int64_t added = 0;
  std::int64_t updated = 0;
  std::int64_t removed = 0;  // their folders are gone
  std::int64_t unchanged = 0;
  std::int64_t skipped = 0;  // folders that could not be read; each has been warned of
};

struct SyncOptions {
  AliveCheck is_alive;                                      // null: every running run is alive
  std::function<void(double done, double total)> progress;  // run folders read, of those that need it
};

/// An open store. Every function throws DataError for a file that is corrupt or no store, ResourceError for a full
/// disk, StoreUnwritable for one that cannot be written, and Error where another process keeps it locked.
class Store {
 public:
  /// Opens or makes `file` (and its folder). Throws DataError for a store of another version.
  explicit Store(const fs::path& file);

  /// Opens an existing store for reading alone; it must be of this version.
  static Store open_read_only(const fs::path& file);

  static Store in_memory();

  /// Reads the run folders of `runs` that changed since the last time and forgets those that are gone. Folders that
  /// cannot be understood are left out with a warning; what is known of those that cannot be looked into is kept.
  /// Throws DataError when `runs` does not exist.
  SyncReport sync(const fs::path& runs, const SyncOptions& options = {});

  /// Makes `file` again from the run folders alone: whole or not at all. Works where the present file is corrupt.
  /// Throws DataError if the present file was never a store: one that does not begin as SQLite's files do is taken for
  /// a damaged store only where its name ends in .db.
  static SyncReport rebuild(const fs::path& file, const fs::path& runs, const SyncOptions& options = {});

  /// Takes in runs that lie in no folder, each in place of one with its id: what a sweep would leave behind.
  void add(const std::vector<Run>& runs);

  void remove(const std::string& run_id);

  const fs::path& file() const { return file_; }

  /// Calls `work` with the database; SQLite's errors become ours.
  template <class Work>
  decltype(auto) use(Work&& work) {
    try {
      return work(database_);
    } catch (const SQLite::Exception& error) {
      rethrow(error, file_);
    }
  }

  [[noreturn]] static void rethrow(const SQLite::Exception& error, const fs::path& file);

 private:
  Store(fs::path file, SQLite::Database database) : file_(std::move(file)), database_(std::move(database)) {}

  fs::path file_;
  SQLite::Database database_;
};

}  // namespace xlm
