// The runs of a sweep as a table.
#include "cmd/sweep_table.h"

#include <utility>

#include "experiments/sweeps/sweep_board.h"

namespace xlm {

std::string table_of_sweep(const std::vector<SweepRun>& runs, const std::vector<TextTable::Column>& columns,
                           const std::function<std::vector<std::string>(std::size_t run)>& more,
                           const Terminal& terminal) {
  const std::vector<std::string> keys = varied_keys(runs);
  std::vector<TextTable::Column> all{{"run"}};
  for (const std::string& key : keys) all.push_back({short_title(key, keys)});
  all.insert(all.end(), columns.begin(), columns.end());
  std::vector<std::string> ids;
  for (const SweepRun& run : runs) ids.push_back(run.id());
  const auto table_with = [&](const std::vector<std::string>& names) {
    TextTable table(all);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      std::vector<std::string> cells{names[i]};
      for (const std::string& key : keys) cells.push_back(shown_value(runs[i].point, key));
      for (std::string& cell : more(i)) cells.push_back(std::move(cell));
      table.add(std::move(cells));
    }
    return table;
  };
  std::string whole = table_with(ids).render(TextTable::Format::kText);
  const std::size_t line = display_width(first_line(whole.substr(whole.find('\n') + 1)));  // the rule is the widest
  if (!terminal.is_terminal || line <= static_cast<std::size_t>(terminal.width)) return whole;
  return table_with(short_ids(ids)).render(TextTable::Format::kText, terminal.width);
}

}  // namespace xlm
