// One source of a program's numbers. There is one class for each kind (metric_description.h).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/json.h"
#include "experiments/programs/metric_description.h"
#include "experiments/programs/program_records.h"

namespace xlm {

/// See MetricReaders, which calls these for all readers of an attempt and then flushes the records.
class MetricReader {
 public:
  virtual ~MetricReader() = default;
  virtual void begin(const Json& /*position*/) {}
  /// Reads all again that the present result is of. `position` is where an earlier attempt ended; null: not known.
  virtual void begin_again(const Json& /*position*/) { begin(Json::object()); }
  /// Where it is in its files, as `{"of": what it reads, "at": …}`; null: it reads none.
  virtual Json place() const { return Json(); }
  /// Reads again up to where an attempt began, counted from 0: `place` is what `place` was then; null: not known.
  virtual void read_to(std::size_t /*attempt*/, const Json& /*place*/) {}
  virtual void output(std::string_view /*bytes*/) {}
  virtual void poll() {}
  virtual void finish(bool is_done) = 0;
  virtual Json position() const { return Json(); }
  virtual std::vector<std::string> warnings() const = 0;
  /// What may have changed the numbers, for lists and results.
  virtual std::vector<std::string> doubts() const { return {}; }
  /// Whether what it has read from the beginning is all that there was.
  virtual bool is_whole() const { return true; }
  /// Whether it has read what is not there any more: a file was begun again.
  virtual bool has_lost_lines() const { return false; }
  /// Whether earlier attempts have read of it, and this one has not: the program may write elsewhere now.
  virtual bool is_left() const { return false; }
  /// What never came, for lists: lines that fit a pattern, or a file.
  virtual std::vector<std::string> never_came() const { return {}; }
  /// What the program said last is in another message: warnings need not repeat it.
  virtual void output_is_told() {}
};

/// All `lines:` of a program together, which read the same output. It is also in `log`.
std::unique_ptr<MetricReader> make_output_reader(const std::vector<MetricDescription>& lines, const fs::path& log,
                                                 ProgramRecords& records);

/// $XLM_METRICS: every line is a record, and what is not is an error.
std::unique_ptr<MetricReader> make_metrics_file_reader(const fs::path& file, ProgramRecords& records);

std::unique_ptr<MetricReader> make_json_lines_reader(const MetricDescription& description, ProgramRecords& records);
std::unique_ptr<MetricReader> make_csv_reader(const MetricDescription& description, ProgramRecords& records);
std::unique_ptr<MetricReader> make_event_reader(const MetricDescription& description, ProgramRecords& records);

}  // namespace xlm
