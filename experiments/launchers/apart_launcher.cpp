// Does a sweep on machines that do not see this one's files. Each gets the current folder, does some runs of the sweep
// there, and packs them; what it packed is merged here. The list of runs is dealt in parts, the larger ones first, so
// that faster machines do more. Where this command ends, the sweeps there save and stop: their standard input closes.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "base/command.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "base/text.h"
#include "base/version.h"
#include "experiments/collections/run_merge.h"
#include "experiments/launchers/launcher.h"
#include "experiments/launchers/worker_script.h"

namespace xlm {
namespace {

constexpr double kPoll = 0.1;           // seconds between looks at a command's end
constexpr double kSecondsToSave = 600;  // of a sweep there, after a stop
constexpr double kSecondsToStop = 60;   // of other commands
constexpr int kOtherProgram = 97;       // exit code of a script that found another version

const SiteApart& machines_of(const Site& site) {
  if (site.apart) return *site.apart;
  throw UsageError(
      fmt::format("{} has no `apart`: which machines do the runs is unknown\n"
                  "to write such a file: xlm sweep --print-site apart",
                  site.file.empty() ? "there is no site file, which" : site.file.string()));
}

/// Throws UsageError for a sweep whose file is not sent, or whose runs need each other's folders.
void check_runs_are_apart(const LaunchRequest& request) {
  if (const fs::path file = request.sweep.front(); file.is_absolute() || *file.begin() == "..") {
    throw UsageError(
        fmt::format("{} is not in the current folder, which is what other machines get\ncopy it there", file.string()));
  }
  const auto refuse = [](const std::string& what) {
    throw UsageError(
        fmt::format("{} needs one folder of runs for all machines: --launcher command, with --print-site ssh", what));
  };
  if (request.list.growth) refuse("a search");
  if (request.list.early_stopping) refuse("early stopping");
  for (const SweepRun& run : request.list.items) {
    if (!run.source.empty()) refuse(fmt::format("a run that begins from another one ({})", run.id()));
  }
}

/// The folder of runs on the machines, below the current folder there as it is here.
std::string runs_there(const LaunchRequest& request) {
  const fs::path relative = request.list.runs.lexically_relative(fs::current_path());
  return relative.empty() || *relative.begin() == ".." || relative == "." ? "runs" : relative.string();
}

/// What a machine does for a part of the runs; the archive is no smaller if it is compressed. Its standard input ends
/// when no command waits for it any more.
std::string script_of(const LaunchRequest& request, const std::string& host, const std::vector<std::string>& ids) {
  const SiteApart& apart = machines_of(request.site);
  const std::string program = shell_word(apart.program);
  const std::string version = fmt::format("xlm {} ({})", kVersion, kCommit);
  const std::string runs = shell_word(runs_there(request));
  std::string sweep = program + " sweep";
  for (const std::string& word : request.sweep) sweep += " " + shell_word(word);
  for (const std::string& id : ids) sweep += " --only " + id;
  if (apart.jobs > 0) sweep += fmt::format(" --jobs {}", apart.jobs);
  return fmt::format(
      "exec 3<&0 4>&1 >&2\n"
      "cd {place} || exit 1\n"
      "{setup}"
      "version=$({program} --version)\n"
      "[ \"$version\" = {version} ] || {{ echo \"$version\" >&2; exit {other}; }}\n"
      "{sweep} --runs {runs} --quiet </dev/null 3<&- 4>&- &\n"
      "worker=$!\n"
      "(cat <&3; kill -TERM \"$worker\") >/dev/null 2>&1 4>&- &\n"
      "exec 3<&-\n"
      "wait \"$worker\"; code=$?\n"
      "rm -f {archive}\n"
      "case $code in\n"
      "  0 | 1 | 75) {program} runs pack {ids} --models --checkpoints --out {archive} --runs {runs} && cat {archive} "
      ">&4 || "
      "exit ;;\n"
      "esac\n"
      "exit $code\n",
      fmt::arg("place", shell_word((fs::path(apart.place) / fs::current_path().filename()).string())),
      fmt::arg("setup", setup_lines(request.site)), fmt::arg("program", program),
      fmt::arg("version", shell_word(version)), fmt::arg("other", kOtherProgram), fmt::arg("sweep", sweep),
      fmt::arg("runs", runs),
      fmt::arg("archive", shell_word((fs::path(runs_there(request)) / fmt::format(".apart-{}.tar", host)).string())),
      fmt::arg("ids", join(ids, " ")));
}

/// The runs that are left, dealt to the machines, and what they brought.
class ApartSweep {
 public:
  ApartSweep(const LaunchRequest& request, std::int64_t machines)
      : request_(request), apart_(machines_of(request.site)), logs_(request.list.folder()) {
    for (const SweepRun& run : request.list.items) {
      if (run.action == SweepAction::kRun) left_.push_back(run.id());
    }
    hosts_.assign(apart_.hosts.begin(), apart_.hosts.begin() + machines);
  }

  LaunchReport run() {
    create_folders(logs_);
    for (const std::string& host : hosts_) fs::remove(log_of(host));  // what an earlier command met is over
    std::vector<std::thread> threads;
    for (const std::string& host : hosts_) threads.emplace_back([this, &host] { serve(host); });
    for (std::thread& thread : threads) thread.join();
    const bool stopped = request_.settings.should_stop();
    if (!left_.empty() && !stopped && !failure_.empty()) throw Error(failure_);
    return {.interrupted = stopped || !left_.empty(), .ended = {}};
  }

 private:
  /// Does parts of the runs on a machine until none is left, or it cannot go on: then others get its part.
  void serve(const std::string& host) {
    std::vector<std::string> part;
    try {
      SiteValues values = values_of_host(host);
      const fs::path archive = logs_ / (host + ".tar");
      values.insert({{"folder", fs::current_path().string()},
                     {"place", apart_.place},
                     {"name", fs::current_path().filename().string()},
                     {"runs", runs_there(request_)}});
      part = next_part();
      if (part.empty()) return;
      if (const int code = finish(host, apart_.send, values, kSecondsToStop, "/dev/null"); code != 0)
        fail(host, apart_.send, code);
      for (; !part.empty(); part = next_part()) {
        values["script"] = script_of(request_, host, part);
        const int code = finish(host, apart_.run, values, kSecondsToSave, archive);
        if (code != kDone && code != kFailed && code != kStopped) fail(host, apart_.run, code);
        merge(host, archive, part);
        if (code == kStopped) return;
      }
    } catch (const std::exception& error) {
      const std::scoped_lock lock(mutex_);
      left_.insert(left_.begin(), part.begin(), part.end());
      if (request_.settings.should_stop()) return;
      failure_ = error.what();
      spdlog::warn("{}", error.what());
    }
  }

  std::vector<std::string> next_part() {
    const std::scoped_lock lock(mutex_);
    std::vector<std::string> part;
    if (request_.settings.should_stop()) return part;
    const std::size_t most =
        std::max({std::size_t{1}, static_cast<std::size_t>(apart_.jobs), left_.size() / (2 * hosts_.size())});
    for (; !left_.empty() && part.size() < most; left_.pop_front()) part.push_back(left_.front());
    return part;
  }

  /// Runs a command of the site for a machine; what it says goes to the machine's log. Once the user stops the sweep,
  /// it has so many seconds left.
  int finish(const std::string& host, const SiteCommand& command, const SiteValues& values, double seconds,
             const fs::path& out) const {
    std::vector<std::string> words{"sh", "-c",         R"(out=$1 log=$2; shift 2; exec "$@" >"$out" 2>>"$log")",
                                   "sh", out.string(), log_of(host).string()};
    for (std::string& word : site_words(command, values)) words.push_back(std::move(word));
    Pipe lifeline = make_pipe();  // its standard input, which ends when this process does
    if (!lifeline.reading.is_open()) {
      throw ResourceError(fmt::format("cannot start a program: {}", std::strerror(errno)));
    }
    const pid_t process = start_program(words, lifeline.reading.get(), STDERR_FILENO, STDERR_FILENO, true);
    double end = 0;
    for (int status = 0;; sleep_seconds(kPoll)) {
      if (::waitpid(process, &status, WNOHANG) == process)
        return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
      if (!request_.settings.should_stop()) continue;
      lifeline.writing.reset();
      if (end == 0) end = monotonic_seconds() + seconds;
      if (monotonic_seconds() > end) ::kill(-process, SIGKILL);
    }
  }

  [[noreturn]] void fail(const std::string& host, const SiteCommand& command, int code) const {
    std::string said(trim(read_file(log_of(host))));
    const std::size_t error = said.rfind("error: ");
    said = error != std::string::npos ? first_line(said.substr(error)) : said.substr(said.rfind('\n') + 1);
    if (code == kOtherProgram) {
      throw Error(
          fmt::format("{} has {}, and this is xlm {} ({})\ninstall this one there, or say where it is: apart.program",
                      host, said, kVersion, kCommit));
    }
    throw Error(fmt::format("{}: {} ended with code {}: {}\nall that was said: {}", host,
                            command.parts.front().words.front(), code, said, log_of(host).string()));
  }

  fs::path log_of(const std::string& host) const { return logs_ / (host + ".log"); }

  void merge(const std::string& host, const fs::path& archive, const std::vector<std::string>& part) {
    const std::scoped_lock lock(mutex_);
    for (const MergedRun& run : merge_archive(archive, request_.list.runs, {})) {
      if (!run.note.empty()) spdlog::warn("{}, of {}: {}: {}", run.id, host, name_of(run.outcome), run.note);
    }
    fs::remove(archive);
    request_.settings.finished();
    if (request_.settings.screen != nullptr) {
      fmt::print(request_.settings.screen, "{} from {}, {} left\n", counted(part.size(), "run"), host, left_.size());
    }
  }

  const LaunchRequest& request_;
  const SiteApart& apart_;
  const fs::path logs_;
  std::vector<std::string> hosts_;
  std::mutex mutex_;
  std::deque<std::string> left_;  // ids
  std::string failure_;           // of the machine that gave up last
};

class ApartLauncher : public Launcher {
 public:
  std::int64_t usual_workers(const LaunchRequest& request) const override {
    return std::ssize(machines_of(request.site).hosts);
  }

  std::string preview(LaunchRequest& request, std::int64_t count) override {
    const SiteApart& apart = machines_of(request.site);
    check_runs_are_apart(request);
    machines_ = std::min(count, std::ssize(apart.hosts));
    return fmt::format("{} would be sent to {}, and the runs done there, below {}\n", fs::current_path().string(),
                       join({apart.hosts.begin(), apart.hosts.begin() + machines_}, ", "), apart.place);
  }

  Launched start(LaunchRequest& request, std::int64_t /*count*/) override {
    return {.text = "", .report = ApartSweep(request, machines_).run()};
  }

 private:
  std::int64_t machines_ = 0;
};

}  // namespace

std::unique_ptr<Launcher> make_apart_launcher() { return std::make_unique<ApartLauncher>(); }

}  // namespace xlm
