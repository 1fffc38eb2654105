// xlm claims: what a paper claims, and what the runs of the store say of it.
#include <algorithm>
#include <memory>

#include "base/error.h"
#include "base/text.h"
#include "cmd/claims_power.h"
#include "cmd/claims_record.h"
#include "cmd/claims_view.h"
#include "cmd/output_format.h"
#include "cmd/results_store.h"
#include "results/pages/exhibit_pages.h"

namespace xlm {
namespace {

int show_power(const ClaimsOptions& options, const GlobalOptions& global) {
  const std::string format = output_format(options.format, options.out, table_formats(), global);
  const RecipeView recipe = read_recipe(options.file, options);
  const std::optional<double> stated = *options.power > 0 ? options.power : std::nullopt;
  const std::vector<PartPower> parts = power_of_claims(recipe.file, options.name, stated, global);
  const TableFormat form = table_format(format);
  print_or_write(form == TableFormat::kJson ? json_text(to_json(parts))
                                            : render_sheet(power_sheet(parts), form, global.width(options.out)),
                 options.out);
  return kDone;
}

int run_claims(const ClaimsOptions& options, const GlobalOptions& global) {
  if (options.registers) return register_claims(options, global);
  if (options.opens) open_test(options, global);
  if (options.power) return show_power(options, global);
  if (!options.overrides.empty() && !options.opens) {
    throw UsageError(
        "KEY=VALUE says which runs --register and --open plan; conditions on runs that are there are --where "
        "KEY=VALUE");
  }
  const std::string format = output_format(options.format, options.out, formats_with_pages(), global);
  const RecipeView recipe = read_recipe(options.file, options);
  RunTable runs = open_runs(global);
  ClaimList list =
      claims_of(runs, recipe, options, options.name, global.runs, options.verify.substr(options.verify.rfind(' ') + 1));
  std::vector<const JudgedClaim*> judged;
  for (const JudgedClaim& claim : list.claims) judged.push_back(&claim);
  for (std::string& note : notes_on_all(judged)) list.notes.push_back(std::move(note));
  const bool any_needs_runs = std::ranges::any_of(
      list.claims, [](const JudgedClaim& claim) { return claim.description.needs == ClaimNeeds::kRuns; });
  if (any_needs_runs) warn_without_runs(recipe, options, global, runs);
  print_or_write(format == kHtml ? claims_page(runs.store(), list)
                                 : render_claims(list, table_format(format), global.width(options.out)),
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
  app.add_option("overrides", options->overrides, "With --register and --open: values as the sweep gets them")
      ->type_name("KEY=VALUE");
  app.add_flag("--register", options->registers,
               "Write these claims and their planned runs into a chain of records, and print the line that proves it");
  app.add_option("--with", options->page, "With --register: also binds a file, such as a page on the method")
      ->type_name("FILE");
  app.add_flag("--open", options->opens,
               "Measure the test split that all runs of the sweep seal (eval.sealed: test), once, and record that")
      ->excludes("--register");
  app.add_option("--verify", options->verify, "Judge by the records up to that of a printed line")->type_name("LINE");
  app.add_option("--power", options->power,
                 "Say which differences the seeds of each claim will show, before any run, if single runs vary by SD "
                 "(of losses, or of the claim of --name; default: as the runs of the store do)")
      ->expected(0, 1)
      ->default_str("0")
      ->check(CLI::NonNegativeNumber)
      ->type_name("SD");
  add_output_options(app, options->format, options->out, formats_with_pages());
  app.footer(
      "Says of each claim whether it is confirmed, refuted, undecided (and how many seeds would decide) or not tried,\n"
      "with the difference, its 95 % interval, p, what the paper prints, and the runs. docs/claims.md describes "
      "claims.\n"
      "The exit code is 3 if no claim could be tried.\n\n"
      "Examples:\n"
      "  xlm claims experiments/recipes/dynamic-pooling/same-shortening.yaml --profile smoke\n"
      "  xlm claims experiments/recipes/adaptive-span/span-limit.yaml --name share-of-attention\n"
      "  xlm claims my-sweep.yaml --power 0.005\n"
      "  xlm claims my-sweep.yaml --where data.name=text8-en --format markdown\n"
      "  xlm claims my-sweep.yaml --out claims.html");
  return [options, &global] { return run_claims(*options, global); };
}

}  // namespace xlm
