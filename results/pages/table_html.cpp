// Tables as HTML.
#include "results/pages/table_html.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "results/judgement/verdict.h"
#include "results/pages/html.h"
#include "results/tables/table_notes.h"
#include "results/tables/verdict_notes.h"

namespace xlm {
namespace {

/// A number. Bold marks the best of its column, if the table marks it.
std::string number_html(const TableCell& cell, const CellOptions& options) {
  std::string text = html_escape(format_number(*cell.value, options.format, options.digits));
  if (cell.best) text = "<b>" + text + "</b>";
  if (cell.spread) text += " ± " + html_escape(cell_spread_text(*cell.spread, options));
  return fmt::format(R"(<span class="own">{}{}</span>)", runs_button(text, cell.runs),
                     cell.star ? "<span class=\"star\">*</span>" : "");
}

/// What a verdict is based on, shown when the pointer is on it.
std::string grounds_of(const PrintedComparison& compared) {
  if (compared.verdict == Verdict::kNotComparable) return " (" + keys_in_words(compared.apart) + ")";
  if (!compared.half_width) return "";
  std::string text = "95 % interval of the difference by Student's t";
  if (compared.decides) text += "; " + seeds_in_words(compared.decides);
  return " (" + text + ")";
}

/// The paper's value. Below it, how ours compares with it. Runs that are not configured as the paper's get no verdict.
std::string printed_html(const TableCell& cell, const CellOptions& options) {
  if (cell.printed.empty()) return "";
  const std::string shown = html_escape(cell.printed);
  if (!cell.compared) return fmt::format(R"( <span class="printed" title="printed in the paper">[{}]</span>)", shown);
  const std::string_view verdict = name_of(cell.compared->verdict);
  const std::string difference = html_escape(difference_from_print(*cell.compared, options));
  std::string out = fmt::format(R"( <span class="printed" title="printed in the paper; ours: {}, {}{}">[{}]</span>)",
                                verdict, difference, html_escape(grounds_of(*cell.compared)), shown);
  if (cell.compared->verdict == Verdict::kNotComparable) return out;
  return out + fmt::format(R"(<span class="verdict">{}, {}</span>)", verdict, difference);
}

std::string cell_html(const TableCell& cell, const CellOptions& options) {
  const bool missing = !cell.value;
  std::string out = missing ? fmt::format(
                                  "<td class=\"number missing\"><span title=\"{0}\" aria-label=\"missing: "
                                  "{0}\">–</span>",
                                  html_escape(cell.missing))
                            : "<td class=\"number\">" + number_html(cell, options);
  return out + printed_html(cell, options) + "</td>";
}

}  // namespace

std::string table_html(const Table& table) {
  std::string out = "<div class=\"scroll\"><table class=\"results\">\n<thead><tr><th>" + html_escape(table.corner);
  out += "</th>";
  for (const TableColumn& column : table.columns) {
    out += fmt::format(R"(<th class="number" scope="col" title="{}">{}</th>)", html_escape(column.cells.value),
                       html_escape(column.label));
  }
  out += "</tr></thead>\n<tbody>\n";
  for (const TableRow& row : table.rows) {
    out += "<tr><th scope=\"row\">" + html_escape(row.label) + "</th>";
    for (std::size_t c = 0; c < row.cells.size(); ++c) {
      out += cell_html(row.cells[c], table.columns[c].cells);
    }
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n" + notes_html(footnotes(table, "Bold"));
}

std::vector<std::string> runs_of(const Table& table) {
  std::vector<std::string> runs;
  std::set<std::string> seen;
  for (const TableRow& row : table.rows) {
    for (const TableCell& cell : row.cells) {
      for (const std::string& run : cell.runs) {
        if (seen.insert(run).second) runs.push_back(run);
      }
    }
  }
  return runs;
}

bool is_empty(const Table& table) {
  return std::ranges::all_of(table.rows, [](const TableRow& row) {
    return std::ranges::none_of(row.cells, [](const TableCell& cell) { return cell.value.has_value(); });
  });
}

}  // namespace xlm
