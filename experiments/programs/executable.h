// Which file a command starts, found as the system finds it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/files.h"

namespace xlm {

/// The value of a variable for a program: of `environment`, otherwise of this process; "" if it has none.
std::string variable_of(const std::map<std::string, std::string>& environment, const std::string& name);

/// The file that execve starts for the first word of a command in `folder`: a word with a slash is a path, which begins
/// at `folder`; another one is looked for in the program's PATH. Throws UsageError that says what is missing and how to
/// mend it: no such folder, no such program, not executable, a link or a first line ("#!") that names a missing
/// interpreter, a script without such a line.
fs::path find_executable(const std::vector<std::string>& words, const fs::path& folder,
                         const std::map<std::string, std::string>& environment);

/// The words of a script's first line behind "#!": "/usr/bin/env", "python3". Empty if it is no script. For the form
/// that pip writes if the path of its interpreter is long or has spaces ("#!/bin/sh" and then "'''exec'"), the words
/// of the interpreter itself.
std::vector<std::string> script_interpreter(const fs::path& file);

}  // namespace xlm
