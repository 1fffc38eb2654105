// What an action complains of.
#pragma once

#include <string>

#include "base/error.h"

namespace xlm {

/// The message of the error that `action` throws; empty if it throws none.
template <class Kind = UsageError, class Action>
std::string thrown_message(const Action& action) {
  try {
    action();
  } catch (const Kind& error) {
    return error.what();
  }
  return "";
}

}  // namespace xlm
