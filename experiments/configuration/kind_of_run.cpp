// Runs of both kinds in one file.
#include "experiments/configuration/kind_of_run.h"

#include <set>
#include <string>

#include "experiments/configuration/configuration.h"

namespace xlm {
namespace {

std::set<std::string> keys_of_models() {
  std::set<std::string> keys;
  for (std::size_t model = 0; model < model_types().size(); ++model) {
    for (const OptionEntry& entry : option_entries(default_run_options(model))) keys.insert(entry.key);
  }
  return keys;
}

std::set<std::string> keys_of_programs() {
  RunConfiguration run;
  run.program = ProgramOptions{};
  std::set<std::string> keys;
  for (const OptionEntry& entry : option_entries(run)) keys.insert(entry.key);
  return keys;
}

/// Removes values by dotted key, and maps that are empty then.
void remove_keys(Yaml& map, const std::string& prefix, const std::set<std::string>& keys) {
  std::erase_if(map.entries, [&](Yaml::Entry& entry) {
    const std::string key = prefix + entry.first;
    if (keys.contains(key)) return true;
    if (!entry.second.is_map() || entry.second.entries.empty()) return false;
    remove_keys(entry.second, key + ".", keys);
    return entry.second.entries.empty();
  });
}

}  // namespace

bool is_run_of_program(const Yaml& tree) {
  if (given_at(tree, "program") == nullptr) return false;
  const Yaml* model = given_at(tree, "model");
  if (model == nullptr) return true;
  if (const Yaml* type = given_at(tree, "model.type")) return type->scalar == kProgramType;
  fail_at(*model,
          "there are both `program` and `model`, and model.type does not say which of them the run is\n"
          "add model.type, `program` or that of a model; or remove `model` or `program`");
}

void drop_model(Yaml& tree) {
  if (given_at(tree, "model.type") == nullptr) return;
  std::set<std::string> keys = keys_of_models();
  for (const std::string& key : keys_of_programs()) keys.erase(key);
  remove_keys(tree, "", keys);
}

}  // namespace xlm
