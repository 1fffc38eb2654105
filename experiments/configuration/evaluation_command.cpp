// The second command of a program.
#include "experiments/configuration/evaluation_command.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/lookup.h"
#include "base/text.h"
#include "experiments/configuration/placeholders.h"
#include "experiments/configuration/program_inputs.h"
#include "experiments/programs/code_paths.h"
#include "experiments/programs/code_snapshot.h"
#include "experiments/programs/metric_description.h"

namespace xlm {
namespace {

constexpr const char* kSplitPlace = "split";

bool uses_split(const Yaml& command) {
  return std::ranges::any_of(command.items, [](const Yaml& word) {
    const std::vector<std::string> names = placeholders_in(word.scalar);
    return contains(names, kSplitPlace);
  });
}

/// Patterns of the files that only this part of `evaluate` uses.
std::vector<std::string> code_of_evaluation(const Yaml& map) {
  const Yaml* code = map.given("code");
  if (code == nullptr) return {};
  std::vector<std::string> patterns = words_at(*code, "code of evaluate");
  for (const std::string& pattern : patterns) {
    if (!pattern.empty() && pattern.front() == kNoCode) {
      fail_at(*code, fmt::format("code of evaluate: {}: name the files that the command reads", pattern));
    }
  }
  return patterns;
}

/// What runs write is no code: with it each evaluation would change what the next one is.
CodeRequest request_of_code(const Json& code, const fs::path& runs) {
  return {.folder = code.at("folder").get<std::string>(),
          .patterns = code.at("files").get<std::vector<std::string>>(),
          .exclude = {runs}};
}

}  // namespace

Json read_evaluation_command(const Yaml& map) {
  Json command = {{"command", words_at(*map.find("command"), "command of evaluate")}};
  if (const Yaml* metrics = map.given("metrics")) {
    if (!metrics->is_sequence()) fail_at(*metrics, "metrics of evaluate must be a list, as program.metrics is");
    command["metrics"] = to_json(*metrics);
    try {
      metric_descriptions(command["metrics"]);
    } catch (const UsageError& error) {
      fail_at(*metrics, error.what());
    }
  }
  if (const Yaml* name = map.given("name")) command["name"] = scalar_text(*name, "name of evaluate");
  const std::vector<std::string> files = code_of_evaluation(map);
  if (!files.empty()) command["code"] = {{"files", files}};
  return command;
}

void leave_out_evaluation_code(Yaml& tree) {
  Yaml* program = tree.find("program");
  const Yaml* evaluate = tree.find("evaluate");
  if (program == nullptr || !program->is_map() || evaluate == nullptr) return;
  std::vector<std::string> added;
  for (const Yaml& map : evaluate->is_sequence() ? evaluate->items : std::vector<Yaml>{*evaluate}) {
    if (!map.is_map() || map.find("command") == nullptr) continue;
    for (const std::string& pattern : code_of_evaluation(map)) added.push_back(kNoCode + pattern);
  }
  if (added.empty()) return;
  std::vector<std::string> patterns;
  if (const Yaml* code = program->given("code")) patterns = words_at(*code, "program.code");
  for (std::string& pattern : added) {
    if (!contains(patterns, pattern)) patterns.push_back(std::move(pattern));
  }
  program->set("code", yaml_from_json(Json(patterns), "code of evaluate"));
}

void find_evaluation_code(Json& part, const ProgramOptions& program, const fs::path& runs) {
  if (!part.contains("code")) return;
  Json& code = part["code"];
  code["folder"] = program.folder;
  code["hash"] = read_code(request_of_code(code, runs)).hash;
}

void freeze_evaluation_code(const Json& part, const fs::path& runs) {
  const fs::path place = frozen_programs(runs);
  const std::string hash = evaluation_code(part);
  if (hash.empty() || fs::exists(code_folder(place, hash))) return;
  const Code code = read_code(request_of_code(part["code"], runs));
  if (code.hash != hash) {
    throw Error(fmt::format("the code of an evaluation in {} has changed meanwhile\nrun the same command again",
                            code.folder.string()));
  }
  freeze_code(code, place);
}

std::string evaluation_code(const Json& part) { return part.contains("code") ? part["code"].value("hash", "") : ""; }

void check_evaluation_command(const Yaml& command, const ProgramOptions& program) {
  check_placeholders(command, program, kSplitPlace);
  if (program.option(kSplitPlace) == nullptr || !uses_split(command)) return;
  fail_at(command,
          "{split} is the split that is evaluated, and the program has an option of this name\n"
          "let the command read the variable XLM_SPLIT, or give the option another name");
}

}  // namespace xlm
