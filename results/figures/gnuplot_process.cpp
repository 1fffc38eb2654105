// Runs gnuplot.
#include "results/figures/gnuplot_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "base/shared_library.h"
#include "base/text.h"

namespace xlm {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

/// A file without a name. It holds any amount, so no pipe can fill up and block.
File scratch_file(std::string_view content = "") {
  File file(std::tmpfile());
  if (!file || std::fwrite(content.data(), 1, content.size(), file.get()) != content.size() ||
      std::fflush(file.get()) != 0) {
    throw ResourceError(fmt::format("cannot write a temporary file for gnuplot: {}", std::strerror(errno)));
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

/// gnuplot's error message has several lines. Takes the line with "error", or else the last one.
std::string essence(const std::string& complaint) {
  std::string last;
  for (const std::string& line : split(complaint, '\n')) {
    if (!trim(line).empty() && trim(line) != "^") last = trim(line);
  }
  return last.empty() ? "it gave no reason" : last;
}

}  // namespace

std::string gnuplot_program() {
  const fs::path own = executable_path().parent_path() / "xlm-gnuplot";
  std::error_code ignored;
  return fs::exists(own, ignored) ? own.string() : "gnuplot";
}

std::string run_gnuplot(const std::string& script, const std::string& program) {
  const File input = scratch_file(script);
  const File output = scratch_file();
  const File errors = scratch_file();
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ::fileno(input.get()), STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, ::fileno(output.get()), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, ::fileno(errors.get()), STDERR_FILENO);
  std::string name = program;
  std::string default_session = "-d";  // without the user's settings
  std::array<char*, 3> arguments{name.data(), default_session.data(), nullptr};
  pid_t process = 0;
  const int failure = ::posix_spawnp(&process, name.c_str(), &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  // If gnuplot is nowhere in PATH, a folder there that may not be read gives EACCES.
  if (failure == ENOENT || failure == EACCES) {
    throw Error("gnuplot, which draws figures, is not installed\nto install it: apt-get install gnuplot-nox");
  }
  if (failure != 0) throw Error(fmt::format("cannot start gnuplot: {}", std::strerror(failure)));
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  std::string picture = content_of(output.get());
  if (status != 0 || picture.empty()) {
    throw Error(fmt::format("gnuplot could not draw the figure: {}", essence(content_of(errors.get()))));
  }
  return picture;
}

}  // namespace xlm
