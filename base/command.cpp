// Other processes.
#include "base/command.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <thread>

#include <fmt/format.h>

#include "base/error.h"
#include "base/progress.h"
#include "base/text.h"

namespace xlm {
namespace {

constexpr std::chrono::milliseconds kCommandPoll{5};
constexpr int kPartPollMilliseconds = 100;

struct CloseStream {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using Stream = std::unique_ptr<std::FILE, CloseStream>;

/// A file without a name holds any amount, where a pipe would fill up and block.
Stream scratch(std::string_view content = "") {
  Stream file(std::tmpfile());
  if (!file || std::fwrite(content.data(), 1, content.size(), file.get()) != content.size() ||
      std::fflush(file.get()) != 0) {
    throw ResourceError(fmt::format("cannot write a temporary file: {}", std::strerror(errno)));
  }
  std::rewind(file.get());
  return file;
}

std::string content_of(std::FILE* file) {
  std::rewind(file);
  std::string content;
  std::array<char, 65536> part{};
  for (std::size_t bytes = 0; (bytes = std::fread(part.data(), 1, part.size(), file)) > 0;)
    content.append(part.data(), bytes);
  return content;
}

ResourceError cannot_start(std::string_view what, int cause) {
  return ResourceError(fmt::format("cannot start {}: {}", what, std::strerror(cause)));
}

/// A started process, which is gone when this is.
class Child {
 public:
  explicit Child(pid_t process) : process_(process) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (process_ == 0) return;
    ::kill(process_, SIGKILL);
    code();
  }

  /// Waits for its end. 128 + signal: it was killed.
  int code(double seconds = 1e18) {
    const double end = monotonic_seconds() + seconds;
    int status = 0;
    for (;;) {
      const pid_t ended = ::waitpid(process_, &status, WNOHANG);
      if (ended == process_ || (ended < 0 && errno != EINTR)) break;
      if (monotonic_seconds() > end) ::kill(process_, SIGKILL);
      std::this_thread::sleep_for(kCommandPoll);
    }
    process_ = 0;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }

 private:
  pid_t process_;
};

/// For what a child writes.
Pipe output_pipe() {
  Pipe pipe = make_pipe();
  if (!pipe.reading.is_open()) throw cannot_start("a child process", errno);
  return pipe;
}

/// Hands over what a child has written, and "" where nothing has come, until no process has the other end open.
void follow(Pipe& pipe, const std::function<void(std::string_view)>& take) {
  pipe.writing.reset();
  std::array<char, 65536> buffer{};
  for (;;) {
    pollfd ready{.fd = pipe.reading.get(), .events = POLLIN, .revents = 0};
    ssize_t count = 0;
    if (::poll(&ready, 1, kPartPollMilliseconds) > 0) {
      count = ::read(pipe.reading.get(), buffer.data(), buffer.size());
      if (count == 0 || (count < 0 && errno != EINTR)) return;
    }
    take({buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0))});
  }
}

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

}  // namespace

Pipe make_pipe() {
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  return {.reading = Descriptor(ends[0]), .writing = Descriptor(ends[1])};
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::string environment_text(const char* variable) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

pid_t start_program(const std::vector<std::string>& words, int in, int out, int err, bool own_group) {
  std::vector<std::string> texts = words;
  const std::vector<char*> arguments = pointers_to(texts);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  if (own_group) ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t process = 0;
  const int failure = ::posix_spawnp(&process, arguments[0], &actions, &attributes, arguments.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  // If the program is nowhere in PATH, a folder there that may not be read gives EACCES.
  if (failure == ENOENT || failure == EACCES) return 0;
  if (failure != 0) throw cannot_start(words.front(), failure);
  return process;
}

CommandResult run_command(const std::vector<std::string>& words, std::string_view input, double seconds) {
  const Stream in = scratch(input);
  const Stream out = scratch();
  const Stream err = scratch();
  const pid_t process = start_program(words, ::fileno(in.get()), ::fileno(out.get()), ::fileno(err.get()), false);
  const int code = process == 0 ? kNoProgram : Child(process).code(seconds);
  return {.code = code, .out = content_of(out.get()), .err = content_of(err.get())};
}

CommandResult follow_command(const std::vector<std::string>& words, std::string_view input,
                             const std::function<void(std::string_view part)>& take) {
  const Stream in = scratch(input);
  const Stream err = scratch();
  Pipe out = output_pipe();
  const pid_t process = start_program(words, ::fileno(in.get()), out.writing.get(), ::fileno(err.get()), true);
  if (process == 0) return {.code = kNoProgram, .out = "", .err = ""};
  Child child(process);
  follow(out, take);
  const int code = child.code();
  return {.code = code, .out = "", .err = content_of(err.get())};
}

std::string complaint(const CommandResult& result) {
  std::string text(trim(result.err.empty() ? result.out : result.err));
  return text.empty() ? fmt::format("it exited with code {} and gave no reason", result.code) : text;
}

std::optional<std::string> in_child_process(const std::function<std::string()>& work,
                                            const std::function<void()>& waiting) {
  Pipe out = output_pipe();
  const pid_t parent = ::getpid();
  const pid_t process = ::fork();
  if (process == 0) run_child(parent, work, out.writing.get());
  if (process < 0) throw cannot_start("a child process", errno);
  Child child(process);
  std::string result;
  follow(out, [&](std::string_view part) {
    result += part;
    if (waiting) waiting();
  });
  return child.code() == 0 ? std::optional(result) : std::nullopt;
}

}  // namespace xlm
