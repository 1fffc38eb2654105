// What a table says of its verdicts.
#include "results/tables/verdict_notes.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include <fmt/format.h>

#include "base/text.h"
#include "results/quantities/quantities.h"
#include "results/tables/table_notes.h"

namespace xlm {
namespace {

constexpr int kDigits = 3;  // of differences and spreads

using EachCell = std::function<void(std::size_t row, std::size_t column, const TableCell& cell)>;

void for_each_cell(const Table& table, const EachCell& use) {
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    for (std::size_t c = 0; c < table.columns.size(); ++c) use(r, c, table.rows[r].cells[c]);
  }
}

std::string number_as_printed(double value, const CellOptions& options) {
  return options.format == NumberFormat::kNumber ? with_digits(value, kDigits)
                                                 : format_number(value, options.format, options.digits);
}

/// What an undecided cell needs: "9 seeds would decide".
std::string what_would_decide(const PrintedComparison& compared) {
  return compared.half_width ? seeds_in_words(compared.decides) : "how much seeds differ is not known";
}

/// "agree" of several, "agrees" of one.
std::string counted_verb(std::size_t count, std::string_view verb) {
  return fmt::format("{} {}{}", count, verb, count == 1 ? "s" : "");
}

/// "3 agree (within 0.01)"; the margin only if all have the same.
std::string agreeing(const std::vector<const PrintedComparison*>& compared, const std::vector<std::string>& margins) {
  const bool one_margin = std::ranges::adjacent_find(margins, std::not_equal_to<>()) == margins.end();
  return counted_verb(compared.size(), "agree") +
         (one_margin && !margins.empty() ? fmt::format(" (within {})", margins.front()) : "");
}

/// "3 agree (within 0.01); 1 differs (Gumbel/test +0.012 ± 0.004)."
std::string outcomes_note(const Table& table) {
  std::map<Verdict, std::vector<std::string>> cells;
  std::vector<const PrintedComparison*> agree;
  std::vector<std::string> margins;
  for_each_cell(table, [&](std::size_t r, std::size_t c, const TableCell& cell) {
    if (!cell.compared || cell.compared->verdict == Verdict::kNotComparable) return;
    const CellOptions& options = table.columns[c].cells;
    const PrintedComparison& compared = *cell.compared;
    std::string text = cell_name(table, r, c) + " " + difference_from_print(compared, options);
    if (compared.verdict == Verdict::kUndecided) text += ": " + what_would_decide(compared);
    cells[compared.verdict].push_back(std::move(text));
    if (compared.verdict != Verdict::kAgrees) return;
    agree.push_back(&compared);
    margins.push_back(compared.half_width ? number_as_printed(*compared.margin, options) : "its tolerance");
  });
  std::vector<std::string> parts;
  if (!agree.empty()) parts.push_back(agreeing(agree, margins));
  if (const auto consistent = cells.find(Verdict::kConsistent); consistent != cells.end()) {
    parts.push_back(fmt::format("{} consistent, without a margin to agree within", consistent->second.size()));
  }
  if (const auto differ = cells.find(Verdict::kDiffers); differ != cells.end()) {
    parts.push_back(fmt::format("{} ({})", counted_verb(differ->second.size(), "differ"), some_listed(differ->second)));
  }
  if (const auto undecided = cells.find(Verdict::kUndecided); undecided != cells.end()) {
    parts.push_back(fmt::format("{} undecided ({})", undecided->second.size(), some_listed(undecided->second)));
  }
  return parts.empty() ? "" : "Compared with the paper: " + join(parts, "; ") + ".";
}

/// "the spread of test bpc is pooled over 8 cells, 0.0031 with 16 degrees of freedom (Levene's test of equal variances:
/// p = 0.42)".
std::string spread_in_words(const ValueSpread& spread) {
  const std::string test =
      spread.test_p ? " (Levene's test of equal variances: " + p_in_words(*spread.test_p) + ")" : "";
  const std::string of = "the spread of " + column_label(spread.value);
  if (spread.sharing == SpreadSharing::kNone) return of + " is each cell's own" + test;
  if (spread.sharing == SpreadSharing::kModerated) {
    return fmt::format("{} is each cell's own, moderated by {}{}", of, counted(spread.cells, "cell"), test);
  }
  return fmt::format("{} is pooled over {}, {} with {:.3g} degrees of freedom{}", of, counted(spread.cells, "cell"),
                     with_digits(spread.shared->deviation, kDigits), spread.shared->freedom, test);
}

/// "Equal noise is assumed, which so few seeds do not show. By a cell's own spread: Gumbel/test undecided."
std::string assumption_note(const Table& table) {
  std::vector<std::string> noisy;
  std::vector<std::string> others;
  bool is_assumed = false;
  for_each_cell(table, [&](std::size_t r, std::size_t c, const TableCell& cell) {
    if (!cell.compared) return;
    const PrintedComparison& compared = *cell.compared;
    if (compared.is_noisy) noisy.push_back(cell_name(table, r, c));
    if (!compared.by_own) return;
    is_assumed = true;
    if (*compared.by_own == compared.verdict) return;
    others.push_back(fmt::format("{} {}", cell_name(table, r, c), name_of(*compared.by_own)));
  });
  std::string text;
  if (!noisy.empty()) text = fmt::format("Noisier than the rest, so by its own spread: {}.", some_listed(noisy));
  if (!is_assumed) return text;
  if (!text.empty()) text += " ";
  text += "Equal noise is assumed, which two or three seeds do not show. ";
  return text + (others.empty() ? "By each cell's own spread all verdicts are the same."
                                : fmt::format("By each cell's own spread: {}.", some_listed(others)));
}

/// "Intervals of 95 % by Student's t, of ours less the printed value …"
std::string grounds_note(const Table& table) {
  const VerdictBasis& basis = table.verdicts;
  if (basis.spreads.empty()) return "";
  std::vector<std::string> spreads;
  std::transform(basis.spreads.begin(), basis.spreads.end(), std::back_inserter(spreads), spread_in_words);
  const std::string runs =
      basis.rules.printed_runs == 1 ? "one run" : fmt::format("the mean of {} runs", basis.rules.printed_runs);
  return fmt::format(
      "Intervals of the difference: {:g} % by Student's t, with the rounding of the printed value, "
      "which counts as {}; {}.",
      100 * kLevel, runs, join(spreads, "; "));
}

/// "Holm's correction for 24 tests; without it, up to 1.2 would be expected to differ by chance, and 2 do."
std::string correction_note(const VerdictBasis& basis) {
  if (basis.tests < 2) return "";
  const double expected = (1 - kLevel) * static_cast<double>(basis.tests);
  return fmt::format(
      "\"Differs\" is corrected for {} tests (Holm). Without that {} would differ; up to {} are to be expected by "
      "chance where all is reproduced.",
      basis.tests, basis.differ_alone, with_digits(expected, 2));
}

/// "12 not comparable: the runs are not of the paper's configuration in model.width=64 (paper: 512) and 4 more keys."
std::string not_comparable_note(const Table& table) {
  std::size_t count = 0;
  std::map<std::string, KeyApart> apart;
  for_each_cell(table, [&](std::size_t, std::size_t, const TableCell& cell) {
    if (!cell.compared || cell.compared->verdict != Verdict::kNotComparable) return;
    ++count;
    for (const KeyApart& one : cell.compared->apart) {
      const auto [known, is_new] = apart.try_emplace(one.key, one);
      if (!is_new && known->second.paper != one.paper) known->second.paper.clear();
    }
  });
  if (count == 0) return "";
  std::vector<KeyApart> keys;
  for (const auto& [key, one] : apart) keys.push_back(one);
  return fmt::format("{} {} not comparable, because runs are not configured as the paper's: {}.",
                     counted(count, "printed value"), count == 1 ? "is" : "are", keys_in_words(keys));
}

}  // namespace

std::string difference_from_print(const PrintedComparison& compared, const CellOptions& options) {
  const std::string text =
      (compared.difference < 0 ? "-" : "+") + number_as_printed(std::abs(compared.difference), options);
  return compared.half_width ? text + " ± " + number_as_printed(*compared.half_width, options) : text;
}

std::string keys_in_words(const std::vector<KeyApart>& apart) {
  std::vector<std::string> names;
  for (const KeyApart& one : apart) names.push_back(to_text(one));
  return some_listed(names);
}

bool any_not_comparable(const Table& table) {
  bool any = false;
  for_each_cell(table, [&](std::size_t, std::size_t, const TableCell& cell) {
    any = any || (cell.compared && cell.compared->verdict == Verdict::kNotComparable);
  });
  return any;
}

std::vector<std::string> verdict_notes(const Table& table) {
  return {outcomes_note(table), grounds_note(table), assumption_note(table), correction_note(table.verdicts),
          not_comparable_note(table)};
}

std::string printed_stars_note(const Table& table, const std::string& value) {
  std::size_t printed = 0;
  std::size_t of_both = 0;
  std::vector<std::string> missing;
  std::vector<std::string> untested;
  std::vector<std::string> alone;
  for_each_cell(table, [&](std::size_t r, std::size_t c, const TableCell& cell) {
    if (table.columns[c].cells.value != value || cell.printed.empty()) return;
    const bool has_star = has_printed_star(cell.printed);
    if (has_star) ++printed;
    if (has_star && cell.star) ++of_both;
    if (has_star && !cell.star) (cell.p ? missing : untested).push_back(cell_name(table, r, c));
    if (!has_star && cell.star) alone.push_back(cell_name(table, r, c));
  });
  if (printed + alone.size() == 0) return "";
  std::vector<std::string> parts{fmt::format("{} of the paper's {} are stars here", of_both, printed)};
  if (!missing.empty()) parts.push_back("no stars here: " + some_listed(missing));
  if (!untested.empty()) parts.push_back("not tested here: " + some_listed(untested));
  if (!alone.empty()) parts.push_back("stars here alone: " + some_listed(alone));
  return "Stars: " + join(parts, "; ") + ".";
}

}  // namespace xlm
