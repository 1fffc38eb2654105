// Judged claims as text, Markdown, CSV, JSON and LaTeX.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "results/claims/judged_claim.h"
#include "results/tables/table_text.h"

namespace xlm {

/// All claims of one recipe, with what stands above them.
struct ClaimList {
  std::string title;  // "Claims of same-shortening, profile smoke"
  std::string name;   // of the label in LaTeX
  std::vector<JudgedClaim> claims;
  std::vector<std::string> notes;  // that hold for all
};

/// Text is for people and breaks lines at `width` columns (0: any width). CSV and JSON hold numbers in full; CSV,
/// Markdown and LaTeX have a row for each comparison.
std::string render_claims(const ClaimList& list, TableFormat format, int width = 0);

/// A map for each claim.
Json to_json(const ClaimList& list);

/// "5 claims: 3 confirmed, 1 refuted, 1 not tried".
std::string counted_claims(const ClaimCounts& counts);

/// What a claim is about: "test.bpc", "mean of span".
std::string value_name(const ClaimDescription& claim);

/// "−0.021" of a difference or a slope, "0.021" of a value; empty if there is none.
std::string claim_number(const ClaimDescription& claim, const ClaimPart& part);

/// "−0.030 to −0.012"; empty without an interval, "exact" if no seed changes the number.
std::string claim_interval(const ClaimDescription& claim, const ClaimPart& part);

/// "p = 0.003 against the margin"; without a margin, or where zero is the limit, "p = 0.003". `part` has a p.
std::string claim_p(const ClaimDescription& claim, const ClaimPart& part);

/// "−0.021, consistent"; empty if the paper prints no number.
std::string claim_printed(const JudgedClaim& claim);

/// "undecided with half the margin, the same with twice"; empty if the claim has no margin.
std::string at_other_margins(const JudgedClaim& claim);

/// Whether a claim of the list has such a number.
bool any_printed(const ClaimList& list);

/// What stands next to the verdict of a part: what it needs, and the seeds that diverged.
std::string beside_verdict(const ClaimPart& part);

}  // namespace xlm
