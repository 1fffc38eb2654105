// Values that another sweep chooses.
#include "experiments/configuration/best_of.h"

#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "experiments/configuration/configuration.h"

namespace xlm {
namespace {

constexpr const char* kMark = "best_of";
constexpr const char* kProfile = "profile";

/// Conditions as a map of dotted names, whichever way they were written.
void flatten_into(Yaml& flat, const std::string& prefix, const Yaml& node) {
  for (const auto& [key, value] : node.entries) {
    const std::string name = prefix.empty() ? key : prefix + "." + key;
    if (value.is_map()) {
      flatten_into(flat, name, value);
    } else {
      flat.entries.emplace_back(name, value);
    }
  }
}

std::string text_at(const Yaml& map, const char* key) {
  const Yaml* node = map.find(key);
  return node == nullptr ? "" : scalar_text(*node, fmt::format("'{}'", key));
}

/// A condition for each key that `alike` lists: the value that the run itself has there.
void add_alike(BestOf& best, const Yaml& alike, const Yaml& configuration) {
  const std::vector<Yaml> keys = alike.is_sequence() ? alike.items : std::vector<Yaml>{alike};
  for (const Yaml& key : keys) {
    const std::string name = scalar_text(key, "a key of 'alike'");
    const Yaml* own = find_path(configuration, name);
    if (own == nullptr || !own->is_scalar()) {
      fail_at(key, fmt::format("'alike' names '{}', which the configuration does not set to one value\n"
                               "set it in the file, even if it is the default",
                               name));
    }
    best.where.entries.emplace_back(name, *own);
  }
}

BestOf read_best_of(const std::string& key, const Yaml& node, const Yaml& configuration) {
  refuse_unknown(node, {kMark, "by", "where", "alike", "fallback", kProfile});
  BestOf best{.key = key,
              .file = fs::path(text_at(node, kMark)),
              .profile = text_at(node, kProfile),
              .by = text_at(node, "by"),
              .where = make_map(node.where()),
              .place = node.where()};
  if (best.file.empty()) fail_at(node, fmt::format("{} of '{}' names no file of a sweep", kMark, key));
  if (best.by.empty()) fail_at(node, fmt::format("'{}' does not say what is compared: add `by: valid.bpc`", key));
  // A command line is no file: what it says is relative to the current folder.
  if (best.file.is_relative() && node.source && fs::is_regular_file(*node.source)) {
    best.file = (fs::path(*node.source).parent_path() / best.file).lexically_normal();
  }
  if (const Yaml* where = node.given("where")) {
    if (!where->is_map()) fail_at(*where, "where must be a map, such as {model.recurrence.pool: mean}");
    flatten_into(best.where, "", *where);
  }
  if (const Yaml* alike = node.given("alike")) add_alike(best, *alike, configuration);
  if (const Yaml* fallback = node.given("fallback")) {
    if (fallback->is_map()) fail_at(*fallback, "fallback must be a value");
    best.fallback = *fallback;
  }
  return best;
}

/// Calls `use` with every such map below `node`, with its dotted key, and whether it is an item of a list.
template <class Use>
void visit(Yaml& node, const std::string& key, const Use& use) {
  for (auto& [name, value] : node.entries) {
    const std::string below = key.empty() ? name : key + "." + name;
    if (is_best_of(value)) {
      use(value, below, false);
    } else {
      visit(value, below, use);
    }
  }
  for (Yaml& item : node.items) {
    if (is_best_of(item)) {
      use(item, key, true);
    } else {
      visit(item, key, use);
    }
  }
}

}  // namespace

bool is_best_of(const Yaml& value) { return value.is_map() && value.find(kMark) != nullptr; }

void note_profile(Yaml& tree, const std::string& profile) {
  if (profile.empty()) return;
  visit(tree, "", [&](Yaml& map, const std::string& /*key*/, bool /*in_list*/) {
    if (map.find(kProfile) == nullptr) map.entries.emplace_back(kProfile, make_scalar(profile, map.where()));
  });
}

std::vector<RecordedChoice> choose_values(Yaml& configuration, const ChooseValue& choose) {
  std::vector<std::pair<BestOf, Yaml*>> asked;
  visit(configuration, "", [&](Yaml& map, const std::string& key, bool in_list) {
    if (in_list)
      fail_at(map, fmt::format("{} gives '{}' its whole value, so it cannot be an item of a list", kMark, key));
    asked.emplace_back(read_best_of(key, map, configuration), &map);
  });
  std::vector<RecordedChoice> choices;
  for (const auto& [best, place] : asked) {
    if (!choose) {
      throw UsageError(
          fmt::format("{}: '{}' is the winner of another sweep, which only `xlm sweep` and `xlm train` "
                      "look up\ngive it a value",
                      best.place, best.key));
    }
    ChosenValue chosen = choose(best);
    choices.push_back({.key = best.key,
                       .value = to_json(chosen.value),
                       .file = best.file.filename().string(),
                       .by = best.by,
                       .runs = std::move(chosen.runs)});
    *place = std::move(chosen.value);
  }
  return choices;
}

Yaml configuration_of_other(const BestOf& best) {
  if (!fs::is_regular_file(best.file)) {
    throw UsageError(
        fmt::format("{}: best_of of '{}' names a file that does not exist: {}\n"
                    "name it relative to this file",
                    best.place, best.key, best.file.string()));
  }
  const Yaml file = read_yaml(best.file);
  const Yaml* profiles = file.find("profiles");
  const bool has_profile = profiles != nullptr && profiles->find(best.profile) != nullptr;
  return configuration_of(file, best.file, has_profile ? best.profile : "", {});
}

std::string command_of_other(const BestOf& best) {
  std::string command = "xlm sweep " + shell_word(best.file.string());
  if (!best.profile.empty()) command += " --profile " + shell_word(best.profile);
  return command;
}

}  // namespace xlm
