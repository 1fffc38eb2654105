// Other programs of the system, run to their end.
#include "base/command.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <thread>

#include <fmt/format.h>

#include "base/error.h"
#include "base/progress.h"

namespace xlm {
namespace {

constexpr std::chrono::milliseconds kCommandPoll{5};

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
  std::array<char, 4096> part{};
  for (std::size_t bytes = 0; (bytes = std::fread(part.data(), 1, part.size(), file)) > 0;)
    content.append(part.data(), bytes);
  return content;
}

int wait_for(pid_t process, double seconds) {
  const double end = monotonic_seconds() + seconds;
  int status = 0;
  for (;;) {
    const pid_t ended = ::waitpid(process, &status, WNOHANG);
    if (ended == process) return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    if (ended < 0 && errno != EINTR) return kNoProgram;
    if (monotonic_seconds() > end) ::kill(process, SIGKILL);
    std::this_thread::sleep_for(kCommandPoll);
  }
}

}  // namespace

CommandResult run_command(const std::vector<std::string>& words, std::string_view input, double seconds) {
  const Stream in = scratch(input);
  const Stream out = scratch();
  const Stream err = scratch();
  std::vector<std::string> texts = words;
  std::vector<char*> arguments;
  for (std::string& text : texts) arguments.push_back(text.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ::fileno(in.get()), STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, ::fileno(out.get()), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, ::fileno(err.get()), STDERR_FILENO);
  pid_t process = 0;
  const int failure = ::posix_spawnp(&process, arguments[0], &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failure == ENOENT || failure == EACCES) return {.code = kNoProgram, .out = "", .err = ""};
  if (failure != 0) throw ResourceError(fmt::format("cannot start {}: {}", words.front(), std::strerror(failure)));
  const int code = wait_for(process, seconds);
  return {.code = code, .out = content_of(out.get()), .err = content_of(err.get())};
}

}  // namespace xlm
