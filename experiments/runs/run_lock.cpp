// One worker per run.
#include "experiments/runs/run_lock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/first_file.h"
#include "base/json.h"
#include "base/text.h"
#include "results/run_folder/journal.h"
#include "results/run_folder/run_folder.h"

namespace xlm {
namespace {

constexpr std::string_view kPrefix = "lock.";
constexpr int kAttempts = 100;
constexpr double kMaxClockError = 3600;  // seconds that another machine's clock may be off

/// Tokens of the lock files in a folder, unordered; `error` says why some may be missing.
std::vector<std::int64_t> tokens_in(const fs::path& folder, std::error_code& error) {
  std::vector<std::int64_t> tokens;
  for (const fs::directory_entry& entry : entries_in(folder, error)) {
    const std::string name = entry.path().filename().string();
    std::int64_t token = 0;
    if (name.rfind(kPrefix, 0) != 0 || !parse_integer(name.substr(kPrefix.size()), token)) continue;
    if (token > 0 && token <= kHighestToken) tokens.push_back(token);
  }
  return tokens;
}

std::vector<std::int64_t> tokens_in(const fs::path& folder) {
  std::error_code error;
  std::vector<std::int64_t> tokens = tokens_in(folder, error);
  if (error) throw_file_error("read the folder", folder, error.value());
  return tokens;
}

std::int64_t newest_lock(const fs::path& folder) {
  const std::vector<std::int64_t> tokens = tokens_in(folder);
  return tokens.empty() ? 0 : *std::ranges::max_element(tokens);
}

fs::path lock_file(const fs::path& folder, std::int64_t token) { return folder / fmt::format("{}{}", kPrefix, token); }

std::string lock_text(const ProcessIdentity& holder, bool released) {
  Json content = {{"host", holder.host}, {"machine", holder.machine}, {"pid", holder.pid}, {"started", holder.started}};
  if (!holder.job.empty()) content.update({{"job", holder.job}, {"restarts", holder.restarts}});
  if (released) content["released"] = true;
  return content.dump() + "\n";
}

/// Seconds since 1970 by the clock of the holder, or of the file server; nullopt: the file is being replaced.
std::optional<double> heartbeat_of(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return static_cast<double>(status.st_mtim.tv_sec) + 1e-9 * static_cast<double>(status.st_mtim.tv_nsec);
}

/// Heartbeats that seem old, watched by this machine's clock: a holder whose clock is behind lives if its heartbeat
/// changes, whatever it says. The locks of all runs of a folder are noted together, so that many take one wait.
class WatchedHeartbeats {
 public:
  /// Whether the heartbeat of `path` changes. The first question about a folder of runs waits for a heartbeat.
  bool changes(const fs::path& path, const LockSettings& settings) {
    using Seconds = std::chrono::duration<double>;
    const std::lock_guard guard(mutex_);
    if (noted_.count(path) == 0) note_all_beside(path);
    Noted& noted = noted_[path];
    constexpr double kWaited = 1.2;  // of the time between heartbeats
    constexpr Seconds kPause(0.1);
    while (true) {
      const auto now = std::chrono::steady_clock::now();
      const std::optional<double> heartbeat = heartbeat_of(path);
      if (!heartbeat) return false;  // another has taken the lock over
      if (*heartbeat != noted.heartbeat) {
        noted = {.heartbeat = *heartbeat, .since = now, .has_changed = true};
        return true;
      }
      const Seconds unchanged = now - noted.since;
      if (noted.has_changed) return unchanged.count() < settings.stale_after;
      if (unchanged.count() > kWaited * settings.heartbeat) return false;
      std::this_thread::sleep_for(kPause);
    }
  }

 private:
  struct Noted {
    double heartbeat = 0;
    std::chrono::steady_clock::time_point since{};
    bool has_changed = false;
  };

  /// A folder that cannot be read, or that is removed meanwhile, is passed over: it may be none of a run.
  void note_all_beside(const fs::path& path) {
    const auto now = std::chrono::steady_clock::now();
    noted_.try_emplace(path, Noted{heartbeat_of(path).value_or(0), now});
    for (const fs::directory_entry& entry : entries_in(folder_of(folder_of(path)))) {
      std::error_code unread;
      if (!entry.is_directory(unread)) continue;
      for (const std::int64_t token : tokens_in(entry.path(), unread)) {
        const fs::path other = lock_file(entry.path(), token);
        noted_.try_emplace(other, Noted{heartbeat_of(other).value_or(0), now});
      }
    }
  }

  std::mutex mutex_;
  std::map<fs::path, Noted> noted_;
};

/// Whether a holder on another machine lives.
bool beats(const fs::path& path, const LockSettings& settings) {
  const std::optional<double> heartbeat = heartbeat_of(path);
  if (!heartbeat) return true;  // being replaced
  const double age = (settings.clock ? settings.clock() : wall_seconds()) - *heartbeat;
  if (age < settings.stale_after) return age > -kMaxClockError;
  static WatchedHeartbeats watched;
  return age < kMaxClockError && watched.changes(path, settings);
}

/// Reads what the file records about its holder. A file without whole content is being written, or its writer was
/// killed.
LockState read_lock_file(const fs::path& path, std::int64_t token) {
  LockState state{.token = token};
  std::string text;
  try {
    text = read_file(path, 1 << 16);
  } catch (const Error&) {
    return state;
  }
  const Json content = parse_json_if_any(text).value_or(Json());
  if (!content.is_object()) return state;
  const auto number_of = [&](const char* key) {
    return content.contains(key) && content[key].is_number_integer() ? content[key].get<std::int64_t>() : 0;
  };
  state.holder = {.host = text_member(content, "host"),
                  .machine = text_member(content, "machine"),
                  .pid = number_of("pid"),
                  .started = static_cast<std::uint64_t>(number_of("started")),
                  .job = text_member(content, "job"),
                  .restarts = number_of("restarts")};
  state.released = content.contains("released");
  return state;
}

}  // namespace

LockState read_lock(const fs::path& run_folder, const LockSettings& settings) {
  const std::int64_t token = newest_lock(run_folder);
  if (token == 0) return {};
  const fs::path path = lock_file(run_folder, token);
  LockState state = read_lock_file(path, token);
  if (state.released) return state;
  switch (liveness(state.holder)) {
    case Liveness::kAlive:
      state.held = true;
      break;
    case Liveness::kGone:
      break;
    case Liveness::kUnknown:
      state.held = beats(path, settings);
      break;
  }
  return state;
}

bool has_live_worker(const fs::path& run_folder) { return fs::is_directory(run_folder) && read_lock(run_folder).held; }

/// Touches the lock file regularly, on its own thread: a step may take longer than a heartbeat.
class RunLock::Heartbeat {
 public:
  Heartbeat(fs::path path, double interval)
      : path_(std::move(path)), interval_(interval), thread_([this] { beat(); }) {}
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;
  ~Heartbeat() {
    {
      const std::lock_guard guard(mutex_);
      ended_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }

 private:
  void beat() {
    std::unique_lock guard(mutex_);
    while (!wake_.wait_for(guard, std::chrono::duration<double>(interval_), [this] { return ended_; })) {
      // The file is gone if another worker has taken the lock over. still_owner reports that.
      ::utimensat(AT_FDCWD, path_.c_str(), nullptr, 0);
    }
  }

  fs::path path_;
  double interval_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool ended_ = false;
  std::thread thread_;
};

RunLock::RunLock(fs::path run_folder, LockSettings settings)
    : folder_(std::move(run_folder)), settings_(std::move(settings)) {
  if (!settings_.holder) settings_.holder = this_process();
  // A folder may be copied without its lock files. The journal still has their tokens.
  const std::int64_t journalled = highest_token(RunPaths{folder_}.journal());
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const LockState present = read_lock(folder_, settings_);
    if (present.held && present.holder != settings_.from) {
      throw RunLockedError(fmt::format(
          "the run {} is in use by process {} on {}\nwait for it, or stop it: xlm runs stop {}",
          folder_.filename().string(), present.holder.pid,
          present.holder.host.empty() ? "another machine" : present.holder.host, folder_.filename().string()));
    }
    if (!try_take(std::max(present.token, journalled) + 1)) continue;
    heartbeat_ = std::make_unique<Heartbeat>(file(token_), settings_.heartbeat);
    remove_older();
    return;
  }
  throw Error(fmt::format("cannot lock the run {}: other workers keep taking it", folder_.string()));
}

RunLock::~RunLock() {
  heartbeat_.reset();
  try {
    if (still_owner()) write_file(file(token_), lock_text(*settings_.holder, true));
  } catch (const std::exception&) {
    // For example, the disk is full. The lock is stale as soon as this process is gone.
  }
}

bool RunLock::still_owner() const { return newest_lock(folder_) == token_; }

fs::path RunLock::file(std::int64_t token) const { return lock_file(folder_, token); }

/// A slow contender may create a number that a faster one has already used and removed. The faster one's file then
/// exists with a higher number.
bool RunLock::try_take(std::int64_t token) {
  const FirstFile how{.durable = false, .doing = "lock the run with"};  // no worker outlives a crash of its machine
  if (!write_first(file(token), lock_text(*settings_.holder, false), how)) return false;
  if (newest_lock(folder_) != token) {
    ::unlink(file(token).c_str());
    return false;
  }
  token_ = token;
  return true;
}

void RunLock::remove_older() const {
  for (const std::int64_t token : tokens_in(folder_)) {
    if (token < token_) ::unlink(file(token).c_str());
  }
}

}  // namespace xlm
