// What a sweep shows while it runs.
#include "experiments/sweeps/sweep_board.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.h"
#include "results/quantities/quantities.h"

namespace xlm {
namespace {

constexpr std::size_t kTailBytes = 1 << 16;
constexpr double kRedrawInterval = 0.5;  // seconds, on a terminal
constexpr std::size_t kShownDigits = 8;  // of the hash in a run's id: enough to tell it by

double number_at(const Json& object, const std::string& key) {
  return object.is_object() && object.contains(key) && object[key].is_number() ? object[key].get<double>() : 0;
}

}  // namespace

Json last_metric(const fs::path& journal) {
  if (!fs::is_regular_file(journal)) return nullptr;
  const MappedFile file(journal);
  std::string_view text = file.text();
  if (text.size() > kTailBytes) text.remove_prefix(text.size() - kTailBytes);
  while (!text.empty()) {
    const std::size_t end = text.find_last_of('\n');
    if (end == std::string_view::npos) break;
    text = text.substr(0, end);
    const std::size_t begin = text.find_last_of('\n') + 1;  // npos + 1 is 0
    const std::string_view line = text.substr(begin);
    if (line.find("\"metric\"") != std::string_view::npos) {
      const std::optional<Json> record = parse_json_if_any(line);
      if (record && record->is_object() && record->value("type", "") == "metric") return *record;
    }
    text = text.substr(0, begin);
  }
  return nullptr;
}

SweepBoard::SweepBoard(Settings settings, const std::vector<SweepRun>& runs)
    : settings_(std::move(settings)), keys_(swept_keys(runs)), began_(settings_.clock()), last_(began_) {
  for (const SweepRun& run : runs) {
    Row row{.run = &run};
    if (run.action == SweepAction::kSkip || run.action == SweepAction::kDiverged) {
      row.state = State::kEnded;
      row.counted = false;
      row.status = run.status;
    }
    places_.emplace(run.id(), rows_.size());
    rows_.push_back(std::move(row));
  }
}

SweepBoard::~SweepBoard() { clear(); }

void SweepBoard::clear() {
  if (lines_ > 0) say(fmt::format("\033[{}A\r\033[J", lines_), settings_.out);
  lines_ = 0;
}

void SweepBoard::ended(const SweepRun& run, RunStatus status, const std::string& how) {
  Row& row = row_of(run);
  row.state = State::kEnded;
  row.failed = status == RunStatus::kFailed || status == RunStatus::kDiverged;
  row.status = status == RunStatus::kPreempted ? "stopped" : name_of(status);
  row.metric = last_metric(run.planned.paths.journal());
  if (settings_.terminal.is_terminal) return;  // its row says so
  const auto count =
      std::count_if(rows_.begin(), rows_.end(), [](const Row& r) { return r.counted && r.state == State::kEnded; });
  const auto total = std::count_if(rows_.begin(), rows_.end(), [](const Row& r) { return r.counted; });
  note(fmt::format("[{}/{}] {}: {}", count, total, run.id(), how));
}

void SweepBoard::look_at_journals() {
  for (Row& row : rows_) {
    if (row.state != State::kRunning && row.state != State::kElsewhere) continue;
    Json metric = last_metric(row.run->planned.paths.journal());
    if (metric.is_null()) continue;
    row.metric = std::move(metric);
    if (row.first_step >= 0) continue;
    row.first_step = number_at(row.metric, "step");
    row.first_time = number_at(row.metric, "time");
  }
}

SweepBoard::Cells SweepBoard::cells_of(const Row& row) const {
  constexpr std::array<std::string_view, 3> kNames{"waits", "runs",
                                                   "not here"};  // short: a table shortens nothing of 8
  Cells cells;
  cells.status = row.state == State::kEnded ? row.status : kNames.at(static_cast<std::size_t>(row.state));
  if (row.metric.is_null()) {
    if (row.state == State::kRunning) cells.status = "starts";
    return cells;
  }
  const Json values = row.metric.value("values", Json::object());
  const double step = number_at(row.metric, "step");
  const double time = number_at(row.metric, "time");
  const auto steps = static_cast<double>(row.run->planned.options.train.steps);
  cells.step = fmt::format("{}/{}", human_count(step), human_count(steps));
  const Quantity* headline = headline_of([&](const std::string& name) { return values.contains(name); });
  if (headline != nullptr) cells.headline = named_number(*headline, number_at(values, headline->name));
  for (const Quantity& quantity : quantities()) {
    if (quantity.live.empty() || !values.contains(quantity.name)) continue;
    cells.live[quantity.name] = format_number(number_at(values, quantity.name), quantity.format, quantity.digits);
  }
  if (row.state == State::kRunning && time > row.first_time && step > row.first_step) {
    cells.left = human_duration((steps - step) * (time - row.first_time) / (step - row.first_step));
  }
  return cells;
}

std::string SweepBoard::summary() const {
  std::size_t total = 0;
  std::size_t ended = 0;
  std::size_t failed = 0;
  std::size_t running = 0;
  std::size_t elsewhere = 0;
  for (const Row& row : rows_) {
    if (!row.counted) continue;
    ++total;
    if (row.state == State::kEnded) ++ended;
    if (row.failed) ++failed;
    if (row.state == State::kRunning) ++running;
    if (row.state == State::kElsewhere) ++elsewhere;
  }
  std::vector<std::string> parts{fmt::format("{} of {} runs ended", ended, total)};
  if (failed > 0) parts.push_back(fmt::format("{} failed", failed));
  if (running > 0) parts.push_back(fmt::format("{} running", running));
  if (elsewhere > 0) parts.push_back(fmt::format("waiting for {} of another sweep", elsewhere));
  parts.push_back(human_duration(settings_.clock() - began_));
  return join(parts, ", ");
}

std::string SweepBoard::running_line(const Row& row) const {
  const Cells cells = cells_of(row);
  if (cells.step.empty()) return row.run->id() + "  starting";
  std::string line = fmt::format("{}  step {}", row.run->id(), cells.step);
  if (!cells.headline.empty()) line += "  " + cells.headline;
  for (const auto& [name, number] : cells.live) line += fmt::format("  {} {}", quantity(name).live, number);
  if (!cells.left.empty()) line += "  " + cells.left + " left";
  return line;
}

/// All rows where there is room for them; otherwise those that are done go first, then those that wait, from the end.
std::vector<bool> SweepBoard::shown_rows(std::size_t room) const {
  std::vector<bool> shown(rows_.size(), true);
  std::size_t count = rows_.size();
  const auto hide = [&](std::size_t i, auto condition) {
    if (count <= room || !shown[i] || !condition(rows_[i])) return;
    shown[i] = false;
    --count;
  };
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    hide(i, [](const Row& row) { return row.state == State::kEnded && !row.failed; });
  }
  for (std::size_t i = rows_.size(); i-- > 0;) hide(i, [](const Row& row) { return row.state == State::kWaiting; });
  for (std::size_t i = rows_.size(); i-- > 0;) hide(i, [](const Row&) { return true; });
  return shown;
}

/// The last ones go first where the terminal is too narrow for all. Of what only some models report there is a column
/// where any run has reported it.
std::vector<SweepBoard::Column> SweepBoard::columns() const {
  std::vector<Column> all{{"status", [](const Cells& cells) { return cells.status; }},
                          {"step", [](const Cells& cells) { return cells.step; }},
                          {"left", [](const Cells& cells) { return cells.left; }},
                          {"training", [](const Cells& cells) { return cells.headline; }}};
  for (const Quantity& quantity : quantities()) {
    if (quantity.live.empty()) continue;
    const auto reports = [&](const Row& row) { return cells_of(row).live.contains(quantity.name); };
    if (std::none_of(rows_.begin(), rows_.end(), reports)) continue;
    all.push_back({quantity.live_head, [name = quantity.name](const Cells& cells) {
                     const auto known = cells.live.find(name);
                     return known == cells.live.end() ? "" : known->second;
                   }});
  }
  return all;
}

/// The table with as many columns as fit. Where a terminal is narrower than anyone would think, its lines are cut.
std::string SweepBoard::table() const {
  Terminal terminal = settings_.terminal;
  std::vector<Column> shown = columns();
  const auto lines_of_shown = [&] { return split(trim(table_of(shown, terminal)), '\n'); };
  const auto fits = [&](const std::vector<std::string>& lines) {
    return std::all_of(lines.begin(), lines.end(),
                       [&](const std::string& line) { return cut_to_line(terminal, line) == line; });
  };
  std::vector<std::string> lines = lines_of_shown();
  while (!fits(lines) && shown.size() > 1) {
    shown.pop_back();
    lines = lines_of_shown();
  }
  if (!fits(lines)) {
    terminal.colour = false;  // which cannot be cut
    lines = lines_of_shown();
    std::transform(lines.begin(), lines.end(), lines.begin(),
                   [&](const std::string& line) { return cut_to_line(terminal, line); });
  }
  return join(lines, "\n") + "\n";
}

/// A row for each run: the hash that ends its id, its swept values, how far it is.
std::string SweepBoard::table_of(const std::vector<Column>& columns, const Terminal& terminal) const {
  std::vector<TextTable::Column> heads{{"run"}};
  for (const std::string& key : keys_) heads.push_back({short_title(key, keys_)});
  for (const Column& column : columns) heads.push_back({column.title, &column != &columns.front()});
  TextTable text(std::move(heads));
  constexpr int kFrame = 5;  // the line above, title and rule, what is left out, the cursor's line
  const std::vector<bool> shown = shown_rows(static_cast<std::size_t>(std::max(terminal.height - kFrame, 1)));
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (!shown[i]) continue;
    const SweepRun& run = *rows_[i].run;
    std::vector<std::string> row{run.id().substr(run.id().rfind('-') + 1, kShownDigits)};
    for (const std::string& key : keys_) row.push_back(shown_value(run.point, key));
    Cells cells = cells_of(rows_[i]);
    cells.status = paint(terminal, colour_of(rows_[i]), cells.status);
    for (const Column& column : columns) row.push_back(column.cell(cells));
    text.add(std::move(row));
  }
  std::string out = text.render(TextTable::Format::kText, terminal.width - 1);
  const auto left_out = std::count(shown.begin(), shown.end(), false);
  if (left_out > 0) out += fmt::format("… and {} more runs\n", left_out);
  return out;
}

Colour SweepBoard::colour_of(const Row& row) {
  if (row.state == State::kWaiting) return Colour::kGrey;
  if (row.state != State::kEnded) return Colour::kBold;
  return row.failed ? Colour::kRed : row.status == name_of(RunStatus::kDone) ? Colour::kGreen : Colour::kYellow;
}

void SweepBoard::update() {
  if (settings_.out == nullptr) return;
  const double now = settings_.clock();
  if (now - last_ < (settings_.terminal.is_terminal ? kRedrawInterval : settings_.plain_interval)) return;
  last_ = now;
  look_at_journals();
  std::string text = summary();
  if (settings_.terminal.is_terminal) {
    text = cut_to_line(settings_.terminal, text) + "\n" + table();
    clear();
    lines_ = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  } else {
    for (const Row& row : rows_) {
      if (row.state == State::kRunning) text += "; " + running_line(row);
    }
    text += "\n";
  }
  say(text, settings_.out);
}

void SweepBoard::note(const std::string& line) {
  if (settings_.out == nullptr) return;
  clear();
  say(line + "\n", settings_.out);
}

}  // namespace xlm
