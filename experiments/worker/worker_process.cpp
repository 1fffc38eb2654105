// A worker as a child process.
#include "experiments/worker/worker_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "base/command.h"
#include "base/error.h"
#include "base/stop.h"

namespace xlm {
namespace {

constexpr std::string_view kGpuVariable = "CUDA_VISIBLE_DEVICES=";

/// Numbers of GPUs that the user has given are in the order that the user's environment means. Where there are none,
/// they are those of nvidia-smi.
bool has_order_of_gpus() {
  return std::getenv("CUDA_VISIBLE_DEVICES") != nullptr || std::getenv("CUDA_DEVICE_ORDER") != nullptr;
}

std::vector<std::string> environment_with(const std::string& gpu) {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (gpu.empty() || std::string_view(*variable).substr(0, kGpuVariable.size()) != kGpuVariable) {
      variables.emplace_back(*variable);
    }
  }
  if (!gpu.empty()) {
    if (!has_order_of_gpus()) variables.emplace_back("CUDA_DEVICE_ORDER=PCI_BUS_ID");
    variables.push_back(std::string(kGpuVariable) + gpu);
  }
  return variables;
}

/// In the child, between fork and exec: system calls only.
[[noreturn]] void become_worker(pid_t parent, int input, int log, char* const* arguments, char* const* environment) {
  // A terminal sends its SIGINT to all; this process hears of it from the one that started it.
  std::signal(SIGINT, SIG_IGN);
  const sigset_t held = stop_signals();
  ::sigprocmask(SIG_BLOCK, &held, nullptr);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(kStopped);  // it died before the request stood
  if (input >= 0) ::dup2(input, STDIN_FILENO);
  ::fcntl(STDIN_FILENO, F_SETFD, 0);  // where it has that number already
  ::dup2(log, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  ::execve(arguments[0], arguments, environment);
  const char* cause = std::strerror(errno);
  for (const char* part : {"cannot start ", static_cast<const char*>(arguments[0]), ": ", cause, "\n"}) {
    if (::write(STDERR_FILENO, part, std::strlen(part)) < 0) break;
  }
  ::_exit(kFailed);
}

}  // namespace

WorkerProcess::WorkerProcess(const WorkerCommand& command) {
  const Descriptor log(open_regular(command.log, O_WRONLY | O_CREAT | O_APPEND, "write"));
  std::vector<std::string> arguments = command.arguments;
  std::vector<std::string> environment = environment_with(command.gpu);
  const std::vector<char*> argument_pointers = pointers_to(arguments);
  const std::vector<char*> environment_pointers = pointers_to(environment);
  const pid_t parent = ::getpid();
  const Descriptor input(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  pid_ = ::fork();
  if (pid_ == 0) become_worker(parent, input.get(), log.get(), argument_pointers.data(), environment_pointers.data());
  if (pid_ < 0) throw ResourceError(fmt::format("cannot start a worker: {}", std::strerror(errno)));
}

std::optional<int> WorkerProcess::ended() {
  if (ended_) return ended_;
  int status = 0;
  const pid_t result = ::waitpid(pid_, &status, WNOHANG);
  if (result == 0 || (result < 0 && errno == EINTR)) return std::nullopt;
  ended_ = result < 0 ? kFailed : WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return ended_;
}

bool WorkerProcess::is_halted() const {
  siginfo_t state{};
  return !ended_ && ::waitid(P_PID, static_cast<id_t>(pid_), &state, WSTOPPED | WNOHANG | WNOWAIT) == 0 &&
         state.si_pid == pid_;
}

void WorkerProcess::stop() const {
  ::kill(pid_, SIGTERM);
  ::kill(pid_, SIGCONT);
}

void WorkerProcess::kill() const {
  ::kill(pid_, SIGKILL);
  ::kill(pid_, SIGCONT);
}

}  // namespace xlm
