// Judged claims as text.
#include "results/claims/claim_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/terminal.h"
#include "base/text.h"
#include "results/quantities/number_format.h"
#include "results/store/variation.h"

namespace xlm {
namespace {

/// What a claim still needs, in a sentence: more seeds, or what is missing. Empty for what is decided.
std::string claim_needs(const ClaimPart& part) {
  if (part.verdict == Verdict::kNotTried) return part.missing;
  if (part.verdict != Verdict::kUndecided) return "";
  if (part.is_a_look()) {
    return fmt::format("a look at {} of {} planned seeds decides nothing{}", part.looked_at, part.planned,
                       part.is_futile ? "; with all of them it will hardly be confirmed" : "");
  }
  if (part.is_refuted_alone) return "refuted if it were the only comparison";
  if (!part.half_width && part.seeds > 1) return "equal numbers do not show how much seeds differ";
  if (!part.half_width) return "one seed does not show how much seeds differ: train a second";
  return seeds_in_words(part.seeds_to_decide, part.is_of_two_sides ? "seeds of each side" : "seeds");
}

constexpr std::size_t kMaxListedRuns = 3;  // that a line of text lists

/// Numbers whose sign says which way they go.
bool is_signed(const ClaimDescription& claim) { return claim.expects != Expectation::kValue; }

std::string shown(const ClaimDescription& claim, double value, const std::optional<double>& half_width) {
  if (claim.digits < 0) {
    const int digits = digits_beside(value, half_width);
    return is_signed(claim) ? difference_with_digits(value, digits) : with_digits(value, digits);
  }
  const auto digits = std::max<std::int64_t>(claim.digits, decimals_of_width(half_width.value_or(0)));
  const std::string number = format_number(value, NumberFormat::kNumber, digits);
  return is_signed(claim) && value > 0 ? "+" + number : number;
}

/// "undecided by its own seeds alone": what a reader of a verdict must know; empty if there is nothing to say.
std::string seeds_in_question(const ClaimPart& part) {
  std::vector<std::string> words;
  if (part.by_own) words.push_back(fmt::format("{} by its own seeds alone", name_of(*part.by_own)));
  if (part.value && part.ignores_seeds) words.emplace_back(kSeedsSayNothing);
  if (part.value && part.are_the_same) words.emplace_back(kSidesSayNothing);
  return join(words, "; ");
}

/// "+0.021, 95 % interval −0.030 to −0.012, p = 0.003, 3 pairs of seeds".
std::string sentence_of(const ClaimDescription& claim, const ClaimPart& part) {
  if (!part.value) return part.missing;
  std::string text = claim_number(claim, part);
  if (part.is_exact) return text + ", follows from the configuration";
  if (part.half_width) text += ", 95 % interval " + claim_interval(claim, part);
  if (part.p) text += ", " + claim_p(claim, part);
  const bool pairs = part.is_paired && claim.expects != Expectation::kTrend;
  text +=
      fmt::format(", {}{}", pairs && !claim.is_over_sides() ? "pairs of " : "", counted_over(part.seeds, claim.over));
  if (const std::string diverged = diverged_in_words(part.diverged, part.worst_case); !diverged.empty()) {
    text += ", " + diverged;
  }
  if (const std::string own = seeds_in_question(part); !own.empty()) text += ", " + own;
  return part.missing.empty() ? text : text + "; " + part.missing;
}

/// Lines of a paragraph, broken at blanks and set in by `indent` columns.
std::string paragraph(const std::string& text, std::size_t indent, int width) {
  const int left = width <= 0 ? 0 : std::max(width - static_cast<int>(indent), 20);
  std::string out;
  for (const std::string& line : split(wrapped_lines({text}, left), '\n')) {
    if (!line.empty()) out += std::string(indent, ' ') + line + "\n";
  }
  return out;
}

std::string claim_as_text(const JudgedClaim& judged, int width) {
  constexpr std::size_t kIndent = 11;  // behind the longest verdict
  const ClaimDescription& claim = judged.description;
  const std::string verdict(name_of(judged.verdict));
  const std::string record = judged.registered.empty() ? "" : " (" + judged.registered + ")";
  std::string out = paragraph(claim.claim + record, kIndent, width);
  out.replace(0, verdict.size(), verdict);
  for (const ClaimPart& part : judged.parts) {
    std::string line = fmt::format("{}: {}", part.label, sentence_of(claim, part));
    if (judged.parts.size() > 1) line = fmt::format("{}: {}", name_of(part.verdict), line);
    const std::string needs = part.missing.empty() ? claim_needs(part) : "";
    out += paragraph(needs.empty() ? line : line + "; " + needs, kIndent, width);
  }
  if (const std::string printed = claim_printed(judged); !printed.empty()) {
    out += paragraph("paper: " + printed, kIndent, width);
  }
  if (const std::string other = at_other_margins(judged); !other.empty()) out += paragraph(other, kIndent, width);
  if (const std::vector<std::string> runs = runs_of(judged); !runs.empty()) {
    out += paragraph(fmt::format("{}, runs {}", value_name(claim), listed_names(runs, kMaxListedRuns)), kIndent, width);
  }
  for (const std::string& note : judged.notes) out += paragraph(note, kIndent, width);
  return out;
}

std::string claims_as_text(const ClaimList& list, int width) {
  std::string out = list.title + "\n\n";
  for (const JudgedClaim& claim : list.claims) out += claim_as_text(claim, width) + "\n";
  out += wrapped_lines({counted_claims(count_claims(list.claims))}, width);
  return out + wrapped_lines(list.notes, width);
}

const std::vector<std::string>& heads() {
  static const std::vector<std::string> heads{"claim", "verdict", "of", "ours", "95 % interval", "p", "seeds", "paper"};
  return heads;
}

/// A row for each comparison; the claim's own text stands in the first.
std::vector<std::vector<std::string>> comparison_rows(const ClaimList& list) {
  std::vector<std::vector<std::string>> rows;
  for (const JudgedClaim& judged : list.claims) {
    for (const ClaimPart& part : judged.parts) {
      const bool first = &part == &judged.parts.front();
      std::string verdict(name_of(judged.parts.size() == 1 ? judged.verdict : part.verdict));
      if (const std::string more = beside_verdict(part); !more.empty()) verdict += " (" + more + ")";
      if (first && judged.parts.size() > 1) verdict = fmt::format("{}: {}", name_of(judged.verdict), verdict);
      if (first && !judged.registered.empty()) verdict += fmt::format(" ({})", judged.registered);
      rows.push_back({first ? judged.description.claim : "", verdict, part.label,
                      claim_number(judged.description, part), claim_interval(judged.description, part),
                      part.p ? p_text(*part.p) : "", part.seeds > 0 ? fmt::format("{}", part.seeds) : "",
                      first ? claim_printed(judged) : ""});
    }
  }
  return rows;
}

Sheet claims_sheet(const ClaimList& list) {
  Sheet sheet{.title = list.title, .name = list.name, .notes = {counted_claims(count_claims(list.claims))}};
  sheet.notes.insert(sheet.notes.end(), list.notes.begin(), list.notes.end());
  for (const JudgedClaim& judged : list.claims) {
    for (const std::string& note : judged.notes) {
      sheet.notes.push_back(fmt::format("{}: {}", judged.description.claim, note));
    }
  }
  const bool has_paper = any_printed(list);
  for (const std::string& head : heads()) sheet.columns.push_back({head});
  if (!has_paper) sheet.columns.pop_back();
  for (std::vector<std::string> row : comparison_rows(list)) {
    if (!has_paper) row.pop_back();
    sheet.add(row);
  }
  return sheet;
}

/// In one cell: what stands behind a part's verdict, and below its claim.
std::string notes_in_a_cell(const JudgedClaim& judged, const ClaimPart& part) {
  std::vector<std::string> notes = judged.notes;
  if (std::string more = beside_verdict(part); !more.empty()) notes.insert(notes.begin(), std::move(more));
  return join(notes, "; ");
}

std::string claims_as_csv(const ClaimList& list) {
  TextTable table({{"claim"},
                   {"verdict"},
                   {"part"},
                   {"part verdict"},
                   {"value"},
                   {"ours"},
                   {"half_width"},
                   {"p"},
                   {"seeds"},
                   {"seeds_to_decide"},
                   {"paper"},
                   {"against paper"},
                   {"runs"},
                   {"missing"},
                   {"registered"},
                   {"notes"}});
  const auto number = [](const std::optional<double>& value) { return value ? json_number(*value) : ""; };
  for (const JudgedClaim& judged : list.claims) {
    for (const ClaimPart& part : judged.parts) {
      table.add(
          {judged.description.claim, std::string(name_of(judged.verdict)), part.label,
           std::string(name_of(part.verdict)), value_name(judged.description), number(part.value),
           number(part.half_width), number(part.p), fmt::format("{}", part.seeds),
           part.seeds_to_decide && part.seeds_to_decide->seeds ? fmt::format("{}", *part.seeds_to_decide->seeds) : "",
           judged.description.printed, std::string(judged.against ? name_of(*judged.against) : ""),
           join(part.runs, " "), part.missing, judged.registered, notes_in_a_cell(judged, part)});
    }
  }
  return table.render(TextTable::Format::kCsv);
}

}  // namespace

std::string value_name(const ClaimDescription& claim) {
  if (!claim.grid.name.empty()) {
    return fmt::format("{} of {}", kGridReductionNames.at(static_cast<std::size_t>(claim.grid.as)), claim.grid.name);
  }
  return claim.value;
}

std::string counted_claims(const ClaimCounts& counts) {
  std::int64_t total = 0;
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    total += counts.at(i);
    if (counts.at(i) > 0) parts.push_back(fmt::format("{} {}", counts.at(i), kVerdictNames.at(i)));
  }
  return counted(total, "claim") + (parts.empty() ? "" : ": ") + join(parts, ", ");
}

std::string claim_number(const ClaimDescription& claim, const ClaimPart& part) {
  return part.value ? shown(claim, *part.value, part.half_width) : "";
}

std::string claim_p(const ClaimDescription& claim, const ClaimPart& part) {
  const bool is_against_margin = claim.margin > 0 && part.limits.low != 0 && part.limits.high != 0;
  return p_in_words(*part.p) + (is_against_margin ? " against the margin" : "");
}

std::string claim_interval(const ClaimDescription& claim, const ClaimPart& part) {
  if (part.is_exact) return "exact";
  if (!part.value || !part.half_width) return "";
  return interval_text(*part.value - *part.half_width, *part.value + *part.half_width,
                       [&](double end) { return shown(claim, end, part.half_width); });
}

std::string claim_printed(const JudgedClaim& claim) {
  if (!claim.against) return claim.description.printed;
  return fmt::format("{}, {}", claim.description.printed, name_of(*claim.against));
}

std::string at_other_margins(const JudgedClaim& claim) {
  if (!claim.at_half_margin || !claim.at_twice_margin) return "";
  const auto word = [&](Verdict verdict) { return verdict == claim.verdict ? "the same verdict" : name_of(verdict); };
  if (claim.at_half_margin == claim.at_twice_margin) {
    return fmt::format("{} with half and with twice the margin", word(*claim.at_half_margin));
  }
  return fmt::format("{} with half the margin, {} with twice", word(*claim.at_half_margin),
                     word(*claim.at_twice_margin));
}

bool any_printed(const ClaimList& list) {
  return std::ranges::any_of(list.claims, [](const JudgedClaim& claim) { return !claim.description.printed.empty(); });
}

std::string beside_verdict(const ClaimPart& part) {
  std::string text = claim_needs(part);
  const std::string diverged = part.value ? diverged_in_words(part.diverged, part.worst_case) : "";
  for (const std::string& more : {diverged, seeds_in_question(part)}) {
    if (!text.empty() && !more.empty()) text += "; ";
    text += more;
  }
  return text;
}

Json to_json(const ClaimList& list) {
  const auto or_null = [](const auto& value) { return value ? Json(*value) : Json(); };
  Json claims = Json::array();
  for (const JudgedClaim& judged : list.claims) {
    const ClaimDescription& claim = judged.description;
    Json parts = Json::array();
    for (const ClaimPart& part : judged.parts) {
      const SeedsToDecide needed = part.seeds_to_decide.value_or(SeedsToDecide{});
      parts.push_back({{"label", part.label},
                       {"verdict", name_of(part.verdict)},
                       {"ours", or_null(part.value)},
                       {"half_width", or_null(part.half_width)},
                       {"p", or_null(part.p)},
                       {"seeds", part.seeds},
                       {"planned_seeds", part.planned > 0 ? Json(part.planned) : Json()},
                       {"hardly_confirmed", part.is_futile},
                       {"exact", part.is_exact},
                       {"paired", part.is_paired},
                       {"seeds_to_decide", or_null(needed.seeds)},
                       {"seeds_to_decide_at_ends", Json::array({or_null(needed.at_low), or_null(needed.at_high)})},
                       {"diverged", part.diverged},
                       {"worst_case", part.worst_case ? Json(name_of(*part.worst_case)) : Json()},
                       {"verdict_by_own_spread", part.by_own ? Json(name_of(*part.by_own)) : Json()},
                       {"ignores_seeds", part.ignores_seeds},
                       {"missing", part.missing.empty() ? Json() : Json(part.missing)},
                       {"runs", part.runs},
                       {"mixes", part.mixes},
                       {"differ_in", part.differ_in}});
    }
    claims.push_back(
        {{"claim", claim.claim},
         {"name", claim.name},
         {"value", value_name(claim)},
         {"needs", kClaimNeedsNames.at(static_cast<std::size_t>(claim.needs))},
         {"verdict", name_of(judged.verdict)},
         {"p", judged.verdict == Verdict::kUndecided ? Json() : or_null(judged.p)},
         {"registered", judged.registered.empty() ? Json() : Json(judged.registered)},
         {"printed", claim.printed.empty() ? Json() : Json(claim.printed)},
         {"verdict_at_half_margin", judged.at_half_margin ? Json(name_of(*judged.at_half_margin)) : Json()},
         {"verdict_at_twice_margin", judged.at_twice_margin ? Json(name_of(*judged.at_twice_margin)) : Json()},
         {"against_printed", judged.against ? Json(name_of(*judged.against)) : Json()},
         {"parts", std::move(parts)},
         {"notes", judged.notes}});
  }
  return claims;
}

std::string render_claims(const ClaimList& list, TableFormat format, int width) {
  if (format == TableFormat::kText) return claims_as_text(list, width);
  if (format == TableFormat::kCsv) return claims_as_csv(list);
  if (format == TableFormat::kJson) return json_text(to_json(list));
  return render_sheet(claims_sheet(list), format);
}

}  // namespace xlm
