// Reads what a program reports while it runs: its file of metrics, its output, and files that it writes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/json.h"
#include "experiments/programs/metric_description.h"
#include "experiments/programs/metric_reader.h"
#include "experiments/programs/program_records.h"

namespace xlm {

/// The readers of one attempt. Each record is handed on once; what a program writes is never changed.
///
/// `output`, `poll` and `finish` throw DataError with file, line and value where text stands for a number, where a step
/// is no whole number, and for names that no quantity may have (LastLineError if that was the last line with numbers so
/// far); DivergedError, after the record was handed on, where
/// the training's loss, bpc or bits_per_byte is not finite. They may be called again after that: reading goes on behind
/// what was wrong.
class MetricReaders {
 public:
  /// `metrics_file` is $XLM_METRICS, which need not exist. `sink` outlives the readers. `log` gets the program's output
  /// before `output` does (program_log.h); empty: there is none, and no later attempt reads on.
  MetricReaders(const std::vector<MetricDescription>& descriptions, const fs::path& metrics_file, RecordSink& sink,
                const fs::path& log = {});
  MetricReaders(const MetricReaders&) = delete;
  MetricReaders& operator=(const MetricReaders&) = delete;
  ~MetricReaders() = default;

  /// Called before the program starts. `position` is that of an earlier attempt that this one continues: what that has
  /// left behind it is handed on now. {}: that attempt was killed before it kept one, and all that it left is handed
  /// on. Null: there was none, and what the files hold now was written by others. `resumed_at`: the step of the
  /// checkpoint that the program goes on from, to which numbers before its first step belong.
  void begin(const Json& position, std::optional<std::int64_t> resumed_at = std::nullopt);
  /// Bytes of the program's output, as they come, in pieces that may end anywhere.
  void output(std::string_view bytes);
  /// Looks for what the files have more than before.
  void poll();
  /// The program has ended: the last line counts without a line end too. Where it is done, the newest evaluation of
  /// each split that has no final one is handed on again as the final one. Returns false, and does not do that, if
  /// nothing has come of a file that earlier attempts have read: the program may write to another one now.
  bool finish(bool is_done);

  /// Reads all that the last attempt and those that it continued have left, in place of `begin`, `poll` and `finish`.
  /// `position` is that of the last attempt; null: it is lost, and all attempts are read. Returns whether that is all
  /// that they had reported: files may be gone, and numbers may have had a step only while they were read.
  bool read_all(bool is_done, const Json& position = Json());
  /// How many lines with numbers were read so far.
  std::int64_t lines() const;
  /// Where reading is, small, for `begin` of a later attempt. To be kept once what was handed on is kept.
  Json position() const;
  /// For the log, after `finish`: patterns that never matched, with the last lines of the output; files that never
  /// appeared; lines that were skipped; steps that went back.
  std::vector<std::string> warnings() const;
  /// Those that may have changed the numbers: for lists and results.
  std::vector<std::string> doubts() const;
  /// Patterns and files that never came, for lists.
  std::vector<std::string> never_came() const;
  /// For lists (program_records.h).
  /// Whether one of its files was begun again, now or in an earlier attempt.
  bool has_lost_lines() const { return has_lost_lines_; }
  const std::string& replaced_evaluations() const { return records_.replaced_evaluations(); }
  /// The last lines of the output are in another message, so warnings leave them out.
  void output_is_told();

 private:
  void begin_at(const Json& position);
  /// What one source holds is handed on also where another cannot be read.
  void for_each_reader(const std::function<void(MetricReader&)>& action);

  ProgramRecords records_;
  std::vector<std::unique_ptr<MetricReader>> readers_;
  Json places() const;
  void take_attempts(const Json& position);
  Json attempts_ =
      Json::array();  // where each of this one and those that it continues began: the places of the readers
  Json resumed_at_ = Json::array();  // of each of them, the step
  bool has_lost_lines_ = false;      // one of its files was begun again, now or in an earlier attempt
  std::string described_;            // what the readers were made from
  std::string left_wrong_;           // an error in what an earlier attempt left
};

}  // namespace xlm
