// Runs a program like a user: arguments in, exit code and both outputs back.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/files.h"
#include "tests/temporary_folder.h"

namespace xlm {

/// Where programs that tests start keep their user's settings, unless a test says otherwise: never in the user's home.
inline std::string settings_of_tests() {
  static const TemporaryFolder folder;
  return folder.path().string();
}

struct ProgramResult {
  int code = 0;  // 128 + signal where one killed it
  std::string out;
  std::string err;
};

/// A program in the background, in its own process group.
class BackgroundProgram {
 public:
  BackgroundProgram(std::vector<std::string> arguments, const fs::path& folder)
      : out_(folder / ("out." + std::to_string(next()))), err_(out_.string() + ".err") {
    std::vector<char*> pointers;
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    const std::string settings = settings_of_tests();
    pid_ = ::fork();
    if (pid_ != 0) return;
    ::setpgid(0, 0);
    ::setenv("XDG_CONFIG_HOME", settings.c_str(), 0);
    if (::chdir(folder.c_str()) != 0) ::_exit(126);
    ::dup2(::open(out_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644), 1);
    ::dup2(::open(err_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644), 2);
    ::execv(pointers[0], pointers.data());
    ::_exit(127);
  }

  BackgroundProgram(const BackgroundProgram&) = delete;
  BackgroundProgram& operator=(const BackgroundProgram&) = delete;
  ~BackgroundProgram() {
    if (pid_ <= 0) return;
    kill(SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

  pid_t pid() const { return pid_; }
  void kill(int signal) const { ::kill(pid_, signal); }
  void kill_group(int signal) const { ::kill(-pid_, signal); }

  bool is_running() const {
    siginfo_t state{};
    return ::waitid(P_PID, static_cast<id_t>(pid_), &state, WEXITED | WNOHANG | WNOWAIT) == 0 && state.si_pid == 0;
  }
  /// Its output so far.
  std::string standard_error() const { return fs::exists(err_) ? read_file(err_) : ""; }

  ProgramResult wait() {
    int status = 0;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    return {WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status), read_file(out_), read_file(err_)};
  }

 private:
  static int next() {
    static int count = 0;
    return ++count;
  }

  fs::path out_;
  fs::path err_;
  pid_t pid_ = -1;
};

/// While it exists, programs start without AddressSanitizer's search for leaks at their end. The search of clang 14 may
/// go on for ever in a process that gets a signal meanwhile: one that its process group gets, and then one of its
/// parent.
class WithoutLeakSearch {
 public:
  WithoutLeakSearch() {
    const char* options = std::getenv(kOptions);
    if (options != nullptr) before_ = options;
    ::setenv(kOptions, (before_.value_or("") + ":detect_leaks=0").c_str(), 1);
  }
  WithoutLeakSearch(const WithoutLeakSearch&) = delete;
  WithoutLeakSearch& operator=(const WithoutLeakSearch&) = delete;
  ~WithoutLeakSearch() {
    if (before_) {
      ::setenv(kOptions, before_->c_str(), 1);
    } else {
      ::unsetenv(kOptions);
    }
  }

 private:
  static constexpr const char* kOptions = "ASAN_OPTIONS";
  std::optional<std::string> before_;
};

/// Waits between two checks of a condition: twice as long as the check took that began at `check`, because what the
/// test waits for needs the cores.
inline void pause_after(std::chrono::steady_clock::time_point check, std::chrono::milliseconds least) {
  using Time = std::chrono::steady_clock::duration;
  std::this_thread::sleep_for(std::max<Time>(least, 2 * (std::chrono::steady_clock::now() - check)));
}

/// A command line of the shell, run in `folder`.
inline ProgramResult shell(const fs::path& folder, const std::string& command) {
  return BackgroundProgram({"/bin/sh", "-c", "exec </dev/null; " + command}, folder).wait();
}

}  // namespace xlm
