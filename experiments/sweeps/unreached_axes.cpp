// Axes of a sweep that do not seem to reach the program.
#include "experiments/sweeps/unreached_axes.h"

#include <map>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "experiments/configuration/placeholders.h"

namespace xlm {
namespace {

constexpr std::string_view kOptionAxis = "options.";
constexpr std::string_view kSeedKey = "seed";
constexpr const char* kConfigVariable = "XLM_CONFIG";
constexpr const char* kSeedVariable = "XLM_SEED";
constexpr const char* kOwnModule = "xlm";  // in Python, it reads them for the program

void add_placeholders(std::string_view text, std::set<std::string>& names) {
  for (std::string& name : placeholders_in(text)) names.insert(std::move(name));
}

/// Those of a JSON value, however deep: of commands and descriptions of metrics.
void add_placeholders_below(const Json& value, std::set<std::string>& names) {
  if (value.is_string()) add_placeholders(value.get_ref<const std::string&>(), names);
  if (!value.is_structured()) return;
  for (const Json& item : value) add_placeholders_below(item, names);
}

/// Adds those of the variables that a text names.
void add_variables(std::string_view text, std::set<std::string>& found) {
  for (const char* name : {kConfigVariable, kSeedVariable, kOwnModule}) {
    if (text.find(name) != std::string_view::npos) found.insert(name);
  }
}

/// The same of the files of a program's code.
void add_variables_of(const Code& code, std::set<std::string>& found) {
  for (const CodeFile& file : code.files) {
    if (file.kind == CodeFile::Kind::kLink) continue;
    try {
      add_variables(read_file(code.folder / file.path), found);
    } catch (const Error&) {
      // It has gone since the code was read: the copy that runs start from has it.
    }
  }
}

/// What is known of the ways into the programs of a sweep.
class WaysIn {
 public:
  explicit WaysIn(const std::vector<SweepRun>& runs) {
    for (const SweepRun& run : runs) {
      if (run.planned.options.program) add(run);
    }
  }

  /// Whether an axis, "options.lr" or "seed", may reach all of them.
  bool may_reach(const std::string& key) const {
    const bool is_seed = key == kSeedKey;
    const std::string name = is_seed ? key : key.substr(kOptionAxis.size());
    if (placeholders_.contains(name) || placeholders_.contains("config")) return true;
    if (variables_.contains(kConfigVariable) || variables_.contains(kOwnModule)) return true;
    return is_seed ? variables_.contains(kSeedVariable) : has_flags_;
  }

  /// Whether options are handed on by placeholders at all.
  bool has_options() const { return has_options_; }

 private:
  void add(const SweepRun& run) {
    const ProgramOptions& program = *run.planned.options.program;
    if (program.flags != ProgramOptions::Flags::kNone && !program.options.empty()) has_flags_ = has_options_ = true;
    for (const std::string& word : program.command) {
      add_placeholders(word, placeholders_);
      add_variables(word, variables_);  // a word may be a script
    }
    for (const auto& [name, value] : program.environment) add_placeholders(value, placeholders_);
    add_placeholders_below(program.metrics, placeholders_);
    for (const WantedEvaluation& wanted : run.evaluations) add_placeholders_below(wanted.program, placeholders_);
    for (const auto& [name, value] : program.options) {
      has_options_ = has_options_ || placeholders_.contains(name);
    }
    const auto& code = run.planned.inputs.code;
    if (code == nullptr || !codes_.insert(code->hash).second) return;
    add_variables_of(*code, variables_);
  }

  std::set<std::string> placeholders_;
  std::set<std::string> variables_;
  std::set<std::string> codes_;  // hashes of those that were looked through
  bool has_flags_ = false;
  bool has_options_ = false;
};

/// The axes in which runs of programs differ.
std::vector<std::string> axes_of_programs(const std::vector<SweepRun>& runs) {
  std::map<std::string, std::set<std::string>> values;
  for (const SweepRun& run : runs) {
    if (!run.planned.options.program) continue;
    for (const auto& [key, value] : run.point) values[key].insert(to_text(value));
  }
  std::vector<std::string> axes;
  for (const auto& [key, several] : values) {
    if (several.size() > 1 && (key == kSeedKey || key.starts_with(kOptionAxis))) axes.push_back(key);
  }
  return axes;
}

}  // namespace

std::vector<std::string> unreached_axes(const std::vector<SweepRun>& runs) {
  const std::vector<std::string> axes = axes_of_programs(runs);
  if (axes.empty()) return {};
  const WaysIn ways(runs);
  std::vector<std::string> warnings;
  if (!ways.has_options()) return warnings;
  for (const std::string& key : axes) {
    if (ways.may_reach(key)) continue;
    const bool is_seed = key == kSeedKey;
    const std::string name = is_seed ? key : key.substr(kOptionAxis.size());
    warnings.push_back(fmt::format(
        "runs differ in {0}, which does not seem to reach the program: no placeholder {{{1}}} stands in its "
        "command or environment, and its code does not read {2}\n"
        "hand it on in program.command: \"{{{1}}}\"",
        key, name, is_seed ? "XLM_SEED or XLM_CONFIG" : "XLM_CONFIG"));
  }
  return warnings;
}

}  // namespace xlm
