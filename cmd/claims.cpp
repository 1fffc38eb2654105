// xlm claims: what a paper claims, and what the runs of the store say of it.
#include <algorithm>
#include <memory>

#include "cmd/claims_view.h"
#include "cmd/output_format.h"
#include "cmd/results_store.h"
#include "results/pages/exhibit_pages.h"

namespace xlm {
namespace {

struct ClaimsOptions : RecipeOptions {
  fs::path file;
  std::string format;
  fs::path out;
};

int run_claims(const ClaimsOptions& options, const GlobalOptions& global) {
  const std::string format = output_format(options.format, options.out, formats_with_pages(), global);
  const RecipeView recipe = read_recipe(options.file, options);
  Store store = open_store(global);
  RunTable runs(store);
  ClaimList list = claims_of(runs, recipe, options, options.name);
  std::vector<const JudgedClaim*> judged;
  for (const JudgedClaim& claim : list.claims) judged.push_back(&claim);
  if (std::string note = chance_note(judged); !note.empty()) list.notes.push_back(std::move(note));
  const bool any_needs_runs = std::any_of(list.claims.begin(), list.claims.end(), [](const JudgedClaim& claim) {
    return claim.description.needs == ClaimNeeds::kRuns;
  });
  if (any_needs_runs) warn_without_runs(recipe, options, global, runs);
  const bool to_terminal = global.standard_output.is_terminal && options.out.empty();
  const int width = to_terminal ? global.standard_output.width : 0;
  print_or_write(format == kHtml ? claims_page(store, list) : render_claims(list, table_format(format), width),
                 options.out);
  const ClaimCounts counts = count_claims(list.claims);
  const auto not_tried = counts.at(static_cast<std::size_t>(Verdict::kNotTried));
  return not_tried == std::ssize(list.claims) ? kBadData : kDone;
}

}  // namespace

std::function<int()> declare_claims(CLI::App& app, const GlobalOptions& global) {
  const auto options = std::make_shared<ClaimsOptions>();
  app.add_option("RECIPE.yaml", options->file, "A recipe with claims")->transform(recipe_file)->required();
  add_recipe_options(app, *options, "claim");
  add_output_options(app, options->format, options->out, formats_with_pages());
  app.footer(
      "Says of each claim whether it is confirmed, refuted, undecided (and how many seeds would decide) or not tried,\n"
      "with the difference, its 95 % interval, p, what the paper prints, and the runs. docs/claims.md describes "
      "claims.\n"
      "The exit code is 3 if no claim could be tried.\n\n"
      "Examples:\n"
      "  xlm claims experiments/recipes/dynamic-pooling/same-shortening.yaml --profile smoke\n"
      "  xlm claims experiments/recipes/adaptive-span/span-limit.yaml --name share-of-attention\n"
      "  xlm claims my-sweep.yaml --where data.name=text8-en --format markdown\n"
      "  xlm claims my-sweep.yaml --out claims.html");
  return [options, &global] { return run_claims(*options, global); };
}

}  // namespace xlm
