// The power of claims.
#include "results/claims/claim_power.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/json.h"
#include "results/claims/claim_text.h"
#include "results/claims/side_numbers.h"
#include "results/judgement/plan.h"
#include "results/quantities/number_format.h"

namespace xlm {
namespace {

constexpr int kPowerDigits = 2;

/// Why nothing can be said; empty if it can.
std::string why_unknown(const ClaimDescription& claim, const ClaimPart& part, bool knows_noise) {
  if (part.is_exact) return "exact";
  if (claim.is_over_sides()) return "formula over sides";
  if (claim.tends) return "slope";
  if (part.seeds == 0) return part.missing.empty() ? "no run" : part.missing;
  if (std::max(part.seeds, part.planned) == 1) return "one seed";
  return knows_noise ? "" : "no spread known";
}

/// What its seeds would have as their number if the true one were `value`.
Estimate supposed_estimate(const ClaimDescription& claim, const ClaimPart& part, const PartPower& power) {
  const std::int64_t seeds = power.seeds;
  const auto count = static_cast<double>(seeds);
  const bool is_difference =
      !power.is_of_pairs && (part.is_paired || part.is_of_two_sides || claim.expects == Expectation::kTrend);
  const bool are_two_samples = part.is_of_two_sides && !part.is_paired;
  return {.value = power.paper.value_or(0),
          .error = power.deviation * std::sqrt((is_difference ? 2 : 1) / count),
          .freedom = are_two_samples ? 2 * (count - 1) : count - 1,
          .seeds = seeds};
}

}  // namespace

std::vector<PartPower> power_of(const JudgedClaim& judged, const KnownNoise& noise) {
  const ClaimDescription& claim = judged.description;
  const bool is_printed_alone = claim.expects == Expectation::kValue && !claim.at_least && !claim.at_most;
  std::vector<PartPower> all;
  for (const ClaimPart& part : judged.parts) {
    PartPower power{.claim = claim.name, .value = value_name(claim), .part = judged.parts.size() > 1 ? part.label : ""};
    power.is_of_pairs = noise.of_pairs && part.is_paired && claim.expects != Expectation::kTrend;
    const std::optional<double>& deviation = power.is_of_pairs ? noise.of_pairs : noise.of_runs;
    power.why_not = why_unknown(claim, part, deviation.has_value());
    power.seeds = std::max(part.seeds, part.planned);
    if (!power.why_not.empty()) {
      all.push_back(std::move(power));
      continue;
    }
    if (judged.parts.size() == 1 && !is_printed_alone) power.paper = printed_value(claim);
    power.deviation = *deviation;
    const Estimate estimate = supposed_estimate(claim, part, power);
    power.decided_from = distance_decided(estimate);
    if (power.paper) power.chance = chance_to_be_decided(estimate, part.limits);
    if (power.paper && *power.chance < kPlannedChance) power.needed = seeds_to_decide(estimate, part.limits);
    all.push_back(std::move(power));
  }
  return all;
}

KnownNoise known_noise(RunTable& runs, const ClaimDescription& claim, const ClaimContext& context) {
  if (claim.spread.stated) return {.of_runs = claim.spread.stated->deviation};
  if (claim.needs == ClaimNeeds::kCosts || claim.is_over_sides()) return {};
  SideReport report;
  const SharedNoise noise = SideReader(runs, claim, context, report).noise({}, {}).all;
  const auto deviation_of = [](const std::optional<SharedSpread>& shared) {
    return shared && shared->spread.deviation > 0 ? std::optional(shared->spread.deviation) : std::nullopt;
  };
  return {.of_runs = deviation_of(noise.of_runs), .of_pairs = deviation_of(noise.of_pairs)};
}

Sheet power_sheet(const std::vector<PartPower>& parts) {
  Sheet sheet{.title = "What the seeds of these claims will show",
              .columns = {{"claim"},
                          {"seeds", true},
                          {"varies by", true},
                          {"decided from", true},
                          {"paper", true},
                          {"chance", true},
                          {"seeds for 80 %", true}}};
  const bool any_printed = std::ranges::any_of(parts, [](const PartPower& part) { return part.paper.has_value(); });
  if (!any_printed) sheet.columns.resize(4);
  for (const PartPower& part : parts) {
    const std::string name = part.part.empty() ? part.claim : fmt::format("{}: {}", part.claim, part.part);
    std::vector<std::string> cells{
        name, part.seeds > 0 ? fmt::to_string(part.seeds) : "",
        part.deviation > 0 ? with_digits(part.deviation, kPowerDigits) + (part.is_of_pairs ? " in pairs" : "") : "",
        part.decided_from ? with_digits(*part.decided_from, kPowerDigits) : part.why_not};
    if (any_printed) {
      const bool is_many = part.chance && *part.chance < kPlannedChance && !part.needed;
      cells.push_back(part.paper ? fmt::format("{:g}", *part.paper) : "");
      cells.push_back(part.chance ? fmt::format("{:.0f} %", 100 * *part.chance) : "");
      cells.push_back(part.needed ? fmt::to_string(*part.needed) : is_many ? "over 10,000" : "");
    }
    sheet.add(cells);
  }
  sheet.notes.emplace_back(
      "decided from: the smallest true difference from the limit of the claim that these seeds decide in 80 % of "
      "cases.");
  if (any_printed) sheet.notes.emplace_back("chance: that it is decided if the paper's number is the true one.");
  const auto is_guess = [](const PartPower& part) { return part.deviation > 0 && !part.is_of_pairs; };
  if (std::ranges::any_of(parts, is_guess)) {
    sheet.notes.emplace_back(
        "varies by: single runs. Pairs of common seeds often vary less than two runs: then fewer seeds do.");
  }
  return sheet;
}

Json to_json(const std::vector<PartPower>& parts) {
  const auto or_null = [](const auto& value) { return value ? Json(*value) : Json(); };
  Json list = Json::array();
  for (const PartPower& part : parts) {
    list.push_back({{"claim", part.claim},
                    {"part", part.part},
                    {"value", part.value},
                    {"seeds", part.seeds},
                    {"is_of_pairs", part.is_of_pairs},
                    {"deviation", part.deviation > 0 ? Json(part.deviation) : Json()},
                    {"decided_from", or_null(part.decided_from)},
                    {"paper", or_null(part.paper)},
                    {"chance", or_null(part.chance)},
                    {"seeds_needed", or_null(part.needed)},
                    {"why_not", part.why_not.empty() ? Json() : Json(part.why_not)}});
  }
  return list;
}

}  // namespace xlm
