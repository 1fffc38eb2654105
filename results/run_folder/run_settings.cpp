#include "results/run_folder/run_settings.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/sha256.h"
#include "base/text.h"
#include "base/yaml.h"
#include "results/run_folder/record_fields.h"

namespace xlm {
namespace {

void read_config(Run& run) {
  const RunPaths paths{run.folder};
  if (!fs::exists(paths.config())) {
    throw DataError(fmt::format("{} is missing, so the run cannot be read", paths.config().string()));
  }
  try {
    flatten(to_json(read_yaml(paths.config())), "", run.params);
  } catch (const UsageError& error) {
    throw DataError(error.what());  // the user did not write this file
  }
}

void add_contents(Run& run) {
  if (const auto contents = run.environment.find("contents"); contents != run.environment.end()) {
    for (const auto& [key, content] : contents->items()) {
      if (content.is_string()) run.contents[key] = content.get<std::string>();
    }
  }
  if (const auto code = run.contents.find("program.folder"); code != run.contents.end()) {
    run.params.emplace_back(kProgramFingerprint, code->second);
  }
}

/// What surrounds a program's run.
void add_surroundings(Run& run) {
  const auto program = run.environment.find("program");
  if (program == run.environment.end() || !program->is_object()) return;
  if (program->contains("packages")) {
    constexpr std::size_t kDigits = 8;
    const std::string all = text_field(*program, "python") + "\n" + program->at("packages").dump();
    run.params.emplace_back(kPackages, sha256(all).substr(0, kDigits));
  }
  if (program->contains("variables")) {
    std::vector<std::string> all;
    for (const auto& [name, value] : program->at("variables").items()) all.push_back(name + "=" + value.dump());
    for (std::string& one : all) std::erase(one, '"');
    run.params.emplace_back(kVariables, join(all, ", "));
  }
}

/// The seed of the run it begins from, and the place of that run, are no settings.
void set_parent(Run& run) {
  const auto parent = run.environment.find("parent");
  if (parent != run.environment.end() && parent->is_object()) {
    run.parent = text_field(*parent, "run");
    run.parent_step = integer_field(*parent, "step");
  } else {
    std::erase_if(run.params, [](const auto& entry) { return entry.first.starts_with("continue."); });
  }
  if (const std::string source = text_field(run.environment, "source_setting"); !source.empty()) {
    const char* source_key = run.parent.empty() ? "model.init_from" : "continue.run";
    for (auto& [key, value] : run.params) {
      if (key == source_key) value = source;
    }
    run.contents.erase(source_key);
  }
}

void add_data(Run& run) {
  const std::string fingerprint = text_field(run.environment, "fingerprint");
  if (!fingerprint.empty()) run.params.emplace_back("data.fingerprint", fingerprint);
  const Json texts = run.environment.value("texts", Json::object());
  for (const auto& [split, text] : texts.items()) {
    run.params.emplace_back(std::string(kTextOf) + split, text);
  }
  const auto tokens = run.environment.find("train_tokens");
  if (tokens != run.environment.end() && tokens->is_number_integer()) {
    run.params.emplace_back(kTrainTokens, *tokens);
  }
}

}  // namespace

void read_settings(Run& run) {
  read_config(run);
  const RunPaths paths{run.folder};
  std::error_code ignored;
  if (!fs::exists(paths.environment(), ignored)) return;
  run.environment = read_json_object(paths.environment());
  const std::string dataset = text_field(run.environment, "dataset");
  if (!dataset.empty()) {
    run.params.emplace_back("data.name", data_name(dataset, text_field(run.environment, "language")));
  }
  add_contents(run);
  add_surroundings(run);
  if (const double threads = number_field(run.environment, "threads"); threads > 0) {
    const auto all = static_cast<std::int64_t>(threads * std::max(number_field(run.environment, "processes"), 1.0));
    run.params.emplace_back(kThreads, all);
  }
  set_parent(run);
  run.is_evaluation = !text_field(run.environment, "model_sha256").empty();
  add_data(run);
}

}  // namespace xlm
