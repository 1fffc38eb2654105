// Runs of others: what a command executes of them.
#include "cmd/trust.h"

#include "experiments/runs/own_submissions.h"
#include "results/run_folder/run_folder.h"

namespace xlm {

void add_trust_option(CLI::App& app, fs::path& trusted) {
  app.add_option("--trust", trusted,
                 "From now on execute also what others put into this folder of runs (kept in ~/.config/xlm/trusted)")
      ->type_name("RUNS");
}

void check_file_of_run(const fs::path& file, const Yaml& tree) {
  const fs::path folder = fs::absolute(file).lexically_normal().parent_path();
  std::error_code ignored;
  const bool is_of_run =
      fs::equivalent(file, RunPaths{folder}.config(), ignored) && fs::exists(RunPaths{folder}.journal(), ignored);
  if (is_of_run && tree.find("program") != nullptr) check_submitted_config(folder, read_file(file));
}

}  // namespace xlm
