// All readers of an attempt.
#include "experiments/programs/metric_readers.h"

#include <algorithm>
#include <exception>

#include <fmt/format.h>

#include "base/error.h"
#include "base/sha256.h"
#include "base/utf8.h"

namespace xlm {

MetricReaders::MetricReaders(const std::vector<MetricDescription>& descriptions, const fs::path& metrics_file,
                             RecordSink& sink, const fs::path& log)
    : records_(sink) {
  readers_.push_back(make_metrics_file_reader(metrics_file, records_));
  std::vector<MetricDescription> lines;
  for (const MetricDescription& description : descriptions) {
    switch (description.kind) {
      case MetricKind::kLines:
        lines.push_back(description);
        break;
      case MetricKind::kCsv:
        readers_.push_back(make_csv_reader(description, records_));
        break;
      case MetricKind::kJsonLines:
        readers_.push_back(make_json_lines_reader(description, records_));
        break;
      case MetricKind::kTensorBoard:
        readers_.push_back(make_event_reader(description, records_));
        break;
    }
  }
  std::string described;
  for (const MetricDescription& one : descriptions) {
    described += Json({one.kind, one.target, one.names, std::string(1, one.thousands)}).dump() + "\n";
  }
  described_ = sha256(described);
  if (!lines.empty()) readers_.push_back(make_output_reader(lines, log, records_));
}

void MetricReaders::for_each_reader(const std::function<void(MetricReader&)>& action) {
  std::exception_ptr error;
  for (const std::unique_ptr<MetricReader>& reader : readers_) {
    try {
      action(*reader);
    } catch (const DataError&) {
      if (!error) error = std::current_exception();
    }
  }
  records_.flush();
  if (error) std::rethrow_exception(error);
}

void MetricReaders::begin(const Json& position, std::optional<std::int64_t> resumed_at) {
  try {
    begin_at(position);
  } catch (const Json::exception& error) {
    left_wrong_ = fmt::format("it is not known how far it was read, so all of it is read again ({})", reason_of(error));
    for (const auto& reader : readers_) reader->begin_again(Json());
  }
  take_attempts(position);
  if (!position.is_null()) {
    try {
      poll();
    } catch (const DataError& error) {
      left_wrong_ = error.what();
    } catch (const DivergedError& error) {
      left_wrong_ = error.what();
    }
    records_.begin_attempt(resumed_at);
  }
  attempts_.push_back(places());
  resumed_at_.push_back(resumed_at ? Json(*resumed_at) : Json());
}

/// A position of before does not say where attempts resumed.
void MetricReaders::take_attempts(const Json& position) {
  attempts_ = position.is_object() ? position.value("attempts", Json::array()) : Json::array();
  resumed_at_ = position.is_object() ? position.value("resumed_at", Json::array()) : Json::array();
  while (resumed_at_.size() < attempts_.size()) resumed_at_.push_back(Json());
  has_lost_lines_ = position.is_object() && position.value("lost_lines", false);
}

Json MetricReaders::places() const {
  Json places = Json::array();
  for (const auto& reader : readers_) places.push_back(reader->place());
  return places;
}

/// Throws Json::exception for a position that cannot be understood.
void MetricReaders::begin_at(const Json& position) {
  const bool knows = position.is_object() && !position.empty();
  const Json readers = knows ? position.at("readers") : Json();
  const bool as_described = !knows || position.value("described", described_) == described_;
  if (!as_described || (knows && readers.size() != readers_.size())) {
    throw Json::other_error::create(501, "an earlier attempt had other readers", &position);
  }
  if (knows) records_.begin(position.at("records"));
  for (std::size_t i = 0; i < readers_.size(); ++i) readers_[i]->begin(knows ? readers[i] : position);
}

/// What the program wrote to files before it said this comes first: a number without a step belongs to the step before
/// it.
void MetricReaders::output(std::string_view bytes) {
  for_each_reader([&](MetricReader& reader) {
    reader.poll();
    reader.output(bytes);
  });
}

void MetricReaders::poll() {
  for_each_reader([](MetricReader& reader) { reader.poll(); });
}

bool MetricReaders::finish(bool is_done) {
  for_each_reader([&](MetricReader& reader) { reader.finish(is_done); });
  const bool is_left = std::ranges::any_of(readers_, [](const auto& r) { return r->is_left(); });
  if (is_done && !is_left) records_.finish();
  return !is_left;
}

bool MetricReaders::read_all(bool is_done, const Json& position) {
  const auto read = [](const auto& action) {
    try {
      action();
    } catch (const DivergedError&) {
      // That is known of the run.
    }
  };
  // Patterns may be others now, and with them which reader is which: that of the output was the last one.
  const Json of_readers = position.is_object() ? position.value("readers", Json::array()) : Json::array();
  for (const auto& reader : readers_) reader->begin_again(of_readers.empty() ? Json() : of_readers.back());
  // Attempt by attempt: what a later one reports takes the place of what the one before it had.
  take_attempts(position);
  for (std::size_t attempt = 1; attempt < attempts_.size(); ++attempt) {
    read([&] {
      for_each_reader([&](MetricReader& reader) {
        const Json place = reader.place();
        const Json& places = attempts_[attempt];
        const auto then = std::ranges::find_if(places, [&](const Json& one) {
          return one.is_object() && place.is_object() && one.at("of") == place.at("of");
        });
        reader.read_to(attempt, then == places.end() ? Json() : *then);
      });
    });
    const Json& at = resumed_at_[attempt];
    records_.begin_attempt(at.is_null() ? std::nullopt : std::optional(at.get<std::int64_t>()));
  }
  read([&] { poll(); });
  read([&] { finish(is_done); });
  const auto is_whole = [](const auto& reader) { return reader->is_whole(); };
  return std::ranges::all_of(readers_, is_whole);
}

std::int64_t MetricReaders::lines() const { return records_.lines(); }

Json MetricReaders::position() const {
  Json readers = Json::array();
  for (const auto& reader : readers_) readers.push_back(reader->position());
  Json position = {{"records", records_.position()},
                   {"readers", readers},
                   {"described", described_},
                   {"attempts", attempts_},
                   {"resumed_at", resumed_at_}};
  const bool lost = std::ranges::any_of(readers_, [](const auto& reader) { return reader->has_lost_lines(); });
  if (lost || has_lost_lines_) position["lost_lines"] = true;
  return position;
}

void MetricReaders::output_is_told() {
  for (const auto& reader : readers_) reader->output_is_told();
}

std::vector<std::string> MetricReaders::never_came() const {
  std::vector<std::string> all;
  for (const auto& reader : readers_)
    std::ranges::transform(reader->never_came(), std::back_inserter(all), repaired_utf8);
  return all;
}

std::vector<std::string> MetricReaders::doubts() const {
  std::vector<std::string> doubts = records_.warnings();
  if (!left_wrong_.empty()) doubts.push_back("an earlier attempt left what is wrong: " + left_wrong_);
  for (const auto& reader : readers_)
    std::ranges::transform(reader->doubts(), std::back_inserter(doubts), repaired_utf8);
  return doubts;
}

std::vector<std::string> MetricReaders::warnings() const {
  std::vector<std::string> warnings = doubts();
  for (const auto& reader : readers_)
    std::ranges::transform(reader->warnings(), std::back_inserter(warnings), repaired_utf8);
  return warnings;
}

}  // namespace xlm
