// Identifies a process on a machine.
#include "experiments/runs/process_identity.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <optional>
#include <sstream>

#include <fmt/format.h>

#include "base/command.h"
#include "base/files.h"
#include "base/text.h"

namespace xlm {
namespace {

/// State and start time of a process (fields 3 and 22). They are read from its first thread, which is as old: in
/// containers for another processor, qemu-user gives each reader a changed /proc/PID/stat.
struct ProcessStatus {
  char state = '?';
  std::uint64_t started = 0;
};

std::optional<ProcessStatus> process_status(std::int64_t pid) {
  std::ifstream file(fmt::format("/proc/{0}/task/{0}/stat", pid));
  std::string text;
  if (!std::getline(file, text)) return std::nullopt;
  const std::size_t name_end = text.rfind(')');  // the name, field 2, may contain spaces and parentheses
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(text.substr(name_end + 1));
  ProcessStatus status;
  fields >> status.state;
  std::string skipped;
  for (int field = 4; field < 22; ++field) fields >> skipped;
  fields >> status.started;
  return fields ? std::optional(status) : std::nullopt;
}

std::string machine_identity() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string boot;
  std::getline(file, boot);
  std::error_code ignored;
  const std::string processes = fs::read_symlink("/proc/self/ns/pid", ignored).string();
  return boot.empty() || processes.empty() ? "" : boot + " " + processes;  // empty: unknown
}

/// Whether no process has this number. Also right for processes that this one may not inspect.
bool is_no_process(std::int64_t pid) { return ::kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH; }

/// Array tasks use the number of their array: squeue and scontrol call them so.
std::string slurm_job() {
  const std::string array = environment_text("SLURM_ARRAY_JOB_ID");
  const std::string job =
      array.empty() ? environment_text("SLURM_JOB_ID") : array + "_" + environment_text("SLURM_ARRAY_TASK_ID");
  return job.empty() ? "" : fmt::format("{}:{}", environment_text("SLURM_CLUSTER_NAME"), job);
}

std::int64_t slurm_restarts() {
  std::int64_t count = 0;
  return parse_integer(environment_text("SLURM_RESTART_COUNT"), count) ? count : 0;
}

ProcessIdentity identity_with(std::int64_t pid) {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  ProcessIdentity identity{.host = host.data(), .machine = machine_identity(), .pid = pid};
  if (const auto status = process_status(pid)) identity.started = status->started;
  identity.job = slurm_job();
  identity.restarts = slurm_restarts();
  return identity;
}

}  // namespace

ProcessIdentity this_process() { return identity_with(::getpid()); }

ProcessIdentity parent_process() { return identity_with(::getppid()); }

Liveness liveness(const ProcessIdentity& process) {
  if (!process.job.empty() && process.job == slurm_job() && process.restarts < slurm_restarts()) return Liveness::kGone;
  if (process.machine.empty() || process.machine != machine_identity()) return Liveness::kUnknown;
  const auto status = process_status(process.pid);
  // If /proc hides the processes of others (hidepid), a live process shows no status.
  if (!status) return process.pid <= 0 || is_no_process(process.pid) ? Liveness::kGone : Liveness::kUnknown;
  const bool gone = status->started != process.started || status->state == 'Z' || status->state == 'X';
  return gone ? Liveness::kGone : Liveness::kAlive;
}

}  // namespace xlm
