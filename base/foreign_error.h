// Exceptions of the standard library and of other libraries as errors of ours.
#pragma once

#include <exception>

#include "base/error.h"

namespace xlm {

/// What a user is told of an exception, and its exit code: an Error as it is; words where a library has only a name
/// for what happened ("map::at", a number for a kind of JSON error); otherwise the first line of what it says, for
/// libtorch adds a backtrace.
Error as_error(const std::exception& error);

}  // namespace xlm
