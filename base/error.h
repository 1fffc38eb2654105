// The one exception hierarchy. Libraries throw these; cmd/program.cpp catches them once and turns them into an exit
// code.
#pragma once

#include <stdexcept>
#include <string>

namespace xlm {

/// What a finished command tells its caller (docs/glossary.md#exit-code).
enum ExitCode : int {
  kDone = 0,
  kFailed = 1,
  kUsage = 2,
  kBadData = 3,
  kDiverged = 4,
  kOutOfResources = 5,
  kStopped = 75,
};

/// Base of all errors that a user can meet. The message says what failed, the value, and what to do, in one to three
/// lines.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, ExitCode code = kFailed) : std::runtime_error(message), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

/// Wrong usage or configuration.
class UsageError : public Error {
 public:
  explicit UsageError(const std::string& message) : Error(message, kUsage) {}
};

/// Missing, malformed or corrupt data.
class DataError : public Error {
 public:
  explicit DataError(const std::string& message) : Error(message, kBadData) {}
};

/// The loss became NaN or infinite.
class DivergedError : public Error {
 public:
  explicit DivergedError(const std::string& message) : Error(message, kDiverged) {}
};

/// Out of disk or memory.
class ResourceError : public Error {
 public:
  explicit ResourceError(const std::string& message) : Error(message, kOutOfResources) {}
};

/// Out of memory during the work: it may succeed with less of it at once.
class MemoryError : public ResourceError {
 public:
  using ResourceError::ResourceError;
};

}  // namespace xlm
