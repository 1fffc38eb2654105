// All readers of an attempt.
#include "experiments/programs/metric_readers.h"

#include <algorithm>
#include <exception>

#include <fmt/format.h>

#include "base/error.h"
#include "base/sha256.h"
#include "base/utf8.h"
#include "experiments/programs/metric_reader.h"
#include "experiments/programs/program_records.h"

namespace xlm {

struct MetricReaders::Parts {
  explicit Parts(RecordSink& sink) : records(sink) {}

  /// What one source holds is handed on also where another cannot be read.
  template <class Action>
  void for_each(const Action& action) {
    std::exception_ptr error;
    for (const std::unique_ptr<MetricReader>& reader : readers) {
      try {
        action(*reader);
      } catch (const DataError&) {
        if (!error) error = std::current_exception();
      }
    }
    records.flush();
    if (error) std::rethrow_exception(error);
  }

  ProgramRecords records;
  std::vector<std::unique_ptr<MetricReader>> readers;
  std::string described;   // what the readers were made from
  std::string left_wrong;  // an error in what an earlier attempt left
};

MetricReaders::MetricReaders(const std::vector<MetricDescription>& descriptions, const fs::path& metrics_file,
                             RecordSink& sink, const fs::path& log)
    : parts_(std::make_unique<Parts>(sink)) {
  ProgramRecords& records = parts_->records;
  parts_->readers.push_back(make_metrics_file_reader(metrics_file, records));
  std::vector<MetricDescription> lines;
  for (const MetricDescription& description : descriptions) {
    switch (description.kind) {
      case MetricKind::kLines:
        lines.push_back(description);
        break;
      case MetricKind::kCsv:
        parts_->readers.push_back(make_csv_reader(description, records));
        break;
      case MetricKind::kJsonLines:
        parts_->readers.push_back(make_json_lines_reader(description, records));
        break;
      case MetricKind::kTensorBoard:
        parts_->readers.push_back(make_event_reader(description, records));
        break;
    }
  }
  std::string described;
  for (const MetricDescription& one : descriptions) {
    described += Json({one.kind, one.target, one.names, std::string(1, one.thousands)}).dump() + "\n";
  }
  parts_->described = sha256(described);
  if (!lines.empty()) parts_->readers.push_back(make_output_reader(lines, log, records));
}

MetricReaders::~MetricReaders() = default;

void MetricReaders::begin(const Json& position) {
  try {
    begin_at(position);
  } catch (const Json::exception& error) {
    parts_->left_wrong =
        fmt::format("it is not known how far it was read, so all of it is read again ({})", reason_of(error));
    for (const auto& reader : parts_->readers) reader->begin_again();
  }
  if (position.is_null()) return;
  try {
    poll();
  } catch (const DataError& error) {
    parts_->left_wrong = error.what();
  } catch (const DivergedError& error) {
    parts_->left_wrong = error.what();
  }
  parts_->records.begin_attempt();
}

/// Throws Json::exception for a position that cannot be understood.
void MetricReaders::begin_at(const Json& position) {
  const bool knows = position.is_object() && !position.empty();
  const Json readers = knows ? position.at("readers") : Json();
  const bool as_described = !knows || position.value("described", parts_->described) == parts_->described;
  if (!as_described || (knows && readers.size() != parts_->readers.size())) {
    throw Json::other_error::create(501, "an earlier attempt had other readers", &position);
  }
  if (knows) parts_->records.begin(position.at("records"));
  for (std::size_t i = 0; i < parts_->readers.size(); ++i) parts_->readers[i]->begin(knows ? readers[i] : position);
}

/// What the program wrote to files before it said this comes first: a number without a step belongs to the step before
/// it.
void MetricReaders::output(std::string_view bytes) {
  parts_->for_each([&](MetricReader& reader) {
    reader.poll();
    reader.output(bytes);
  });
}

void MetricReaders::poll() {
  parts_->for_each([](MetricReader& reader) { reader.poll(); });
}

bool MetricReaders::finish(bool is_done) {
  parts_->for_each([&](MetricReader& reader) { reader.finish(is_done); });
  const bool is_left =
      std::any_of(parts_->readers.begin(), parts_->readers.end(), [](const auto& r) { return r->is_left(); });
  if (is_done && !is_left) parts_->records.finish();
  return !is_left;
}

bool MetricReaders::read_all(bool is_done) {
  const auto read = [](const auto& action) {
    try {
      action();
    } catch (const DivergedError&) {
      // That is known of the run.
    }
  };
  for (const auto& reader : parts_->readers) reader->begin_again();
  read([&] { poll(); });
  read([&] { finish(is_done); });
  const auto is_whole = [](const auto& reader) { return reader->is_whole(); };
  return std::all_of(parts_->readers.begin(), parts_->readers.end(), is_whole);
}

std::int64_t MetricReaders::lines() const { return parts_->records.lines(); }

Json MetricReaders::position() const {
  Json readers = Json::array();
  for (const auto& reader : parts_->readers) readers.push_back(reader->position());
  return {{"records", parts_->records.position()}, {"readers", readers}, {"described", parts_->described}};
}

void MetricReaders::output_is_told() {
  for (const auto& reader : parts_->readers) reader->output_is_told();
}

std::vector<std::string> MetricReaders::warnings() const {
  std::vector<std::string> warnings = parts_->records.warnings();
  if (!parts_->left_wrong.empty()) warnings.push_back("an earlier attempt left what is wrong: " + parts_->left_wrong);
  for (const auto& reader : parts_->readers) {
    for (const std::string& warning : reader->warnings()) warnings.push_back(repaired_utf8(warning));
  }
  return warnings;
}

Json position_with_step(const Json& file, const std::optional<std::int64_t>& step) {
  Json position = {{"file", file}};
  if (step) position["step"] = *step;
  return position;
}

Json file_of_position(const Json& position) {
  return position.is_object() ? position.value("file", Json::object()) : Json();
}

std::optional<std::int64_t> step_of_position(const Json& position) {
  return position.contains("step") ? std::optional(position["step"].get<std::int64_t>()) : std::nullopt;
}

std::string no_such_file(const fs::path& path) { return fmt::format("{} was never there", path.string()); }

}  // namespace xlm
