// The other processes of a run that several do together.
#include "experiments/runs/peers.h"

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>

#include <fmt/format.h>

#include "base/staged_folder.h"
#include "experiments/runs/machine_resources.h"
#include "results/run_folder/run_folder.h"

namespace xlm {
namespace {

constexpr const char* kMeetingPrefix = ".meeting";
using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kEndOfPeer{20};  // for processes whose connection has ended to do so, too
constexpr std::chrono::seconds kLeave{3};       // for those that nobody needs any more, and that write nothing
constexpr std::chrono::milliseconds kPollPeers{10};
constexpr int kKilledBy = 128;

/// How it ended, once it has, or the time is over.
std::optional<int> await_end(WorkerProcess& process, Clock::time_point end) {
  while (true) {
    if (const std::optional<int> code = process.ended()) return code;
    if (Clock::now() > end) return std::nullopt;
    std::this_thread::sleep_for(kPollPeers);
  }
}

}  // namespace

Peers::Peers(fs::path run_folder, std::string program, std::int64_t count, std::int64_t threads)
    : memory_kills_(xlm::memory_kills()) {
  first_.count = count;
  if (count <= 1) return;
  meeting_ = run_folder / fmt::format("{}.{}", kMeetingPrefix, ::getpid());
  fs::remove_all(meeting_);
  create_folders(meeting_);
  first_.meeting = meeting_;
  for (std::int64_t rank = 1; rank < count; ++rank) {
    others_.push_back(std::make_unique<WorkerProcess>(
        WorkerCommand{.arguments = {program, "worker", run_folder.string(), "--rank", std::to_string(rank), "--meeting",
                                    meeting_.string(), "--threads", std::to_string(threads)},
                      .log = RunPaths{run_folder}.log(),
                      .gpu = ""}));
  }
}

Peers::~Peers() {
  const Clock::time_point end = Clock::now() + kLeave;
  for (const auto& other : others_) {
    if (await_end(*other, end)) continue;
    other->kill();
    await_end(*other, Clock::time_point::max());
  }
  std::error_code ignored;
  if (!meeting_.empty()) fs::remove_all(meeting_, ignored);
}

std::optional<AttemptEnd> Peers::lost() {
  const Clock::time_point end = Clock::now() + kEndOfPeer;
  std::optional<AttemptEnd> failed;  // one that says no more than that another has ended is the last to be named
  for (std::size_t i = 0; i < others_.size(); ++i) {
    const std::optional<int> code = await_end(*others_[i], end);
    if (!code || *code == kDone || *code == kStopped || *code == kDiverged) continue;
    const std::string which = fmt::format("process {} of {}", i + 2, first_.count);
    if (*code == kOutOfResources) {
      return AttemptEnd{EndCause::kMemory, fmt::format("out of memory in {}", which), job_memory()};
    }
    if (*code == kKilledBy + SIGKILL && xlm::memory_kills() > memory_kills_) {
      return AttemptEnd{EndCause::kMemory, fmt::format("out of memory: the system killed {}", which), job_memory()};
    }
    if (*code > kKilledBy) {
      return AttemptEnd{EndCause::kKilled, fmt::format("{} was killed by signal {}", which, *code - kKilledBy)};
    }
    if (!failed) failed = AttemptEnd{EndCause::kError, fmt::format("{} ended with code {}: see the log", which, *code)};
  }
  return failed;
}

void remove_left_meetings(const fs::path& run_folder) { remove_left_folders(run_folder, kMeetingPrefix); }

}  // namespace xlm
