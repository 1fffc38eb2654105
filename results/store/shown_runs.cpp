// Which runs tables, figures, fronts and claims show.
#include "results/store/shown_runs.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "results/quantities/number_format.h"
#include "results/run_folder/imported.h"
#include "results/run_folder/run_folder.h"

namespace xlm {
namespace {

bool asks_for_bad(const std::string& column) { return column == "bad" || column == kIsBad; }

bool asks_for_versions(const std::string& column) {
  constexpr std::string_view kProgram = "program.";
  return column == "run_id" || column == "tag" || column == "note" || is_time_column(column) ||
         (column.starts_with(kProgram) && column != "program.name");
}

/// Whether a condition, or a column that is named otherwise, is one of those that `asks` knows.
template <class Asks>
bool is_asked(const std::vector<Filter>& filters, const std::vector<std::string>& named, const Asks& asks) {
  return std::ranges::any_of(named, asks) ||
         std::ranges::any_of(filters, [&](const Filter& filter) { return asks(filter.column); });
}

/// Tells runs of programs' older versions. A run may be of several experiments, so where the conditions name one, its
/// versions count, and else those of the experiment for which the run was made.
class NewestCode {
 public:
  NewestCode(RunTable& runs, const std::vector<Filter>& filters)
      : codes_(runs.column_or_nothing(kProgramFingerprint)),
        names_(runs.column_or_nothing("program.name")),
        experiments_(runs.column("experiment")) {
    if (std::ranges::all_of(codes_, is_missing)) return;
    std::vector<Filter> named;
    std::copy_if(filters.begin(), filters.end(), std::back_inserter(named),
                 [](const Filter& filter) { return filter.column == "experiment"; });
    is_of_one_ =
        named.size() == 1 && named.front().relation == Filter::Relation::kEqual && named.front().values.size() == 1;
    const std::vector<Value>& created = runs.column("created");
    for (const std::size_t row : runs.select(named)) {
      if (is_missing(codes_[row])) continue;
      Version& newest = newest_[program_of(row)];
      const double time = as_number(created[row]).value_or(0);
      if (newest.code.empty() || time > newest.created) newest = {.code = to_text(codes_[row]), .created = time};
    }
  }

  bool is_older(std::size_t row) const {
    if (newest_.empty() || is_missing(codes_[row])) return false;
    const auto newest = newest_.find(program_of(row));
    return newest != newest_.end() && newest->second.code != to_text(codes_[row]);
  }

 private:
  struct Version {
    std::string code;
    double created = 0;  // of its newest run
  };
  using Program = std::pair<std::string, std::string>;

  Program program_of(std::size_t row) const {
    return {is_of_one_ ? "" : to_text(experiments_[row]), to_text(names_[row])};
  }

  const std::vector<Value>& codes_;
  const std::vector<Value>& names_;
  const std::vector<Value>& experiments_;
  bool is_of_one_ = false;
  std::map<Program, Version> newest_;
};

/// How many values a column has in these rows.
std::size_t different(RunTable& runs, const std::vector<std::size_t>& rows, const char* column) {
  std::set<std::string> found = runs.texts_in(rows, column);
  found.erase("");
  return found.size();
}

}  // namespace

void HiddenRuns::add(const HiddenRuns& others) {
  bad.insert(others.bad.begin(), others.bad.end());
  older.insert(others.older.begin(), others.older.end());
}

ShownRows shown_among(RunTable& runs, const std::vector<std::size_t>& rows, const std::vector<Filter>& filters,
                      const std::vector<std::string>& named) {
  const std::vector<Value>& bad = runs.column("bad");
  const bool with_bad = is_asked(filters, named, asks_for_bad);
  std::optional<NewestCode> newest;
  if (!is_asked(filters, named, asks_for_versions)) newest.emplace(runs, filters);
  ShownRows shown;
  for (const std::size_t row : rows) {
    if (!with_bad && !is_missing(bad[row])) {
      shown.left_out.bad.insert(runs.id(row));
    } else if (newest && newest->is_older(row)) {
      shown.left_out.older.insert(runs.id(row));
    } else {
      shown.rows.push_back(row);
    }
  }
  return shown;
}

ShownRows shown_rows(RunTable& runs, const std::vector<Filter>& filters, const std::vector<std::string>& named) {
  return shown_among(runs, runs.select(filters, named), filters, named);
}

std::string left_out_note(const HiddenRuns& left_out) {
  std::vector<std::string> notes;
  const auto add = [&](const std::set<std::string>& runs, const std::string& what, const std::string& condition) {
    if (runs.empty()) return;
    const bool is_one = runs.size() == 1;
    notes.push_back(fmt::format("{} {} {} left out; the condition {} includes {}.", counted(runs.size(), "run"), what,
                                is_one ? "is" : "are", condition, is_one ? "it" : "them"));
  };
  add(left_out.bad, "marked as bad", fmt::format("{}=0,1", kIsBad));
  add(left_out.older, "of older versions of the program's code", fmt::format("{}!=null", kProgramFingerprint));
  return join(notes, " ");
}

std::string why_all_are_hidden(const HiddenRuns& left_out) {
  if (left_out.older.empty()) return "all runs are marked as bad";
  if (left_out.bad.empty()) return "all runs are of older versions of the program's code";
  return "all runs are marked as bad or of older versions of the program's code";
}

std::string unproved_note(RunTable& runs, const std::vector<std::size_t>& rows) {
  const std::vector<Value>& code = runs.column_or_nothing(kNotFrozen);
  const std::vector<Value>& sources = runs.column_or_nothing(kImportedSource);
  std::set<std::string> files;
  std::set<std::string> trackers;
  std::set<std::string> imported;
  for (const std::size_t row : rows) {
    if (!is_missing(code[row])) files.insert(to_text(code[row]));
    if (is_missing(sources[row])) continue;
    trackers.insert(to_text(sources[row]));
    imported.insert(runs.id(row));
  }
  const auto listed = [](const std::set<std::string>& names) { return listed_names({names.begin(), names.end()}, 3); };
  std::string note = files.empty() ? "" : fmt::format("Code not frozen: {} ({}).", listed(files), kNotFrozen);
  if (imported.empty()) return note;
  return note + fmt::format("{}{} imported from {} ({}): that code and data are those of other runs is not proved.",
                            note.empty() ? "" : " ", counted(imported.size(), "run"), listed(trackers),
                            kImportedSource);
}

/// Variables of the shell in which runs of programs differ, those of one setting first.
std::string variables_note(RunTable& runs, const std::vector<std::size_t>& rows) {
  const std::vector<Value>& variables = runs.column_or_nothing(kVariables);
  const std::vector<Value>& groups = runs.column("seed_group");
  const std::vector<Value>& programs = runs.column_or_nothing(kProgramFingerprint);
  std::map<std::string, std::set<std::string>> by_group;
  std::set<std::string> all;
  for (const std::size_t row : rows) {
    if (is_missing(programs[row])) continue;
    by_group[to_text(groups[row])].insert(to_text(variables[row]));
    all.insert(to_text(variables[row]));
  }
  std::vector<std::pair<std::string, std::set<std::string>>> parts(by_group.begin(), by_group.end());
  parts.emplace_back("", all);
  for (const auto& [group, values] : parts) {
    if (values.size() < 2) continue;
    std::vector<std::string> shown;
    for (const std::string& value : values) shown.push_back(value.empty() ? "none" : value);
    return fmt::format(
        "{} read other variables of the shell: {} ({}).", group.empty() ? "Settings" : "Seeds of one setting",
        join({shown.begin(), shown.begin() + std::min<std::ptrdiff_t>(std::ssize(shown), 3)}, "; "), kVariables);
  }
  return "";
}

/// Steps at which seeds of one setting, or settings of programs and imported runs that were not told their steps,
/// ended, if these are not the same.
std::string ends_note(RunTable& runs, const std::vector<std::size_t>& rows) {
  const std::vector<Value>& groups = runs.column("seed_group");
  const std::vector<Value>& steps = runs.column("step");
  const std::vector<Value>& statuses = runs.column("status");
  const std::vector<Value>& programs = runs.column_or_nothing(kProgramFingerprint);
  const std::vector<Value>& imported = runs.column_or_nothing(kImportedSource);
  const std::vector<Value>& asked = runs.column_or_nothing("train.steps");
  std::map<std::string, std::pair<double, double>> ends;
  std::optional<std::pair<double, double>> untold;  // of all that were not told their steps
  for (const std::size_t row : rows) {
    const std::optional<double> step = as_number(steps[row]);
    if (!step || to_text(statuses[row]) != name_of(RunStatus::kDone)) continue;
    auto& [low, high] = ends.emplace(to_text(groups[row]), std::pair(*step, *step)).first->second;
    low = std::min(low, *step);
    high = std::max(high, *step);
    const bool is_model = is_missing(programs[row]) && is_missing(imported[row]);
    if (is_model || as_number(asked[row]).value_or(0) > 0) continue;
    if (!untold) untold = {*step, *step};
    untold = {std::min(untold->first, *step), std::max(untold->second, *step)};
  }
  const auto in_words = [](const char* who, const std::pair<double, double>& end) {
    return fmt::format("{} ended at other steps, from {} to {}.", who,
                       in_thousands(static_cast<std::int64_t>(end.first)),
                       in_thousands(static_cast<std::int64_t>(end.second)));
  };
  for (const auto& [group, end] : ends) {
    if (end.first != end.second) return in_words("Seeds of one setting", end);
  }
  return untold && untold->first != untold->second ? in_words("Settings", *untold) : "";
}

/// The numbers of threads of runs whose times are shown, if these are not the same.
std::string threads_note(RunTable& runs, const std::vector<std::size_t>& rows, const std::vector<std::string>& values) {
  const auto is_time = [](const std::string& value) {
    return value.find("seconds") != std::string::npos || value.find("hours") != std::string::npos;
  };
  if (std::ranges::none_of(values, is_time)) return "";
  const std::vector<Value>& threads = runs.column_or_nothing(kThreads);
  std::set<std::int64_t> counts;
  for (const std::size_t row : rows) {
    if (const std::optional<double> count = as_number(threads[row])) counts.insert(static_cast<std::int64_t>(*count));
  }
  if (counts.size() < 2) return "";
  std::vector<std::string> shown;
  for (const std::int64_t count : counts) shown.push_back(std::to_string(count));
  return fmt::format("Times are of runs with {} threads ({}): train.threads makes them alike.", join(shown, " and "),
                     kThreads);
}

/// Which programs have numbers that were read by different `metrics`: they may be of different things.
std::string metrics_note(RunTable& runs, const std::vector<std::size_t>& rows) {
  const std::vector<Value>& names = runs.column_or_nothing("program.name");
  const std::vector<Value>& experiments = runs.column("experiment");
  std::map<std::string, std::vector<std::size_t>> programs;
  for (const std::size_t row : rows) {
    if (!is_missing(names[row]))
      programs[fmt::format("{} of {}", to_text(names[row]), to_text(experiments[row]))].push_back(row);
  }
  std::vector<std::string> mixed;
  for (const auto& [program, of_program] : programs) {
    if (different(runs, of_program, kMetricsParam) > 1) mixed.push_back(program);
  }
  if (mixed.empty()) return "";
  return fmt::format("Numbers of {} were read by different `metrics` ({}); xlm runs reread reads them alike.",
                     listed_names(mixed, 2), kMetricsParam);
}

std::string notes_on_runs(RunTable& runs, const std::vector<std::size_t>& rows,
                          const std::vector<std::string>& values) {
  const std::vector<Value>& reasons = runs.column_or_nothing("reason");
  std::map<std::string, std::set<std::string>> warned;  // runs by what they warn of
  for (const std::size_t row : rows) {
    if (const std::string reason = to_text(reasons[row]); is_warning(reason)) warned[reason].insert(runs.id(row));
  }
  std::vector<std::string> notes;
  for (const auto& [reason, ids] : warned) {
    notes.push_back(fmt::format("{}: {}", listed_names({ids.begin(), ids.end()}, 2), reason));
  }
  std::vector<std::string> texts{unproved_note(runs, rows)};
  if (const std::size_t sets = different(runs, rows, kPackages); sets > 1) {
    texts.push_back(fmt::format(
        "Programs ran with {} sets of Python packages ({}); xlm runs diff says how two runs differ.", sets, kPackages));
  }
  if (const std::size_t commits = different(runs, rows, kImportedCode); commits > 1)
    texts.push_back(fmt::format("Imported runs are of {} commits ({}).", commits, kImportedCode));
  texts.insert(texts.end(), {metrics_note(runs, rows), variables_note(runs, rows), ends_note(runs, rows),
                             threads_note(runs, rows, values)});
  constexpr std::size_t kShown = 3;
  const std::size_t more = notes.size() - std::min(notes.size(), kShown);
  notes.resize(notes.size() - more);
  if (more > 0) notes.push_back(fmt::format("{} more; xlm runs ls says them", counted(more, "warning")));
  if (!notes.empty()) texts.push_back(join(notes, ". ") + ".");
  std::erase(texts, "");
  return join(texts, " ");
}

}  // namespace xlm
