// The journal of a run: JSON lines that are only appended. Everything else about a run can be computed from them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/json.h"

namespace xlm {

/// Writes a run's journal.
///
/// A record is a JSON object on a line. Each has a "type" and a "time" (seconds since 1970); an evaluation, a remark or
/// a direction is never older than what stands before it, whatever the clock says. A worker's records also
/// have its fencing "token" (docs/glossary.md#fencing-token). The last field is "crc", a checksum of the line before
/// it. A line with a wrong checksum is left out. The types and their fields:
///   state       {"state": queued|running|done|failed|diverged|preempted, "reason"?, "host"?, "pid"?, "experiment"?}
///               A running one with "fresh": true begins from nothing: results before it do not count.
///   metric      {"step", "values": {name: number}}
///   series      {"name", "steps": [step], "values": [number or "NaN", "Infinity", "-Infinity"]}   as imported
///   grid        {"step", "name", "rows": [[number or null]]}         a table that a model reports: spans of every head
///   evaluation  {"step", "split", "tokens", "loss", "seconds", "flops", "final", "values": {…}, "settings": {…}}
///   wanted      {"split", "changes": {key: value}, "program"?: {…}}  an evaluation to be done after training
///   trace       {"step", "split", "tokens": [text], "values": {name: [number]}}   of a split's first tokens
///   losses      {"step", "split", "of": documents|tokens, "each", "tokens": [count], "sums": [nats]}   of the parts
///               of a split, each of so many documents or tokens
///   costs       {"values": {params, flops_per_token, paper_flops, peak_memory, step_seconds, …}}
///   checkpoint  {"step", "file", "seconds"}
///   choice      {"key", "value", "file", "by", "runs": [id]}         a value that another sweep chose; no runs: the
///               recipe's fallback
///   better      {"values": {name: lower|higher}}                     directions that the program has declared since
///   settings    {"values": {key: value}}                             of an imported run, known since
///   experiment  {"name"}                                             the run also belongs to this experiment
///   reread      {"metrics": [{…}], "keeps"?}                         what the program has reported is read again, as
///               program.metrics says now: what was read of it before does not count, unless it is kept
///   back        {"step", "names": [name]}                            what was reported of these from that step on does
///               not count
///   message     {"text"}
///   remark      {"tag", "given"} or {"note"} or {"bad"}              what people say of the run (remark.h)
/// A resumed run writes the records after its checkpoint again. Of two records with the same type, step, name and split
/// (and settings, for evaluations) the later one counts. A record does not count after a "running" with a newer token:
/// another worker had taken the run over.
class Journal {
 public:
  using Clock = std::function<double()>;  // seconds since 1970

  explicit Journal(const fs::path& file, Clock clock = nullptr, std::int64_t token = 0);

  /// Appends a record: "type", "time", "token" and then `fields`. A writer without a token holds no lock of the run, so
  /// it waits while another journal takes this one's place (AppendPause). With `durable` the record is on the disk on
  /// return, as with sync.
  void append(const std::string& type, const Json& fields, bool durable = false);
  /// All records so far are on the disk on return, in the file that has the journal's name. Throws DataError if that
  /// file was removed or replaced.
  void sync();

 private:
  double time_of(const std::string& type);

  fs::path path_;
  AppendFile file_;
  Clock clock_;
  std::int64_t token_;
  std::optional<double> latest_;  // time of its records
};

/// The line of a record, with the checksum of everything before the checksum, and without a line end.
std::string journal_line(const Json& record);

/// The types of three of them.
inline constexpr const char* kReread = "reread";
inline constexpr const char* kSettingsRecord = "settings";
inline constexpr const char* kBack = "back";

/// Higher than any fencing token of a worker. A higher one in a journal would shut out all later workers.
inline constexpr std::int64_t kHighestToken = 1'000'000'000'000;

struct JournalContent {
  std::vector<Json> records;   // all valid ones
  std::int64_t bytes = 0;      // bytes read, up to the first zero
  std::int64_t malformed = 0;  // lines left out: no record, or not as written
};
JournalContent read_journal(const fs::path& file);

/// The same, but passes each record to `use` instead of filling `records`.
JournalContent read_journal(const fs::path& file, const std::function<void(const Json& record)>& use);

/// The highest token in a journal. 0 if there is none, or no journal.
std::int64_t highest_token(const fs::path& file);

/// The time now, in seconds since 1970.
double wall_seconds();

}  // namespace xlm
