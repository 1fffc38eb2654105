// What the planned seeds of claims will show: before any run, from how much single runs vary elsewhere, or are thought
// to.
#pragma once

#include "results/claims/judged_claim.h"
#include "results/sheets/sheet.h"

namespace xlm {

/// What one comparison of a claim will show.
struct PartPower {
  std::string claim;  // its name
  std::string value;  // "test.bpc"
  std::string part;   // its label; empty: the claim has no other
  std::int64_t seeds = 0;
  double deviation = 0;                // of single runs, or of pairs; 0: not known
  bool is_of_pairs = false;            // which of both
  std::optional<double> decided_from;  // how far from its limit a true value has to be, to be decided with a chance of
                                       // 80 %; nothing: see `why_not`
  std::optional<double> paper;         // what the paper prints of it
  std::optional<double> chance;        // to be decided if that is the true value
  std::optional<std::int64_t> needed;  // seeds, for a chance of 80 %
  std::string why_not;                 // nothing can be said
};

/// How much the value of a claim varies over seeds, as far as it is known.
struct KnownNoise {
  std::optional<double> of_runs;   // single runs with different seeds
  std::optional<double> of_pairs;  // differences of two runs with a common seed
};

/// Of a claim that was judged by supposed runs: their numbers mean nothing, but how many there are and which are pairs.
/// Without noise of pairs these are taken as independent runs.
std::vector<PartPower> power_of(const JudgedClaim& judged, const KnownNoise& noise);

/// The noise of a claim's value, pooled over the settings of its sweep that the store has, or of the experiment that
/// the claim takes its spread from. Nothing if no setting has two seeds.
KnownNoise known_noise(RunTable& runs, const ClaimDescription& claim, const ClaimContext& context);

Sheet power_sheet(const std::vector<PartPower>& parts);

/// A map for each comparison.
Json to_json(const std::vector<PartPower>& parts);

}  // namespace xlm
