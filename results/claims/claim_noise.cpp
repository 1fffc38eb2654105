// A spread that a claim takes from more runs than its own.
#include "results/claims/claim_noise.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "results/claims/side_numbers.h"
#include "results/quantities/number_format.h"

namespace xlm {
namespace {

using Sides = std::vector<std::vector<double>>;

struct NoiseSource {
  std::optional<SharedSpread> shared;  // of differences where pairs are compared
  std::optional<SharedSpread> others;  // the same without the settings that are compared
  std::string from;                    // "is pooled over 6 settings of this sweep"; empty: nothing is shared
};

/// Of differences where pairs are compared: common seeds make these less uncertain than two runs, if anything.
std::optional<SharedSpread> spread_in(const SharedNoise& noise, bool is_paired) {
  if (!is_paired) return noise.of_runs;
  std::optional<SharedSpread> spread = noise.of_pairs;
  if (!spread && noise.of_runs) {
    spread = noise.of_runs;
    spread->spread.deviation *= std::sqrt(2.0);
  }
  return spread;
}

NoiseSource source_of(const ClaimPart& part, const ClaimSpread& wanted, const SideReader& reader,
                      const std::vector<Filter>& each) {
  if (wanted.stated) {
    const SharedNoise noise{.of_runs = SharedSpread{*wanted.stated, std::nullopt}, .of_pairs = std::nullopt};
    const std::optional<SharedSpread> stated = spread_in(noise, part.is_paired);
    return {stated, stated, "is stated"};
  }
  const SideReader::Noise noise = reader.noise(part.rows, each);
  NoiseSource found{spread_in(noise.all, part.is_paired), spread_in(noise.others, part.is_paired), ""};
  if (found.shared) {
    found.from = fmt::format("is pooled over {} of {}", counted(found.shared->settings, "setting"),
                             wanted.from.empty() ? "this sweep" : wanted.from);
  }
  return found;
}

/// Whether the seeds of a number vary more than the spread that others share.
bool is_noisier_than(const SpreadEstimate& shared, const PartNumber& number, const Sides& sides) {
  if (number.part.is_paired) {
    const double deviation = number.estimate.error * std::sqrt(static_cast<double>(number.estimate.seeds));
    return number.estimate.freedom > 0 && is_noisier({deviation, number.estimate.freedom}, shared);
  }
  return std::ranges::any_of(sides, [&](const std::vector<double>& side) {
    const std::optional<SpreadEstimate> own = spread_of(side);
    return own && is_noisier(*own, shared);
  });
}

bool are_few(const Sides& sides) {
  return std::ranges::any_of(sides,
                             [](const std::vector<double>& side) { return std::ssize(side) <= kTooFewForNoise; });
}

}  // namespace

void share_noise(PartNumber& number, const ClaimSpread& wanted, const SideReader& reader,
                 const std::vector<Filter>& each, const Sides& sides) {
  if (!wanted.is_pooled && !wanted.stated) return;
  ClaimPart& part = number.part;
  const auto say = [&](const std::string& text) { part.left_out.push_back(part.label + ": " + text); };
  const auto [shared, others, from] = source_of(part, wanted, reader, each);
  if (!shared) {
    return say(wanted.from.empty()
                   ? "no other setting shows how much seeds differ"
                   : fmt::format("no runs of the experiment {} show how much seeds differ", wanted.from));
  }
  const std::string test =
      shared->test_p ? fmt::format(" (Levene's test of equal noise: {})", p_in_words(*shared->test_p)) : "";
  if (shared->test_p.value_or(1) < kUnequalSpreads) {
    return say("its own seeds alone count, for settings differ in noise" + test);
  }
  if (others && is_noisier_than(others->spread, number, sides)) {
    return say("its own seeds alone count, for they vary more than those of other settings");
  }
  constexpr int kDigits = 3;
  say(fmt::format("the spread of {}, {} with {:.3g} degrees of freedom, {}{}{}",
                  part.is_paired ? "differences" : "single runs", with_digits(shared->spread.deviation, kDigits),
                  shared->spread.freedom, from, test,
                  are_few(sides) ? "; equal noise is assumed, for two or three seeds do not show it" : ""));
  double parts = 0;
  std::vector<double> all;
  for (const std::vector<double>& side : sides) {
    parts += 1 / static_cast<double>(side.size());
    all.insert(all.end(), side.begin(), side.end());
  }
  if (part.is_paired) parts = 1 / static_cast<double>(number.estimate.seeds);
  number.own = number.estimate;
  number.estimate = with_spread(number.estimate, shared->spread, parts, step_of(all));
}

}  // namespace xlm
