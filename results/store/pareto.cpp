// Pareto fronts.
#include "results/store/pareto.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/text.h"
#include "results/store/variation.h"

namespace xlm {
namespace {

using Values = std::vector<double>;

/// Everything is computed with smaller as better.
void flip(Values& values, const std::vector<bool>& maximize) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (maximize[i]) values[i] = -values[i];
  }
}

void merge_equal(std::vector<ParetoPoint>& points) {
  std::ranges::sort(points, [](const ParetoPoint& a, const ParetoPoint& b) { return a.values < b.values; });
  std::vector<ParetoPoint> merged;
  merged.reserve(points.size());
  for (ParetoPoint& point : points) {
    if (!merged.empty() && merged.back().values == point.values) {
      ParetoPoint& same = merged.back();
      same.runs.insert(same.runs.end(), point.runs.begin(), point.runs.end());
      if (!point.group.empty()) same.group += "; " + point.group;
      for (std::size_t i = 0; i < point.group_values.size(); ++i) same.group_values[i] += "; " + point.group_values[i];
      for (const std::string& key : point.differ_in) {
        if (std::ranges::find(same.differ_in, key) == same.differ_in.end()) same.differ_in.push_back(key);
      }
    } else {
      merged.push_back(std::move(point));
    }
  }
  for (ParetoPoint& point : merged) std::ranges::sort(point.runs);
  points = std::move(merged);
}

/// `points` are distinct and in lexicographic order, so that none is dominated by a later one.
void split_front(std::vector<ParetoPoint> points, ParetoFront& out) {
  double lowest_second = std::numeric_limits<double>::infinity();
  for (ParetoPoint& point : points) {
    const bool beaten = point.values[1] >= lowest_second;
    lowest_second = std::min(lowest_second, point.values[1]);
    (beaten ? out.dominated : out.front).push_back(std::move(point));
  }
}

/// The area between a front, in the order of the first column, and `reference`.
double hypervolume(const std::vector<ParetoPoint>& front, const Values& reference) {
  double area = 0;
  double height = reference[1];  // from which the next point takes a part
  for (const ParetoPoint& point : front) {
    const Values& at = point.values;
    if (at[0] >= reference[0] || at[1] >= height) continue;
    area += (reference[0] - at[0]) * (height - at[1]);
    height = at[1];
  }
  return area;
}

std::vector<std::string> group_values(RunTable& runs, const std::vector<std::string>& columns, std::size_t run) {
  std::vector<std::string> values;
  for (const std::string& column : columns) values.push_back(to_text(runs.column(column)[run]));
  return values;
}

std::string group_text(const std::vector<std::string>& columns, const std::vector<std::string>& values) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    parts.push_back(columns.size() == 1 ? values[i] : columns[i] + "=" + values[i]);
  }
  return join(parts, ", ");
}

/// Selected rows of the chosen settings that have a finite number in all columns; the others are counted.
std::vector<std::size_t> complete_rows(RunTable& runs, const ParetoQuery& query,
                                       const std::vector<const std::vector<Value>*>& columns, ParetoResult& result) {
  NamedChoices choices;
  const ShownRows shown = shown_rows_of(runs, query);
  choices.emplace_back("", choose_rows(runs, shown.rows, query.choose, "seed"));
  result.notes = choice_notes(query.choose, choices);
  if (!shown.left_out.empty()) result.notes.push_back(left_out_note(shown.left_out));
  std::vector<std::size_t> rows = std::move(choices.front().second.rows);
  result.incomplete = static_cast<std::int64_t>(std::erase_if(rows, [&](std::size_t row) {
    return std::ranges::any_of(columns, [&](const std::vector<Value>* column) {
      const std::optional<double> number = as_number((*column)[row]);
      return !number || !std::isfinite(*number);
    });
  }));
  if (std::string note = notes_on_runs(runs, rows, query.columns); !note.empty())
    result.notes.push_back(std::move(note));
  return rows;
}

using Groups = std::vector<std::pair<std::string, std::vector<std::size_t>>>;

std::map<std::string, std::vector<std::size_t>> by_corpus(RunTable& runs, const ParetoQuery& query,
                                                          const std::vector<std::size_t>& rows) {
  std::map<std::string, std::vector<std::size_t>> parts;
  const std::vector<std::string> corpora = corpora_of(runs, rows, query.columns);
  for (std::size_t i = 0; i < rows.size(); ++i) parts[corpora[i]].push_back(rows[i]);
  return parts;
}

/// Rows that agree in the grouping columns, by these; ungrouped, every row by itself: evaluations of one run are
/// several.
Groups grouped(RunTable& runs, const ParetoQuery& query, const std::vector<std::size_t>& rows) {
  Groups groups;
  if (query.group_by.empty()) {
    for (const std::size_t row : rows) groups.push_back({"", {row}});
    return groups;
  }
  std::map<std::string, std::vector<std::size_t>> by_name;
  for (const std::size_t row : rows) {
    by_name[group_text(query.group_by, group_values(runs, query.group_by, row))].push_back(row);
  }
  groups.assign(by_name.begin(), by_name.end());
  return groups;
}

/// Of a column that is a number in all of these rows.
double mean_of(const std::vector<Value>& column, const std::vector<std::size_t>& rows) {
  double sum = 0;
  for (const std::size_t row : rows) sum += *as_number(column[row]);
  return sum / static_cast<double>(rows.size());
}

Json point_json(const ParetoPoint& point) {
  Json json = {{"x", point.values[0]}, {"y", point.values[1]}, {"runs", point.runs}};
  if (!point.group_values.empty()) {
    json["group"] = point.group;
    json["differ_in"] = point.differ_in;
  }
  return json;
}

Json front_json(const ParetoFront& front) {
  Json json = {{"front", Json::array()}, {"dominated", Json::array()}};
  for (const ParetoPoint& point : front.front) json["front"].push_back(point_json(point));
  for (const ParetoPoint& point : front.dominated) json["dominated"].push_back(point_json(point));
  json["hypervolume"] = front.hypervolume;
  json["reference"] = front.reference;
  return json;
}

}  // namespace

ParetoFront pareto_front(std::vector<ParetoPoint> points, const std::vector<bool>& maximize, Values reference) {
  for (ParetoPoint& point : points) flip(point.values, maximize);
  ParetoFront result;
  if (reference.empty() && !points.empty()) {
    reference = points.front().values;
    for (const ParetoPoint& point : points) {
      for (std::size_t i = 0; i < reference.size(); ++i) reference[i] = std::max(reference[i], point.values[i]);
    }
  } else {
    flip(reference, maximize);
  }
  merge_equal(points);
  split_front(std::move(points), result);
  if (!result.front.empty()) result.hypervolume = hypervolume(result.front, reference);
  for (ParetoPoint& point : result.front) flip(point.values, maximize);
  for (ParetoPoint& point : result.dominated) flip(point.values, maximize);
  flip(reference, maximize);
  result.reference = std::move(reference);
  return result;
}

ShownRows shown_rows_of(RunTable& runs, const ParetoQuery& query) {
  std::vector<std::string> named = query.columns;
  named.insert(named.end(), query.group_by.begin(), query.group_by.end());
  return shown_rows(runs, query.where, named);
}

ParetoResult run_pareto(RunTable& runs, const ParetoQuery& query) {
  ParetoResult result;
  std::vector<const std::vector<Value>*> columns;
  for (const std::string& name : query.columns) columns.push_back(&runs.column(name));
  for (const std::string& name : query.group_by) runs.column(name);  // complains of names that are not known
  Variation variation(runs, "seed");
  for (const auto& [corpus, rows] : by_corpus(runs, query, complete_rows(runs, query, columns, result))) {
    std::vector<ParetoPoint> points;
    for (const auto& [name, members] : grouped(runs, query, rows)) {
      ParetoPoint& point = points.emplace_back();
      if (!query.group_by.empty()) {
        point.group = name;
        point.group_values = group_values(runs, query.group_by, members.front());
        point.differ_in = variation.add(members);
      }
      for (const std::vector<Value>* column : columns) point.values.push_back(mean_of(*column, members));
      for (const std::size_t run : members) point.runs.push_back(runs.id(run));
    }
    result.fronts.push_back({corpus, pareto_front(std::move(points), query.maximize, query.reference)});
  }
  result.mean_over = variation.text();
  result.mixed = variation.is_mixed();
  return result;
}

Json to_json(const ParetoQuery& query, const ParetoResult& result) {
  Json json = {{"x", query.columns[0]}, {"y", query.columns[1]}};
  if (result.fronts.size() == 1) {
    json.update(front_json(result.fronts.front().front));
  } else {
    json["fronts"] = Json::array();
    for (const CorpusFront& one : result.fronts) {
      json["fronts"].push_back(front_json(one.front));
      json["fronts"].back()["corpus"] = one.corpus;
    }
  }
  if (!result.mean_over.empty()) json["mean_over"] = result.mean_over;
  if (!result.notes.empty()) json["notes"] = result.notes;
  return json;
}

}  // namespace xlm
