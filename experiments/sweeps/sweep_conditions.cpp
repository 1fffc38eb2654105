// Checks that keys can have the values that a sweep's conditions ask for.
#include "experiments/sweeps/sweep_conditions.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/files.h"
#include "base/lookup.h"
#include "base/text.h"
#include "experiments/configuration/configuration.h"

namespace xlm {
namespace {

constexpr std::string_view kOneOf = "one of ";  // the beginning of a choice's range

/// " (did you mean '256'?)": the nearest number, or the text with the most similar spelling.
std::string nearest_of(const Yaml& asked, const std::vector<std::string>& values) {
  double wanted = 0;
  if (!asked.is_scalar() || !parse_real(asked.scalar, wanted)) {
    return asked.is_scalar() ? did_you_mean(asked.scalar, values) : "";
  }
  const std::string* nearest = nullptr;
  double least = 0;
  for (const std::string& value : values) {
    double number = 0;
    if (!parse_real(value, number) || (nearest != nullptr && std::abs(number - wanted) >= least)) continue;
    nearest = &value;
    least = std::abs(number - wanted);
  }
  return nearest == nullptr ? "" : fmt::format(" (did you mean '{}'?)", *nearest);
}

/// The values that each key can have, from everything in the file and on the command line.
class TakenValues {
 public:
  void add(const Yaml& tree) {
    trees_.push_back(&tree);
    const Yaml* sweep = tree.find("sweep");
    if (sweep == nullptr) return;
    if (const Yaml* grid = sweep->find("grid")) add_lists(*grid);
    if (const Yaml* zip = sweep->find("zip")) {
      add_lists(*zip);
      for (const Yaml& block : zip->items) add_lists(block);
    }
    if (const Yaml* random = sweep->find("random")) add_keys(*random);
    if (const Yaml* search = sweep->given("search")) {
      add_keys(*search);
      open_.insert("seed");
    }
    if (const Yaml* include = sweep->find("include")) {
      for (const Yaml& point : include->items) {
        for (const auto& [key, value] : point.entries) swept_[key].push_back(value);
      }
    }
  }

  bool is_swept(const std::string& key) const { return swept_.contains(key); }

  /// Whether a key may have values that cannot be listed.
  bool is_open(const std::string& key) const { return open_.contains(key); }

  /// The values that lists give a swept key.
  std::vector<Yaml> swept(const std::string& key) const { return value_or(swept_, key, {}); }

  /// The same, and the file's value for a key that is not swept.
  std::vector<Yaml> of(const std::string& key) const {
    std::vector<Yaml> values = swept(key);
    for (const Yaml* tree : trees_) {
      if (const Yaml* set = find_path(*tree, key)) values.push_back(*set);
    }
    return values;
  }

 private:
  void add_lists(const Yaml& map) {
    for (const auto& [key, list] : map.entries) {
      if (!list.is_null()) swept_[key].insert(swept_[key].end(), list.items.begin(), list.items.end());
    }
  }

  /// Keys with lists of choices, or with ranges.
  void add_keys(const Yaml& section) {
    const Yaml* keys = section.find("keys");
    if (keys == nullptr) return;
    for (const auto& [key, values] : keys->entries) {
      if (values.items.empty()) open_.insert(key);
      if (!values.items.empty()) swept_[key].insert(swept_[key].end(), values.items.begin(), values.items.end());
    }
  }

  std::vector<const Yaml*> trees_;
  std::map<std::string, std::vector<Yaml>> swept_;
  std::set<std::string> open_;
};

/// What the models declare about an option.
struct KnownOption {
  std::vector<Json> defaults;
  std::vector<std::string> choices;  // that any model takes; empty: in some model it is no choice
};

std::map<std::string, KnownOption> known_options() {
  std::map<std::string, KnownOption> options;
  std::set<std::string> free;
  for (std::size_t model = 0; model < model_types().size(); ++model) {
    for (const OptionEntry& entry : option_entries(default_run_options(model))) {
      KnownOption& option = options[entry.key];
      option.defaults.push_back(entry.value);
      if (!entry.range.starts_with(kOneOf)) free.insert(entry.key);
      for (const std::string& name : split(entry.range.substr(std::min(kOneOf.size(), entry.range.size())), ',')) {
        option.choices.emplace_back(trim(name));
      }
    }
  }
  for (const std::string& key : free) options[key].choices.clear();
  return options;
}

class ConditionCheck {
 public:
  explicit ConditionCheck(const TakenValues& taken) : taken_(taken) {}

  void check(const Yaml& tree) const {
    if (const Yaml* sweep = tree.find("sweep")) {
      if (const Yaml* exclude = sweep->find("exclude")) {
        for (const Yaml& point : exclude->items) check_exclusion(point);
      }
      if (const Yaml* when = sweep->find("when")) {
        for (const auto& [key, conditions] : when->entries) check_map("sweep.when of '" + key + "'", conditions);
      }
    }
    const Yaml* evaluate = tree.given("evaluate");
    if (evaluate == nullptr) return;
    for (const Yaml& block : evaluate->is_sequence() ? evaluate->items : std::vector<Yaml>{*evaluate}) {
      if (const Yaml* where = block.find("where")) check_map("'where' of evaluate", *where);
    }
  }

 private:
  /// Points are excluded only by values from the lists. Reading the sweep reports wrong keys.
  void check_exclusion(const Yaml& point) const {
    for (const auto& [key, value] : point.entries) {
      const std::vector<Yaml> swept = taken_.swept(key);
      if (!swept.empty() && !taken_.is_open(key) && !is_one_of(swept, value)) {
        refuse("sweep.exclude", key, value, texts_of(swept));
      }
    }
  }

  /// Each key has one of several values.
  void check_map(const std::string& section, const Yaml& conditions) const {
    for (const auto& [key, wanted] : conditions.entries) {
      for (const Yaml& value : wanted.is_sequence() ? wanted.items : std::vector<Yaml>{wanted}) {
        check_value(section, key, value);
      }
    }
  }

  void check_value(const std::string& section, const std::string& key, const Yaml& value) const {
    if (taken_.is_open(key)) return;
    const std::vector<Yaml> taken = taken_.of(key);
    if (std::ranges::any_of(taken, [&](const Yaml& one) { return is_same_value(one, value); })) return;
    const auto option = options_.find(key);
    if (option != options_.end()) {
      const std::vector<Json>& defaults = option->second.defaults;
      if (contains(defaults, to_json(value))) return;
    }
    std::vector<std::string> names;
    if (taken_.is_swept(key)) {
      names = texts_of(taken);
    } else if (option != options_.end()) {
      names = option->second.choices;
      if (contains(names, value.scalar)) return;
    }
    if (!names.empty()) refuse(section, key, value, names);
  }

  static bool is_one_of(const std::vector<Yaml>& values, const Yaml& asked) {
    return std::ranges::any_of(values, [&](const Yaml& one) { return to_json(one) == to_json(asked); });
  }

  static std::string text_of(const Yaml& value) { return value.is_scalar() ? value.scalar : to_json(value).dump(); }

  /// Each value once.
  static std::vector<std::string> texts_of(const std::vector<Yaml>& values) {
    std::vector<std::string> texts;
    for (const Yaml& value : values) {
      const std::string text = text_of(value);
      if (!contains(texts, text)) texts.push_back(text);
    }
    return texts;
  }

  [[noreturn]] static void refuse(const std::string& section, const std::string& key, const Yaml& value,
                                  const std::vector<std::string>& taken) {
    fail_at(value, fmt::format("{} asks for '{}' of {}, which never has that value{}\nit has {}", section,
                               text_of(value), key, nearest_of(value, taken), join(taken, ", ")));
  }

  const TakenValues& taken_;
  std::map<std::string, KnownOption> options_ = known_options();
};

}  // namespace

bool is_same_value(const Yaml& a, const Yaml& b) {
  const Json left = to_json(a);
  const Json right = to_json(b);
  if (left == right) return true;
  const auto place = [](const Json& text) { return (fs::current_path() / text.get<std::string>()).lexically_normal(); };
  return left.is_string() && right.is_string() && place(left) == place(right);
}

void check_condition_values(const Yaml& file, const Yaml& tree) {
  TakenValues taken;
  std::vector<const Yaml*> trees{&file, &tree};
  if (const Yaml* profiles = file.find("profiles"); profiles != nullptr && profiles->is_map()) {
    for (const auto& [name, profile] : profiles->entries) trees.push_back(&profile);
  }
  for (const Yaml* each : trees) taken.add(*each);
  const ConditionCheck conditions(taken);
  for (const Yaml* each : trees) conditions.check(*each);
}

}  // namespace xlm
