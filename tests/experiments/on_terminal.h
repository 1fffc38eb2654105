// Runs a program on its own terminal, like a user in front of it.
#pragma once

#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/text.h"

namespace xlm {

class OnTerminal {
 public:
  OnTerminal(std::vector<std::string> arguments, const fs::path& folder, unsigned short columns) {
    winsize size{.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
    std::vector<char*> pointers;
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    pid_ = ::forkpty(&terminal_, nullptr, nullptr, &size);
    if (pid_ != 0) return;
    if (::chdir(folder.c_str()) != 0) ::_exit(126);
    ::setenv("TERM", "xterm", 1);
    ::setenv("NO_COLOR", "1", 1);
    ::execv(pointers[0], pointers.data());
    ::_exit(127);
  }
  OnTerminal(const OnTerminal&) = delete;
  OnTerminal& operator=(const OnTerminal&) = delete;
  ~OnTerminal() {
    if (began()) stop(SIGKILL);
    if (terminal_ >= 0) ::close(terminal_);
  }

  /// Returns false if no terminal was available, or if it was stopped.
  bool began() const { return pid_ > 0; }

  void resize(unsigned short columns) const {
    const winsize size{.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
    ::ioctl(terminal_, TIOCSWINSZ, &size);
  }

  /// Reads until some words have come. Returns the lines since the last call, without what moves the cursor.
  std::vector<std::string> lines_until(const std::string& words) {
    static const std::regex controls("\x1b\\[[0-9;?]*[A-Za-z]|\r");
    std::string text;
    do {
      std::array<char, 4096> part{};
      const ssize_t bytes = ::read(terminal_, part.data(), part.size());
      if (bytes <= 0) break;
      raw_.append(part.data(), static_cast<std::size_t>(bytes));
      text = std::regex_replace(raw_, controls, "");
    } while (text.find(words) == std::string::npos || !text.ends_with('\n'));
    raw_.clear();
    return split(text, '\n');
  }

  /// Closes the terminal, as if a connection broke: the program and its processes get SIGHUP, and writing fails from
  /// now on.
  void hang_up() { ::close(std::exchange(terminal_, -1)); }

  int stop(int signal) {
    if (began()) ::kill(pid_, signal);  // which takes -1 for every process
    return wait();
  }

  /// The exit code, or 128 + the number of the signal that killed it.
  int wait() {
    if (!began()) return -1;
    int status = 0;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }

 private:
  int terminal_ = -1;
  pid_t pid_ = -1;
  std::string raw_;
};

}  // namespace xlm
