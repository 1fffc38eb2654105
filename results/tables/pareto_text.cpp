// A Pareto front as text, Markdown, LaTeX, CSV and JSON.
#include "results/tables/pareto_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "results/quantities/quantities.h"
#include "results/store/variation.h"

namespace xlm {
namespace {

constexpr double kCountFromHere = 1e6;  // a hypervolume of this size is printed with three digits

/// How a form of the list marks a point.
struct PointMarks {
  std::string front;
  std::string dominated;
};

PointMarks marks_of(TableFormat format) {
  if (format == TableFormat::kCsv) return {"front", "dominated"};
  return {"●", format == TableFormat::kText ? "dominated" : ""};
}

class ParetoRows {
 public:
  ParetoRows(const ParetoQuery& query, const ParetoResult& result, TableFormat format)
      : query_(query), full_(format == TableFormat::kCsv), differ_(any_differs(result)) {
    const bool name_corpus = result.fronts.size() > 1;
    std::vector<TextTable::Column>& columns = sheet_.columns;
    if (name_corpus) columns.push_back({"corpus"});
    columns.push_back({"front"});
    for (const std::string& name : query.columns) columns.push_back({name, true});
    for (const std::string& name : query.group_by) columns.push_back({name});
    columns.push_back({"runs", !full_ && !query.group_by.empty()});
    if (full_ && differ_) columns.push_back({"differ in"});
    const PointMarks marks = marks_of(format);
    for (const auto& [corpus, front] : result.fronts) {
      const std::vector<std::string> before =
          name_corpus ? std::vector<std::string>{corpus} : std::vector<std::string>{};
      for (const ParetoPoint& point : front.front) add(before, point, marks.front);
      for (const ParetoPoint& point : front.dominated) add(before, point, marks.dominated);
    }
  }

  const Sheet& sheet() const { return sheet_; }

 private:
  static bool any_differs(const ParetoResult& result) {
    const auto differs = [](const ParetoPoint& point) { return !point.differ_in.empty(); };
    return std::ranges::any_of(result.fronts, [&](const CorpusFront& one) {
      return std::ranges::any_of(one.front.front, differs) || std::ranges::any_of(one.front.dominated, differs);
    });
  }

  /// Who is behind a point: all runs in full; for people the number of a group's, or the first.
  std::string runs_of(const ParetoPoint& point) const {
    if (full_) return join(point.runs, " ");
    if (!query_.group_by.empty()) return fmt::to_string(point.runs.size());
    return some_listed(point.runs, 1);
  }

  void add(const std::vector<std::string>& before, const ParetoPoint& point, const std::string& mark) {
    std::vector<std::string> cells = before;
    cells.push_back(mark);
    for (std::size_t i = 0; i < point.values.size(); ++i) {
      cells.push_back(full_ ? json_number(point.values[i]) : column_number(query_.columns[i], point.values[i]));
    }
    cells.insert(cells.end(), point.group_values.begin(), point.group_values.end());
    cells.push_back(runs_of(point));
    if (full_ && differ_) cells.push_back(join(point.differ_in, " "));
    sheet_.add(cells);
  }

  const ParetoQuery& query_;
  bool full_;
  bool differ_;
  Sheet sheet_;
};

std::string counts_of(const ParetoFront& front) {
  return fmt::format("{} on the front (●), {} dominated", front.front.size(), front.dominated.size());
}

/// "Hypervolume 12 against (2.00M, 3.0000)."
std::string hypervolume_of(const ParetoQuery& query, const ParetoFront& front) {
  std::vector<std::string> reference;
  for (std::size_t i = 0; i < front.reference.size(); ++i) {
    reference.push_back(column_number(query.columns[i], front.reference[i]));
  }
  const double size = front.hypervolume;
  return fmt::format("Hypervolume {} against ({}).", size >= kCountFromHere ? human_count(size) : with_digits(size, 6),
                     join(reference, ", "));
}

std::vector<std::string> notes_of(const ParetoQuery& query, const ParetoResult& result) {
  const std::string lacking =
      result.incomplete == 0 ? "" : counted(result.incomplete, "run") + " without all of these columns";
  const std::string mean =
      result.mean_over.empty() ? "" : fmt::format("Each point is the mean over {}.", result.mean_over);
  std::vector<std::string> notes;
  if (result.fronts.size() == 1) {
    const ParetoFront& front = result.fronts.front().front;
    notes = {counts_of(front) + (lacking.empty() ? "" : ", " + lacking) + ".", mean, hypervolume_of(query, front)};
  } else {
    for (const auto& [corpus, front] : result.fronts) {
      notes.push_back(fmt::format("{}: {}. {}", corpus, counts_of(front), hypervolume_of(query, front)));
    }
    notes.push_back(lacking.empty() ? "" : lacking + ".");
    notes.push_back(mean);
    notes.emplace_back("Each corpus has a separate front: numbers on different text are not compared.");
  }
  std::erase(notes, "");
  notes.insert(notes.end(), result.notes.begin(), result.notes.end());
  return notes;
}

}  // namespace

std::string render_pareto(const ParetoQuery& query, const ParetoResult& result, TableFormat format, int width) {
  if (format == TableFormat::kJson) return json_text(to_json(query, result));
  Sheet sheet = ParetoRows(query, result, format).sheet();
  sheet.notes = notes_of(query, result);
  if (format == TableFormat::kLatex) {
    std::vector<std::string> labels;
    for (const std::string& column : query.columns) labels.push_back(column_label(column));
    sheet.title = "Pareto front of " + listed_names(labels, labels.size());
    sheet.name = name_from_title(sheet.title);
  }
  return render_sheet(sheet, format, width);
}

}  // namespace xlm
