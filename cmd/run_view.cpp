// Runs as text for people.
#include "cmd/run_view.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <map>
#include <optional>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/text.h"
#include "cmd/run_results.h"
#include "results/quantities/grids.h"
#include "results/quantities/quantities.h"
#include "results/store/shown_runs.h"

namespace xlm {
namespace {

Colour colour_of(std::string_view status) {
  if (status == "done") return Colour::kGreen;
  if (status == "failed" || status == "diverged") return Colour::kRed;
  if (status == "running") return Colour::kBlue;
  return status == "queued" ? Colour::kGrey : Colour::kYellow;
}

/// "3 min ago", or the day.
std::string when(const std::optional<double>& time, double now) {
  if (!time) return "";
  const double age = now - *time;
  if (age >= 0 && age < 60) return "just now";
  if (age >= 0 && age < 3600) return fmt::format("{:.0f} min ago", std::floor(age / 60));
  if (age >= 0 && age < 86400) return fmt::format("{:.0f} h ago", std::floor(age / 3600));
  return fmt::format("{:%Y-%m-%d}", fmt::localtime(static_cast<std::time_t>(*time)));
}

std::string clock_time(double time) {
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::localtime(static_cast<std::time_t>(time)));
}

/// The progress of a run: "1200/20000", or its steps alone if it has done them all.
std::string step_text(const Value& step, const Value& steps) {
  const auto count = [](double number) { return number < 1e5 ? fmt::format("{:.0f}", number) : human_count(number); };
  const double done = as_number(step).value_or(0);
  const double all = as_number(steps).value_or(done);
  return done == all ? count(done) : count(done) + "/" + count(all);
}

/// The headline number of every run, of its test or validation split.
class Headlines {
 public:
  Headlines(RunTable& runs, const std::vector<std::size_t>& selected) {
    for (const std::size_t run : selected) {
      const Columns* found = of_run(run);
      while (found == nullptr && columns_.size() < headlines().size()) {
        const Quantity* next = headlines()[columns_.size()];
        columns_.push_back({next, &runs.column("valid." + next->name), &runs.column("test." + next->name)});
        found = of_run(run);
      }
      if (found == nullptr) continue;
      if (std::ranges::find(shown_, found->quantity) == shown_.end()) shown_.push_back(found->quantity);
    }
    if (shown_.empty()) shown_.push_back(headlines().front());  // no run has any yet
    std::ranges::sort(shown_, [](const Quantity* a, const Quantity* b) { return a->headline < b->headline; });
  }

  /// All headlines that some run has.
  const std::vector<const Quantity*>& shown() const { return shown_; }

  /// The title of their column: "test bpc", or the split alone if runs have different headlines.
  std::string title(const std::string& split) const {
    return shown_.size() == 1 ? split + " " + shown_.front()->label : split;
  }

  std::string cell(std::size_t run, const std::string& split) const {
    const Columns* found = of_run(run);
    if (found == nullptr) return "";
    const std::optional<double> number = as_number((split == "test" ? *found->test : *found->valid)[run]);
    if (!number) return "";
    return list_number(*found->quantity, *number) + (shown_.size() == 1 ? "" : " " + found->quantity->head);
  }

 private:
  /// A headline and its columns, which are looked up once: there may be a hundred thousand runs.
  struct Columns {
    const Quantity* quantity = nullptr;
    const std::vector<Value>* valid = nullptr;
    const std::vector<Value>* test = nullptr;
  };

  /// The run's first headline; null if it has none.
  const Columns* of_run(std::size_t run) const {
    const auto found = std::ranges::find_if(columns_, [&](const Columns& each) {
      return !is_missing((*each.test)[run]) || !is_missing((*each.valid)[run]);
    });
    return found == columns_.end() ? nullptr : &*found;
  }

  std::vector<Columns> columns_;  // of the first headlines: as many as runs needed so far
  std::vector<const Quantity*> shown_;
};

/// The default columns, without those in `hidden`.
std::string default_columns(RunTable& runs, const std::vector<std::size_t>& selected, const ListView& view,
                            const Headlines& results, const std::vector<std::string>& hidden) {
  const std::vector<Value>& experiment = runs.column("experiment");
  const std::vector<Value>& status = runs.column("status");
  const std::vector<Value>& step = runs.column("step");
  const std::vector<Value>& steps = runs.column_or_nothing("train.steps");
  const std::vector<Value>& created = runs.column("created");
  const std::vector<Value>& bad = runs.column("bad");
  const std::vector<Value>& not_frozen = runs.column_or_nothing(kNotFrozen);
  const std::vector<Value>& reason = runs.column("reason");
  const auto shows = [&](const char* name) { return std::ranges::find(hidden, name) == hidden.end(); };
  std::vector<TextTable::Column> columns{{"run"}};
  if (shows("experiment")) columns.push_back({"experiment"});
  columns.insert(columns.end(), {{"status"}, {"steps", true}});
  if (shows("valid")) columns.push_back({results.title("valid"), true});
  columns.push_back({results.title("test"), true});
  if (shows("created")) columns.push_back({"created"});
  TextTable table(std::move(columns));
  for (const std::size_t run : selected) {
    const std::string state = to_text(status[run]);
    std::vector<std::string> cells{runs.id(run)};
    if (shows("experiment")) cells.push_back(to_text(experiment[run]));
    std::string mark = is_missing(bad[run]) ? "" : ", " + paint(view.terminal, Colour::kRed, "bad");
    if (!is_missing(not_frozen[run])) mark += ", " + paint(view.terminal, Colour::kYellow, "code not frozen");
    if (is_warning(to_text(reason[run]))) mark += ", " + paint(view.terminal, Colour::kYellow, "warning");
    cells.push_back(paint(view.terminal, colour_of(state), state) + mark);
    const bool has_length = as_number(steps[run]).value_or(0) > 0;  // a program need not say it
    cells.push_back(step_text(step[run], has_length ? steps[run] : Value()));
    if (shows("valid")) cells.push_back(results.cell(run, "valid"));
    cells.push_back(results.cell(run, "test"));
    if (shows("created")) cells.push_back(when(as_number(created[run]), view.now));
    table.add(std::move(cells));
  }
  return table.render(TextTable::Format::kText);
}

/// A value of a column for people: times as times, quantities as lists show them.
std::string cell_text(const std::string& column, const Value& value) {
  const std::optional<double> number = as_number(value);
  if (!number) return to_text(value);
  if (is_time_column(column)) return clock_time(*number);
  const bool as_it_is = std::holds_alternative<std::int64_t>(value) && quantity_of_column(column) == nullptr;
  return as_it_is ? to_text(value) : column_number(column, *number);
}

/// The same for programs: times as ISO 8601, everything else in full.
std::string full_cell(const std::string& column, const Value& value) {
  const std::optional<double> number = as_number(value);
  return number && is_time_column(column) ? exact_time(number).get<std::string>() : to_text(value);
}

/// The columns of --columns behind the id, which appears once.
std::string chosen_columns(RunTable& runs, const std::vector<std::size_t>& selected, const ListView& view,
                           TextTable::Format format) {
  std::vector<TextTable::Column> columns{{"run"}};
  std::vector<const std::vector<Value>*> values;
  std::vector<std::string> names = view.columns;
  std::erase(names, "run_id");
  for (const std::string& name : names) {
    values.push_back(&runs.column(name));
    const bool right =
        std::ranges::any_of(selected, [&](std::size_t run) { return as_number((*values.back())[run]).has_value(); });
    columns.push_back({name, right});
  }
  const int width = view.terminal.is_terminal ? view.terminal.width : 0;
  const auto render = [&](const std::vector<std::string>& ids) {
    TextTable table(columns);
    for (std::size_t i = 0; i < selected.size(); ++i) {
      std::vector<std::string> cells{ids[i]};
      for (std::size_t c = 0; c < values.size(); ++c) {
        const Value& value = (*values[c])[selected[i]];
        const std::string& name = names[c];
        cells.push_back(format == TextTable::Format::kCsv ? full_cell(name, value) : cell_text(name, value));
      }
      table.add(std::move(cells));
    }
    return table.render(format);
  };
  std::vector<std::string> ids;
  for (const std::size_t run : selected) ids.push_back(runs.id(run));
  std::string text = render(ids);
  if (width == 0 || widest_line(text) <= static_cast<std::size_t>(width)) return text;
  return render(short_ids(ids));  // lines that are still too long wrap: numbers are not cut
}

void add_section(std::string& out, const Terminal& terminal, const std::string& title, const std::string& body) {
  if (!body.empty()) out += "\n" + paint(terminal, Colour::kBold, title) + "\n" + body;
}

/// A reason in one line. What a program said last may follow it: `status` shows that of the last attempt.
std::string brief_reason(const std::string& reason) {
  constexpr std::size_t kLines = 2;
  std::vector<std::string> lines = split(reason, '\n');
  if (lines.size() > kLines) lines = {lines.front(), "…"};
  return join(lines, "; ");
}

std::string history_text(const Run& run) {
  std::string out;
  for (const RunState& state : run.history) {
    std::string line = fmt::format("  {}  {:<9}", clock_time(state.time), state.state);
    if (!state.host.empty()) line += fmt::format("  on {}", state.host);
    if (state.hosts.size() > 1)
      line += fmt::format(" with {}", join({state.hosts.begin() + 1, state.hosts.end()}, ", "));
    if (state.pid > 0) line += fmt::format(" (process {})", state.pid);
    if (!state.cause.empty()) line += fmt::format("  ({})", state.cause);
    if (!state.reason.empty()) line += "  " + brief_reason(state.reason);
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return out;
}

std::string pairs_text(const std::vector<std::pair<std::string, std::string>>& pairs) {
  std::size_t widest = 0;
  for (const auto& [name, value] : pairs) widest = std::max(widest, display_width(name));
  std::string out;
  for (const auto& [name, value] : pairs) out += fmt::format("  {:<{}}  {}\n", name, widest, value);
  return out;
}

/// Evaluations that were requested later, with their own settings.
std::string further_evaluations(const Run& run) {
  std::string out;
  for (const RunEvaluation& evaluation : run.evaluations) {
    if (evaluation.main || evaluation.settings.empty()) continue;
    const std::string at = at_text(evaluation.at);
    out += fmt::format("  {}{} at step {}:", evaluation.split, at.empty() ? "" : "@" + at, evaluation.step);
    for (const auto& [metric, value] : evaluation.values)
      out += fmt::format(" {} {}", metric, column_number(metric, value));
    out += "\n";
  }
  return out;
}

std::string grid_number(const GridWords& words, double number) {
  if (std::isnan(number)) return "–";
  return words.whole ? fmt::format("{:.0f}", number) : with_digits(number, 4);
}

/// The description of a grid that is too wide to print.
std::string described_grid(const GridWords& words, const RunGrid& grid, std::size_t columns) {
  return fmt::format("  {} rows ({}) of {} columns ({} {} to {}): `xlm figure` draws them, --json prints them\n",
                     grid.rows.size(), words.row, columns, words.column, grid.column(0), grid.column(columns - 1));
}

/// A line per row, or a description if the lines are wider than `width`.
std::string grid_text(const GridWords& words, const RunGrid& grid, std::size_t width) {
  std::size_t columns = 0;
  for (const std::vector<double>& row : grid.rows) columns = std::max(columns, row.size());
  if (columns > width) return described_grid(words, grid, columns);
  std::size_t widest = 0;
  for (const std::vector<double>& row : grid.rows) {
    for (const double number : row) widest = std::max(widest, display_width(grid_number(words, number)));
  }
  std::string out;
  for (std::size_t row = 0; row < grid.rows.size(); ++row) {
    out += fmt::format("  {} {:>2} ", words.row, row + 1);
    for (const double number : grid.rows[row]) out += fmt::format(" {:>{}}", grid_number(words, number), widest + 1);
    out += "\n";
  }
  return widest_line(out) > width ? described_grid(words, grid, columns) : out;
}

std::string checkpoints_text(const Run& run) {
  std::string out;
  for (const RunCheckpoint& checkpoint : run.checkpoints) {
    if (fs::exists(run.folder / checkpoint.file))
      out += fmt::format("  {}  {}\n", checkpoint_words(checkpoint.step, is_of_program(run)), checkpoint.file);
  }
  return out;
}

std::string plain_text(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

/// What a run was made with. A program's packages may be hundreds, and its changes a whole diff: they are counted.
std::vector<std::pair<std::string, std::string>> environment_lines(const Json& environment,
                                                                   const std::string& above = "") {
  std::vector<std::pair<std::string, std::string>> lines;
  for (const auto& [key, value] : environment.items()) {
    const std::string name = above + key;
    const bool shown_apart = key == "program" || key == "git" || key == "first";
    if (name.ends_with("program.packages") && value.is_object()) {
      lines.emplace_back(name, fmt::format("{}, which --json lists", value.size()));
    } else if (shown_apart && value.is_object()) {
      for (auto& line : environment_lines(value, name + ".")) lines.push_back(std::move(line));
    } else if (const std::string text = plain_text(value); text.find('\n') != std::string::npos) {
      lines.emplace_back(name, fmt::format("{} lines, which --json prints", split(trim(text), '\n').size()));
    } else {
      lines.emplace_back(name, text);
    }
  }
  return lines;
}

/// A list of the default columns. A narrow terminal shows fewer columns, because a truncated id is useless.
std::string fitting_list(RunTable& runs, const std::vector<std::size_t>& selected, const ListView& view) {
  const std::size_t width = view.terminal.is_terminal ? static_cast<std::size_t>(view.terminal.width) : 0;
  std::vector<std::string> hidden;
  const Headlines results(runs, selected);
  std::string text = default_columns(runs, selected, view, results, hidden);
  for (const char* next : {"created", "experiment", "valid"}) {
    if (width == 0 || widest_line(text) <= width) break;
    hidden.emplace_back(next);
    text = default_columns(runs, selected, view, results, hidden);
  }
  return text;
}

/// What the numbers of these runs need said, below their list.
std::string warnings_of(RunTable& runs, const std::vector<std::size_t>& selected) {
  const std::vector<Value>& reason = runs.column("reason");
  std::string text;
  for (const std::size_t run : selected) {
    const std::string said = to_text(reason[run]);
    if (is_warning(said)) text += printable(fmt::format("{}: {}", runs.id(run), said)) + "\n";
  }
  const std::string unfrozen = unproved_note(runs, selected);
  return text + (unfrozen.empty() ? "" : unfrozen + "\n");
}

std::string list_of(RunTable& runs, const std::vector<std::size_t>& selected, const ListView& view) {
  if (!view.columns.empty()) return chosen_columns(runs, selected, view, TextTable::Format::kText);
  const std::vector<Value>& is_evaluation = runs.column("is_evaluation");
  std::vector<std::size_t> trained = selected;
  const auto measured = std::stable_partition(
      trained.begin(), trained.end(), [&](std::size_t run) { return as_number(is_evaluation[run]).value_or(0) == 0; });
  const std::vector<std::size_t> others(measured, trained.end());
  trained.erase(measured, trained.end());
  std::string text = trained.empty() ? "" : fitting_list(runs, trained, view);
  if (others.empty()) return text;
  return text + (text.empty() ? "" : "\n") +
         paint(view.terminal, Colour::kBold, "Models that were only evaluated here") + "\n" +
         fitting_list(runs, others, view) + "other windows and settings: `xlm runs show RUN`\n";
}

}  // namespace

std::string runs_text(RunTable& runs, const std::vector<std::size_t>& selected, const ListView& view) {
  return list_of(runs, selected, view) + warnings_of(runs, selected);
}

std::vector<std::string> default_columns_of(RunTable& runs, const std::vector<std::size_t>& selected) {
  std::vector<std::string> names{"experiment", "status", "step"};
  const Headlines results(runs, selected);
  for (const Quantity* quantity : results.shown()) {
    for (const char* split : {"valid.", "test."}) names.push_back(split + quantity->name);
  }
  names.insert(names.end(), {"created", "started", "finished"});
  for (const char* remark : {"reason", "bad", kNotFrozen}) {
    const std::vector<Value>& values = runs.column_or_nothing(remark);
    if (std::ranges::any_of(selected, [&](std::size_t run) { return !is_missing(values[run]); })) {
      names.emplace_back(remark);
    }
  }
  return names;
}

std::string runs_table(RunTable& runs, const std::vector<std::size_t>& selected, const ListView& view,
                       TextTable::Format format) {
  ListView full = view;
  if (full.columns.empty()) full.columns = default_columns_of(runs, selected);
  return chosen_columns(runs, selected, full, format);
}

std::string run_text(const Run& run, const std::vector<std::string>& children, const ListView& view) {
  const std::string status(name_of(run.status));
  std::string out = paint(view.terminal, Colour::kBold, run.id) + "\n";
  std::vector<std::pair<std::string, std::string>> head{
      {"status", paint(view.terminal, colour_of(status), status) + (run.reason.empty() ? "" : ": " + run.reason)},
      {"experiments", run.experiments.empty() ? "none" : join(run.experiments, ", ")},
      {"step", fmt::format("{}", run.step)},
      {"folder", run.folder.string()}};
  if (!run.tags.empty()) head.emplace_back("tags", join(run.tags, ", "));
  if (!run.note.empty()) head.emplace_back("note", join(split(run.note, '\n'), "; "));
  if (!run.bad.empty()) head.emplace_back("bad", paint(view.terminal, Colour::kRed, run.bad));
  std::size_t unfrozen = 0;
  constexpr std::size_t kShownFiles = 5;
  for (const auto& [file, hash] : run.outside) {
    if (++unfrozen <= kShownFiles) head.emplace_back("code not frozen", file);
  }
  if (unfrozen > kShownFiles)
    head.emplace_back("", fmt::format("and {} more, which --json lists", unfrozen - kShownFiles));
  if (!run.parent.empty()) head.emplace_back("parent", fmt::format("{} at step {}", run.parent, run.parent_step));
  if (!children.empty()) head.emplace_back("children", join(children, ", "));
  if (run.malformed > 0) head.emplace_back("journal", fmt::format("{} malformed lines skipped", run.malformed));
  out += pairs_text(head);
  add_section(out, view.terminal, "States", history_text(run));
  add_section(out, view.terminal, "Final evaluations",
              results_table(run, view.terminal.is_terminal ? view.terminal.width : 0));
  add_section(out, view.terminal, "Further evaluations", further_evaluations(run));
  std::vector<std::pair<std::string, std::string>> costs;
  for (const auto& [name, value] : run.costs) costs.emplace_back(name, column_number(name, value));
  add_section(out, view.terminal, "Costs", pairs_text(costs));
  for (const auto& [name, by_step] : run.grids) {
    const GridWords words = grid_words(name);
    add_section(out, view.terminal, words.title,
                grid_text(words, *run.last_grid(name), static_cast<std::size_t>(view.terminal.width)));
  }
  add_section(out, view.terminal, "Checkpoints", checkpoints_text(run));
  std::vector<std::pair<std::string, std::string>> params;
  for (const auto& [key, value] : run.params) params.emplace_back(key, plain_text(value));
  add_section(out, view.terminal, "Configuration", pairs_text(params));
  add_section(out, view.terminal, "Environment", pairs_text(environment_lines(run.environment)));
  return out;
}

void add_details(const Run& run, Json& json) {
  json["folder"] = run.folder.string();
  json["environment"] = run.environment;
  json["history"] = Json::array();
  for (const RunState& state : run.history) {
    json["history"].push_back({{"time", exact_time(state.time)},
                               {"state", state.state},
                               {"reason", state.reason},
                               {"host", state.host},
                               {"pid", state.pid}});
    if (!state.hosts.empty()) json["history"].back()["hosts"] = state.hosts;
    if (!state.cause.empty()) json["history"].back()["cause"] = state.cause;
    if (state.micro_batch > 0) json["history"].back()["micro_batch"] = state.micro_batch;
  }
  json["all_evaluations"] = Json::array();
  for (const RunEvaluation& evaluation : run.evaluations) {
    Json entry = {{"split", evaluation.split},
                  {"step", evaluation.step},
                  {"final", evaluation.final},
                  {"at", at_text(evaluation.at)},
                  {"settings", evaluation.settings}};
    for (const auto& [name, value] : evaluation.values) entry[name] = value;
    json["all_evaluations"].push_back(std::move(entry));
  }
  json["grids"] = Json::object();
  for (const auto& [name, by_step] : run.grids) json["grids"][name] = run.last_grid(name)->rows;
  json["grid_columns"] = Json::object();
  for (const auto& [name, by_step] : run.grids) {
    if (const RunGrid* grid = run.last_grid(name); !grid->columns.empty()) json["grid_columns"][name] = grid->columns;
  }
  json["checkpoints"] = Json::array();
  for (const RunCheckpoint& checkpoint : run.checkpoints) {
    json["checkpoints"].push_back({{"step", checkpoint.step}, {"file", checkpoint.file}});
  }
}

}  // namespace xlm
