// The numbers that the sides of a claim have.
#include "results/claims/side_numbers.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "results/claims/trend.h"
#include "results/quantities/number_format.h"
#include "results/quantities/quantities.h"
#include "results/store/formula.h"
#include "results/store/statistics.h"
#include "results/store/unmet_condition.h"
#include "results/store/variation.h"

namespace xlm {
namespace {

/// Rows of a run's newest grid as one number; nullopt if the run has none of them.
std::optional<double> number_of_grid(RunTable& runs, const std::string& run, const ClaimGrid& grid) {
  return runs.store().use([&](SQLite::Database& database) {
    SQLite::Statement query(database,
                            "SELECT value, row FROM last_grids WHERE run_id = ? AND name = ? AND row >= ? "
                            "AND (? = 0 OR row <= ?) AND value IS NOT NULL");
    query.bind(1, run);
    query.bind(2, grid.name);
    query.bind(3, grid.first_row);
    query.bind(4, grid.last_row);
    query.bind(5, grid.last_row);
    std::vector<double> numbers;
    std::vector<TrendPoint> by_row;
    while (query.executeStep()) {
      numbers.push_back(query.getColumn(0).getDouble());
      by_row.push_back({"", query.getColumn(1).getDouble(), numbers.back()});
    }
    if (numbers.empty()) return std::optional<double>();
    if (grid.as == GridReduction::kSlope) {
      const std::optional<Trend> trend = trend_of(by_row);
      return trend ? std::optional(trend->slope.value) : std::nullopt;
    }
    if (grid.as == GridReduction::kMean) return std::optional(mean(numbers));
    return std::optional(grid.as == GridReduction::kMin ? *std::ranges::min_element(numbers)
                                                        : *std::ranges::max_element(numbers));
  });
}

/// Whether no seed changes what a column holds. What some models learn is exact only where the seeds show it.
bool follows_from_configuration(RunTable& runs, const std::string& column, const SeedValues& values) {
  const NumberOrigin origin = origin_of(runs, column);
  return origin == NumberOrigin::kConfigured ||
         (origin == NumberOrigin::kLearnable && sample_deviation(values.means()) == 0);
}

}  // namespace

std::vector<Filter> SideReader::conditions(const ClaimSide* side, const std::vector<Filter>& each) const {
  std::vector<Filter> filters = with_conditions(context_.filters, claim_.where);
  if (side != nullptr) filters = with_conditions(std::move(filters), side->where);
  return with_conditions(std::move(filters), each);
}

ShownRows SideReader::shown(const std::vector<Filter>& filters, const std::vector<std::string>& named) const {
  ShownRows shown = shown_rows(runs_, filters, named);
  std::erase_if(shown.rows, [&](std::size_t row) {
    const bool is_later = look_of(runs_, row) > last_look_;
    if (is_later) report_.later.insert(row);
    return is_later;
  });
  return shown;
}

std::vector<std::vector<Filter>> SideReader::each_of() const {
  if (claim_.each.empty()) return {{}};
  std::set<Value, ValueOrder> values;
  const auto add = [&](const ClaimSide* side) {
    for (const std::size_t row : shown(conditions(side, {}), {claim_.each}).rows) {
      if (const Value& value = runs_.column(claim_.each)[row]; !is_missing(value)) values.insert(value);
    }
  };
  if (claim_.sides.empty()) add(nullptr);
  for (const ClaimSide& side : claim_.sides) add(&side);
  std::vector<std::vector<Filter>> all;
  for (const Value& value : values) all.push_back({{claim_.each, Filter::Relation::kEqual, {value}}});
  return all;
}

/// Those of a side's rows whose setting counts. The nearest setting of a side is one already.
std::vector<std::size_t> SideReader::chosen_of(const std::vector<std::size_t>& rows, const ClaimSide* side,
                                               const std::vector<Filter>& each) const {
  const bool is_one = std::ranges::any_of(each, [](const Filter& filter) { return filter.column == "seed_group"; });
  if (!claim_.choose.is_asked() || is_one) return rows;
  std::vector<std::string> parts;
  for (const Filter& filter : each) parts.push_back(filter.text());
  if (side != nullptr) parts.push_back(side->label);
  SettingChoice choice = choose_rows(runs_, rows, claim_.choose, claim_.over);
  std::vector<std::size_t> chosen = choice.rows;
  report_.choices[join(parts, ": ")] = std::move(choice);
  return chosen;
}

std::vector<std::size_t> SideReader::planned_of(const std::vector<std::size_t>& rows, const std::string& column,
                                                const std::vector<Filter>& filters, SideNumbers& numbers) const {
  using RowsOfSeeds = std::map<Value, std::vector<std::size_t>, ValueOrder>;
  RowsOfSeeds of_sweep;
  RowsOfSeeds others;
  for (const PlannedPoint& point : context_.points) {
    const auto seed = point.find("seed");
    if (seed != point.end() && fulfils(point, filters, false)) of_sweep[to_value(seed->second)];
  }
  for (const std::size_t row : rows) {
    const Value& seed = runs_.column("seed")[row];
    const auto planned = of_sweep.find(seed);
    (planned == of_sweep.end() ? others[seed] : planned->second).push_back(row);
  }
  const std::vector<std::size_t> with_number = of_rows(rows, column).rows;
  const std::vector<Value>& statuses = runs_.column("status");
  const auto has_ended = [&](std::size_t row) {
    return std::ranges::find(with_number, row) != with_number.end() ||
           to_text(statuses[row]) == name_of(RunStatus::kDiverged);
  };
  numbers.planned = claim_.planned;
  std::vector<std::size_t> looked_at;
  bool is_waiting = false;
  std::int64_t place = 0;
  std::vector<std::pair<Value, std::vector<std::size_t>>> seeds(of_sweep.begin(), of_sweep.end());
  seeds.insert(seeds.end(), others.begin(), others.end());
  for (const auto& [seed, of_seed] : seeds) {
    if (++place > claim_.planned) {
      if (!of_seed.empty()) numbers.beyond_plan.push_back(to_text(seed));
      continue;
    }
    if (is_waiting || of_seed.empty() || !std::ranges::all_of(of_seed, has_ended)) {
      is_waiting = true;
      numbers.waits_for.push_back(to_text(seed));
      continue;
    }
    ++numbers.looked_at;
    looked_at.insert(looked_at.end(), of_seed.begin(), of_seed.end());
  }
  return looked_at;
}

SideNumbers SideReader::of_configuration(const ClaimSide* side, const std::string& column) const {
  SideNumbers numbers{.is_exact = true};
  if (!context_.configured) {
    numbers.missing = "configurations are not looked at here";
    return numbers;
  }
  Yaml settings = claim_.settings;
  if (side != nullptr) settings = settings.is_null() ? side->settings : merge(settings, side->settings);
  const std::vector<std::string> behind = columns_behind(column);
  const std::map<std::string, double> known = context_.configured(settings, {behind.begin(), behind.end()});
  std::vector<double> of_columns;
  for (const std::string& name : behind) {
    const auto found = known.find(name);
    if (found == known.end()) {
      throw UsageError(
          fmt::format("{}: '{}' is neither a number of the configuration nor a cost of its model\n"
                      "what needs training has no `needs: costs`",
                      claim_.place, name));
    }
    of_columns.push_back(found->second);
  }
  const std::optional<double> number = is_formula(column) ? Formula(column).value(of_columns) : of_columns.front();
  if (number) {
    numbers.values.by_group[""].push_back(*number);
  } else {
    numbers.missing = fmt::format("{} is no finite number", column);
  }
  return numbers;
}

SeedValues SideReader::of_rows(std::vector<std::size_t> rows, const std::string& column) const {
  if (!column.empty()) return seed_values(runs_, rows, column, claim_.over);
  std::erase_if(rows, [&](std::size_t row) { return row >= runs_.size(); });  // evaluations of runs that are there, too
  return seed_values(
      runs_, rows, [&](std::size_t row) { return number_of_grid(runs_, runs_.id(row), claim_.grid); }, claim_.over);
}

SideNumbers SideReader::numbers(const ClaimSide* side, const std::vector<Filter>& each,
                                const std::string& column) const {
  if (claim_.needs == ClaimNeeds::kCosts) return of_configuration(side, column);
  const std::vector<Filter> filters = conditions(side, each);
  std::vector<std::string> named;
  if (!claim_.along.empty()) named.push_back(claim_.along);
  const ShownRows found = shown(filters, named);
  const std::vector<Value>& statuses = runs_.column("status");
  for (const std::size_t row : found.rows) {
    const std::int64_t look = look_of(runs_, row);
    const std::string status = to_text(statuses[row]);
    const bool has_ended = status == name_of(RunStatus::kDone) || status == name_of(RunStatus::kFailed) ||
                           status == name_of(RunStatus::kDiverged) || status == name_of(RunStatus::kPruned);
    if (look > 0 && !has_ended) report_.open_look = std::min(report_.open_look, look);
  }
  const std::vector<std::size_t>& all = found.rows;
  report_.left_out.add(found.left_out);
  const std::vector<std::size_t> rows = chosen_of(all, side, each);
  SideNumbers numbers;
  if (all.empty() && !found.left_out.empty()) {
    numbers.missing = why_all_are_hidden(found.left_out);
    return numbers;
  }
  if (rows.empty() && !all.empty()) {
    numbers.missing = "no setting can be chosen";
    return numbers;
  }
  if (rows.empty()) {
    numbers.missing = unmet_condition(runs_, filters);
    if (numbers.missing.empty()) numbers.missing = "there is no run yet";
    return numbers;
  }
  numbers.rows = claim_.planned > 0 ? planned_of(rows, column, filters, numbers) : rows;
  numbers.values = of_rows(numbers.rows, column);
  report_.used.insert(numbers.values.rows.begin(), numbers.values.rows.end());
  numbers.is_exact = !column.empty() && follows_from_configuration(runs_, column, numbers.values);
  numbers.ignores_seeds = !numbers.is_exact && claim_.over == "seed" && ignores_seeds(runs_, numbers.values);
  if (numbers.values.by_group.empty()) numbers.missing = why_no_number(numbers, column);
  return numbers;
}

/// Of runs that are there.
std::string SideReader::why_no_number(const SideNumbers& numbers, const std::string& column) const {
  const SeedValues& values = numbers.values;
  if (numbers.rows.empty()) {
    return fmt::format("the first seeds of the plan have no number yet ({})",
                       listed_names(numbers.waits_for, numbers.waits_for.size()));
  }
  return fmt::format("no run has {}{} ({}){}", column.empty() ? claim_.grid.name : column,
                     values.are_all_done() ? "" : " yet", values.without_number_text(), values.import_hint());
}

SideNumbers SideReader::nearest(const ClaimSide& side, const ClaimSide& other, const std::vector<Filter>& each,
                                std::string& chosen) const {
  const SideNumbers wanted = numbers(&other, each, claim_.nearest);
  SideNumbers candidates = numbers(&side, each, claim_.nearest);
  if (wanted.values.runs.empty() || candidates.values.runs.empty()) {
    return candidates.values.runs.empty() ? candidates : wanted;
  }
  std::map<std::string, std::vector<std::size_t>> settings;
  const std::vector<Value>& groups = runs_.column("seed_group");
  for (const std::size_t row : candidates.values.rows) settings[to_text(groups[row])].push_back(row);
  const double aim = mean(wanted.values.means());
  double least = std::numeric_limits<double>::infinity();
  std::vector<Filter> filter;
  for (const auto& [group, rows] : settings) {
    const double value = mean(seed_values(runs_, rows, claim_.nearest, claim_.over).means());
    if (std::abs(value - aim) >= least) continue;
    least = std::abs(value - aim);
    filter = {{"seed_group", Filter::Relation::kEqual, {groups[rows.front()]}}};
    chosen = with_digits(value, 3);
  }
  SideNumbers nearest = numbers(&side, with_conditions(std::move(filter), each), claim_.value);
  nearest.chosen_among = std::move(candidates.values.mixes);
  return nearest;
}

SideReader::Noise SideReader::noise(const std::vector<std::size_t>& rows, const std::vector<Filter>& each) const {
  std::vector<Filter> filters = context_.filters;
  if (!claim_.spread.from.empty()) {
    filters = {{"experiment", Filter::Relation::kEqual, {asked_value({.text = claim_.spread.from})}}};
  }
  // Conditions on settings of evaluations say what is measured, and others which of the settings are meant.
  for (const std::vector<Filter>* conditions : {&claim_.where, &each}) {
    std::copy_if(conditions->begin(), conditions->end(), std::back_inserter(filters),
                 [](const Filter& filter) { return filter.column.starts_with(kSettingPrefix); });
  }
  std::map<std::string, std::vector<std::size_t>> settings;
  for (const std::size_t row : shown(filters).rows) {
    settings[to_text(runs_.column("seed_group")[row])].push_back(row);
  }
  std::vector<ByGroup> all;
  std::vector<ByGroup> others;
  for (const auto& [group, of_setting] : settings) {
    if (!have_same_corpora(runs_, rows, of_setting, claim_.value, "")) continue;
    all.push_back(of_rows(of_setting, claim_.value).by_group);
    const bool is_own =
        std::ranges::any_of(of_setting, [&](std::size_t row) { return std::ranges::find(rows, row) != rows.end(); });
    if (!is_own) others.push_back(all.back());
  }
  return {shared_noise(all), shared_noise(others)};
}

std::vector<TrendPoint> SideReader::along(const ClaimSide* side, const std::vector<Filter>& each,
                                          SideNumbers& numbers) const {
  numbers = SideReader::numbers(side, each, claim_.value);
  std::vector<TrendPoint> points;
  // A number that was measured differs between the seeds of a setting.
  const bool is_measured = runs_.is_measured(claim_.along);
  std::map<std::pair<std::string, double>, std::vector<std::size_t>> places;
  const std::vector<Value>& column = runs_.column(claim_.along);
  for (const std::size_t row : numbers.rows) {
    const std::optional<double> x = as_number(column[row]);
    if (is_measured) {
      places[{to_text(runs_.column("seed_group")[row]), 0}].push_back(row);
    } else if (x) {
      places[{"", *x}].push_back(row);
    }
  }
  std::vector<std::size_t> placed;
  for (const std::size_t row : numbers.values.rows) {
    if (as_number(column[row])) {
      placed.push_back(row);
    } else {
      numbers.values.without_number[fmt::format("without {}", claim_.along)].insert(runs_.id(row));
    }
  }
  numbers.values.rows = std::move(placed);
  numbers.values.runs.clear();
  for (const std::size_t row : numbers.values.rows) numbers.values.runs.push_back(runs_.id(row));
  numbers.values.mixes.clear();
  numbers.values.diverged.clear();
  for (const auto& [place, rows] : places) {
    const auto& [setting, value] = place;
    const SeedValues values = of_rows(rows, claim_.value);
    const ByGroup measured = is_measured ? of_rows(values.rows, claim_.along).by_group : ByGroup();
    for (const auto& [seed, of_seed] : values.by_group) {
      const auto own = measured.find(seed);
      if (is_measured && own == measured.end()) continue;
      points.push_back({seed, is_measured ? mean(own->second) : value, mean(of_seed), 0, setting});
    }
    for (const std::string& seed : is_measured ? std::set<std::string>() : values.diverged) {
      points.push_back({seed, value, 0, 1, setting});
    }
    numbers.values.diverged.insert(values.diverged.begin(), values.diverged.end());
    for (const std::string& key : values.mixes) {
      if (std::ranges::find(numbers.values.mixes, key) == numbers.values.mixes.end()) {
        numbers.values.mixes.push_back(key);
      }
    }
  }
  if (points.empty() && numbers.missing.empty()) {
    numbers.missing = fmt::format("no run has a number in {}", claim_.along);
  }
  return points;
}

}  // namespace xlm
