// The journal of a run: append-only JSON lines, the truth from which everything else can be rebuilt.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/json.h"

namespace xlm {

/// A record is a JSON object with at least "type" and "time" (seconds since 1970) and, when written by a worker, its
/// fencing "token". Types and fields:
///   state       {"state": queued|running|done|failed|diverged|preempted, "reason"?, "host"?, "pid"?, "experiment"?}
///   metric      {"step", "values": {name: number}}
///   grid        {"step", "name", "rows": [[number]]}                 spans of every head
///   evaluation  {"step", "split", "tokens", "loss", "seconds", "final", "values": {…}, "settings": {…}}
///   trace       {"step", "split", "tokens": [text], "values": {name: [number]}}   of a split's first tokens
///   costs       {"values": {params, flops_per_token, paper_flops, peak_memory, step_seconds, …}}
///   checkpoint  {"step", "file"}
///   experiment  {"name"}                                             the run belongs to this experiment (too)
///   message     {"text"}
/// A resumed run repeats the records after its checkpoint: of two records of the same type, step, name and split the
/// later one counts. Records of a worker whose token is older than the newest running state's are ignored.
class Journal {
 public:
  using Clock = std::function<double()>;  // seconds since 1970

  explicit Journal(const fs::path& file, Clock clock = nullptr, std::int64_t token = 0);

  /// Adds "type", "time" and "token" in front of `fields`, appends and flushes; `durable` also fsyncs.
  void append(const std::string& type, const Json& fields, bool durable = false);

 private:
  AppendFile file_;
  Clock clock_;
  std::int64_t token_;
};

/// All whole records. A torn last line is dropped; a malformed line elsewhere is skipped and counted in `malformed`.
struct JournalContent {
  std::vector<Json> records;
  std::int64_t malformed = 0;
  bool torn = false;
};
JournalContent read_journal(const fs::path& file);

/// Seconds since 1970.
double wall_seconds();

}  // namespace xlm
