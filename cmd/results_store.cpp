// Opens the store of results for commands.
#include "cmd/results_store.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "base/error.h"
#include "base/progress.h"
#include "base/text.h"
#include "base/words.h"
#include "experiments/configuration/run_id.h"
#include "experiments/runs/run_lock.h"
#include "experiments/sweeps/winners.h"
#include "results/store/run_list.h"
#include "results/store/shown_runs.h"
#include "results/store/unmet_condition.h"

namespace xlm {
namespace {

constexpr double kSilentRuns = 200;  // fewer are read without a visible delay
constexpr std::size_t kMaxCandidates = 5;
constexpr std::size_t kNearId = 2;  // typing errors in an id; ids of different runs differ in more letters

/// Whether `folder` has held runs. Looking into another folder must not create a store there.
bool holds_runs(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (fs::exists(RunPaths{entry->path()}.journal())) return true;
  }
  return false;
}

std::string near_id(const std::string& id, const std::vector<std::string>& ids) {
  for (const std::string& other : ids) {
    if (edit_distance(id, other) <= kNearId) return fmt::format(" (did you mean '{}'?)", other);
  }
  return "";
}

/// The id of a run that is named by a path. Throws UsageError if the path is elsewhere, as its last part could be the
/// id of another run here.
std::string name_in_runs(const std::string& name, const GlobalOptions& global) {
  if (name.find('/') == std::string::npos) return name;
  fs::path path = name;
  if (!path.has_filename()) path = path.parent_path();
  std::error_code error;
  const bool is_there = fs::equivalent(folder_of(path), global.runs, error) && fs::is_directory(path, error);
  if (is_there && path.filename() != "." && path.filename() != "..") return path.filename().string();
  throw UsageError(
      fmt::format("{} is not a run in {}\nname a run there by its id, or its folder of runs with --runs DIR", name,
                  global.runs.string()));
}

}  // namespace

std::set<std::string> measured_columns(const GlobalOptions& global) {
  std::set<std::string> columns;
  if (!fs::exists(global.store_file())) return columns;
  try {
    const std::vector<std::string> names = RunTable(Store::open_read_only(global.store_file())).column_names();
    columns.insert(names.begin(), names.end());
  } catch (const Error&) {
    return {};  // commands that need the store say what is wrong with it
  }
  return columns;
}

ChooseValue choose_in_store(const GlobalOptions& global) {
  return choose_among([&global] {
    const bool is_there = fs::exists(global.runs);
    return std::make_shared<RunTable>(is_there ? open_store(global) : Store::in_memory());
  });
}

std::function<void(double done, double total)> progress_of_runs(const char* label, double least,
                                                                const GlobalOptions& global) {
  auto bar = std::make_shared<std::unique_ptr<Progress>>();  // created by the first report, which gives the total
  return [=, &global](double done, double total) {
    if (total < least) return;
    if (!*bar) {
      *bar = std::make_unique<Progress>(
          Progress::Settings{.label = label, .total = total, .unit = "runs", .quiet = global.quiet}, stderr,
          global.standard_error);
    }
    (*bar)->update(done);
    if (done >= total) (*bar)->finish();
  };
}

SyncOptions sync_options(const GlobalOptions& global) {
  SyncOptions options;
  options.is_alive = has_live_worker;
  options.progress = progress_of_runs("reading runs", kSilentRuns, global);
  return options;
}

Store open_store(const GlobalOptions& global) {
  const fs::path file = global.store_file();
  if (fs::exists(global.runs) && !fs::is_directory(global.runs)) {
    throw DataError(fmt::format("{} is not a folder\nname the folder of runs with --runs DIR", global.runs.string()));
  }
  if (!fs::exists(global.runs)) {
    if (global.runs != GlobalOptions().runs) {
      throw DataError(
          fmt::format("there is no folder of runs {}\n"
                      "make runs with `xlm train` or `xlm sweep`, or name their folder with --runs DIR",
                      global.runs.string()));
    }
    return fs::exists(file) ? Store::open_read_only(file) : Store::in_memory();
  }
  if (!fs::exists(file) && !holds_runs(global.runs)) return Store::in_memory();
  try {
    Store store(file);
    store.sync(global.runs, sync_options(global));
    return store;
  } catch (const StoreUnwritable& error) {
    if (!fs::exists(file)) throw;
    spdlog::warn("{} is not writable, so it cannot be updated; its content may be old", file.string());
    return Store::open_read_only(file);
  }
}

RunTable open_runs(const GlobalOptions& global) { return RunTable(open_store(global)); }

std::string no_runs_hint(const GlobalOptions& global) {
  return fmt::format("there are no runs in {} yet\nmake some with `xlm train CONFIG.yaml` or `xlm sweep SWEEP.yaml`",
                     global.runs.string());
}

std::string why_no_runs(RunTable& runs, const std::vector<Filter>& filters, const std::vector<std::string>& columns,
                        const GlobalOptions& global) {
  return runs.size() == 0 ? no_runs_hint(global) : unmet_condition(runs, filters, columns);
}

std::vector<std::string> listed_columns(const std::vector<std::string>& lists) {
  std::vector<std::string> columns;
  for (const std::string& list : lists) {
    for (const std::string& column : split_words(list, ',', "()[]{}")) columns.emplace_back(trim(column));
  }
  return columns;
}

std::string find_run(const RunTable& runs, const std::string& name, const GlobalOptions& global) {
  const std::string id = name_in_runs(name, global);
  const std::vector<std::string> candidates = ids_called(id, runs.ids());
  if (candidates.size() == 1) return candidates.front();
  if (candidates.empty()) {
    throw DataError(fmt::format("there is no run '{}'{}\n`xlm runs ls` lists the runs", name, near_id(id, runs.ids())));
  }
  const std::size_t shown = std::min(candidates.size(), kMaxCandidates);
  throw UsageError(
      fmt::format("'{}' matches {} runs: {}{}", name, candidates.size(),
                  join({candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(shown)}, ", "),
                  shown < candidates.size() ? ", …" : ""));
}

std::set<std::string> choose_runs(RunTable& runs, const std::vector<std::string>& names,
                                  const std::vector<std::string>& where, const GlobalOptions& global) {
  const std::vector<Filter> filters = parse_filters(where);
  std::set<std::string> ids;
  for (const std::string& name : names) ids.insert(find_run(runs, name, global));
  if (names.empty() || !filters.empty()) {
    const std::vector<std::size_t> rows = newest_first(runs, filters);
    if (rows.empty()) throw DataError(why_no_runs(runs, filters, {}, global));
    for (const std::size_t row : rows) ids.insert(runs.id(row));
  }
  return ids;
}

void add_where(CLI::App& app, std::vector<std::string>& where, std::string_view which) {
  app.add_option("--where", where, fmt::format("{} runs with KEY=VALUE (!=, <, <=, >, >=); all must hold", which))
      ->allow_extra_args(false)
      ->type_name("CONDITION");
}

void warn_of_older_code(RunTable& runs, const std::vector<std::size_t>& rows, const std::vector<Filter>& filters,
                        const std::vector<std::string>& columns) {
  const std::size_t older = shown_among(runs, rows, filters, columns).left_out.older.size();
  if (older == 0) return;
  spdlog::warn("{} of an older version of a program's code {} among these; tables leave {} out ({})",
               counted(older, "run"), older == 1 ? "is" : "are", older == 1 ? "it" : "them", kProgramFingerprint);
}

}  // namespace xlm
