// What the explorer of runs shows.
#include "results/pages/run_explorer.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/error.h"
#include "results/figures/figure_description.h"
#include "results/figures/figure_kind.h"
#include "results/figures/plot_style.h"
#include "results/figures/plotly_parts.h"
#include "results/pages/html.h"
#include "results/store/run_list.h"
#include "results/store/unmet_condition.h"
#include "results/store/variation.h"

namespace xlm {
namespace {

constexpr std::size_t kMaxShownKeys = 8;
constexpr std::size_t kMaxRemembered = 16;   // conditions
constexpr std::size_t kServedPoints = 1000;  // of a curve
constexpr std::size_t kFilePoints = 100;
constexpr std::size_t kLooks = 14;  // each colour twice
constexpr std::array<const char*, 3> kSpentAxes{"tokens", "flops", "seconds"};

/// The rows of the runs behind rows, each once: conditions on at.KEY find evaluations.
std::vector<std::size_t> runs_behind(const RunTable& runs, const std::vector<std::size_t>& rows) {
  std::vector<std::size_t> found;
  std::set<std::size_t> seen;
  for (const std::size_t row : rows) {
    const std::size_t run = row < runs.size() ? row : runs.row_of(runs.id(row)).value_or(row);
    if (run < runs.size() && seen.insert(run).second) found.push_back(run);
  }
  return found;
}

bool any_has(RunTable& runs, const std::vector<std::size_t>& rows, const std::string& column) {
  const std::vector<Value>& values = runs.column_or_nothing(column);
  return std::ranges::any_of(rows, [&](std::size_t row) { return !is_missing(values[row]); });
}

bool all_have_one_value(RunTable& runs, const std::vector<std::size_t>& rows, const std::string& column) {
  const std::vector<Value>& values = runs.column_or_nothing(column);
  return std::ranges::all_of(rows, [&](std::size_t row) { return same_value(values[row], values[rows.front()]); });
}

bool is_listed(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

/// A value as the page gets it: as it is, or with the text that a list shows for it.
Json value_cell(const std::string& column, const Value& value) {
  if (is_missing(value)) return nullptr;
  if (const auto* holds = std::get_if<bool>(&value)) return *holds;
  const std::optional<double> number = as_number(value);
  if (!number) return short_text(value);
  const auto* whole = std::get_if<std::int64_t>(&value);
  Json raw = whole != nullptr ? Json(*whole) : Json(*number);
  const bool as_it_is = whole != nullptr && quantity_of_column(column) == nullptr;
  std::string text = as_it_is ? to_text(value) : column_number(column, *number);
  if (is_time_column(column)) text = iso_time(number).get<std::string>();
  if (text == raw.dump()) return raw;
  return Json::array({raw, text});
}

/// The last validation of a run that has no final one: [null, "2.0531 at 5000"].
Json last_validation(RunTable& runs, const std::string& run, const Quantity& measure) {
  return runs.store().use([&](SQLite::Database& database) -> Json {
    SQLite::Statement query(database,
                            "SELECT e.step, CAST(v.value AS REAL) FROM stored_runs r "
                            "JOIN stored_evaluations e USING (number), json_each(e.\"values\") v "
                            "WHERE r.run_id = ? AND e.split = 'valid' AND e.at = '' AND v.key = ? "
                            "ORDER BY e.step DESC LIMIT 1");
    query.bind(1, run);
    query.bind(2, measure.name);
    if (!query.executeStep()) return nullptr;
    const std::string text =
        fmt::format("{} at {}", list_number(measure, query.getColumn(1).getDouble()), query.getColumn(0).getInt64());
    return Json::array({Json(), text});
  });
}

/// The quantities that runs recorded over training, and those of evaluations during training.
std::vector<std::string> quantities_of_curves(RunTable& runs, const std::vector<std::string>& ids) {
  return runs.store().use([&](SQLite::Database& database) {
    std::vector<std::string> names;
    for (const char* sql : {"SELECT DISTINCT s.name FROM stored_series s JOIN stored_runs r USING (number) "
                            "WHERE r.run_id IN (SELECT value FROM json_each(?)) ORDER BY 1",
                            "SELECT DISTINCT e.split || '.' || v.key FROM stored_evaluations e "
                            "JOIN stored_runs r USING (number), json_each(e.\"values\") v "
                            "WHERE r.run_id IN (SELECT value FROM json_each(?)) "
                            "AND (e.main = 1 OR (e.final = 0 AND e.settings = '{}')) ORDER BY 1"}) {
      SQLite::Statement query(database, sql);
      query.bind(1, Json(ids).dump(-1, ' ', false, Json::error_handler_t::replace));
      while (query.executeStep()) names.push_back(query.getColumn(0).getString());
    }
    return names;
  });
}

/// Which of them is shown if none is asked for: the headline of training.
std::string first_quantity(const std::vector<std::string>& names) {
  const Quantity* headline = headline_of([&](const std::string& name) { return is_listed(names, name); });
  if (headline != nullptr) return headline->name;
  if (is_listed(names, "loss")) return "loss";
  const auto other =
      std::ranges::find_if(names, [](const std::string& name) { return !name.starts_with("training_"); });
  return other == names.end() ? "" : *other;
}

/// A curve of at most `most` points: of each stretch the least and the greatest, so that peaks stay.
std::vector<FigurePoint> thinned(const std::vector<FigurePoint>& points, std::size_t most) {
  if (points.size() <= most) return points;
  const std::size_t stretches = most / 2;
  std::vector<FigurePoint> kept;
  for (std::size_t i = 0; i < stretches; ++i) {
    const auto begin = points.begin() + static_cast<std::ptrdiff_t>(points.size() * i / stretches);
    const auto end = points.begin() + static_cast<std::ptrdiff_t>(points.size() * (i + 1) / stretches);
    auto [first, second] =
        std::minmax_element(begin, end, [](const FigurePoint& a, const FigurePoint& b) { return a.y < b.y; });
    if (second < first) std::swap(first, second);
    if (i == 0) first = begin;
    if (i + 1 == stretches) second = end - 1;
    kept.push_back(*first);
    if (second != first) kept.push_back(*second);
  }
  return kept;
}

Json curve_json(const FigureSeries& series, std::size_t most) {
  Json x = Json::array();
  Json y = Json::array();
  for (const FigurePoint& point : thinned(series.points, most)) {
    x.push_back(point.x);
    y.push_back(point.y);
  }
  return {{"run", series.value}, {"x", std::move(x)}, {"y", std::move(y)}};
}

}  // namespace

std::vector<std::size_t> RunExplorer::rows_of(const std::vector<std::string>& ids) const {
  std::vector<std::size_t> rows;
  for (const std::string& id : ids) {
    const std::optional<std::size_t> row = runs_.row_of(id);
    if (!row) throw DataError(fmt::format("there is no run '{}'", id));
    rows.push_back(*row);
  }
  return rows;
}

RunExplorer::Found RunExplorer::describe(std::vector<std::size_t> rows) {
  Found found{.rows = std::move(rows)};
  found.keys = differing_keys(runs_, found.rows);
  found.headline = headline_of([&](const std::string& name) {
    return any_has(runs_, found.rows, "test." + name) || any_has(runs_, found.rows, "valid." + name);
  });
  return found;
}

const RunExplorer::Found& RunExplorer::find(const std::vector<std::string>& where) {
  if (const auto known = found_.find(where); known != found_.end()) return known->second;
  const std::vector<Filter> filters = parse_filters(where);
  Found found = describe(runs_behind(runs_, newest_first(runs_, filters)));
  if (found.rows.empty() && runs_.size() > 0) found.note = unmet_condition(runs_, filters);
  if (found_.size() >= kMaxRemembered) found_.clear();
  return found_.emplace(where, std::move(found)).first->second;
}

std::vector<std::string> RunExplorer::columns_of(const Found& found, const std::vector<std::string>& further) {
  std::vector<std::string> names;
  if (!found.rows.empty() && !all_have_one_value(runs_, found.rows, "experiment")) names.emplace_back("experiment");
  names.emplace_back("status");
  names.emplace_back("step");
  if (found.headline != nullptr) {
    for (const char* split : {"valid.", "test."}) names.push_back(split + found.headline->name);
  }
  const std::size_t shown = std::min(found.keys.size(), kMaxShownKeys);
  names.insert(names.end(), found.keys.begin(), found.keys.begin() + static_cast<std::ptrdiff_t>(shown));
  for (const char* remark : {"tag", "note", "bad"}) {
    if (any_has(runs_, found.rows, remark)) names.emplace_back(remark);
  }
  if (any_has(runs_, found.rows, kNotFrozen)) names.emplace_back(kNotFrozen);
  const std::vector<Value>& reasons = runs_.column("reason");
  const auto warns = [&](std::size_t row) { return is_warning(to_text(reasons[row])); };
  if (std::ranges::any_of(found.rows, warns)) names.emplace_back("reason");
  for (const std::string& name : further) {
    runs_.column(name);  // complains of names that are not known
    if (!is_listed(names, name)) names.push_back(name);
  }
  return names;
}

Json RunExplorer::cell(const Found& found, const std::string& column, std::size_t row) {
  const Value& value = runs_.column_or_nothing(column)[row];
  if (column == "step") {
    const double done = as_number(value).value_or(0);
    const double all = as_number(runs_.column_or_nothing("train.steps")[row]).value_or(0);
    if (all > 0 && all != done) return Json::array({done, fmt::format("{:.0f} of {:.0f}", done, all)});
  }
  if (is_missing(value) && found.headline != nullptr && column == "valid." + found.headline->name) {
    return last_validation(runs_, runs_.id(row), *found.headline);
  }
  return value_cell(column, value);
}

Json RunExplorer::list(const Found& found, const RunQuery& query) {
  const std::vector<std::string> columns = columns_of(found, query.columns);
  const std::vector<std::size_t> rows = sorted_by(runs_, found.rows, query.sort, query.reverse);
  const std::size_t end = std::min(query.limit, rows.size());
  Json shown = Json::array();
  std::vector<bool> right(columns.size());
  for (std::size_t i = 0; i < end; ++i) {
    Json cells = Json::array();
    for (std::size_t c = 0; c < columns.size(); ++c) {
      cells.push_back(cell(found, columns[c], rows[i]));
      right[c] = right[c] || cells.back().is_number() || cells.back().is_array();
    }
    shown.push_back({{"id", runs_.id(rows[i])}, {"cells", std::move(cells)}});
  }
  Json heads = Json::array();
  for (std::size_t c = 0; c < columns.size(); ++c) {
    heads.push_back({{"name", columns[c]},
                     {"label", column_label(columns[c])},
                     {"key", is_listed(found.keys, columns[c])},
                     {"right", static_cast<bool>(right[c])}});
  }
  return {
      {"all", runs_.size()},         {"found", found.rows.size()},
      {"columns", std::move(heads)}, {"hidden_keys", found.keys.size() - std::min(found.keys.size(), kMaxShownKeys)},
      {"note", found.note},          {"rows", std::move(shown)}};
}

Json RunExplorer::list(const RunQuery& query) { return list(find(query.where), query); }

Json RunExplorer::curves_of(const std::vector<std::size_t>& rows, const std::string& quantity, const std::string& axis,
                            std::size_t most_points) {
  FigureDescription description;
  description.title = quantity;
  description.kind = "line";
  description.x = axis;
  description.y = quantity;
  description.series = {"run_id"};
  description.spread = Spread::kNone;
  const BuiltFigure built = kind_of(description).build(runs_, description, rows);
  Json curves = Json::array();
  if (const auto* nothing = std::get_if<NothingToShow>(&built)) return {{"note", nothing->reason}, {"curves", curves}};
  const auto& figure = std::get<Figure>(built);
  for (const FigureSeries& series : figure.series) curves.push_back(curve_json(series, most_points));
  return {{"label", figure.y_label}, {"axis_label", figure.x_label}, {"note", ""}, {"curves", std::move(curves)}};
}

Json RunExplorer::curves(const CurveQuery& query) {
  const std::vector<std::size_t> rows = rows_of(query.runs);
  const std::vector<std::string> names = quantities_of_curves(runs_, query.runs);
  const std::string quantity = is_listed(names, query.quantity) ? query.quantity : first_quantity(names);
  Json axes = Json::array({"step"});
  for (const char* axis : kSpentAxes) {
    if (is_listed(names, axis_series(axis))) axes.push_back(axis);
  }
  const bool has_axis = std::find(axes.begin(), axes.end(), query.axis) != axes.end();
  const std::string axis = has_axis ? query.axis : "step";
  Json out = {{"quantities", names}, {"quantity", quantity}, {"axes", axes}, {"axis", axis}};
  if (quantity.empty()) {
    out["note"] = rows.empty() ? "" : "these runs have recorded nothing yet";
    out["curves"] = Json::array();
    return out;
  }
  const Json of_quantity = curves_of(rows, quantity, axis, kServedPoints);
  for (const auto& [key, value] : of_quantity.items()) out[key] = value;
  return out;
}

std::vector<std::string> RunExplorer::ids(const std::vector<std::string>& where) {
  std::vector<std::string> found;
  for (const std::size_t row : find(where).rows) found.push_back(runs_.id(row));
  return found;
}

Json RunExplorer::whole(const std::vector<std::string>& ids) {
  std::vector<std::size_t> rows;
  for (const std::string& id : ids) {  // a run may be removed while its page is made
    if (const std::optional<std::size_t> row = runs_.row_of(id)) rows.push_back(*row);
  }
  const Found found = describe(std::move(rows));
  Json curves = {{"quantities", Json::array()}, {"quantity", ""}, {"note", ""}, {"of", Json::object()}};
  if (ids.size() > kMaxWithCurves) {
    curves["note"] = fmt::format("a file has no curves of more than {} runs", kMaxWithCurves);
  } else {
    const std::vector<std::string> names = quantities_of_curves(runs_, ids);
    curves["quantity"] = first_quantity(names);
    std::vector<std::string> kept{first_quantity(names), "loss"};
    if (found.headline != nullptr) kept.push_back("valid." + found.headline->name);
    for (const std::string& name : kept) {
      if (!is_listed(names, name) || curves["of"].contains(name)) continue;
      curves["quantities"].push_back(name);
      curves["of"][name] = curves_of(found.rows, name, "step", kFilePoints);
    }
  }
  Json table = list(found, {.limit = found.rows.size()});
  table["all"] = found.rows.size();  // of the file
  return {{"list", std::move(table)}, {"curves", std::move(curves)}};
}

std::string explorer_section(const std::string& title) {
  return fmt::format("<section id=\"explorer\">\n<h2>{}</h2>\n</section>\n", html_escape(title));
}

Json explorer_looks() {
  Json looks = Json::array();
  for (std::size_t i = 0; i < kLooks; ++i) {
    const SeriesLook look = series_look(i);
    looks.push_back({{"color", look.colour}, {"dash", look.dashed ? "dash" : "solid"}});
  }
  Json axis = plotly_bare_axis("");
  axis.erase("tickmode");  // plotly.js chooses the ticks
  Json layout = plotly_whole(Figure{}, Json::array(), axis, axis)["layout"];
  layout["showlegend"] = true;
  return {{"looks", std::move(looks)}, {"layout", std::move(layout)}};
}

}  // namespace xlm
