// Checks that a recipe can get what it asks for.
#include "experiments/checks/recipe_check.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "experiments/checks/configured_numbers.h"
#include "experiments/checks/mixed_runs.h"
#include "experiments/checks/named_by_exhibits.h"
#include "experiments/checks/supposed_winners.h"
#include "results/claims/judged_claim.h"
#include "results/exhibits/continuations.h"
#include "results/figures/figure_description.h"
#include "results/figures/figures.h"
#include "results/fits/fitted_runs.h"
#include "results/store/variation.h"
#include "results/tables/printed_number.h"
#include "results/tables/table.h"
#include "results/tables/table_notes.h"

namespace xlm {
namespace {

constexpr std::size_t kMaxNamed = 3;

/// Checks the exhibits of one recipe.
class RecipeChecker {
 public:
  RecipeChecker(const Recipe& recipe, const Exhibits& exhibits, bool of_paper, const std::set<std::string>& measured)
      : recipe_(recipe), exhibits_(exhibits), of_paper_(of_paper), store_(supposed_store(measured)), runs_(store_) {
    if (!exhibits.experiment.empty()) {
      of_recipe_.push_back({"experiment", Filter::Relation::kEqual, {exhibits.experiment}});
    }
  }

  RecipeCheck check() {
    const auto each = [&](ExhibitKind kind, std::size_t& count, const auto& look) {
      for (const Yaml& node : exhibits_.of(kind)) {
        ++count;
        try {
          look(node);
        } catch (const UsageError& error) {
          find_mistake(node, error.what());
        }
      }
    };
    each(ExhibitKind::kTable, result_.tables, [&](const Yaml& node) { check_table(read_table_description(node)); });
    each(ExhibitKind::kFigure, result_.figures, [&](const Yaml& node) { check_figure(read_figure_description(node)); });
    each(ExhibitKind::kContinuation, result_.continuations,
         [&](const Yaml& node) { check_continuation(read_continuation_description(node)); });
    each(ExhibitKind::kClaim, result_.claims, [&](const Yaml& node) { check_claim(read_claim_description(node)); });
    each(ExhibitKind::kFit, result_.fits, [&](const Yaml& node) { check_fit(read_fit_description(node)); });
    check_corpora();
    check_rungs();
    return std::move(result_);
  }

 private:
  Store supposed_store(const std::set<std::string>& measured) {
    result_.sweep = suppose(recipe_, named_by_exhibits(exhibits_, recipe_.reported, measured), suppose_winners());
    return exhibits_.are_none() ? Store::in_memory() : store_of(result_.sweep);
  }

  /// Programs that never report the measure wait at the first rung for ever.
  void check_rungs() {
    const ReportedNames& reported = recipe_.reported;
    if (!recipe_.early_stopping || recipe_.run.find("program") == nullptr || reported.may_be_others) return;
    const std::string& measure = recipe_.early_stopping->measure;
    if (reported.validated.contains(measure.substr(measure.find('.') + 1))) return;
    find(recipe_.early_stopping->place, fmt::format("early_stopping: no run is ever judged: nothing reads {}", measure),
         "add it to program.metrics, or choose a measure that is read");
  }

  void find(const std::string& place, std::string message, std::string advice) {
    result_.findings.push_back({place, std::move(message), std::move(advice)});
  }

  /// Records a mistake in a description. The message may begin with its place; further lines are advice.
  void find_mistake(const Yaml& node, const std::string& text) {
    const std::size_t line = std::min(text.find('\n'), text.size());
    std::string message = text.substr(0, line);
    std::string place = node.where();
    if (const std::size_t end = message.find(": "); message.starts_with(*node.source + ":") && end < line) {
      place = message.substr(0, end);
      message.erase(0, end + 2);
    }
    find(place, std::move(message), line < text.size() ? text.substr(line + 1) : "");
  }

  /// Those keys that change what a run is, as the recipe calls them.
  std::vector<std::string> settings_among(const std::vector<std::string>& keys) const {
    std::vector<std::string> settings;
    for (const std::string& key : keys) {
      const std::string name = key.starts_with(kSettingPrefix) ? key.substr(kSettingPrefix.size()) : key;
      if (result_.sweep.setting_keys.contains(name)) settings.push_back(name);
    }
    return settings;
  }

  void check_table(const TableDescription& description) {
    const std::string title = fmt::format("table '{}'", description.name);
    const bool by_corpus = names_corpus(description.row_key) || names_corpus(description.column_key);
    asks_for_corpora_ = asks_for_corpora_ || (by_corpus && !description.printed.empty());
    check_conditions(title, description.place, description.where);
    for (const TableEntry& row : description.rows) check_conditions(title, description.place, row.where);
    for (const TableColumn& column : description.columns) check_conditions(title, description.place, column.where);
    const auto built = build_table(runs_, description, of_recipe_);
    if (const auto* nothing = std::get_if<NothingToShow>(&built)) {
      return find(description.place, fmt::format("{} has nothing to show: {}", title, nothing->reason), kAskForRuns);
    }
    const auto& table = std::get<Table>(built);
    std::vector<bool> filled(table.columns.size());
    for (const TableRow& row : table.rows) {
      for (std::size_t c = 0; c < row.cells.size(); ++c) {
        if (row.cells[c].value) filled[c] = true;
      }
    }
    for (const TableRow& row : table.rows) check_row(description, table, row, filled);
    for (std::size_t c = 0; c < filled.size(); ++c) {
      if (filled[c]) continue;
      find(description.place, fmt::format("{}: the column '{}' is filled by no run", title, table.columns[c].label),
           kAskForRuns);
    }
    check_printed(description, table);
    check_digits(description);
    if (of_paper_) check_verdicts(description, table);
  }

  /// Printed values that get no verdict, whatever the runs measure: the numbers of supposed runs differ from seed to
  /// seed.
  void check_verdicts(const TableDescription& description, const Table& table) {
    std::vector<std::string> without_spread;
    std::vector<std::string> not_compared;
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
      for (std::size_t c = 0; c < table.columns.size(); ++c) {
        const TableCell& cell = table.rows[r].cells[c];
        if (prints_nothing(cell.printed) || !cell.value) continue;
        const bool has_no_spread =
            cell.compared && cell.compared->verdict == Verdict::kUndecided && !cell.compared->half_width;
        if (!cell.compared) not_compared.push_back(cell_name(table, r, c));
        if (has_no_spread) without_spread.push_back(cell_name(table, r, c));
      }
    }
    find_without_verdict(description, without_spread, "no cell has two seeds",
                         "sweep more seeds in one cell at least, such as `seed: [1, 2, 3]`: others share its spread");
    find_without_verdict(description, not_compared, "the printed text is no number, or ours is no plain mean",
                         "print a number, or show the mean itself, without 'against' and another 'aggregate'");
  }

  void find_without_verdict(const TableDescription& description, const std::vector<std::string>& cells,
                            const std::string& why, const std::string& advice) {
    if (cells.empty()) return;
    find(description.place,
         fmt::format("table '{}': {} ({}) can get no verdict: {}", description.name,
                     counted(cells.size(), "printed value"), some_listed(cells), why),
         advice);
  }

  void check_row(const TableDescription& description, const Table& table, const TableRow& row,
                 const std::vector<bool>& filled_columns) {
    const std::string title = fmt::format("table '{}'", description.name);
    const auto has_value = [](const TableCell& cell) { return cell.value.has_value(); };
    const bool printed_only = !row.cells.empty() && row.cells.front().missing == kPrintedOnly;
    const bool filled = std::ranges::any_of(row.cells, has_value);
    if (!filled && !printed_only) {
      return find(description.place,
                  fmt::format("{}: the row '{}' is filled by no run ({})", title, row.label, row.cells.front().missing),
                  "add runs or evaluations that fill it, or set `printed_only: true` if only the paper's values "
                  "are meant");
    }
    for (std::size_t c = 0; c < row.cells.size(); ++c) {
      const TableCell& cell = row.cells[c];
      const TableColumn& column = table.columns[c];
      const std::string name = fmt::format("{}/{}", row.label, column.label);
      if (!cell.printed.empty() && !cell.value && !printed_only && filled_columns[c]) {
        find(description.place,
             fmt::format("{}: there is no run for the printed value of {} ({})", title, name, cell.missing),
             kAskForRuns);
      }
      const std::vector<std::string> keys = settings_among(cell.differ_in);
      if (!keys.empty()) {
        find(description.place,
             fmt::format("{}: the cell {} combines runs that differ in {}", title, name, some_listed(keys, kMaxNamed)),
             kTellApart);
      }
    }
  }

  /// Every printed value must have a cell.
  void check_printed(const TableDescription& description, const Table& table) {
    for (const auto& [label, cells] : description.printed) {
      const auto row = std::ranges::find_if(table.rows, [&name = label](const TableRow& r) { return r.label == name; });
      for (const auto& [column, value] : cells) {
        const bool there =
            row != table.rows.end() &&
            std::ranges::any_of(table.columns, [&name = column](const TableColumn& c) { return c.label == name; });
        if (there) continue;
        find(description.place,
             fmt::format("table '{}': the printed value {} of {}/{} has no cell", description.name, value, label,
                         column),
             "add a cell by 'rows', 'columns' or 'also', or remove the value");
      }
    }
  }

  /// A paper prints equally many digits in a whole column. A YAML number without quotes may have lost a final zero.
  /// Then the verdict would allow ten times as much for rounding.
  void check_digits(const TableDescription& description) {
    std::map<std::string, std::string> longest;  // of each column, the printed value with the most digits
    for (const auto& [row, cells] : description.printed) {
      for (const auto& [column, value] : cells) {
        const std::optional<int> digits = printed_digits(value);
        if (!digits) continue;
        std::string& most = longest.try_emplace(column, value).first->second;
        if (*digits > printed_digits(most)) most = value;
      }
    }
    for (const auto& [row, column] : description.printed_plainly) {
      const std::string& value = description.printed.at(row).at(column);
      const std::optional<int> digits = printed_digits(value);
      if (!digits || *digits == printed_digits(longest.at(column))) continue;
      find(description.place,
           fmt::format("table '{}': the printed value {} of {}/{} has fewer digits than others of its column ({})",
                       description.name, value, row, column, longest.at(column)),
           "write it with all digits that the paper prints, in quotes: \"29.00\"");
    }
  }

  /// A condition on a corpus's name cannot be checked if the name is unknown.
  void check_corpora() {
    const std::set<std::string>& unnamed = result_.sweep.unnamed;
    const std::string& place = recipe_.place_of_corpora;
    if (asks_for_corpora_ && !unnamed.empty()) {
      find(place,
           fmt::format("tables or figures name corpora, but the corpus in {} is unknown",
                       some_listed({unnamed.begin(), unnamed.end()}, kMaxNamed)),
           "prepare it, or name it: `corpora: {FOLDER: NAME}`");
    }
    for (const auto& [path, name] : result_.sweep.misnamed) {
      find(place, fmt::format("{} holds {}, but 'corpora' gives another name", path, name),
           "prepare the right corpus, or correct 'corpora'");
    }
  }

  /// Each value that a condition allows must occur: otherwise it is a mistake, or its runs are missing.
  void check_conditions(const std::string& title, const std::string& place, const std::vector<Filter>& conditions) {
    for (const Filter& condition : conditions) {
      asks_for_corpora_ = asks_for_corpora_ || names_corpus(condition.column);
      if (condition.relation != Filter::Relation::kEqual || condition.values.size() < 2) continue;
      if (condition.column == kIsBad) continue;  // people say so of runs, and no sweep does
      for (const AskedValue& value : condition.values) {
        std::vector<Filter> one = of_recipe_;
        one.push_back({condition.column, Filter::Relation::kEqual, {value}});
        if (!runs_.select(one).empty()) continue;
        find(place, fmt::format("{}: no run has {}", title, one.back().text()), kAskForRuns);
      }
    }
  }

  void check_figure(const FigureDescription& description) {
    const std::string title = fmt::format("figure '{}'", description.name);
    check_conditions(title, description.place, description.where);
    const auto built = build_figure(runs_, description, of_recipe_);
    if (const auto* nothing = std::get_if<NothingToShow>(&built)) {
      return find(description.place, fmt::format("{} has nothing to show: {}", title, nothing->reason), kAskForRuns);
    }
    const FigureRows figure(runs_, description, of_recipe_);
    for (const FigureRows::Point& point : figure.points()) {
      std::vector<std::string> keys = settings_among(differing_keys(runs_, point.rows));
      std::erase(keys, description.over);
      if (keys.empty()) continue;
      const std::string what = description.grid.empty() ? "combines runs" : "shows one of several runs";
      find(description.place,
           fmt::format("{} {} that differ in {}{}", title, what, some_listed(keys, kMaxNamed),
                       point.name.empty() ? "" : fmt::format(", at {}", point.name)),
           kTellApart);
      break;  // the others are similar
    }
    if (const std::vector<std::string> corpora = figure.joined_corpora(); !corpora.empty()) {
      find(description.place, fmt::format("{} combines several corpora: {}", title, some_listed(corpora, kMaxNamed)),
           "give each corpus its own figure with `where: {data.name: …}`, or make data.name its x or series");
    }
  }

  void check_continuation(const ContinuationDescription& description) {
    const std::string title = fmt::format("continuation '{}'", description.name);
    check_conditions(title, description.place, description.where);
    for (const ContinuationDescription::Row& row : description.rows) {
      check_conditions(title, description.place, row.where);
    }
    const auto found = find_models(runs_, description, of_recipe_);
    if (const auto* nothing = std::get_if<NothingToShow>(&found)) {
      return find(description.place, fmt::format("{} has nothing to show: {}", title, nothing->reason), kAskForRuns);
    }
    for (const ContinuingModel& model : std::get<Continuations>(found).models) {
      if (!model.run.empty()) continue;
      find(description.place, fmt::format("{}: the row '{}' has no run ({})", title, model.label, model.missing),
           kAskForRuns);
    }
  }

  /// Whether a fit has settings enough, if it is of the paper's sizes. What they cost is known only when they have run.
  void check_fit(const FitDescription& description) {
    const std::string title = fmt::format("fit '{}'", description.name);
    check_conditions(title, description.place, description.where);
    std::size_t incomplete = 0;
    HiddenRuns hidden;
    const std::vector<FitRuns> found = find_fit_runs(runs_, description, of_recipe_, incomplete, hidden);
    if (found.empty()) {
      return find(description.place, fmt::format("{} has nothing to show: no run has its numbers", title), kAskForRuns);
    }
    for (const FitRuns& one : found) {
      const FitProblem problem = problem_of_count(description, one.points.count_settings());
      if (problem.reason.empty() || !of_paper_) continue;
      find(description.place, fmt::format("{}{}: {}", title, one.label.empty() ? "" : ", " + one.label, problem.reason),
           problem.advice);
    }
  }

  /// Whether runs or configurations can decide a claim: each side has its numbers, and seeds enough for an interval.
  void check_claim(const ClaimDescription& description) {
    if (!of_paper_ && description.needs == ClaimNeeds::kCosts) return;  // they are of the paper's sizes
    const std::string title = fmt::format("claim '{}'", description.name);
    check_conditions(title, description.place, description.where);
    for (const ClaimSide& side : description.sides) check_conditions(title, description.place, side.where);
    const ClaimContext context{.filters = of_recipe_,
                               .configured = [&](const Yaml& settings, const std::set<std::string>& columns) {
                                 return configured_numbers(recipe_, settings, columns, supposed_costs);
                               }};
    const JudgedClaim judged = judge_claim(runs_, description, context);
    for (const ClaimPart& part : judged.parts) check_part(title, description, part);
  }

  void check_part(const std::string& title, const ClaimDescription& description, const ClaimPart& part) {
    if (!part.value) {
      if (!of_paper_) return;
      return find(description.place, fmt::format("{} can be decided by no run: {}", title, part.missing), kAskForRuns);
    }
    if (!part.half_width && of_paper_) {
      find(description.place,
           fmt::format("{} can be decided by no run: {} comes of one {}, which has no interval", title, part.label,
                       description.over),
           fmt::format("let the sweep have several of {}, as in `grid: {{{}: [1, 2, 3]}}`", description.over,
                       description.over));
    }
    if (part.is_a_look() && of_paper_) {
      find(description.place,
           fmt::format("{} plans {} seeds, and the sweep has {}", title, part.planned, part.looked_at), kAskForRuns);
    }
    const std::vector<std::string> keys = settings_among(part.mixes);
    if (!keys.empty()) {
      find(description.place,
           fmt::format("{}: one side of {} makes one number of runs that differ in {}", title, part.label,
                       some_listed(keys, kMaxNamed)),
           kTellApart);
    }
  }

  static constexpr const char* kAskForRuns = "add runs or evaluations that it can show, or remove it";
  static constexpr const char* kTellApart =
      "separate them by 'where', rows, columns or 'series', or let 'choose' take the best of them";

  const Recipe& recipe_;
  const Exhibits& exhibits_;
  bool of_paper_;
  RecipeCheck result_;
  Store store_;
  RunTable runs_;
  std::vector<Filter> of_recipe_;
  bool asks_for_corpora_ = false;  // by name
};

}  // namespace

bool is_paper_profile(const Yaml& file, const std::string& profile) {
  const Yaml* profiles = file.find("profiles");
  const bool has_paper = profiles != nullptr && profiles->find("paper") != nullptr;
  return profile == "paper" || (profile.empty() && !has_paper);
}

RecipeCheck check_recipe(const Recipe& recipe, const Exhibits& exhibits, bool of_paper,
                         const std::set<std::string>& measured) {
  return RecipeChecker(recipe, exhibits, of_paper, measured).check();
}

}  // namespace xlm
