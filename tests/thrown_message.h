// What an action complains of.
#pragma once

#include <string>

#include "base/error.h"
#include "tests/thrown_message.h"

namespace xlm {

/// The message of the error that `action` throws; empty if it throws none.
template <class Kind = UsageError, class Action>
std::string thrown_message(const Action& action) {
  return thrown_message<Kind>([&] { action(); });
}

}  // namespace xlm
