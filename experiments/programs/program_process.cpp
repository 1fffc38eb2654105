// A foreign program as a child process: the side of the worker.
#include "experiments/programs/program_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <random>

#include <fmt/format.h>

#include "base/command.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "base/lookup.h"
#include "experiments/programs/executable.h"
#include "experiments/programs/last_output.h"
#include "experiments/programs/process_tree.h"
#include "experiments/programs/program_log.h"
#include "experiments/programs/watcher.h"

namespace xlm {
namespace {

using ProgramTime = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t kPieceBytes = 65536;
constexpr int kPipeBytes = 1 << 20;
constexpr double kLongestGrace = 1e7;   // seconds
constexpr double kOwnedPatience = 10;   // seconds until what an earlier attempt left must be gone
constexpr milliseconds kFirstLook{50};  // at the memory, after the start; the time doubles
constexpr milliseconds kLookPause{1000};
constexpr int kLooksShare = 50;                    // a look may take one part in so many of the time
constexpr milliseconds kWaitForEndOfOutput{1000};  // once no process is left
constexpr milliseconds kWaitForWatcher{40000};     // longer than it waits for what cannot be killed

/// Of a group of processes that this one is a part of, as torchrun, MPI or a scheduler's pod says it. A library would
/// take the program for one of them, and be silent or wait for the others.
bool is_of_outer_group(std::string_view name) {
  constexpr std::array<std::string_view, 13> kNames{
      "RANK",      "WORLD_SIZE",       "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK",  "NODE_RANK",  "ROLE_RANK",
      "ROLE_NAME", "GROUP_WORLD_SIZE", "CROSS_RANK", "ROLE_WORLD_SIZE",  "MASTER_ADDR", "MASTER_PORT"};
  constexpr std::array<std::string_view, 8> kBeginnings{
      "TORCHELASTIC_", "PET_", "OMPI_COMM_WORLD_", "PMI_", "PMIX_", "MV2_COMM_WORLD_", "HOROVOD_RANK", "HOROVOD_SIZE"};
  return contains(kNames, name) ||
         std::ranges::any_of(kBeginnings, [&](const auto& begin) { return name.starts_with(begin); });
}

std::vector<std::string> merged_environment(const ProgramCommand& command) {
  std::map<std::string, std::string> added = command.environment;
  added[kOwnerVariable] = command.owner;
  // Python holds back what it prints to a pipe, and its lines would come in lumps.
  if (variable_of(added, "PYTHONUNBUFFERED").empty()) added["PYTHONUNBUFFERED"] = "1";
  std::vector<std::string> result;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text(*variable);
    const std::string name(text.substr(0, text.find('=')));
    if (!added.contains(name) && !is_of_outer_group(name)) result.emplace_back(text);
  }
  for (const auto& [name, value] : added) result.push_back(name + "=" + value);
  return result;
}

/// Why a watcher ended without a word: it may have too few files.
int error_of_lost_watcher() {
  constexpr rlim_t kEnough = 64;
  rlimit files{};
  return ::getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < kEnough ? EMFILE : EAGAIN;
}

[[noreturn]] void throw_start_failure(const ProgramCommand& command, const fs::path& file, int error, bool in_folder) {
  const std::string cause = std::strerror(error);
  if (in_folder)
    throw UsageError(fmt::format("the program's folder {} cannot be entered: {}", command.folder.string(), cause));
  const std::string what = fmt::format("cannot start {}: {}", file.string(), cause);
  switch (error) {
    case EMFILE:
      throw ResourceError(what + "\nthe limit of open files is too low: raise it, such as with ulimit -n 1024");
    case EAGAIN:
    case ENOMEM:
    case ENFILE:
      throw ResourceError(what);
    case E2BIG:
      throw UsageError(what + "\nits words and its environment are too long: pass long values in a file");
    case ENOEXEC:
      throw UsageError(what + "\nit is neither a program for this processor nor a script that begins with #!");
    case ENOENT:
      throw UsageError(what + "\nthe interpreter that it names is missing");
    case EACCES:
      throw UsageError(what + "\nchmod +x " + file.string());
    default:
      throw UsageError(what);
  }
}

std::string random_owner() {
  std::random_device random;
  return fmt::format("{}-{:08x}{:08x}", ::getpid(), random(), random());
}

}  // namespace

class ProgramProcess::State {
 public:
  explicit State(ProgramCommand command) : command_(std::move(command)) {
    if (command_.words.empty()) throw UsageError("the program has no command: name it in program.command");
    const fs::path file = find_executable(command_.words, command_.folder, command_.environment);
    if (command_.owner.empty()) {
      command_.owner = random_owner();
    } else {
      end_earlier();
    }
    if (!command_.log.empty()) log_.emplace(command_.log);
    if (command_.memory_kills) memory_kills_ = command_.memory_kills();
    start(file);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  ~State() {
    if (ended_) return;
    order(WatcherOrder::kKillProgram);
    command_.output = nullptr;
    const ProgramTime::time_point limit = ProgramTime::now() + kWaitForWatcher;
    while (poll(kLookPause) && ProgramTime::now() < limit) {
    }
    if (!ended_) lose_watcher();
  }

  bool poll(milliseconds longest) {
    if (ended_) return false;
    look_at_memory();
    std::array<pollfd, 2> sources{{{output_.get(), POLLIN, 0}, {control_.get(), POLLIN, 0}}};
    const ProgramTime::time_point until = ProgramTime::now() + longest;
    const int ready =
        ::poll(sources.data(), sources.size(), static_cast<int>(std::max(longest, milliseconds(0)).count()));
    if (ready > 0 && sources[1].revents != 0) hear_watcher();
    const bool is_empty = !output_.is_open() || take_output(until);
    const bool has_waited = gone_ && ProgramTime::now() > *gone_ + kWaitForEndOfOutput;
    // A slow reader still gets all that is left. Only what could not be killed can write more than the pipe held.
    if (gone_ && (!output_.is_open() || (has_waited && (is_empty || taken_since_gone_ > kPipeBytes)))) finish();
    return !ended_;
  }

  void stop() {
    if (!asked_to_stop_) order(WatcherOrder::kStopProgram);
    asked_to_stop_ = true;
  }

  void order(WatcherOrder order) {
    const char byte = static_cast<char>(order);
    while (::send(control_.get(), &byte, 1, MSG_NOSIGNAL) < 0 && errno == EINTR) {
    }
  }

  const ProgramEnd& end() const { return end_; }
  pid_t pid() const { return report_.pid; }

  ProgramUsage usage() const {
    if (ended_) return end_.usage;
    ProgramUsage usage;
    usage.wall_seconds = std::chrono::duration<double>(ProgramTime::now() - began_).count();
    usage.peak_memory = peak_memory_;
    return usage;
  }

 private:
  void end_earlier() const {
    std::int64_t left = 0;
    kill_with_variable(kOwnerVariable, command_.owner, kOwnedPatience, left);
    if (left == 0) return;
    throw Error(
        fmt::format("{} processes of an earlier attempt at {} cannot be killed: they wait for a disk or a device\n"
                    "try again later, or on another machine",
                    left, command_.owner));
  }

  void start(const fs::path& file) {
    std::vector<std::string> words = command_.words;
    std::vector<std::string> environment = merged_environment(command_);
    const std::vector<char*> arguments = pointers_to(words);
    const std::vector<char*> variables = pointers_to(environment);
    std::array<int, 2> sockets{-1, -1};
    Pipe pipe = make_pipe();
    if (!pipe.reading.is_open()) throw_file_error("make a pipe for", command_.words[0], errno);
    output_ = std::move(pipe.reading);
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets.data()) != 0) {
      throw_file_error("make a socket for", command_.words[0], errno);
    }
    control_.reset(sockets[0]);
    Descriptor watchers_end(sockets[1]);
    ::fcntl(output_.get(), F_SETPIPE_SZ, kPipeBytes);  // where the limit of the user allows it
    ::fcntl(output_.get(), F_SETFL, O_NONBLOCK);
    const fs::path log_end = command_.log.empty() ? fs::path() : ProgramLog::end_file(command_.log);
    const WatchedCommand watched{.file = file.c_str(),
                                 .arguments = arguments.data(),
                                 .environment = variables.data(),
                                 .folder = command_.folder.c_str(),
                                 .grace = std::clamp(command_.grace.count(), 0.0, kLongestGrace),
                                 .stop_all = command_.stop_all,
                                 .control = watchers_end.get(),
                                 .output = pipe.writing.get(),
                                 .reading = output_.get(),
                                 .log = command_.log.empty() ? nullptr : command_.log.c_str(),
                                 .log_end = log_end.c_str(),
                                 .log_part = kLogPart};
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    began_ = ProgramTime::now();
    watcher_ = ::fork();
    if (watcher_ == 0) run_watcher(watched);
    const int error = errno;
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (watcher_ < 0) throw ResourceError(fmt::format("cannot start {}: {}", command_.words[0], std::strerror(error)));
    watchers_end.reset();
    if (!receive()) report_ = {.kind = WatcherReport::Kind::kNotStarted, .error = error_of_lost_watcher()};
    if (report_.kind == WatcherReport::Kind::kStarted) return;
    wait_for_watcher();
    ended_ = true;
    throw_start_failure(command_, file, report_.error, report_.in_folder != 0);
  }

  /// The next report of the watcher; false if it is gone.
  bool receive() {
    while (true) {
      const ssize_t count = ::recv(control_.get(), &report_, sizeof(report_), 0);
      if (count < 0 && errno == EINTR) continue;
      return count == static_cast<ssize_t>(sizeof(report_));
    }
  }

  void hear_watcher() {
    if (!receive()) {
      lose_watcher();
      return;
    }
    control_.reset();
    wait_for_watcher();
    gone_ = ProgramTime::now();
    end_.code = WIFEXITED(report_.status) ? WEXITSTATUS(report_.status) : 0;
    end_.signal = WIFSIGNALED(report_.status) ? WTERMSIG(report_.status) : 0;
    end_.stopped = report_.stopped != 0;
    end_.killed = report_.killed != 0;
    end_.left = report_.left;
    end_.unkillable = report_.unkillable;
    end_.usage.processor_seconds = report_.processor_seconds;
    peak_memory_ = std::max(peak_memory_, report_.largest);
  }

  /// It was killed: the program's first process has died with it, and the others are found by their environment.
  void lose_watcher() {
    ::kill(watcher_, SIGKILL);
    wait_for_watcher();
    control_.reset();
    kill_with_variable(kOwnerVariable, command_.owner, kOwnedPatience, end_.unkillable);
    end_.watched = false;
    gone_ = ProgramTime::now();
  }

  void wait_for_watcher() {
    while (watcher_ > 0 && ::waitpid(watcher_, nullptr, 0) < 0 && errno == EINTR) {
    }
    watcher_ = -1;
  }

  /// Hands on what is there. A program that never pauses does not keep it longer than the time. Returns whether
  /// nothing is left for now.
  bool take_output(ProgramTime::time_point until) {
    std::array<char, kPieceBytes> piece{};
    do {
      const ssize_t count = ::read(output_.get(), piece.data(), piece.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return true;
      if (count == 0) {
        output_.reset();
        return true;
      }
      if (gone_) taken_since_gone_ += count;
      const std::string_view output(piece.data(), static_cast<std::size_t>(count));
      if (log_) log_->write(output);
      last_output_.add(output);
      if (command_.output) command_.output(output);
    } while (ProgramTime::now() < until);
    return false;
  }

  void look_at_memory() {
    const ProgramTime::time_point begin = ProgramTime::now();
    if (gone_ || begin < next_look_) return;
    const std::vector<TreeProcess> processes = descendants_of(watcher_);
    peak_memory_ = std::max(peak_memory_, memory_of(processes));
    last_look_ = begin;
    const auto taken = ProgramTime::now() - begin;
    next_look_ = begin + std::max<ProgramTime::duration>(pause_, kLooksShare * taken);
    pause_ = std::min(2 * pause_, kLookPause);
  }

  /// A program that is smaller than this one and ends within a moment has shown only how it began.
  bool is_peak_known() const {
    constexpr std::chrono::seconds kMoment{1};
    const auto looked = last_look_ - began_;
    return report_.largest > 0 || (looked >= kMoment && looked >= (*gone_ - began_) / 2);
  }

  void finish() {
    ended_ = true;
    output_.reset();
    end_.usage.wall_seconds = std::chrono::duration<double>(*gone_ - began_).count();
    end_.usage.peak_memory = is_peak_known() ? peak_memory_ : 0;
    end_.last_lines = last_output_.message();
    if (log_) end_.log_failure = log_->failure();
    if (!end_.is_success()) find_shortage();
  }

  void find_shortage() {
    const std::string recent = last_output_.recent();
    end_.memory = find_memory_shortage(recent, &end_.memory_sign);
    if (end_.memory != MemoryShortage::kNone || end_.killed || !command_.memory_kills) return;
    constexpr int kShellKilled = 128 + SIGKILL;
    bool killed = end_.signal == SIGKILL || end_.code == kShellKilled;
    for (const char* words : {"Killed", "SIGKILL", "signal 9", "exitcode: -9", "exitcode -9", "exit code -9"}) {
      killed = killed || recent.find(words) != std::string::npos;
    }
    if (!killed || end_.stopped || command_.memory_kills() <= memory_kills_) return;
    end_.memory = MemoryShortage::kHost;
    end_.memory_sign = "the system killed it";
  }

  ProgramCommand command_;
  std::optional<ProgramLog> log_;
  LastOutput last_output_;
  Descriptor output_;
  Descriptor control_;
  pid_t watcher_ = -1;
  WatcherReport report_;
  ProgramEnd end_;
  std::int64_t memory_kills_ = 0;
  double peak_memory_ = 0;
  milliseconds pause_ = kFirstLook;
  ProgramTime::time_point began_;
  ProgramTime::time_point next_look_;
  ProgramTime::time_point last_look_;
  std::optional<ProgramTime::time_point> gone_;  // when no process of it was left
  std::int64_t taken_since_gone_ = 0;            // bytes of output
  bool asked_to_stop_ = false;
  bool ended_ = false;
};

ProgramProcess::ProgramProcess(ProgramCommand command) : state_(std::make_unique<State>(std::move(command))) {}
ProgramProcess::~ProgramProcess() = default;
bool ProgramProcess::poll(std::chrono::milliseconds longest) { return state_->poll(longest); }
void ProgramProcess::stop() { state_->stop(); }
void ProgramProcess::kill() { state_->order(WatcherOrder::kKillProgram); }
const ProgramEnd& ProgramProcess::end() const { return state_->end(); }
ProgramUsage ProgramProcess::usage() const { return state_->usage(); }
pid_t ProgramProcess::pid() const { return state_->pid(); }

}  // namespace xlm
