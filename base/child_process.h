// Work in a separate process: for libraries that end the process on bad input, or cannot be stopped.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace xlm {

/// Returns what `work` returns, called in a child process whose standard error is closed. Returns nullopt if the child
/// died or `work` threw. `waiting` (may be empty) is called several times a second meanwhile; if it throws, the child
/// is killed and the exception passes on. Throws Error if no process can be started.
std::optional<std::string> in_child_process(const std::function<std::string()>& work,
                                            const std::function<void()>& waiting);

}  // namespace xlm
