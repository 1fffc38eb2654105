// `jsonl:`: lines of JSON that a program writes for itself.
#include <optional>

#include "experiments/programs/json_record.h"
#include "experiments/programs/lines_reader.h"
#include "experiments/programs/quantity_name.h"

namespace xlm {
namespace {

class JsonLinesReader : public LinesReader {
 public:
  JsonLinesReader(const MetricDescription& description, ProgramRecords& records)
      : LinesReader(description.target, "are no JSON objects"), columns_(description.names, records) {}

  void begin(const Json& position) override {
    const std::optional<std::int64_t> step = begin_file(position);
    if (position.is_object()) columns_.set_step(step);
  }

  Json position() const override { return position_with_step(columns_.step()); }
  std::vector<std::string> warnings() const override { return warnings_of(columns_); }
  std::vector<std::string> doubts() const override {
    std::vector<std::string> doubts = doubts_of(columns_);
    if (says_final_) doubts.push_back(name() + ": no number is final that it calls so; lines of $XLM_METRICS say that");
    return doubts;
  }

 private:
  void line(std::string_view text, std::int64_t number) override {
    if (text.find_first_not_of(" \t\r") == std::string_view::npos) return;
    if (!use(text, number)) pass_over(number);
  }

  bool torn_line(std::string_view text, std::int64_t number) override {
    const bool is_whole = use(text, number);
    if (!is_whole) pass_over(number);
    return is_whole;
  }

  bool use(std::string_view text, std::int64_t number) {
    const std::optional<Json> record = parser_.parse(text);
    if (!record || !record->is_object()) return false;
    if (is_repeated(text)) return true;
    const LinePlace place{name(), number};
    const auto final = record->find("final");
    says_final_ = says_final_ || (final != record->end() && final->is_boolean() && final->get<bool>());
    split_.clear();
    for (const std::string_view column : kSplitColumns) {
      const auto found = record->find(column);
      if (found != record->end() && found->is_string()) split_ = split_called(found->get_ref<const std::string&>());
      if (!split_.empty()) break;
    }
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
        columns_.add(name, {.text = {}, .number = value.get<double>()}, place, text, columns_.from_row(name, split_));
      } else if (!value.is_null()) {
        const std::string shown = shown_json(value);
        columns_.add(name, {.text = shown, .number = json_number_of(value)}, place, text,
                     columns_.from_row(name, split_));
      }
    }
  }

  ForeignColumns columns_;
  JsonLineParser parser_;
  std::string split_;  // that the row says of itself; empty: none
  bool says_final_ = false;
};

}  // namespace

std::unique_ptr<MetricReader> make_json_lines_reader(const MetricDescription& description, ProgramRecords& records) {
  return std::make_unique<JsonLinesReader>(description, records);
}

}  // namespace xlm
