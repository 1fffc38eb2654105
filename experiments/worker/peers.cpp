// The other processes of a run that several do together.
#include "experiments/worker/peers.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "experiments/runs/machine_resources.h"
#include "results/run_folder/run_folder.h"

namespace xlm {
namespace {

constexpr const char* kMeetingPrefix = ".meeting.";
using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kEndOfPeer{20};  // for processes whose connection has ended to do so, too
constexpr std::chrono::seconds kLeave{3};       // for those that are not needed any more, and that write nothing
constexpr std::chrono::milliseconds kPollPeers{10};

/// How it ended, once it has, or the time is over.
std::optional<int> await_end(WorkerProcess& process, Clock::time_point end) {
  while (true) {
    if (const std::optional<int> code = process.ended()) return code;
    if (Clock::now() > end) return std::nullopt;
    std::this_thread::sleep_for(kPollPeers);
  }
}

fs::path place_of_word(const fs::path& meeting, std::int64_t rank) { return meeting / fmt::format("error.{}", rank); }
fs::path place_of_rows(const fs::path& meeting, std::int64_t rank) { return meeting / fmt::format("rows.{}", rank); }

/// What is left at a place; empty if nothing is.
std::string left_at(const fs::path& place) {
  std::error_code ignored;
  return fs::exists(place, ignored) ? read_file(place) : "";
}

void leave(const fs::path& place, const std::string& text) {
  try {
    write_file(place, text);
  } catch (const Error&) {
    return;  // a full disk, or the meeting is over
  }
}

}  // namespace

void leave_word(const Processes& self, const Error& error) {
  leave(place_of_word(self.meeting, self.rank), error.what());
}

void leave_rows(const Processes& self, std::int64_t rows) {
  leave(place_of_rows(self.meeting, self.rank), std::to_string(rows));
}

Peers::Peers(const fs::path& run_folder, const std::string& program, std::int64_t count, std::int64_t threads,
             std::function<bool()> should_stop, std::function<void(const std::string&)> note)
    : note_(std::move(note)), memory_kills_(xlm::memory_kills()) {
  first_.count = count;
  if (count <= 1) return;
  meeting_ = run_folder / fmt::format("{}{}", kMeetingPrefix, ::getpid());
  fs::remove_all(meeting_);
  if (::mkdir(meeting_.c_str(), S_IRWXU) != 0) throw_file_error("create", meeting_, errno);
  first_.meeting = meeting_;
  first_.should_stop = std::move(should_stop);
  first_.give_up = [this] {
    tell_of_halted();
    return has_lost_one();
  };
  try {
    for (std::int64_t rank = 1; rank < count; ++rank) {
      const WorkerCommand command{.arguments = {program, "worker", run_folder.string(), "--rank", std::to_string(rank),
                                                "--meeting", meeting_.string(), "--threads", std::to_string(threads)},
                                  .log = RunPaths{run_folder}.log(),
                                  .gpu = ""};
      others_.push_back(std::make_unique<WorkerProcess>(command));
    }
    halted_.resize(others_.size());
  } catch (const Error&) {
    end_all();
    throw;
  }
}

Peers::~Peers() { end_all(); }

std::string Peers::word_of(std::int64_t rank) const { return left_at(place_of_word(meeting_, rank)); }

std::int64_t Peers::rows_of(std::int64_t rank) const {
  std::int64_t rows = 0;
  return parse_integer(left_at(place_of_rows(meeting_, rank)), rows) ? rows : 0;
}

void Peers::end_all() {
  stop();
  const Clock::time_point end = Clock::now() + kLeave;
  for (const auto& other : others_) {
    if (await_end(*other, end)) continue;
    other->kill();
    await_end(*other, Clock::now() + kEndOfPeer);  // one that the system does not let end is left alone
  }
  std::error_code ignored;
  if (!meeting_.empty()) fs::remove_all(meeting_, ignored);
}

void Peers::stop() {
  for (const auto& other : others_) {
    if (!other->ended()) other->stop();
  }
}

void Peers::tell_of_halted() {
  for (std::size_t i = 0; i < others_.size(); ++i) {
    const bool halted = others_[i]->is_halted();
    if (halted && !halted_[i] && note_) {
      note_(fmt::format("note: process {} of {} is halted, and the run waits for it: `kill -CONT {}` lets it go on",
                        i + 2, first_.count, others_[i]->pid()));
    }
    halted_[i] = halted;
  }
}

bool Peers::has_lost_one() {
  return std::ranges::any_of(others_, [](const auto& other) { return other->ended().has_value(); });
}

std::optional<AttemptEnd> Peers::lost() {
  stop();
  const Clock::time_point end = Clock::now() + kEndOfPeer;
  for (std::size_t i = 0; i < others_.size(); ++i) {
    const std::optional<int> code = await_end(*others_[i], end);
    if (!code || *code == kDone || *code == kStopped || *code == kLostOthers) continue;
    const std::int64_t rank = static_cast<std::int64_t>(i) + 1;
    const std::string which = fmt::format("process {} of {}", rank + 1, first_.count);
    if (*code == kOutOfMemoryAmidStep) {
      return AttemptEnd{.cause = EndCause::kMemory,
                        .reason = fmt::format("out of memory in {}", which),
                        .memory = job_memory(),
                        .rows = rows_of(rank)};
    }
    if (*code == kOutOfResources) {  // its model or an evaluation is too large for it
      return AttemptEnd{EndCause::kMemory, fmt::format("out of memory in {}", which), job_memory(), true};
    }
    AttemptEnd found = end_of_worker(*code, xlm::memory_kills() > memory_kills_);
    const std::string word = found.cause == EndCause::kError ? word_of(rank) : "";
    found.reason = fmt::format("{}: {}", which, word.empty() ? found.reason : word);
    if (*code == kUsage || *code == kBadData || *code == kDiverged) found.code = static_cast<ExitCode>(*code);
    return found;
  }
  return std::nullopt;
}

void remove_left_meetings(const fs::path& run_folder) {
  for (const fs::directory_entry& entry : entries_in(run_folder)) {
    std::error_code ignored;
    if (entry.path().filename().string().starts_with(kMeetingPrefix)) fs::remove_all(entry.path(), ignored);
  }
}

}  // namespace xlm
