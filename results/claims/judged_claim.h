// A claim with what the runs of a store say of it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "results/claims/claim_description.h"
#include "results/judgement/verdict.h"
#include "results/store/run_table.h"
#include "results/tables/paper_runs.h"

namespace xlm {

/// One of the comparisons that a claim is made of; most have one.
struct ClaimPart {
  std::string label;                 // "gumbel − fixed", "text8-en: a − b"
  std::optional<double> value;       // the difference, the slope or the value itself
  std::optional<double> half_width;  // of its 95 % interval; nothing for one seed
  std::optional<double> p;           // two-sided, of "it is the nearest limit of what the claim allows"
  std::int64_t looked_at = 0;        // seeds of a plan that are there on all sides
  std::int64_t planned = 0;          // 0: there is no plan
  bool is_futile = false;            // it will hardly be confirmed when all planned seeds are there
  std::int64_t seeds = 0;            // pairs of seeds, where both sides have them
  bool is_exact = false;             // it follows from the configuration
  bool is_paired = false;
  bool is_of_two_sides = false;
  Limits limits;  // within which the claim has the number
  Verdict verdict = Verdict::kNotTried;
  bool is_refuted_alone = false;  // but not corrected for the other parts of its claim: it is undecided
  std::optional<SeedsToDecide> seeds_to_decide;
  std::int64_t diverged = 0;           // seeds of its sides that diverged, and have no number
  std::optional<Verdict> worst_case;   // if these count as the worst; nothing: none did, or it cannot be known
  bool are_the_same = false;           // both sides are of programs that printed the same numbers, seed by seed
  bool ignores_seeds = false;          // a side is of a program that printed one number with all its seeds
  std::optional<Verdict> by_own;       // by its own seeds alone, if it rests on more and this is another verdict, or if
                                       // they are too few to show that their noise is that of the others
  std::string missing;                 // why it is not tried
  std::vector<std::string> runs;       // whose numbers went in
  std::vector<std::size_t> rows;       // the same as rows of the RunTable
  std::vector<std::string> mixes;      // keys besides `over` in which runs of one side differ
  std::vector<std::string> differ_in;  // keys in which its sides differ, and of which the claim says nothing
  std::vector<std::string> left_out;   // what its number leaves out, as notes: runs without a number, seeds without a
                                       // partner; and where its spread is from
  /// Whether planned seeds are still missing.
  bool is_a_look() const { return looked_at < planned; }

  bool is_of_other_data = false;  // its sides were measured on different data, as their conditions ask
  bool is_of_other_code = false;  // its sides are runs of one program, with different versions of its code
};

struct JudgedClaim {
  ClaimDescription description;
  Verdict verdict = Verdict::kNotTried;
  std::optional<Verdict>
      against;              // of the number that the paper prints; nothing: it prints none, or there is none of ours
  std::optional<double> p;  // of the whole claim, corrected for its parts; 1 while it is undecided, nothing if no
                            // chance has a part in it
  std::int64_t look = 0;    // of `xlm decide`: the first that decided it, or the last; 0: the sweep's seeds
  std::optional<double> too_weak;         // p that one look would have decided, but not the looks that there were
  std::optional<double> paper;            // the number that `against` is about, where ours goes the same way
  std::optional<Verdict> at_half_margin;  // what it would be with another margin; nothing: it has none
  std::optional<Verdict> at_twice_margin;
  std::string registered;  // the second word of its verdict (registered_claim.h); empty: it has none
  std::vector<ClaimPart> parts;
  std::vector<std::string> notes;
};

/// The numbers that a configuration costs without training, by column: "params", "model.width". `settings` is laid over
/// the recipe's own configuration. Throws UsageError.
using ConfiguredNumbers =
    std::function<std::map<std::string, double>(const Yaml& settings, const std::set<std::string>& columns)>;

/// What a point of the recipe's sweep sets, and its experiment: text by key.
using PlannedPoint = std::map<std::string, std::string>;

/// Whether a planned run fulfils conditions. `if_open`: what holds for those of which its point says nothing.
bool fulfils(const PlannedPoint& point, const std::vector<Filter>& filters, bool if_open);

struct ClaimContext {
  std::vector<Filter> filters;            // conditions on all runs
  PaperRuns* paper = nullptr;             // with which runs are compared; null: the file describes none
  ConfiguredNumbers configured;           // null: claims that need no training are not tried
  std::vector<PlannedPoint> points = {};  // of the recipe's sweep, whose seeds are the first of a claim's plan
};

/// Judges one claim. Where `xlm decide` added seeds in several looks, by the first look that decides it at its level
/// (level_of_look), or by the last. Throws UsageError for a column that the store does not know.
JudgedClaim judge_claim(RunTable& runs, const ClaimDescription& description, const ClaimContext& context);

/// What the paper prints as the number that the claim is about: a − b of two sides. Nothing if it prints none.
std::optional<double> printed_value(const ClaimDescription& claim);

/// What `xlm decide` tags runs with, followed by the number of the look, from 1, for which it made them.
inline constexpr const char* kLookTag = "look-";

/// The look for which a run was made; 0: it is not of `xlm decide`.
std::int64_t look_of(RunTable& runs, std::size_t row);

/// All runs behind a claim, each once.
std::vector<std::string> runs_of(const JudgedClaim& claim);

/// What many claims owe to chance: "5 claims were tried by seeds. If none held, up to 0.12 would be confirmed by
/// chance. …"; empty for fewer than two.
std::string chance_note(const std::vector<const JudgedClaim*>& claims);

/// What holds for all of these claims: the note on chance, and what verdicts by few seeds take for granted.
std::vector<std::string> notes_on_all(const std::vector<const JudgedClaim*>& claims);

/// Claims by verdict, in the order of kVerdictNames.
using ClaimCounts = std::array<std::int64_t, kClaimVerdicts>;
ClaimCounts count_claims(const std::vector<JudgedClaim>& claims);

}  // namespace xlm
