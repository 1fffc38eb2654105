// The power of a recipe's claims.
#include "cmd/claims_power.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "cmd/recipe_view.h"
#include "cmd/results_store.h"
#include "experiments/checks/configured_numbers.h"
#include "experiments/checks/named_by_exhibits.h"
#include "experiments/checks/supposed_winners.h"
#include "results/claims/side_formula.h"

namespace xlm {
namespace {

/// Whether a claim is about a loss, whose noise a guess is of, and not about times or sizes.
bool is_of_a_loss(const ClaimDescription& claim) {
  constexpr std::array<std::string_view, 5> kLosses{".bpc", ".loss", ".perplexity", ".ppl", ".bits_per_byte"};
  const std::vector<std::string> columns = columns_of_value(claim.value);
  return std::ranges::any_of(columns, [&](const std::string& name) {
    const std::string column = name.substr(0, name.find('@'));  // without the settings of its evaluation
    return std::ranges::any_of(kLosses, [&](std::string_view loss) { return column.ends_with(loss); });
  });
}

}  // namespace

std::vector<PartPower> power_of_claims(const Yaml& configuration, const std::string& name,
                                       const std::optional<double>& deviation, const GlobalOptions& global) {
  const Recipe recipe = recipe_of(configuration);
  const SupposedSweep sweep =
      suppose(recipe, named_by_exhibits(read_exhibits(configuration), recipe.reported, {}), suppose_winners());
  RunTable supposed(store_of(sweep));
  const ClaimContext of_supposed{.configured = [&](const Yaml& settings, const std::set<std::string>& columns) {
    return configured_numbers(recipe, settings, columns, supposed_costs);
  }};
  std::optional<RunTable> runs;
  if (!deviation && fs::exists(global.runs)) runs.emplace(open_store(global));
  ClaimContext of_store;
  if (const std::string experiment = recipe_experiment(configuration); !experiment.empty()) {
    of_store.filters = {{"experiment", Filter::Relation::kEqual, {experiment}}};
  }
  std::vector<PartPower> all;
  for (const Yaml& node : find_exhibits(configuration, ExhibitKind::kClaim, name)) {
    const auto power = [&](const ClaimDescription& claim) {
      const JudgedClaim judged = judge_claim(supposed, claim, of_supposed);
      if (deviation)
        return power_of(judged, {.of_runs = !name.empty() || is_of_a_loss(claim) ? deviation : std::nullopt});
      return power_of(judged, runs ? known_noise(*runs, claim, of_store) : KnownNoise());
    };
    for (PartPower& part : build_at_its_place(read_claim_description(node), power)) all.push_back(std::move(part));
  }
  return all;
}

std::string power_before_a_sweep(const Yaml& configuration, const fs::path& file, const GlobalOptions& global) {
  if (!has_exhibits(configuration, ExhibitKind::kClaim)) return "";
  const std::vector<PartPower> parts = power_of_claims(configuration, "", std::nullopt, global);
  if (std::ranges::any_of(parts, [](const PartPower& part) { return part.deviation > 0; })) {
    return "\n" + render_sheet(power_sheet(parts), TableFormat::kText, global.standard_output.width);
  }
  return fmt::format(
      "no run shows yet how much seeds differ, so how small a difference they will show is not known\n"
      "for a guess: xlm claims {} --power 0.005\n",
      shell_word(file.string()));
}

}  // namespace xlm
