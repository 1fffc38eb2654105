// The file to which a program's output goes. Its beginning and its end stay, however much is written.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/files.h"
#include "base/json.h"

namespace xlm {

constexpr std::uint64_t kLogPart = 16000000;  // bytes of each of the three files of a log

/// Appends to a file until it has `part` bytes. What follows goes to NAME.end.EXTENSION; when that has as many, it
/// becomes NAME.end.1.EXTENSION, whose old content is lost, and a new one begins. So a log takes three parts at most,
/// and holds at least the last of them. It goes on in the same way over all attempts at a run.
class ProgramLog {
 public:
  /// Throws as open_regular if a file cannot be opened.
  explicit ProgramLog(fs::path file, std::uint64_t part = kLogPart);

  /// What cannot be written, as on a full disk, is left out; the log says so where it goes on.
  void write(std::string_view output);

  /// Why output is missing; empty: none is.
  const std::string& failure() const { return failure_; }

  static fs::path end_file(const fs::path& file);
  static fs::path older_end_file(const fs::path& file);

 private:
  void open(const fs::path& file, int flags);
  void begin_end();
  bool append(std::string_view text);

  fs::path file_;
  std::uint64_t part_;
  std::uint64_t size_ = 0;  // of the open file
  Descriptor descriptor_;
  bool in_end_ = false;
  std::uint64_t lost_ = 0;  // bytes since the last that was written
  std::string failure_;
};

/// The place `back` bytes before the end of a log, for read_log_behind.
Json end_of_log(const fs::path& file, std::uint64_t back);

/// The place of its first byte.
Json begin_of_log();

/// How many bytes the log has behind a place; 0 if the place is gone.
std::uint64_t bytes_behind(const fs::path& file, const Json& place);

/// Hands on what the log has behind a place, also if its files have been renamed since. Nothing if the place is gone.
void read_log_behind(const fs::path& file, const Json& place, const std::function<void(std::string_view)>& take);

}  // namespace xlm
