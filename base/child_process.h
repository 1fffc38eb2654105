// Work in a process of its own: for libraries that end the process on bad input, or cannot be stopped.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace xlm {

/// What `work` returns, called in a child process whose standard error is closed; nothing where the child died, or
/// `work` threw. `waiting` (may be empty) is called several times a second meanwhile; where it throws, the child is
/// killed and the exception goes on. Throws Error where no process can be started.
std::optional<std::string> in_child_process(const std::function<std::string()>& work,
                                            const std::function<void()>& waiting);

}  // namespace xlm
