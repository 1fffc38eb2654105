// Shows a sweep's progress.
#include "experiments/sweeps/sweep_board.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace xlm {
namespace {

constexpr double kRedrawInterval = 0.5;  // seconds, on a terminal

}  // namespace

SweepBoard::SweepBoard(Settings settings, const std::vector<SweepRun>& runs)
    : settings_(std::move(settings)), keys_(varied_keys(runs)), began_(settings_.clock()), last_(began_) {
  for (const SweepRun& run : runs) {
    BoardRow row{.run = &run};
    for (const std::string& key : keys_) row.values.push_back(shown_value(run.point, key));
    row.status = "waits";
    if (run.action == SweepAction::kSkip || run.action == SweepAction::kLeave) {
      row.state = BoardState::kEnded;
      row.failed = run.status == RunStatus::kDiverged;
      row.status = fmt::format("{}{}", name_of(run.status), is_warning(run.reason) ? ", warning" : "");
      row.progress = read_progress(run.planned.paths.journal());
    } else if (run.status == RunStatus::kPreempted || run.status == RunStatus::kStale) {
      row.progress = read_progress(run.planned.paths.journal());  // how far it came: shown until new metrics come
    }
    places_.emplace(run.id(), rows_.size());
    rows_.push_back(std::move(row));
  }
}

SweepBoard::~SweepBoard() { clear(); }

void SweepBoard::clear() {
  if (drawn_.empty()) return;
  const std::size_t lines = lines_taken(settings_.terminal.resized(settings_.out), drawn_);
  say(fmt::format("\033[{}A\r\033[J", lines), settings_.out);
  drawn_.clear();
}

void SweepBoard::set(const SweepRun& run, BoardState state, const std::string& status, const std::string& worker) {
  BoardRow& row = row_of(run);
  row.state = state;
  row.failed = row.stopped = false;
  row.status = status;
  row.worker = worker;
}

void SweepBoard::ended(const SweepRun& run, RunStatus status, const std::string& how) {
  set(run, BoardState::kEnded, std::string(name_of(status)), "");
  BoardRow& row = row_of(run);
  row.failed = status == RunStatus::kFailed || status == RunStatus::kDiverged;
  row.stopped = !has_ended(status);
  row.progress = read_progress(run.planned.paths.journal());
  if (settings_.terminal.is_terminal) return;  // the run's row shows it
  const auto count = std::ranges::count_if(rows_, [](const BoardRow& each) { return each.has_ended(); });
  note(fmt::format("[{}/{}] {}: {}", count, rows_.size(), run.id(), how));
}

void SweepBoard::look_at_journals() {
  for (BoardRow& row : rows_) {
    if (!row.is_at_work()) continue;
    RunProgress progress = read_progress(row.run->planned.paths.journal());
    if (!progress.metric.is_null()) {
      row.progress = std::move(progress);
    } else {
      row.progress.validation = std::move(progress.validation);  // of an earlier attempt, until the first metrics
    }
  }
  expect_steps(rows_);
}

std::string SweepBoard::head() const {
  std::string text = BoardText(keys_, rows_).summary();
  if (settings_.elapsed) text += ", " + human_duration(settings_.clock() - began_);
  return text;
}

void SweepBoard::update() {
  if (settings_.out == nullptr) return;
  const double now = settings_.clock();
  if (now - last_ < (settings_.terminal.is_terminal ? kRedrawInterval : settings_.plain_interval)) return;
  last_ = now;
  if (settings_.terminal.is_terminal) {
    const std::string drawing = text(settings_.terminal.resized(settings_.out));
    clear();
    say(drawing, settings_.out);
    drawn_ = drawing;
    return;
  }
  look_at_journals();
  std::string line = head();
  for (const BoardRow& row : rows_) {
    if (row.state == BoardState::kRunning) line += "; " + BoardText(keys_, rows_).line(row);
  }
  say(line + "\n", settings_.out);
}

void SweepBoard::note(const std::string& line) {
  if (settings_.out == nullptr) return;
  clear();
  say(line + "\n", settings_.out);
}

std::string SweepBoard::text(const Terminal& terminal) {
  look_at_journals();
  std::vector<std::string> lines{head()};
  if (!workers_.empty()) lines.push_back(workers_);
  std::string text;
  for (const std::string& line : lines) text += (terminal.is_terminal ? cut_to_line(terminal, line) : line) + "\n";
  return text + BoardText(keys_, rows_).table(terminal, static_cast<int>(lines.size()));
}

Json SweepBoard::json() {
  look_at_journals();
  return BoardText(keys_, rows_).json();
}

}  // namespace xlm
