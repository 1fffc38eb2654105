// The configuration schema: from YAML to the typed options of one run, strictly, and back with every default filled in.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/options.h"
#include "base/yaml.h"
#include "core/api/interface.h"
#include "core/api/model_list.h"
#include "experiments/configuration/program_options.h"
#include "experiments/configuration/weights_use.h"

namespace xlm {

/// What one run is to do: what core needs to know of it, or a program of the user's. Of a program's run the model, the
/// optimizer and the evaluation mean nothing.
struct RunConfiguration : RunOptions {
  RunConfiguration() = default;
  RunConfiguration(RunOptions options) : RunOptions(std::move(options)) {}  // NOLINT(google-explicit-constructor)

  std::optional<ProgramOptions> program;

  /// The value of `model.type`.
  std::string type() const { return program ? kProgramType : model.type(); }
};

/// Walks over the options of a run in the order in which people write them; of a program's run those that have types.
/// Where the visitor changes `model.type`, the model's options are replaced by that model's defaults before they are
/// visited.
void visit_options(RunConfiguration& run, OptionVisitor& visitor);

/// Every option of a run as a dotted key with its value and description.
std::vector<OptionEntry> option_entries(const RunConfiguration& run);

/// Defaults of a run of the `index`-th model: the model's own and what its paper fixes besides.
RunOptions default_run_options(std::size_t index);

/// What a configuration must say: all that a run needs, or a model alone (a model folder's config.yaml).
enum class Completeness { kRun, kModel };

/// Reads one run. Throws UsageError with file:line for a missing or unknown key, a wrong type, a value out of range,
/// for values that do not go together, and for an empty value of a key that `require` of the file names; DataError
/// where the length of training follows from data that are not there.
RunConfiguration read_run_options(const Yaml& given, Completeness completeness = Completeness::kRun);

/// Whether an option says how a text is fed to weights that are there already, or in which precision that is computed:
/// eval.* but eval.select, train.block, a model's windows; train.precision, train.tf32. What the others say was decided
/// by training.
bool is_evaluation_setting(const OptionEntry& entry);

/// Reads config.yaml of a model folder and lays `overrides` (KEY=VALUE of options that make a difference to `use`) over
/// it. Throws DataError when there is none, UsageError as above and for what makes none.
RunOptions read_model_folder(const fs::path& folder, const std::vector<std::string>& overrides,
                             WeightsUse use = WeightsUse::kAnything);

/// All options with their values, as config.yaml of a run folder and --print-config show them.
Yaml resolved(const RunConfiguration& run);

/// What is needed to use a run's weights elsewhere, and as the text of model/config.yaml.
Yaml model_part(const RunOptions& options);
std::string model_yaml(const RunOptions& options);

/// Reads `file`, lays the profile (empty: none) and then the overrides over it; `profiles` is gone from the result.
/// An experiment without a name is called after the file. Throws UsageError.
Yaml read_configuration(const fs::path& file, const std::string& profile, const std::vector<std::string>& overrides);

/// The same of `tree`, which was read of `file`.
Yaml configuration_of(Yaml tree, const fs::path& file, const std::string& profile,
                      const std::vector<std::string>& overrides);

/// The part of a configuration that describes a run: without sweep, tables, figures and continuations.
Yaml run_part(Yaml tree);

/// The node at a dotted path, or null.
const Yaml* find_path(const Yaml& tree, std::string_view dotted_path);
/// The same, but null also for a null value.
const Yaml* given_at(const Yaml& tree, std::string_view dotted_path);

/// docs/configuration.md with tables made from the schema. Its prose is that of `page`, the same page as it was.
std::string configuration_reference(std::string_view page);

}  // namespace xlm
