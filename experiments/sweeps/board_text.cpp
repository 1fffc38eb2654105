// A sweep's board as text and as JSON.
#include "experiments/sweeps/board_text.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include <fmt/format.h>

#include "base/lookup.h"
#include "base/text.h"
#include "results/quantities/quantities.h"

namespace xlm {
namespace {

constexpr std::size_t kShownDigits = 8;  // of the hash in a run's id
constexpr std::size_t kFewDigits = 4;    // if there is little room

/// "45s", "12min", "3h05", "2d07h": a duration for narrow columns.
std::string short_duration(double seconds) {
  const auto whole = std::llround(seconds);
  if (whole < 60) return fmt::format("{}s", whole);
  const auto minutes = (whole + 30) / 60;
  if (minutes < 60) return fmt::format("{}min", minutes);
  if (minutes < 1440) return fmt::format("{}h{:02}", minutes / 60, minutes % 60);
  return fmt::format("{}d{:02}h", minutes / 1440, minutes % 1440 / 60);
}

std::string id_hash(const BoardRow& row) {
  const std::string id = row.run->id();
  return id.substr(id.rfind('-') + 1);
}

std::string headline_in(const Json& values, bool compact) {
  const Quantity* headline = headline_of([&](const std::string& name) { return values.contains(name); });
  if (headline == nullptr) return "";
  const double value = number_at(values, headline->name.c_str());
  return compact ? format_number(value, headline->format, headline->digits) : named_number(*headline, value);
}

/// The numbers of the last evaluation on validation; empty: none is known.
Json validated_by(const BoardRow& row) {
  const Json& record = row.progress.validation;
  if (!record.is_object()) return Json::object();
  Json values = record.value("values", Json::object());
  if (record.contains("loss") && record["loss"].is_number()) values["loss"] = record["loss"];
  return values;
}

Json reported_by(const BoardRow& row) {
  return row.progress.metric.is_null() ? Json::object() : row.progress.metric.value("values", Json::object());
}

}  // namespace

/// How far a run is, as text.
struct BoardText::Cells {
  std::string status, step, left, headline, validation, worker;
  std::map<std::string, std::string> live;  // by the quantity's name
};

struct BoardText::Column {
  std::string title;
  bool right = true;
  std::function<std::string(const Cells&)> cell;
};

/// What is shown of the rows.
struct BoardText::Layout {
  std::vector<std::string> names;          // of the runs, one for each row
  std::vector<std::string> titles;         // of the swept keys that are shown: the first of all
  std::vector<std::size_t> widths;         // of these columns
  std::vector<BoardText::Column> columns;  // after them
  bool compact = false;
};

BoardText::Cells BoardText::cells_of(const BoardRow& row, bool compact) {
  Cells cells;
  cells.status = row.status;
  cells.worker = row.worker;
  cells.validation = headline_in(validated_by(row), compact);
  if (row.progress.metric.is_null()) {
    if (row.state == BoardState::kRunning) cells.status = "starts";
    return cells;
  }
  if (const std::string evaluates = row.evaluates(); !evaluates.empty()) cells.status = evaluates;
  const Json values = reported_by(row);
  cells.step = human_count(number_at(row.progress.metric, "step"));
  const TrainOptions& train = row.run->planned.options.train;
  const bool is_known = train.has_length() || row.is_at_work();  // the steps that a program took are all
  if (row.steps() > 0 && is_known) {
    cells.step += (train.steps > 0 && !train.has_budget() ? "/" : "/~") + human_count(row.steps());
  }
  cells.headline = headline_in(values, compact);
  for (const Quantity& quantity : quantities()) {
    if (quantity.live.empty() || !values.contains(quantity.name)) continue;
    cells.live[quantity.name] =
        format_number(number_at(values, quantity.name.c_str()), quantity.format, quantity.digits);
  }
  if (const std::optional<double> left = time_left(row)) {
    cells.left = compact ? short_duration(*left) : human_duration(*left);
  }
  return cells;
}

std::string BoardText::summary() const {
  std::vector<std::string> parts{
      fmt::format("{} of {} runs ended", std::ranges::count_if(rows_, &BoardRow::has_ended), rows_.size())};
  const auto add = [&](auto is_such, const char* such) {
    if (const auto count = std::ranges::count_if(rows_, is_such); count > 0) {
      parts.push_back(fmt::format("{} {}", count, such));
    }
  };
  add(&BoardRow::failed, "failed");
  add(&BoardRow::stopped, "stopped");
  add([](const BoardRow& row) { return row.state == BoardState::kRunning; }, "running");
  add([](const BoardRow& row) { return row.state == BoardState::kElsewhere; }, "elsewhere");
  if (const std::optional<double> left = time_left(rows_)) {
    parts.push_back(fmt::format("about {} left", human_duration(*left)));
  }
  return join(parts, ", ");
}

std::string BoardText::line(const BoardRow& row) const {
  const Cells cells = cells_of(row, false);
  if (cells.step.empty()) return row.run->id() + "  starting";
  std::string line = fmt::format("{}  step {}", row.run->id(), cells.step);
  if (!cells.headline.empty()) line += "  " + cells.headline;
  if (!cells.validation.empty()) line += "  valid " + cells.validation;
  for (const auto& [name, number] : cells.live) line += fmt::format("  {} {}", quantity(name).live, number);
  if (!cells.left.empty()) line += "  " + cells.left + " left";
  if (const std::string evaluates = row.evaluates(); !evaluates.empty()) line += "  " + evaluates;
  return line;
}

/// As few digits of the runs' hashes as tell them apart, but at least `least`.
std::vector<std::string> BoardText::short_hashes(std::size_t least) const {
  std::vector<std::string> names;
  for (std::size_t digits = least;; ++digits) {
    names.clear();
    bool longer = false;
    for (const BoardRow& row : rows_) {
      const std::string hash = id_hash(row);
      longer = longer || hash.size() > digits;
      names.push_back(hash.substr(0, digits));
    }
    if (!longer || std::set<std::string>(names.begin(), names.end()).size() == rows_.size()) return names;
  }
}

/// All rows if they fit. Otherwise leaves out runs that are done, then waiting ones, from the end.
std::vector<bool> BoardText::shown_rows(std::size_t room) const {
  std::vector<bool> shown(rows_.size(), true);
  std::size_t count = rows_.size();
  const auto hide = [&](std::size_t i, auto condition) {
    if (count <= room || !shown[i] || !condition(rows_[i])) return;
    shown[i] = false;
    --count;
  };
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    hide(i, [](const BoardRow& row) { return row.state == BoardState::kEnded && !row.failed; });
  }
  for (std::size_t i = rows_.size(); i-- > 0;) {
    hide(i, [](const BoardRow& row) { return row.waits(); });
  }
  for (std::size_t i = rows_.size(); i-- > 0;) hide(i, [](const BoardRow&) { return true; });
  return shown;
}

/// The columns by importance. A number that only some models report has a column if any run has reported it.
std::vector<BoardText::Column> BoardText::columns() const {
  std::vector<Column> all{{"status", false, [](const Cells& cells) { return cells.status; }},
                          {"step", true, [](const Cells& cells) { return cells.step; }},
                          {"left", true, [](const Cells& cells) { return cells.left; }},
                          {"training", true, [](const Cells& cells) { return cells.headline; }}};
  const auto any = [&](auto has) { return std::ranges::any_of(rows_, has); };
  if (any([](const BoardRow& row) { return !row.progress.validation.is_null(); })) {
    all.push_back({"valid", true, [](const Cells& cells) { return cells.validation; }});
  }
  for (const Quantity& quantity : quantities()) {
    if (quantity.live.empty()) continue;
    const auto reports = [&](const BoardRow& row) { return reported_by(row).contains(quantity.name); };
    if (std::ranges::none_of(rows_, reports)) continue;
    all.push_back({quantity.live_head, true,
                   [name = quantity.name](const Cells& cells) { return value_or(cells.live, name, ""); }});
  }
  if (any([](const BoardRow& row) { return !row.worker.empty(); })) {
    all.push_back({"worker", false, [](const Cells& cells) { return cells.worker; }});
  }
  return all;
}

BoardText::Layout BoardText::layout() const {
  Layout layout{.names = short_hashes(kShownDigits), .titles = {}, .widths = {}, .columns = columns()};
  for (const std::string& key : keys_) {
    layout.titles.push_back(short_title(key, keys_));
    layout.widths.push_back(0);
  }
  return layout;
}

/// The layout with shorter swept values, words and numbers.
BoardText::Layout BoardText::compact_layout(const Layout& whole) const {
  constexpr std::size_t kMinTitle = 4;
  constexpr std::size_t kMaxValue = 8;
  Layout layout = whole;
  layout.names = short_hashes(kFewDigits);
  layout.compact = true;
  for (std::size_t key = 0; key < keys_.size(); ++key) {
    std::size_t widest = kMinTitle;
    for (const BoardRow& row : rows_) widest = std::max(widest, display_width(row.values[key]));
    layout.widths[key] = std::min(widest, kMaxValue);
  }
  return layout;
}

/// The table with as many columns as fit. On a very narrow terminal its lines are cut.
std::string BoardText::table(const Terminal& terminal, int taken) const {
  constexpr std::size_t kMainColumns = 4;
  Layout shown = layout();
  std::string text;
  const auto fits = [&](Layout& candidate) {
    text = render(candidate, terminal, taken);
    const std::vector<std::string> lines = split(trim(text), '\n');
    return !terminal.is_terminal ||
           std::ranges::all_of(lines, [&](const std::string& line) { return cut_to_line(terminal, line) == line; });
  };
  while (!fits(shown) && shown.columns.size() > kMainColumns) shown.columns.pop_back();
  if (fits(shown)) return text;
  shown = compact_layout(shown);
  while (!fits(shown) && !shown.titles.empty()) shown.titles.pop_back();
  while (!fits(shown) && shown.columns.size() > 1) shown.columns.pop_back();
  if (fits(shown)) return text;
  Terminal plain = terminal;
  plain.colour = false;  // coloured lines cannot be cut
  std::vector<std::string> lines = split(trim(render(shown, plain, taken)), '\n');
  for (std::string& line : lines) line = cut_to_line(plain, line);
  return join(lines, "\n") + "\n";
}

std::string BoardText::render(const Layout& layout, const Terminal& terminal, int taken) const {
  std::vector<TextTable::Column> heads{{"run"}};
  for (std::size_t key = 0; key < layout.titles.size(); ++key) {
    heads.push_back({.title = cut_cell(layout.titles[key], layout.widths[key])});
  }
  for (const Column& column : layout.columns) heads.push_back({.title = column.title, .right = column.right});
  TextTable text(std::move(heads));
  constexpr int kFrame = 4;  // title, rule, the count of rows left out, the cursor's line
  const int room =
      terminal.is_terminal ? std::max(terminal.height - kFrame - taken, 1) : static_cast<int>(rows_.size());
  const std::vector<bool> shown = shown_rows(static_cast<std::size_t>(room));
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (!shown[i]) continue;
    std::vector<std::string> row{layout.names[i]};
    for (std::size_t key = 0; key < layout.titles.size(); ++key) {
      row.push_back(cut_cell(rows_[i].values[key], layout.widths[key]));
    }
    Cells cells = cells_of(rows_[i], layout.compact);
    cells.status = paint(terminal, colour_of(rows_[i]), cells.status);
    for (const Column& column : layout.columns) row.push_back(column.cell(cells));
    text.add(std::move(row));
  }
  std::string out = text.render(TextTable::Format::kText);
  const auto left_out = std::ranges::count(shown, false);
  if (left_out > 0) out += fmt::format("… and {} more runs\n", left_out);
  return out;
}

Colour BoardText::colour_of(const BoardRow& row) {
  if (row.waits()) return Colour::kGrey;
  if (row.state != BoardState::kEnded) return Colour::kBold;
  return row.failed ? Colour::kRed : row.status == name_of(RunStatus::kDone) ? Colour::kGreen : Colour::kYellow;
}

Json BoardText::json() const {
  const auto maybe = [](const std::optional<double>& value) { return value ? Json(*value) : Json(); };
  Json runs = Json::array();
  for (const BoardRow& row : rows_) {
    Json values = Json::object();
    for (const auto& [key, value] : row.run->point) values[key] = to_json(value);
    const bool known = !row.progress.metric.is_null();
    Json entry = {{"run_id", row.run->id()}, {"values", std::move(values)}, {"status", row.status}};
    entry["worker"] = row.worker.empty() ? Json() : Json(row.worker);
    entry["step"] = known ? Json(static_cast<std::int64_t>(number_at(row.progress.metric, "step"))) : Json();
    entry["steps"] = row.run->planned.options.train.steps;
    entry["training"] = reported_by(row);
    entry["validation"] = validated_by(row);
    if (!entry["validation"].empty()) entry["validation_step"] = row.progress.validation.value("step", Json());
    entry["seconds_left"] = maybe(time_left(row));
    runs.push_back(std::move(entry));
  }
  return {{"ended", std::ranges::count_if(rows_, &BoardRow::has_ended)},
          {"failed", std::ranges::count_if(rows_, &BoardRow::failed)},
          {"stopped", std::ranges::count_if(rows_, &BoardRow::stopped)},
          {"running", std::ranges::count_if(rows_, &BoardRow::is_at_work)},
          {"seconds_left", maybe(time_left(rows_))},
          {"runs", std::move(runs)}};
}

}  // namespace xlm
