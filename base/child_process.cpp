// A child process and the pipe that its result comes through.
#include "base/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <exception>

#include "base/error.h"
#include "base/files.h"

namespace xlm {
namespace {

constexpr int kPollMilliseconds = 100;

/// Runs in the child, which ends with its parent, and on any signal at once.
[[noreturn]] void run_child(pid_t parent, const std::function<std::string()>& work, int out) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);  // the parent died before the request took effect
  for (const int signal : {SIGTERM, SIGINT, SIGUSR1}) std::signal(signal, SIG_DFL);
  ::close(STDERR_FILENO);
  std::string result;
  try {
    result = work();
  } catch (const std::exception&) {
    ::_exit(1);
  }
  for (std::size_t done = 0; done < result.size();) {
    const ssize_t count = ::write(out, result.data() + done, result.size() - done);
    if (count < 0 && errno != EINTR) ::_exit(1);
    if (count > 0) done += static_cast<std::size_t>(count);
  }
  ::_exit(0);
}

/// Owns the process and the pipe until the child is gone.
class Child {
 public:
  Child(pid_t process, int pipe) : process_(process), pipe_(pipe) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    ::close(pipe_);
    if (process_ < 0) return;
    ::kill(process_, SIGKILL);
    wait();
  }

  /// Reads what has come; false at the end.
  bool read(std::string& out) const {
    pollfd ready{.fd = pipe_, .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, kPollMilliseconds) <= 0) return true;
    std::array<char, 65536> buffer{};
    const ssize_t count = ::read(pipe_, buffer.data(), buffer.size());
    if (count > 0) out.append(buffer.data(), static_cast<std::size_t>(count));
    return count > 0 || (count < 0 && errno == EINTR);
  }

  bool wait() {
    int status = 0;
    while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    process_ = -1;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

 private:
  pid_t process_;
  int pipe_;
};

}  // namespace

std::optional<std::string> in_child_process(const std::function<std::string()>& work,
                                            const std::function<void()>& waiting) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw_file_error("make a pipe for", "a child process", errno);
  const pid_t parent = ::getpid();
  const pid_t process = ::fork();
  if (process == 0) {
    ::close(ends[0]);
    run_child(parent, work, ends[1]);
  }
  ::close(ends[1]);
  Child child(process, ends[0]);
  if (process < 0) throw_file_error("start", "a child process", errno);
  std::string result;
  while (child.read(result)) {
    if (waiting) waiting();
  }
  return child.wait() ? std::optional(result) : std::nullopt;
}

}  // namespace xlm
