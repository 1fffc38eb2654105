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

/// The values of a column in some rows, each with the ids of its runs.
std::map<std::string, std::set<std::string>> texts_of(RunTable& runs, const std::vector<std::size_t>& rows,
                                                      const std::string& column) {
  const std::vector<Value>& values = runs.column_or_nothing(column);
  std::map<std::string, std::set<std::string>> texts;
  for (const std::size_t row : rows) {
    if (!is_missing(values[row])) texts[to_text(values[row])].insert(runs.id(row));
  }
  return texts;
}

std::string some_of(const std::map<std::string, std::set<std::string>>& texts) {
  constexpr std::size_t kMaxNamed = 3;
  std::vector<std::string> names;
  for (const auto& [text, ids] : texts) names.push_back(text);
  return listed_names(names, kMaxNamed);
}

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
  std::vector<std::string> notes;
  if (const auto code = texts_of(runs, rows, kNotFrozen); !code.empty()) {
    notes.push_back(fmt::format("Code not frozen: {} ({}).", some_of(code), kNotFrozen));
  }
  if (const auto sources = texts_of(runs, rows, kImportedSource); !sources.empty()) {
    std::size_t count = 0;
    for (const auto& [source, of_source] : sources) count += of_source.size();
    notes.push_back(fmt::format("{} imported from {} ({}): that code and data are those of other runs is not proved.",
                                counted(count, "run"), some_of(sources), kImportedSource));
  }
  return join(notes, " ");
}

}  // namespace xlm
