// The store of results.
#include "results/store/store.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <future>
#include <optional>
#include <random>
#include <unordered_map>
#include <utility>

#include <SQLiteCpp/Backup.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "results/store/found_runs.h"
#include "results/store/run_writer.h"
#include "results/store/schema.h"

namespace xlm {
namespace {

constexpr int kBusyMilliseconds = 30'000;
constexpr int kCacheKilobytes = 65'536;  // a transaction's changes stay in memory until it ends
constexpr std::string_view kRebuildSuffix = ".rebuild-";
constexpr std::size_t kRowsPerTransaction = 200'000;  // bounds memory and how long others wait

struct KnownRun {
  JournalStamp stamp;
  std::string status;
  bool found = false;  // its folder is still there
};
using KnownRuns = std::unordered_map<std::string, KnownRun>;

KnownRuns known_runs(SQLite::Database& database) {
  KnownRuns known;
  known.reserve(static_cast<std::size_t>(database.execAndGet("SELECT count(*) FROM stored_runs").getInt64()));
  SQLite::Statement query(database, "SELECT run_id, journal_bytes, journal_time, status FROM stored_runs");
  while (query.executeStep()) {
    known.emplace(query.getColumn(0).getString(),
                  KnownRun{.stamp = {query.getColumn(1).getInt64(), query.getColumn(2).getInt64()},
                           .status = query.getColumn(3).getString()});
  }
  return known;
}

struct SyncPlan {
  std::vector<std::pair<std::string, JournalStamp>> read;
  std::vector<std::string> gone;
  struct Liveness {
    std::string id;
    std::string status;
    JournalStamp stamp;  // of the journal of which it is the status
  };
  std::vector<Liveness> liveness;  // running ↔ stale, without a new line in the journal
};

bool seems_running(const std::string& status) { return status == "running" || status == "stale"; }

SyncPlan plan_sync(const fs::path& runs, const FoundRuns& found, KnownRuns& known, const AliveCheck& is_alive) {
  SyncPlan plan;
  for (const std::string& id : found.unreadable) {
    if (const auto present = known.find(id); present != known.end()) present->second.found = true;
  }
  for (const auto& [id, stamp] : found.readable) {
    const auto present = known.find(id);
    if (present != known.end()) present->second.found = true;
    if (present == known.end() || present->second.stamp != stamp) {
      plan.read.emplace_back(id, stamp);
    } else if (seems_running(present->second.status)) {
      const std::string status = !is_alive || is_alive(runs / id) ? "running" : "stale";
      if (status != present->second.status) plan.liveness.push_back({id, status, stamp});
    }
  }
  for (const auto& [id, run] : known) {
    if (!run.found) plan.gone.push_back(id);
  }
  std::ranges::sort(plan.read);  // the primary keys' order, in which inserting is quick
  return plan;
}

/// Reads one run; nothing when it cannot be understood.
std::optional<Run> try_read(const fs::path& folder, const AliveCheck& is_alive) {
  try {
    Run run = read_run(folder, is_alive);
    if (run.malformed > 0) {
      spdlog::warn("{}: {} malformed {} left out", RunPaths{folder}.journal().string(), run.malformed,
                   run.malformed == 1 ? "line is" : "lines are");
    }
    return run;
  } catch (const Error& error) {
    if (error.code() == kOutOfResources) throw;
    spdlog::warn("a run is left out: {}", error.what());
    return std::nullopt;
  }
}

std::size_t row_count(const Run& run) {
  std::size_t rows = run.params.size();
  for (const auto& [name, series] : run.metrics) rows += series.size();
  for (const RunEvaluation& evaluation : run.evaluations) rows += evaluation.values.size();
  for (const auto& [name, by_step] : run.grids) {
    for (const auto& [step, grid] : by_step)
      rows += grid.rows.empty() ? 0 : grid.rows.size() * grid.rows.front().size();
  }
  for (const auto& [split, trace] : run.traces) rows += trace.values.size() * trace.tokens.size();
  return rows;
}

void write_liveness_and_gone(SQLite::Database& database, const SyncPlan& plan) {
  RunWriter writer(database);
  for (const std::string& id : plan.gone) writer.remove(id);
  // Another process may have read more of a journal meanwhile: what it found stays.
  for (const auto& [id, status, stamp] : plan.liveness) writer.set_liveness(id, status, stamp.bytes, stamp.time);
  writer.finish();
}

struct StampedRun {
  Run run;
  JournalStamp stamp;
};

void write_runs(SQLite::Database& database, const std::vector<StampedRun>& batch) {
  RunWriter writer(database);
  for (const StampedRun& item : batch) writer.replace(item.run, item.stamp.bytes, item.stamp.time);
  writer.finish();
}

/// The same of what was read of run folders. Another process may have entered a run since the store was looked at:
/// journals grow, so what was read of a longer one is newer and stays.
void write_runs(SQLite::Database& database, std::vector<StampedRun> batch, const KnownRuns& known) {
  SQLite::Statement present(database, "SELECT journal_bytes, journal_time FROM stored_runs WHERE run_id = ?");
  std::erase_if(batch, [&](const StampedRun& item) {
    present.reset();
    present.bind(1, item.run.id);
    if (!present.executeStep()) return false;
    const JournalStamp stamp{present.getColumn(0).getInt64(), present.getColumn(1).getInt64()};
    const auto seen = known.find(item.run.id);
    return stamp.bytes > item.stamp.bytes && (seen == known.end() || seen->second.stamp != stamp);
  });
  present.reset();
  write_runs(database, batch);
}

SyncReport execute(SQLite::Database& database, const fs::path& runs, const SyncOptions& options) {
  // Folders are looked at while the store is read.
  std::future<FoundRuns> finding = std::async(find_runs, runs);
  KnownRuns known = known_runs(database);
  const FoundRuns found = finding.get();
  SyncPlan plan = plan_sync(runs, found, known, options.is_alive);
  SyncReport report;
  report.unchanged = static_cast<std::int64_t>(found.readable.size() - plan.read.size());
  report.skipped = static_cast<std::int64_t>(found.unreadable.size());
  std::vector<StampedRun> batch;
  std::size_t rows = 0;
  for (std::size_t i = 0; i < plan.read.size(); ++i) {
    auto& [id, stamp] = plan.read[i];
    if (std::optional<Run> run = try_read(runs / id, options.is_alive)) {
      // A network file system may tell of bytes that it does not give yet: they are left to the next sync.
      stamp.bytes = std::min(stamp.bytes, run->journal_bytes);
      ++(known.contains(id) ? report.updated : report.added);
      rows += row_count(*run);
      batch.push_back({std::move(*run), stamp});
    } else {
      ++report.skipped;
      if (known.contains(id)) plan.gone.push_back(id);
    }
    if (rows >= kRowsPerTransaction) {
      write_runs(database, std::exchange(batch, {}), known);
      rows = 0;
    }
    if (options.progress) options.progress(static_cast<double>(i + 1), static_cast<double>(plan.read.size()));
  }
  if (!batch.empty()) write_runs(database, std::move(batch), known);
  if (!plan.gone.empty() || !plan.liveness.empty()) write_liveness_and_gone(database, plan);
  report.removed = static_cast<std::int64_t>(plan.gone.size());
  return report;
}

/// SQLite lets no other user write the files that it makes, whatever the umask allows; an empty file it takes as it is.
/// One that is there is not opened: closing it would end the locks that this process has on it.
void create_for_all(const fs::path& file) {
  const int made = ::open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, kNewFileMode);
  if (made >= 0) ::close(made);
  if (made < 0 && (errno == ENOSPC || errno == EDQUOT)) throw_file_error("create", file, errno);
}

SQLite::Database open_database(const fs::path& file, int flags) {
  if ((flags & SQLite::OPEN_CREATE) != 0) create_for_all(file);
  try {
    return SQLite::Database(file.string(), flags, kBusyMilliseconds);
  } catch (const SQLite::Exception& error) {
    Store::rethrow(error, file);
  }
}

[[noreturn]] void refuse_no_store(const fs::path& file) {
  throw DataError(
      fmt::format("{} is no store of results, and no SQLite file\nname another file with --store", file.string()));
}

/// The store with the present schema.
SQLite::Database open_present(const fs::path& file) {
  if (fs::exists(file) && !fs::is_regular_file(file)) refuse_no_store(file);
  if (file.has_parent_path()) create_folders(file.parent_path());
  SQLite::Database database = open_database(file, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  try {
    make_schema(database, file.string());
    database.exec("PRAGMA journal_mode = DELETE");
    database.exec(fmt::format("PRAGMA cache_size = -{}", kCacheKilobytes));
  } catch (const SQLite::Exception& error) {
    Store::rethrow(error, file);
  }
  return database;
}

bool begins_as_sqlite(const fs::path& file) {
  constexpr std::string_view kMagic("SQLite format 3\0", 16);
  const MappedFile mapped(file);
  return mapped.size() == 0 || mapped.text().starts_with(kMagic);  // SQLite makes a database of an empty file
}

bool is_called_a_store(const fs::path& file) { return file.extension() == ".db"; }

void refuse_to_replace(const fs::path& file) {
  if (!fs::exists(file)) return;
  const bool regular = fs::is_regular_file(file);
  if (!regular || (!is_called_a_store(file) && !begins_as_sqlite(file))) refuse_no_store(file);
}

/// A file that is called a store and is none may be something else: its content is kept next to it.
void keep_what_is_none(const fs::path& file) {
  if (!fs::exists(file) || begins_as_sqlite(file)) return;
  fs::path kept = file.string() + ".damaged";
  for (int copy = 2; fs::exists(kept); ++copy) kept = fmt::format("{}.damaged.{}", file.string(), copy);
  write_file(kept, MappedFile(file).text());
  spdlog::warn("{} was no SQLite file; what it held is kept as {}", file.string(), kept.string());
}

/// SQLite says of a full disk only where it writes, and not where it makes a file or waits for the disk. So the disk is
/// asked: whether a megabyte finds room next to the store.
bool is_full(const fs::path& file) {
  try {
    AtomicFile room(file.string() + "-room");  // never put in its place
    room.write(std::string((std::size_t{1} << 20) + 1, '\0'));
    return false;
  } catch (const ResourceError&) {
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// Removes what rebuilds left that were killed.
void remove_left_rebuilds(const fs::path& file) {
  const std::string prefix = file.filename().string() + std::string(kRebuildSuffix);
  std::error_code error;
  for (fs::directory_iterator entry(folder_of(file), error), end; !error && entry != end; entry.increment(error)) {
    std::error_code ignored;
    const bool rebuild = entry->path().filename().string().starts_with(prefix);
    if (rebuild && is_left_behind(entry->path())) fs::remove(entry->path(), ignored);
  }
}

/// Where the new content of a store is made, next to it; gone at the end.
class Draft {
 public:
  explicit Draft(const fs::path& store)  // process numbers of two machines may be the same
      : file_(store.string() + fmt::format("{}{:08x}", kRebuildSuffix, std::random_device()())) {}
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;
  ~Draft() { remove(); }

  const fs::path& file() const { return file_; }

 private:
  void remove() {
    std::error_code ignored;
    fs::remove(file_, ignored);
    fs::remove(file_.string() + "-journal", ignored);
  }

  fs::path file_;
};

/// Puts what `fresh` holds into the store `file`, whatever that holds, in one transaction. The file stays the same: who
/// has it open continues with what is new, where a file put in its place would share a journal's name with the old one.
void replace_content(const fs::path& file, SQLite::Database& fresh) {
  SQLite::Database present = open_database(file, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  const auto check = [&](int code) {
    if (code != SQLITE_OK) throw SQLite::Exception(present.getHandle(), code);
  };
  try {
    schema_version(present);  // refuses a database of another program
  } catch (const SQLite::Exception& error) {
    if (error.getErrorCode() != SQLITE_NOTADB && error.getErrorCode() != SQLITE_CORRUPT) throw;
    check(::sqlite3_db_config(present.getHandle(), SQLITE_DBCONFIG_RESET_DATABASE, 1, nullptr));
  }
  SQLite::Backup copy(present, fresh);
  if (const int code = copy.executeStep(-1); code != SQLITE_DONE) check(code);
}

}  // namespace

void Store::rethrow(const SQLite::Exception& error, const fs::path& file) {
  const std::string name = file.string();
  const auto no_room = [&] {
    return fmt::format(
        "cannot write the store {}: the disk is full\n"
        "free some space, or keep the store elsewhere with --store FILE",
        name);
  };
  switch (error.getErrorCode() & 0xff) {  // a copy fails with extended codes
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      if (error.getErrorCode() == SQLITE_NOTADB && !is_called_a_store(file)) refuse_no_store(file);
      throw DataError(
          fmt::format("the store {} is corrupt ({})\n"
                      "`xlm runs sync --rebuild` makes it again from the run folders",
                      name, error.what()));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      throw Error(fmt::format("the store {} is locked by another process: try again", name));
    case SQLITE_FULL:
      throw ResourceError(no_room());
    case SQLITE_NOMEM:
      throw ResourceError(fmt::format("out of memory while reading the store {}", name));
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
      if (is_full(file)) throw StoreUnwritable(no_room(), kOutOfResources);
      throw StoreUnwritable(
          fmt::format("cannot write the store {}: {}\nkeep it elsewhere with --store FILE", name, error.what()));
    case SQLITE_IOERR:
      if (is_full(file)) throw ResourceError(no_room());
      throw DataError(fmt::format("cannot read or write the store {}: {}", name, error.what()));
    default:
      throw Error(fmt::format("the store {}: {}", name, error.what()));
  }
}

Store::Store(const fs::path& file) : file_(file), database_(open_present(file)) {}

Store Store::open_read_only(const fs::path& file) {
  if (!fs::exists(file)) throw DataError(fmt::format("there is no store {}: `xlm runs sync` makes it", file.string()));
  Store store(file, open_database(file, SQLite::OPEN_READONLY));
  store.use([&](SQLite::Database& database) {
    database.exec("PRAGMA query_only = ON");
    check_version(database, file.string());
  });
  return store;
}

Store Store::in_memory() {
  Store store(":memory:", SQLite::Database(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE));
  store.use([](SQLite::Database& database) { make_schema(database, "the store"); });
  return store;
}

SyncReport Store::sync(const fs::path& runs, const SyncOptions& options) {
  return use([&](SQLite::Database& database) { return execute(database, runs, options); });
}

SyncReport Store::rebuild(const fs::path& file, const fs::path& runs, const SyncOptions& options) {
  refuse_to_replace(file);
  remove_left_rebuilds(file);
  const Draft draft(file);
  Store fresh(draft.file());
  const SyncReport report = fresh.sync(runs, options);
  keep_what_is_none(file);
  try {
    replace_content(file, fresh.database_);
  } catch (const SQLite::Exception& error) {
    rethrow(error, file);
  }
  return report;
}

void Store::add(const std::vector<Run>& runs) {
  std::vector<StampedRun> stamped;
  for (const Run& run : runs) stamped.push_back({run, {}});
  use([&](SQLite::Database& database) { write_runs(database, stamped); });
}

void Store::remove(const std::string& run_id) {
  use([&](SQLite::Database& database) {
    RunWriter writer(database);
    writer.remove(run_id);
    writer.finish();
  });
}

}  // namespace xlm
