// xlm runs reread: the numbers of programs are read again.
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "cmd/results_store.h"
#include "experiments/configuration/configuration.h"
#include "experiments/sweeps/recipe.h"
#include "experiments/sweeps/sweep_plan.h"
#include "experiments/worker/reread.h"

namespace xlm {
namespace {

struct RereadCommand {
  std::vector<std::string> sweep;  // its file, and KEY=VALUE
  std::string profile;
};

int reread_sweep(const RereadCommand& command, const GlobalOptions& global) {
  const std::vector<std::string> overrides(command.sweep.begin() + 1, command.sweep.end());
  const Recipe recipe = recipe_of(read_configuration(command.sweep.front(), command.profile, overrides), overrides);
  Json read = Json::object();
  Json failed = Json::object();
  for (const SweepRun& run : plan_sweep(recipe, global.runs, false, {.choose = choose_in_store(global)})) {
    if (!run.planned.options.program || !fs::exists(run.planned.paths.folder)) continue;
    std::string said;
    try {
      const Reread reread = reread_run(run.planned.paths.folder, run.planned.options);
      read[run.id()] = reread.lines;
      said = counted(reread.lines, "line") + " with numbers read again";
      if (!reread.is_whole) said += "; what was read before stays, too, as not all that it reported is left";
      for (const std::string& warning : reread.warnings) said += "\nwarning: " + warning;
    } catch (const Error& error) {
      failed[run.id()] = said = error.what();
    }
    if (!global.json) print(fmt::format("{}: {}\n", run.id(), said));
  }
  if (global.json) print(json_text({{"read", read}, {"failed", failed}}));
  if (read.empty() && failed.empty()) throw DataError("no run of a program in this file has been started");
  open_store(global);  // takes them in
  return failed.empty() ? kDone : kFailed;
}

}  // namespace

std::function<int()> declare_runs_reread(CLI::App& app, const GlobalOptions& global) {
  const auto command = std::make_shared<RereadCommand>();
  app.add_option("FILE", command->sweep, "The file of a sweep or run of a program, and KEY=VALUE as for xlm sweep")
      ->transform(recipe_file)
      ->required();
  app.add_option("--profile", command->profile, "Profile of the file to apply")->type_name("NAME");
  app.footer(
      "After `metrics` of the file was corrected: the output of its runs and the files that they have written are "
      "read\n"
      "again, and nothing trains. If something cannot be read, the run keeps the numbers that it has.\n\n"
      "Exit code: 0, 1 if a run could not be read.\n\n"
      "Example:\n  xlm runs reread toy.yaml");
  return [command, &global] { return reread_sweep(*command, global); };
}

}  // namespace xlm
