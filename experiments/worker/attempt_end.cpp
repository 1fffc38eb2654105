// How attempts at a run ended.
#include "experiments/worker/attempt_end.h"

#include <csignal>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/lookup.h"
#include "base/text.h"
#include "experiments/runs/live_run.h"
#include "experiments/runs/machine_resources.h"

namespace xlm {
namespace {

constexpr int kSignalled = 128;

EndCause cause_of(const std::string& job_state) {
  static const std::map<std::string, EndCause> causes{
      {"NODE_FAIL", EndCause::kNode},   {"BOOT_FAIL", EndCause::kNode}, {"OUT_OF_MEMORY", EndCause::kMemory},
      {"TIMEOUT", EndCause::kTime},     {"DEADLINE", EndCause::kTime},  {"PREEMPTED", EndCause::kKilled},
      {"CANCELLED", EndCause::kKilled}, {"FAILED", EndCause::kKilled}};
  return value_or(causes, job_state, EndCause::kGone);
}

}  // namespace

AttemptEnd end_of_worker(int code, bool memory_kill) {
  const int signal = code - kSignalled;
  if (signal <= 0) return {EndCause::kError, fmt::format("its worker ended with code {}", code)};
  const std::string killed = fmt::format("its worker was killed by signal {}", signal);
  switch (signal) {
    case SIGKILL:
      if (memory_kill) return {EndCause::kMemory, "out of memory: the system killed its worker", job_memory()};
      return {EndCause::kKilled, killed};
    case SIGXCPU:
      return {EndCause::kTime, killed + ": its processor time was over"};
    case SIGTERM:
    case SIGINT:
    case SIGHUP:
      return {EndCause::kKilled, killed};
    default:
      return {EndCause::kError, fmt::format("its worker crashed: signal {}", signal)};
  }
}

AttemptEnd end_of_gone_worker(const RunState& last, const std::string& job_state) {
  const std::string job = last.job.substr(last.job.find(':') + 1);  // the cluster's name stands in front
  if (job_state.empty()) {
    const std::string where = job.empty() ? fmt::format("process {} on {}", last.pid, last.host)
                                          : fmt::format("job {} on {}", job, last.host);
    return {EndCause::kGone, fmt::format("its worker is gone ({})", where)};
  }
  if (job_state == "RUNNING" || job_state == "PENDING" || job_state == "REQUEUED") {
    return {EndCause::kGone, fmt::format("its job {} was started again (it was on {})", job, last.host)};
  }
  return {cause_of(job_state), fmt::format("its worker is gone (job {} on {}: {})", job, last.host, job_state)};
}

int lost_in_a_row(const Run& run) {
  const double saved = run.checkpoints.empty() ? 0 : run.checkpoints.back().time;
  int lost = 0;
  bool open = false;      // an attempt began, of which nothing was said yet
  bool given_up = false;  // so that another attempt was asked for
  for (const RunState& state : run.history) {
    const bool began = state.state == name_of(RunStatus::kRunning);
    if (began && std::exchange(given_up, false)) lost = 0;
    given_up = state.state == name_of(RunStatus::kFailed);
    if (state.time < saved || (!began && state.cause.empty()) || state.micro_batch > 0) {
      lost = 0;  // it got on, ended by itself, was asked for again, or resumes with less memory
    } else if (!began || open) {
      ++lost;
    }
    open = began;
  }
  return lost + 1;
}

Json record_of_end(const Run& run, const AttemptEnd& end, bool again) {
  std::string reason = end.reason;
  Json record = {{"state", name_of(again ? RunStatus::kQueued : RunStatus::kFailed)}, {"cause", name_of(end.cause)}};
  if (end.cause == EndCause::kMemory) {
    if (end.memory > 0) record["memory"] = end.memory;
    const std::int64_t rows = rows_at_once(run, end.rows);
    const std::int64_t fewer = again ? fewer_rows(run, end.rows).value_or(0) : 0;
    if (rows > 0) reason += fmt::format("\nit computed {} of the batch at once", counted(rows, "row"));
    if (fewer > 0) {
      record["micro_batch"] = fewer;
      reason += fmt::format(", and resumes with {}", fewer);
    }
  } else if (const int times = lost_in_a_row(run); !again && end.cause != EndCause::kError && times > 1) {
    const std::string first = first_line(reason);  // output of a program may follow
    reason = fmt::format("{}, {} times in a row without getting on: often memory is too small{}", first, times,
                         reason.substr(first.size()));
  }
  record["reason"] = reason;
  return record;
}

}  // namespace xlm
