// Other processes: programs of the system, and work of this program that may end its process.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/descriptor.h"

namespace xlm {

constexpr int kNoProgram = 127;

struct CommandResult {
  int code = 0;  // kNoProgram: there is none of that name; 128 + signal: it was killed
  std::string out;
  std::string err;
};

/// Runs a program of PATH with `input` on its standard input. One that does not end within `seconds` is killed, and
/// what it said until then counts.
CommandResult run_command(const std::vector<std::string>& words, std::string_view input = "", double seconds = 60);

/// The same without an end, for a program that says much: `take` gets what it writes, part by part, and "" several
/// times a second meanwhile. If `take` throws, the program is killed and the exception passes on. Ctrl-C does not reach
/// the program.
CommandResult follow_command(const std::vector<std::string>& words, std::string_view input,
                             const std::function<void(std::string_view part)>& take);

/// Why a command failed, in its own words.
std::string complaint(const CommandResult& result);

/// The two ends of a pipe, which started programs do not inherit.
struct Pipe {
  Descriptor reading;
  Descriptor writing;
};

/// Its ends are not open, and errno says why, if there can be none.
Pipe make_pipe();

/// Texts as execve takes them, with a null behind the last one.
std::vector<char*> pointers_to(std::vector<std::string>& texts);

/// A variable of this process's environment; "" if it is not set.
std::string environment_text(const char* variable);

/// Starts a program of PATH with these descriptors as its standard input, output and error. In a separate group,
/// Ctrl-C does not reach it. Returns 0 if PATH has none of that name. Throws ResourceError if it cannot be started.
pid_t start_program(const std::vector<std::string>& words, int in, int out, int err, bool own_group);

/// Returns what `work` returns, called in a child process whose standard error is closed: for libraries that end the
/// process on bad input, or cannot be stopped. Returns nullopt if the child died or `work` threw. `waiting` (may be
/// empty) is called several times a second meanwhile; if it throws, the child is killed and the exception passes on.
/// Throws ResourceError if no process can be started.
std::optional<std::string> in_child_process(const std::function<std::string()>& work,
                                            const std::function<void()>& waiting);

}  // namespace xlm
