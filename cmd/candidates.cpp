// Completion of a command line.
#include "cmd/candidates.h"

#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "base/yaml.h"
#include "cmd/results_store.h"
#include "datasets/corpora/registry.h"
#include "experiments/configuration/configuration.h"
#include "results/exhibits/exhibits.h"
#include "results/store/run_table.h"
#include "results/store/store.h"

namespace xlm {
namespace {

constexpr std::string_view kOneOf = "one of ";
constexpr std::string_view kComparisons = "!<>=";

/// The command line up to the cursor: its command, what was given so far, and the option that awaits a value.
struct Line {
  const CLI::App* command = nullptr;
  std::vector<std::string> arguments;
  const CLI::Option* awaiting = nullptr;  // the option whose value comes next
  GlobalOptions global;
  std::string profile;
};

bool is_shown(const CLI::Option& option) { return !option.get_group().empty(); }

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

const CLI::Option* find_option(const CLI::App& command, const std::string& word) {
  const std::string name = word.substr(word.starts_with("--") ? 2 : 1);
  for (const CLI::Option* option : command.get_options()) {
    const auto& names = word.starts_with("--") ? option->get_lnames() : option->get_snames();
    if (std::find(names.begin(), names.end(), name) != names.end()) return option;
  }
  return nullptr;
}

void take_value(Line& line, const CLI::Option& option, const std::string& value) {
  const auto is = [&](const char* name) { return option.check_lname(name); };
  if (is("runs")) line.global.runs = value;
  if (is("store")) line.global.store = value;
  if (is("profile")) line.profile = value;
}

Line read_line(const CLI::App& program, const std::vector<std::string>& words) {
  Line line{.command = &program};
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string& word = words[i];
    if (line.awaiting != nullptr) {
      take_value(line, *line.awaiting, word);
      line.awaiting = nullptr;
    } else if (word.size() > 1 && word.front() == '-') {
      const std::size_t equals = word.find('=');
      const CLI::Option* option = find_option(*line.command, word.substr(0, equals));
      if (option == nullptr || !takes_value(*option)) continue;
      if (equals == std::string::npos) {
        line.awaiting = option;
      } else {
        take_value(line, *option, word.substr(equals + 1));
      }
    } else {
      const auto inner = line.command->get_subcommands([&](const CLI::App* sub) { return sub->get_name() == word; });
      if (!inner.empty() && line.arguments.empty()) {
        line.command = inner.front();
      } else {
        line.arguments.push_back(word);
      }
    }
  }
  return line;
}

std::vector<Candidate> option_names(const CLI::App& command) {
  std::vector<Candidate> names;
  for (const CLI::Option* option : command.get_options()) {
    if (!is_shown(*option)) continue;
    for (const std::string& name : option->get_lnames()) {
      names.push_back({"--" + name, first_line(option->get_description())});
    }
  }
  return names;
}

std::vector<Candidate> command_names(const CLI::App& command) {
  std::vector<Candidate> names;
  for (const CLI::App* sub : command.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); })) {
    names.push_back({sub->get_name(), first_line(sub->get_description())});
  }
  return names;
}

std::vector<Candidate> plain_words(const std::vector<std::string>& texts) {
  std::vector<Candidate> words;
  words.reserve(texts.size());
  for (const std::string& text : texts) words.push_back({text, ""});
  return words;
}

/// Splits "text, markdown or csv (default: text)" into its words.
std::vector<Candidate> words_of_help(const std::string& help) {
  std::string list = help.substr(0, help.find_first_of("(;:"));
  for (std::size_t place = 0; (place = list.find(" or ")) != std::string::npos;) list.replace(place, 4, ",");
  std::vector<Candidate> words;
  for (const std::string& part : split(list, ',')) {
    const std::string word(trim(part));
    if (!word.empty() && word.find(' ') == std::string::npos) words.push_back({word, ""});
  }
  return words;
}

/// The options of every model. For a command that uses trained weights: only those that still have an effect.
std::vector<OptionEntry> configuration_entries(const Line& line) {
  std::vector<OptionEntry> entries;
  std::set<std::string> seen;
  const auto* const use = std::find(kWeightsUseNames.begin(), kWeightsUseNames.end(), line.command->get_name());
  for (std::size_t i = 0; i < model_types().size(); ++i) {
    const RunOptions defaults = default_run_options(i);
    for (const OptionEntry& entry : option_entries(defaults)) {
      if (use != kWeightsUseNames.end() &&
          !makes_a_difference(entry, static_cast<WeightsUse>(use - kWeightsUseNames.begin()),
                              defaults.model.scheme())) {
        continue;
      }
      if (seen.insert(entry.key + entry.range).second) entries.push_back(entry);
    }
  }
  return entries;
}

/// KEY= for every option of a configuration, or the values of a key that takes one of several.
std::vector<Candidate> settings(const Line& line, const std::string& current) {
  const std::size_t equals = current.find('=');
  std::set<std::string> seen;
  std::vector<Candidate> words;
  const auto add = [&](const std::string& text, const std::string& help) {
    if (seen.insert(text).second) words.push_back({text, first_line(help)});
  };
  for (const OptionEntry& entry : configuration_entries(line)) {
    if (equals == std::string::npos) {
      add(entry.key + "=", entry.help);
      continue;
    }
    if (entry.key != current.substr(0, equals)) continue;
    std::vector<std::string> values;
    if (entry.value.is_boolean()) values = {"true", "false"};
    if (entry.range.starts_with(kOneOf)) values = split(entry.range.substr(kOneOf.size()), ',');
    for (const std::string& value : values) add(entry.key + "=" + std::string(trim(value)), "");
  }
  return words;
}

/// The store, not synced; nullopt if there is none.
std::optional<Store> store_of(const Line& line) {
  const fs::path file = line.global.store_file();
  if (!fs::exists(file)) return std::nullopt;
  return Store::open_read_only(file);
}

std::vector<Candidate> run_ids(const Line& line) {
  std::vector<Candidate> words;
  std::error_code error;
  for (fs::directory_iterator entry(line.global.runs, error), end; !error && entry != end; entry.increment(error)) {
    if (fs::exists(entry->path() / "journal.jsonl")) words.push_back({entry->path().filename().string(), ""});
  }
  return words;
}

std::vector<Candidate> columns(const Line& line, std::string_view suffix) {
  std::optional<Store> store = store_of(line);
  std::vector<Candidate> words;
  if (!store) return words;
  for (const std::string& name : RunTable(*store).column_names()) words.push_back({name + std::string(suffix), ""});
  return words;
}

std::vector<Candidate> values_of(const Line& line, const std::string& column, const std::string& before) {
  std::optional<Store> store = store_of(line);
  if (!store) return {};
  RunTable runs(*store);
  std::set<std::string> values;
  for (const Value& value : runs.column_or_nothing(column)) {
    if (!is_missing(value)) values.insert(before.empty() ? to_text(value) : before + to_word(value));
  }
  return plain_words({values.begin(), values.end()});
}

/// Conditions KEY=VALUE on columns of the store.
std::vector<Candidate> conditions(const Line& line, const std::string& current) {
  const std::size_t end = current.find_first_of(kComparisons);
  if (end == std::string::npos) return columns(line, "=");
  const std::size_t value = std::min(current.find_first_not_of(kComparisons, end), current.size());
  return values_of(line, current.substr(0, end), current.substr(0, value));
}

/// The files on the line that are YAML.
std::vector<fs::path> recipes(const Line& line) {
  std::vector<fs::path> files;
  for (const std::string& argument : line.arguments) {
    if (argument.find('=') == std::string::npos && fs::is_regular_file(argument)) files.emplace_back(argument);
  }
  return files;
}

std::vector<Candidate> profiles(const Line& line) {
  std::vector<Candidate> words;
  for (const fs::path& file : recipes(line)) {
    const Yaml tree = read_yaml(file);
    const Yaml* found = tree.find("profiles");
    if (found == nullptr || !found->is_map()) continue;
    for (const auto& entry : found->entries) words.push_back({entry.first, ""});
  }
  return words;
}

std::vector<Candidate> exhibit_names(const Line& line) {
  const std::string& command = line.command->get_name();
  const ExhibitKind kind = command == "table"    ? ExhibitKind::kTable
                           : command == "figure" ? ExhibitKind::kFigure
                                                 : ExhibitKind::kContinuation;
  std::vector<Candidate> words;
  for (const fs::path& file : recipes(line)) {
    for (const Yaml& exhibit : find_exhibits(read_configuration(file, line.profile, {}), kind)) {
      const Yaml* title = exhibit.find(command);
      const Yaml* name = exhibit.find("name");
      if (name != nullptr) {
        words.push_back({name->scalar, title == nullptr ? "" : title->scalar});
      } else if (title != nullptr) {
        words.push_back({name_from_title(title->scalar), title->scalar});
      }
    }
  }
  return words;
}

/// Values of an option or of a positional argument.
Candidates values(const Line& line, const CLI::Option& option, const std::string& current) {
  const std::string type = option.get_type_name();
  const std::string name = option.get_lnames().empty() ? option.get_name() : option.get_lnames().front();
  if (name == "DATASET") {
    std::vector<Candidate> words;
    for (const Corpus& corpus : corpora()) {
      words.push_back({std::string(corpus.name), first_line(std::string(corpus.summary))});
    }
    return {std::move(words)};
  }
  if (name == "COMMAND") return {command_names(*line.command->get_parent())};
  if (name == "profile") return {profiles(line)};
  if (name == "experiment") return {values_of(line, "experiment", "")};
  if (name == "name") return {exhibit_names(line)};
  if (name == "RUN" || type == "MODEL") return {run_ids(line), true};
  if (type == "KEY=VALUE") return {settings(line, current)};
  if (type == "CONDITION") return {conditions(line, current)};
  if (type == "COLUMN" || type == kColumnList) return {columns(line, "")};
  if (type.find('|') != std::string::npos) return {plain_words(split(type, '|'))};
  if (type == "FORMAT" || type == "SPLIT" || type == "SHELL") return {words_of_help(option.get_description())};
  return {{}, true};
}

const CLI::Option* argument_option(const CLI::App& command, std::size_t index) {
  const CLI::Option* last = nullptr;
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_positional()) continue;
    if (index == 0 || option->get_items_expected_max() > 1) return option;
    --index;
    last = option;
  }
  return last;
}

/// The part of a list before the item that is being typed: "a,b," of "a,b,c".
std::string list_before(const CLI::Option& option, const std::string& current) {
  const bool is_list = option.get_delimiter() == ',' || option.get_type_name() == kColumnList;
  const std::size_t comma = current.rfind(',');
  return !is_list || comma == std::string::npos ? "" : current.substr(0, comma + 1);
}

Candidates all_candidates(const Line& line, const std::string& current) {
  const CLI::Option* option = line.awaiting;
  std::string before;
  if (option == nullptr && current.starts_with("-")) {
    const std::size_t equals = current.find('=');
    if (equals == std::string::npos) return {option_names(*line.command)};
    option = find_option(*line.command, current.substr(0, equals));
    before = current.substr(0, equals + 1);
  }
  if (option == nullptr) {
    std::vector<Candidate> names = command_names(*line.command);
    if (!names.empty()) return {std::move(names)};
    option = argument_option(*line.command, line.arguments.size());
  }
  if (option == nullptr) return {};
  before += list_before(*option, current.substr(before.size()));
  Candidates found = values(line, *option, current.substr(before.size()));
  for (Candidate& word : found.words) word.text = before + word.text;
  return found;
}

}  // namespace

Candidates candidates(const CLI::App& program, const std::vector<std::string>& words) {
  const Line line = read_line(program, words);
  const std::string current = words.empty() ? "" : words.back();
  Candidates found;
  try {
    found = all_candidates(line, current);
  } catch (const Error&) {  // a recipe or a store that cannot be read: the command itself reports it
    return {{}, true};
  }
  std::erase_if(found.words, [&](const Candidate& word) { return !word.text.starts_with(current); });
  std::sort(found.words.begin(), found.words.end(),
            [](const Candidate& a, const Candidate& b) { return a.text < b.text; });
  return found;
}

}  // namespace xlm
