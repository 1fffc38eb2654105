// Which file a command starts.
#include "experiments/programs/executable.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "base/command.h"
#include "base/error.h"
#include "base/lookup.h"
#include "base/text.h"

namespace xlm {
namespace {

constexpr const char* kUsualPath = "/usr/local/bin:/usr/bin:/bin";  // of execvp, if there is no PATH
constexpr std::size_t kFirstBytes = 4096;
constexpr int kMaxScripts = 4;  // a script whose interpreter is a script, and so on; the kernel's limit

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

bool can_execute(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

/// The beginning of a file; "" if it cannot be read.
std::string first_bytes(const fs::path& file) {
  const Descriptor descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  std::string text(kFirstBytes, '\0');
  const ssize_t count = ::read(descriptor.get(), text.data(), text.size());
  text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return text;
}

/// Says what is wrong with a path that is named.
[[noreturn]] void throw_not_executable(const fs::path& file, const fs::path& folder) {
  struct stat status {};
  std::error_code ignored;
  const std::string shown = file.string();
  if (::lstat(file.c_str(), &status) != 0) {
    throw UsageError(fmt::format("cannot start {}: {}\ncheck the first word of program.command; paths begin at {}",
                                 shown, std::strerror(errno), folder.string()));
  }
  if (S_ISLNK(status.st_mode) && ::stat(file.c_str(), &status) != 0) {
    throw UsageError(
        fmt::format("cannot start {}: it is a link to {}, which is missing\n"
                    "make the environment that it belongs to again, or name another program",
                    shown, fs::read_symlink(file, ignored).string()));
  }
  if (is_folder(file)) throw UsageError(fmt::format("cannot start {}: it is a folder", shown));
  if (!fs::is_regular_file(file, ignored))
    throw UsageError(fmt::format("cannot start {}: it is not a regular file", shown));
  throw UsageError(
      fmt::format("cannot start {}: it is not executable\nchmod +x {}, or name its interpreter first, as in "
                  "[python, {}]",
                  shown, shell_word(shown), file.filename().string()));
}

fs::path find_in_path(const std::string& name, const fs::path& folder, const std::string& path) {
  fs::path fitting;  // by its name alone
  for (const std::string& part : split(path.empty() ? kUsualPath : path, ':')) {
    fs::path file = folder / (part.empty() ? "." : part) / name;  // an absolute part replaces the folder
    if (can_execute(file)) return file;
    struct stat status {};
    if (fitting.empty() && ::lstat(file.c_str(), &status) == 0 && !S_ISDIR(status.st_mode)) fitting = file;
  }
  if (!fitting.empty()) throw_not_executable(fitting, folder);
  std::string how = "install it, activate its environment, or name it with its path";
  std::error_code ignored;
  if (fs::exists(folder / name, ignored)) how = fmt::format("{} is in the folder: name it ./{}", name, name);
  throw UsageError(fmt::format("cannot start {}: no program of that name in PATH ({})\n{}", name, path, how));
}

/// Checks that what a script names is there. A program's own format is the kernel's business.
void check_interpreter(const fs::path& file, const fs::path& folder,
                       const std::map<std::string, std::string>& environment) {
  fs::path script = file;
  for (int depth = 0; depth < kMaxScripts; ++depth) {
    const std::string begin = first_bytes(script);
    if (begin.empty() || begin.starts_with("\x7f"
                                           "ELF"))
      return;
    if (!begin.starts_with("#!")) {
      if (begin.find('\0') != std::string::npos) return;  // another format, which the kernel may know
      throw UsageError(
          fmt::format("cannot start {}: it is a text whose first line is not #! and an interpreter\n"
                      "name the interpreter first, as in [python, {}] or [bash, {}]",
                      file.string(), file.filename().string(), file.filename().string()));
    }
    const std::vector<std::string> words = script_interpreter(script);
    const fs::path interpreter = words.empty() ? fs::path() : folder / words[0];
    if (words.empty() || !can_execute(interpreter)) {
      const bool windows = begin.substr(0, begin.find('\n')).ends_with('\r');
      throw UsageError(
          fmt::format("cannot start {}: its first line names the interpreter {}, which cannot be executed\n{}",
                      file.string(), words.empty() ? "\"\"" : printable(words[0]),
                      windows ? "its lines end as on Windows: convert them with dos2unix"
                              : "make the environment that it belongs to again, or name the interpreter first"));
    }
    if (interpreter.filename() == "env" && words.size() > 1) {
      for (std::size_t i = 1; i < words.size(); ++i) {
        if (words[i].starts_with('-') || words[i].find('=') != std::string::npos) continue;
        if (words[i].find('/') != std::string::npos) return;
        try {
          find_in_path(words[i], folder, variable_of(environment, "PATH"));
        } catch (const UsageError& error) {
          throw UsageError(fmt::format("{} begins with #!{}\n{}", file.string(), join(words, " "), error.what()));
        }
        return;
      }
    }
    script = interpreter;
  }
}

}  // namespace

std::string variable_of(const std::map<std::string, std::string>& environment, const std::string& name) {
  return value_or(environment, name, environment_text(name.c_str()));
}

fs::path find_executable(const std::vector<std::string>& words, const fs::path& folder,
                         const std::map<std::string, std::string>& environment) {
  if (!is_folder(folder)) {
    throw UsageError(fmt::format("the program's folder {} is not there\nname the folder of its code in program.folder",
                                 folder.string()));
  }
  if (words.empty() || words[0].empty()) throw UsageError("the program has no command: name it in program.command");
  for (const std::string& word : words) {
    if (word.find('\0') != std::string::npos)
      throw UsageError("a word of program.command has a zero byte: " + printable(word));
  }
  const fs::path absolute = fs::absolute(folder);
  fs::path file;
  if (words[0].find('/') == std::string::npos) {
    file = find_in_path(words[0], absolute, variable_of(environment, "PATH"));
  } else {
    file = absolute / words[0];
    if (!can_execute(file)) throw_not_executable(file, folder);
  }
  check_interpreter(file, absolute, environment);
  return file;
}

std::vector<std::string> script_interpreter(const fs::path& file) {
  const std::string begin = first_bytes(file);
  if (!begin.starts_with("#!")) return {};
  const std::vector<std::string> lines = split(begin, '\n');
  std::vector<std::string> words;
  std::string line = lines[0].substr(2);  // a carriage return belongs to the name, as for the kernel
  std::ranges::replace(line, '\t', ' ');
  for (const std::string& word : split(line, ' ')) {
    if (!word.empty()) words.push_back(word);
  }
  // '''exec' "/a path/python" "$0" "$@", with or without quotes
  if (lines.size() > 1 && lines[1].starts_with("'''exec'")) {
    const std::string_view rest = trim(std::string_view(lines[1]).substr(std::strlen("'''exec'")));
    const char end = rest.starts_with('"') ? '"' : ' ';
    const std::string_view path = end == '"' ? rest.substr(1) : rest;
    return {std::string(path.substr(0, path.find(end)))};
  }
  return words;
}

}  // namespace xlm
