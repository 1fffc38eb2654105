// The journal of a run: JSON lines that are only ever added to. Everything else about a run can be made again from
// them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/json.h"

namespace xlm {

/// Writes a run's journal.
///
/// A record is a JSON object on a line. Each has a "type" and a "time" (seconds since 1970). What a worker writes has
/// its fencing "token" too (docs/glossary.md#fencing-token). Last comes a checksum of the line up to there, "crc"; a
/// line that it does not fit is left out. The types, with their fields:
///   state       {"state": queued|running|done|failed|diverged|preempted, "reason"?, "host"?, "pid"?, "experiment"?}
///               A running one with "fresh": true begins from nothing: results before it do not count.
///   metric      {"step", "values": {name: number}}
///   grid        {"step", "name", "rows": [[number or null]]}         a table of the model's own: spans of every head
///   evaluation  {"step", "split", "tokens", "loss", "seconds", "final", "values": {…}, "settings": {…}}
///   wanted      {"split", "changes": {key: value}}                   an evaluation to be done after training
///   trace       {"step", "split", "tokens": [text], "values": {name: [number]}}   of a split's first tokens
///   costs       {"values": {params, flops_per_token, paper_flops, peak_memory, step_seconds, …}}
///   checkpoint  {"step", "file", "seconds"}
///   experiment  {"name"}                                             the run belongs to this experiment (too)
///   message     {"text"}
/// A resumed run writes the records after its checkpoint again. Of two records of the same type, step, name and split
/// the later one counts; of evaluations, also of the same settings. A record does not count if a "running" with a newer
/// token stands before it: another worker had taken the run over.
class Journal {
 public:
  using Clock = std::function<double()>;  // seconds since 1970

  explicit Journal(const fs::path& file, Clock clock = nullptr, std::int64_t token = 0);

  /// Appends a record: "type", "time", "token" and then `fields`. Who has no token holds no lock of the run, and waits
  /// where another journal is just put in this one's place (AppendPause). With `durable` it is on the disk when this
  /// returns, as with sync.
  void append(const std::string& type, const Json& fields, bool durable = false);
  /// All records so far are on the disk when this returns, in the file that has the journal's name: throws DataError
  /// where that was removed or replaced.
  void sync();

 private:
  fs::path path_;
  AppendFile file_;
  Clock clock_;
  std::int64_t token_;
};

/// No worker is given so high a fencing token; a higher one would shut out all that come after.
inline constexpr std::int64_t kHighestToken = 1'000'000'000'000;

/// What a journal holds.
struct JournalContent {
  std::vector<Json> records;   // all whole ones
  std::int64_t bytes = 0;      // that were read, up to the first zero
  std::int64_t malformed = 0;  // lines that were left out because they are no record, or not as it was written
};
JournalContent read_journal(const fs::path& file);

/// The same for one record after the other, in place of `records`.
JournalContent read_journal(const fs::path& file, const std::function<void(const Json& record)>& use);

/// The highest token that a journal speaks of; 0 where there is none, or no journal.
std::int64_t highest_token(const fs::path& file);

/// The time now, in seconds since 1970.
double wall_seconds();

}  // namespace xlm
