// `jsonl:`: lines of JSON that a program writes for itself.
#include <optional>

#include <fmt/format.h>

#include "experiments/programs/followed_file.h"
#include "experiments/programs/foreign_columns.h"
#include "experiments/programs/json_record.h"
#include "experiments/programs/metric_reader.h"
#include "experiments/programs/repeated_lines.h"

namespace xlm {
namespace {

class JsonLinesReader : public MetricReader, private LineUser {
 public:
  JsonLinesReader(const MetricDescription& description, ProgramRecords& records)
      : file_(description.target), columns_(description.names, records) {}

  void begin(const Json& position) override {
    file_.begin(file_of_position(position));
    if (position.is_object()) columns_.set_step(step_of_position(position));
  }

  void poll() override { file_.poll(*this); }
  void finish(bool /*is_done*/) override { file_.finish(*this); }

  Json position() const override { return position_with_step(file_.position(), columns_.step()); }

  bool is_whole() const override { return file_.was_seen(); }
  bool is_left() const override { return file_.is_left(); }

  std::vector<std::string> warnings() const override {
    if (!file_.was_seen()) return {no_such_file(file_.path())};
    std::vector<std::string> warnings = columns_.warnings(name_);
    if (passed_over_ > 0) {
      warnings.push_back(fmt::format("{}: {} lines are no JSON objects, and were passed over; the first is line {}",
                                     name_, passed_over_, first_passed_over_));
    }
    return warnings;
  }

 private:
  void restarted() override { repeated_.restart(); }

  void line(std::string_view text, std::int64_t number) override {
    if (text.find_first_not_of(" \t\r") == std::string_view::npos) return;
    if (!use(text, number)) pass_over(number);
  }

  bool torn_line(std::string_view text, std::int64_t number) override {
    const bool is_whole = use(text, number);
    if (!is_whole) pass_over(number);
    return is_whole;
  }

  void long_line(std::int64_t number) override { pass_over(number); }

  void pass_over(std::int64_t number) {
    if (passed_over_++ == 0) first_passed_over_ = number;
  }

  bool use(std::string_view text, std::int64_t number) {
    const std::optional<Json> record = parser_.parse(text);
    if (!record || !record->is_object()) return false;
    if (repeated_.is_repeated(text)) return true;
    const LinePlace place{name_, number};
    columns_.begin_row(place);
    add(*record, "", place, text);
    columns_.end_row(place);
    return true;
  }

  /// Maps in maps are columns with dots.
  void add(const Json& map, const std::string& prefix, const LinePlace& place, std::string_view text) {
    for (const auto& [key, value] : map.items()) {
      const std::string name = prefix + key;
      if (value.is_object()) {
        add(value, name + ".", place, text);
      } else if (value.is_number()) {
        columns_.add(name, {.text = {}, .number = value.get<double>()}, place, text);
      } else if (!value.is_null()) {
        const std::string shown = shown_json(value);
        columns_.add(name, {.text = shown, .number = json_number_of(value)}, place, text);
      }
    }
  }

  FollowedFile file_;
  ForeignColumns columns_;
  std::string name_ = file_.path().filename().string();
  JsonLineParser parser_;
  RepeatedLines repeated_;
  std::int64_t passed_over_ = 0;
  std::int64_t first_passed_over_ = 0;
};

}  // namespace

std::unique_ptr<MetricReader> make_json_lines_reader(const MetricDescription& description, ProgramRecords& records) {
  return std::make_unique<JsonLinesReader>(description, records);
}

}  // namespace xlm
