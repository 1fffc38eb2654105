// Axes of a sweep that do not seem to reach the program.
#include "experiments/sweeps/unreached_axes.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <re2/re2.h>

#include "base/error.h"
#include "base/files.h"
#include "experiments/configuration/placeholders.h"

namespace xlm {
namespace {

constexpr std::string_view kOptionAxis = "options.";
constexpr std::string_view kSeedKey = "seed";
constexpr const char* kConfigVariable = "XLM_CONFIG";
constexpr const char* kSeedVariable = "XLM_SEED";
constexpr const char* kSplitVariable = "XLM_SPLIT";
constexpr const char* kMetricsVariable = "XLM_METRICS";
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
  for (const char* name : {kConfigVariable, kSeedVariable, kSplitVariable, kMetricsVariable, kOwnModule}) {
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

  /// The variables that the code names.
  const std::set<std::string>& variables() const { return variables_; }

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

/// Whether a text names a split, as the pattern "test (?<test.bpc>…)".
bool names_a_split(const std::string& text) {
  return text.find("valid.") != std::string::npos || text.find("test.") != std::string::npos;
}

/// What the second commands of programs are asked for, by command: values of `split` and of options that its
/// evaluations change.
std::map<Json, std::map<std::string, std::set<std::string>>> asked_of_commands(const std::vector<SweepRun>& runs) {
  std::map<Json, std::map<std::string, std::set<std::string>>> asked;
  for (const SweepRun& run : runs) {
    for (const WantedEvaluation& wanted : run.evaluations) {
      if (wanted.program.is_null()) continue;
      auto& values = asked[wanted.program];
      values["split"].insert(wanted.split);
      for (const auto& [key, value] : wanted.changes) {
        if (key.starts_with(kOptionAxis)) values[key].insert(value.dump());
      }
    }
  }
  return asked;
}

fs::path folder_of_programs(const std::vector<SweepRun>& runs) {
  for (const SweepRun& run : runs) {
    if (run.planned.options.program) return run.planned.options.program->folder;
  }
  return {};
}

/// The variables that the files name which are words of a command in a folder.
void add_variables_of_words(const Json& command, const fs::path& folder, std::set<std::string>& found) {
  for (const Json& word : command) {
    if (!word.is_string()) continue;
    const fs::path file = folder / word.get<std::string>();
    std::error_code ignored;
    if (fs::is_regular_file(file, ignored)) add_variables(read_file(file), found);
  }
}

/// A warning for each thing that several evaluations by one command differ in, and that does not seem to reach it.
std::vector<std::string> unreached_by_evaluations(const std::vector<SweepRun>& runs,
                                                  const std::set<std::string>& variables) {
  std::vector<std::string> warnings;
  for (const auto& [program, asked] : asked_of_commands(runs)) {
    std::set<std::string> placeholders;
    add_placeholders_below(program, placeholders);
    std::set<std::string> known = variables;
    add_variables(program.value("command", Json::array()).dump(), known);
    add_variables_of_words(program.value("command", Json::array()), folder_of_programs(runs), known);
    if (placeholders.contains("config") || known.contains(kConfigVariable) || known.contains(kOwnModule)) continue;
    for (const auto& [key, values] : asked) {
      const bool is_split = key == "split";
      const std::string name = is_split ? key : key.substr(kOptionAxis.size());
      if (placeholders.contains(name) || (is_split && values.size() < 2)) continue;
      const bool says_split = known.contains(kSplitVariable) || known.contains(kMetricsVariable) ||
                              names_a_split(program.value("metrics", Json()).dump());
      if (is_split && says_split) continue;
      warnings.push_back(fmt::format(
          "evaluations differ in {0}, which does not seem to reach their command: no placeholder {{{1}}} stands in it, "
          "and no code reads {2}\nhand it on in the command of evaluate: \"{{{1}}}\"",
          key, name, is_split ? kSplitVariable : kConfigVariable));
    }
  }
  return warnings;
}

/// A warning for each truth value that argparse would take for true whatever it is: `type=bool` asks whether there is a
/// text.
std::vector<std::string> untrue_flags(const std::vector<SweepRun>& runs) {
  const auto of_program = std::ranges::find_if(
      runs, [](const SweepRun& run) { return run.planned.options.program && run.planned.inputs.code != nullptr; });
  if (of_program == runs.end()) return {};
  std::string texts;
  for (const CodeFile& file : of_program->planned.inputs.code->files) {
    const fs::path path = of_program->planned.inputs.code->folder / file.path;
    std::error_code ignored;
    if (path.extension() == ".py" && fs::is_regular_file(path, ignored)) texts += read_file(path);
  }
  std::vector<std::string> warnings;
  for (const auto& [name, value] : of_program->planned.options.program->options) {
    const std::string in_words = RE2::QuoteMeta(name);
    if (!value.is_boolean() ||
        !RE2::PartialMatch(texts, fmt::format(R"re(["']--?{}["'][^)]*\btype\s*=\s*bool\b)re", in_words))) {
      continue;
    }
    warnings.push_back(
        fmt::format("options.{0} is {1}, and the code reads --{0} by type=bool, which takes \"false\" for true\n"
                    "let it be a flag (action=\"store_true\") and pass it by program.flags",
                    name, value.dump()));
  }
  return warnings;
}

/// The axes in which runs of programs differ, and options that have one value.
std::vector<std::string> axes_of_programs(const std::vector<SweepRun>& runs) {
  std::map<std::string, std::set<std::string>> values;
  for (const SweepRun& run : runs) {
    if (!run.planned.options.program) continue;
    for (const auto& [key, value] : run.point) values[key].insert(to_text(value));
    for (const auto& [name, value] : run.planned.options.program->options) {
      values[std::string(kOptionAxis) + name].insert(value.dump());
    }
  }
  std::vector<std::string> axes;
  for (const auto& [key, several] : values) {
    const bool is_axis = key == kSeedKey && several.size() > 1;
    if (is_axis || key.starts_with(kOptionAxis)) axes.push_back(key);
  }
  return axes;
}

}  // namespace

std::vector<std::string> unreached_axes(const std::vector<SweepRun>& runs) {
  const std::vector<std::string> axes = axes_of_programs(runs);
  if (axes.empty()) return {};
  const WaysIn ways(runs);
  std::vector<std::string> warnings = untrue_flags(runs);
  for (std::string& warning : unreached_by_evaluations(runs, ways.variables())) warnings.push_back(std::move(warning));
  if (!ways.has_options()) return warnings;
  const auto asked = asked_of_commands(runs);
  for (const std::string& key : axes) {
    const bool is_of_evaluations =
        std::ranges::any_of(asked, [&](const auto& one) { return one.second.contains(key); });
    if (ways.may_reach(key) || is_of_evaluations) continue;
    const bool is_seed = key == kSeedKey;
    const std::string name = is_seed ? key : key.substr(kOptionAxis.size());
    warnings.push_back(
        fmt::format("{0} does not seem to reach the program: no placeholder {{{1}}} stands in its "
                    "command or environment, and its code does not read {2}\n"
                    "hand it on in program.command: \"{{{1}}}\"",
                    key, name, is_seed ? "XLM_SEED or XLM_CONFIG" : "XLM_CONFIG"));
  }
  return warnings;
}

}  // namespace xlm
