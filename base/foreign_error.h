// Exceptions of the standard library and of other libraries as errors of ours.
#pragma once

#include <exception>

#include "base/error.h"

namespace xlm {

/// The message of an exception, and its exit code. An Error stays as it is. If a library has only a name for the
/// failure ("map::at", the number of a JSON error), the message explains it. Otherwise it is the first line, because
/// libtorch appends a backtrace.
Error as_error(const std::exception& error);

}  // namespace xlm
