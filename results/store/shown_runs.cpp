// Which runs tables, figures, fronts and claims show.
#include "results/store/shown_runs.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "results/run_folder/imported.h"
#include "results/run_folder/run_folder.h"

namespace xlm {
namespace {

bool asks_for_bad(const std::string& column) { return column == "bad" || column == kIsBad; }

}  // namespace

ShownRows without_bad(RunTable& runs, const std::vector<std::size_t>& rows, const std::vector<Filter>& filters,
                      const std::vector<std::string>& named) {
  const bool is_asked =
      std::any_of(named.begin(), named.end(), asks_for_bad) ||
      std::any_of(filters.begin(), filters.end(), [](const Filter& filter) { return asks_for_bad(filter.column); });
  if (is_asked) return {.rows = rows, .left_out = {}};
  const std::vector<Value>& bad = runs.column("bad");
  ShownRows shown;
  std::set<std::string> left_out;
  for (const std::size_t row : rows) {
    if (is_missing(bad[row])) {
      shown.rows.push_back(row);
    } else {
      left_out.insert(runs.id(row));
    }
  }
  shown.left_out.assign(left_out.begin(), left_out.end());
  return shown;
}

ShownRows shown_rows(RunTable& runs, const std::vector<Filter>& filters, const std::vector<std::string>& named) {
  return without_bad(runs, runs.select(filters, named), filters, named);
}

std::string left_out_note(const std::vector<std::string>& left_out) {
  if (left_out.empty()) return "";
  const bool is_one = left_out.size() == 1;
  return fmt::format("{} marked as bad {} left out; the condition {}=0,1 includes {}.", counted(left_out.size(), "run"),
                     is_one ? "is" : "are", kIsBad, is_one ? "it" : "them");
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

std::string notes_on_runs(RunTable& runs, const std::vector<std::size_t>& rows) {
  const std::vector<Value>& reasons = runs.column_or_nothing("reason");
  std::map<std::string, std::set<std::string>> warned;  // runs by what they warn of
  for (const std::size_t row : rows) {
    if (const std::string reason = to_text(reasons[row]); is_warning(reason)) warned[reason].insert(runs.id(row));
  }
  std::vector<std::string> notes;
  for (const auto& [reason, ids] : warned) {
    notes.push_back(fmt::format("{}: {}", listed_names({ids.begin(), ids.end()}, 2), reason));
  }
  std::string text = unproved_note(runs, rows);
  if (notes.empty()) return text;
  constexpr std::size_t kShown = 3;
  const std::size_t more = notes.size() - std::min(notes.size(), kShown);
  notes.resize(notes.size() - more);
  if (more > 0) notes.push_back(fmt::format("{} more; xlm runs ls says them", counted(more, "warning")));
  return text + (text.empty() ? "" : " ") + join(notes, ". ") + ".";
}

}  // namespace xlm
