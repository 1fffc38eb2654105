// $XLM_METRICS: records as lines of JSON, each with its meaning.
#include <optional>
#include <set>

#include <fmt/format.h>

#include "experiments/programs/json_record.h"
#include "experiments/programs/lines_reader.h"
#include "experiments/programs/number_text.h"
#include "experiments/programs/shown_line.h"

namespace xlm {
namespace {

/// What is wrong with a record.
struct WrongRecord {
  std::string what;
};

std::int64_t step_in(const Json& value) {
  const std::optional<std::int64_t> step =
      value.is_number() ? whole_step(value.get<double>()) : std::optional<std::int64_t>();
  if (!step) throw WrongRecord{no_step("step", shown_json(value))};
  return *step;
}

double number_in(std::string_view name, const Json& value) {
  const std::optional<double> number = json_number_of(value);
  if (!number) throw WrongRecord{no_number(name, shown_json(value))};
  return *number;
}

std::vector<std::int64_t> columns_in(const Json& value, const ProgramGrid& grid) {
  if (!value.is_array()) throw WrongRecord{"'columns' of a grid is a list of rising whole numbers"};
  std::vector<std::int64_t> columns;
  for (const Json& column : value) {
    if (!column.is_number_integer() || (!columns.empty() && column.get<std::int64_t>() <= columns.back())) {
      throw WrongRecord{
          fmt::format("'columns' of a grid are whole numbers that rise; '{}' is none", shown_json(column))};
    }
    columns.push_back(column.get<std::int64_t>());
  }
  for (const std::vector<double>& row : grid.rows) {
    if (row.size() > columns.size()) {
      throw WrongRecord{
          fmt::format("a row of the grid has {} numbers, and there are {} columns", row.size(), columns.size())};
    }
  }
  return columns;
}

/// {"name": "spans", "rows": [[1, 2], [3, null]], "columns": [1, 2]}
ProgramGrid grid_in(const Json& value) {
  if (!value.is_object() || !value.contains("name") || !value["name"].is_string() || !value.contains("rows") ||
      !value["rows"].is_array()) {
    throw WrongRecord{
        R"('grid' is {"name": "NAME", "rows": [[NUMBER, …], …]}, with "columns" where they are not 1, 2, …)"};
  }
  ProgramGrid grid{.name = value["name"].get<std::string>(), .rows = {}, .columns = {}};
  if (!is_quantity_name(grid.name)) throw WrongRecord{wrong_quantity_name(grid.name)};
  for (const Json& row : value["rows"]) {
    if (!row.is_array()) throw WrongRecord{fmt::format("'{}' is no row of a grid", shown_json(row))};
    std::vector<double>& numbers = grid.rows.emplace_back();
    for (const Json& number : row) numbers.push_back(number_in(grid.name, number));
  }
  if (value.contains("columns")) grid.columns = columns_in(value["columns"], grid);
  return grid;
}

class MetricsFileReader : public LinesReader {
 public:
  MetricsFileReader(const fs::path& file, ProgramRecords& records) : LinesReader(file, ""), records_(records) {}

  void begin(const Json& position) override {
    if (const std::optional<std::int64_t> step = begin_file(position)) step_.set(step, records_.attempt());
  }

  Json position() const override { return position_with_step(step_.last()); }
  bool is_whole() const override { return true; }  // a program need not write it
  bool is_left() const override { return false; }

  std::vector<std::string> never_came() const override { return {}; }  // it need not

  std::vector<std::string> doubts() const override {
    std::vector<std::string> doubts = LinesReader::doubts();
    doubts.insert(doubts.end(), said_.begin(), said_.end());
    return doubts;
  }

  std::vector<std::string> warnings() const override {
    if (torn_ == 0) return {};
    return {fmt::format("{}: {} lines were cut off, as by a program that was killed, and are left out", name(), torn_)};
  }

 private:
  void line(std::string_view text, std::int64_t number) override {
    if (text.find_first_not_of(" \t\r") == std::string_view::npos) return;
    if (is_repeated(text)) return;
    const std::optional<Json> record = parser_.parse(text);
    use(record, text, {name(), number});
  }

  bool torn_line(std::string_view text, std::int64_t number) override {
    const std::optional<Json> record = parser_.parse(text);
    if (!record || !record->is_object()) {
      ++torn_;
      return false;
    }
    if (!is_repeated(text)) use(record, text, {name(), number});
    return true;
  }

  void long_line(std::int64_t number) override {
    records_.fault({name(), number}, fmt::format("the line has more than {} bytes", FollowedFile::kLongestLine));
  }

  void use(const std::optional<Json>& record, std::string_view text, const LinePlace& place) {
    records_.reading(place);
    try {
      if (!record || !record->is_object())
        throw WrongRecord{R"(a line is a record such as {"step": 100, "loss": 2.1})"};
      hand_on(*record, place);
    } catch (const WrongRecord& wrong) {
      records_.fault(place, wrong.what, text);
    }
  }

  /// All is looked at before anything is handed on.
  void hand_on(const Json& record, const LinePlace& place) {
    std::optional<std::int64_t> step;
    ProgramEvaluation evaluation;
    std::vector<std::pair<ProgramRecords::Name*, double>> numbers;
    std::vector<std::pair<std::string, double>> costs;
    std::optional<ProgramGrid> grid;
    if (const auto split = record.find("split"); split != record.end()) evaluation.split = split_in(*split);
    for (const auto& [key, value] : record.items()) {
      if (key == "step") {
        step = step_in(value);
      } else if (key == "final") {
        evaluation.final = final_in(value, evaluation);
      } else if (key == "costs") {
        costs = costs_in(value);
      } else if (key == "grid") {
        grid = grid_in(value);
      } else if (key == "warning" && value.is_string()) {
        if (said_.size() < kMaxSaid) said_.insert(value.get<std::string>());
      } else if (key != "split") {
        const double number = number_in(key, value);
        if (!is_quantity_name(key)) throw WrongRecord{wrong_quantity_name(key)};
        if (evaluation.split.empty()) {
          numbers.emplace_back(records_.name(key, place), number);
        } else {
          evaluation.values[key] = number;
        }
      }
    }
    if (step) {
      step_.set(step, records_.attempt());
      records_.seen_step(*step);
    }
    const std::int64_t at = step_.in(records_.attempt()).value_or(records_.newest_step());
    for (const auto& [name, value] : costs) records_.cost(name, value);
    for (const auto& [name, value] : numbers) {
      if (name != nullptr) records_.number(*name, at, value, place);
    }
    if (grid) records_.grid(at, *grid);
    if (evaluation.split.empty()) return;
    if (evaluation.values.empty()) throw WrongRecord{"an evaluation has a number at least"};
    evaluation.step = at;
    for (const auto& [name, value] : evaluation.values) {
      ProgramRecords::Name* const of = records_.name(evaluation.split + "." + name, place);
      if (of != nullptr && of->place.split == evaluation.split) records_.number(*of, at, value, place);
    }
    records_.evaluation(evaluation);
  }

  static std::string split_in(const Json& value) {
    if (value.is_string() && is_split(value.get<std::string>())) return value.get<std::string>();
    throw WrongRecord{fmt::format("'split' is '{}'; it is train, valid or test", shown_line(shown_json(value)))};
  }

  static bool final_in(const Json& value, const ProgramEvaluation& evaluation) {
    if (!value.is_boolean())
      throw WrongRecord{fmt::format("'final' is '{}'; it is true or false", shown_line(shown_json(value)))};
    if (evaluation.split.empty()) throw WrongRecord{"what is final is an evaluation, which says its split"};
    return value.get<bool>();
  }

  static std::vector<std::pair<std::string, double>> costs_in(const Json& value) {
    if (!value.is_object()) throw WrongRecord{R"('costs' are numbers by name: {"params": 12e6})"};
    std::vector<std::pair<std::string, double>> costs;
    for (const auto& [name, number] : value.items()) {
      if (!is_quantity_name(name)) throw WrongRecord{wrong_quantity_name(name)};
      costs.emplace_back(name, number_in(name, number));
    }
    return costs;
  }

  ProgramRecords& records_;
  JsonLineParser parser_;
  SourceStep step_;
  std::int64_t torn_ = 0;
  std::set<std::string> said_;  // what the program warns of
  static constexpr std::size_t kMaxSaid = 10;
};

}  // namespace

std::unique_ptr<MetricReader> make_metrics_file_reader(const fs::path& file, ProgramRecords& records) {
  return std::make_unique<MetricsFileReader>(file, records);
}

}  // namespace xlm
