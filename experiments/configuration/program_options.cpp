// A program of the user's as a run.
#include "experiments/configuration/program_options.h"

#include <algorithm>

#include <fmt/format.h>
#include <re2/re2.h>

#include "base/error.h"
#include "base/files.h"
#include "base/lookup.h"
#include "base/text.h"
#include "experiments/configuration/placeholders.h"
#include "experiments/configuration/run_id.h"
#include "experiments/programs/metric_description.h"
#include "experiments/programs/quantity_directions.h"
#include "results/run_folder/run_folder.h"

namespace xlm {
namespace {

constexpr double kMaxGrace = 86'400;

[[noreturn]] void fail_with_name(const Yaml& node, const std::string& name) {
  fail_at(node,
          fmt::format("options.{}: a name of letters, digits, _ and - is needed, beginning with a letter or _", name));
}

/// A whole number that is rounded would stand for other numbers, too. Readers of YAML 1.1 take 010 for 8, and a text
/// that is made of digits (a code, a version such as 3.10) would lose its zeros.
void check_digits(const Yaml& value, const std::string& name) {
  for (const Yaml& item : value.items) check_digits(item, name);
  if (!value.is_scalar() || !to_json(value).is_number()) return;
  const std::size_t zero = value.scalar.find_first_not_of("+-");
  if (value.scalar[zero] == '0' && zero + 1 < value.scalar.size() && to_json(value).is_number_integer() &&
      value.scalar.find_first_not_of("0123456789", zero) == std::string::npos) {
    fail_at(value, fmt::format("options.{}: {} is another number for other readers of YAML\n"
                               "write the number without zeros before it, or \"{}\" for a text",
                               name, value.scalar, value.scalar));
  }
  if (!to_json(value).is_number_float()) return;
  const std::size_t point = value.scalar.find('.');
  if (value.scalar[zero] != '0' && value.scalar.back() == '0' && point != std::string::npos &&
      point + 2 < value.scalar.size() && value.scalar.find_first_not_of("0123456789.", zero) == std::string::npos) {
    fail_at(value, fmt::format("options.{}: {} is the number {}\nwrite that, or \"{}\" for a text, such as a version",
                               name, value.scalar, to_json(value).dump(), value.scalar));
  }
  if (value.scalar.find_first_not_of("+-0123456789") != std::string::npos) return;
  fail_at(value, fmt::format("options.{}: {} has more digits than numbers keep here (up to 2^63 - 1)\n"
                             "write it in quotation marks, to hand it on as a text: \"{}\"",
                             name, value.scalar, value.scalar));
}

/// Numbers, texts, booleans and lists of them; nested maps become dotted keys.
void read_options(const Yaml& map, const std::string& prefix, std::vector<std::pair<std::string, Json>>& out) {
  for (const auto& [key, value] : map.entries) {
    const std::string name = prefix + key;
    if (key.find('.') != std::string::npos) fail_with_name(value, name);
    check_option_name(value, name);
    if (value.is_map()) {
      read_options(value, name + ".", out);
      continue;
    }
    const bool flat = std::ranges::all_of(value.items, [](const Yaml& i) { return i.is_scalar(); });
    if (value.is_null() || !flat) {
      fail_at(value, fmt::format("options.{} must be a number, a text, true, false, or a list of these", name));
    }
    check_digits(value, name);
    out.emplace_back(name, to_json(value));
  }
}

std::map<std::string, std::string> read_environment(const Yaml& node) {
  if (!node.is_map()) fail_at(node, "program.environment must be a map of names to texts");
  std::map<std::string, std::string> environment;
  for (const auto& [name, value] : node.entries) {
    if (name.empty() || name.find('=') != std::string::npos || name.starts_with("XLM_")) {
      fail_at(value, fmt::format("program.environment: '{}' is no name of a variable that can be set here", name));
    }
    environment[name] = scalar_text(value, "program.environment." + name);
  }
  return environment;
}

/// Complains with the place. Patterns may have other braces.
void check_metrics(const Yaml& node, const ProgramOptions& program) {
  try {
    for (const MetricDescription& metric : metric_descriptions(program.metrics)) {
      if (metric.kind != MetricKind::kLines) check_placeholders(make_scalar(metric.target, node.where()), program);
    }
  } catch (const UsageError& error) {
    if (std::string(error.what()).starts_with(node.where())) throw;
    fail_at(node, error.what());
  }
}

/// A number of options may stand for train.steps: `train: {steps: "{iterations}"}`.
void fill_steps(Yaml& tree, const ProgramOptions& program) {
  Yaml* train = tree.find("train");
  Yaml* steps = train == nullptr ? nullptr : train->find("steps");
  if (steps == nullptr || !steps->is_scalar()) return;
  check_placeholders(*steps, program);
  if (placeholders_in(steps->scalar).empty()) return;
  steps->scalar = filled(steps->scalar, program, {});
  steps->quoted = false;
}

/// Whether Hydra takes a text for one as it stands: numbers, truth values and lists of its grammar need quotes.
bool is_plain_in_hydra(const std::string& text) {
  static const RE2 plain("[A-Za-z_/][A-Za-z0-9_./+-]*");
  static const RE2 value("(?i)inf|nan|null|true|false");
  return RE2::FullMatch(text, plain) && !RE2::FullMatch(text, value);
}

/// A value as Hydra's grammar reads it back. Backslashes count only in front of a quote, of the text's end and of ${,
/// which would be resolved (hydra-core 1.3.8, omegaconf 2.3.1).
std::string hydra_word(const Json& value) {
  if (value.is_array()) return "[" + join(mapped(value, hydra_word), ",") + "]";
  std::string text = value_text(value);
  if (!value.is_string() || is_plain_in_hydra(text)) return text;
  static const RE2 special(R"((\\*)('|\$\{))", RE2::Latin1);
  static const RE2 at_end(R"((\\+)$)", RE2::Latin1);
  RE2::GlobalReplace(&text, special, R"(\1\1\\\2)");
  RE2::GlobalReplace(&text, at_end, R"(\1\1)");
  return "'" + text + "'";
}

std::string name_of_folder(const std::string& folder) {
  std::string name = folder_name((fs::absolute(folder) / "").lexically_normal().parent_path().filename().string());
  name.erase(0, std::min(name.find_first_not_of("-."), name.size()));
  return name.empty() ? kProgramType : name;
}

OptionEntry entry_named(std::string key, std::string help, Json value, bool affects_result) {
  OptionEntry entry;
  entry.key = std::move(key);
  entry.help = std::move(help);
  entry.value = std::move(value);
  entry.affects_result = affects_result;
  return entry;
}

/// The map at the end of a path, made if it is missing; null if something else stands there.
Yaml* map_at(Yaml& map, const std::string& key, const Yaml& like) {
  if (map.find(key) == nullptr) {
    Yaml made = make_map(*like.source);
    made.line = like.line;
    map.entries.emplace_back(key, std::move(made));
  }
  Yaml* found = map.find(key);
  return found->is_map() ? found : nullptr;
}

}  // namespace

const Json* ProgramOptions::option(std::string_view key) const {
  for (const auto& [known, value] : options) {
    if (known == key) return &value;
  }
  return nullptr;
}

void ProgramOptions::set_option(const std::string& key, Json value) {
  for (auto& [known, old] : options) {
    if (known != key) continue;
    old = std::move(value);
    return;
  }
  options.emplace_back(key, std::move(value));
}

void ProgramOptions::visit(OptionVisitor& v) {
  v.field({.name = "name",
           .help = "what run ids and the column program.name call it; empty: the name of its folder",
           .affects_result = false},
          name);
  v.field({.name = "folder",
           .help = "where its code is; the run id holds the content of the code, wherever it lies",
           .affects_result = false},
          folder);
  v.field(
      {.name = "resume",
       .help = "checkpoint: started again with XLM_RESUME=1 where {checkpoints} holds a file; restart: from nothing",
       .affects_result = false},
      resume, kResumeNames);
  v.field({.name = "grace",
           .help = "seconds between the request to stop (SIGTERM) and its end (SIGKILL)",
           .min = 0,
           .max = kMaxGrace,
           .affects_result = false},
          grace);
  v.field(
      {.name = "stop",
       .help = "which of its processes get SIGTERM: the first, and the others after half of the grace, or all at once",
       .affects_result = false},
      stop, kStopNames);
  v.field(
      {.name = "flags",
       .help =
           "true adds --KEY VALUE of every option to the command, negated also --no-KEY for false, hydra KEY=VALUE"},
      flags, kFlagsNames);
}

ProgramOptions take_program_options(Yaml& tree) {
  ProgramOptions program;
  Yaml given = tree.take("program");
  if (!given.is_map()) fail_at(given, "program must be a map such as {command: [python3, train.py]}");
  const Yaml options = tree.take("options");
  if (!options.is_null() && !options.is_map()) fail_at(options, "options must be a map such as {lr: 0.1, layers: 4}");
  read_options(options, "", program.options);
  const Yaml command = given.take("command");
  if (const Yaml code = given.take("code"); !code.is_null()) program.code = words_at(code, "program.code");
  if (const Yaml environment = given.take("environment"); !environment.is_null()) {
    program.environment = read_environment(environment);
    check_placeholders(environment, program);
  }
  if (const Yaml metrics = given.take("metrics"); !metrics.is_null()) {
    if (!metrics.is_sequence())
      fail_at(metrics, "program.metrics must be a list such as [{lines: 'loss (?<loss>\\S+)'}]");
    program.metrics = to_json(metrics);
    check_metrics(metrics, program);
  }
  if (const Yaml better = given.take("better"); !better.is_null()) program.better = read_directions(better);
  Yaml rest = make_map(*given.source);
  rest.set("program", std::move(given));
  OptionReader reader(rest,
                      {"program.command", "program.code", "program.environment", "program.metrics", "program.better"});
  reader.group("program", "", program);  // refuses "comand"
  if (command.is_null())
    fail_at(*rest.find("program"), "program.command is missing\nadd it: [python3, train.py, --lr, \"{lr}\"]");
  program.command = words_at(command, "program.command");
  check_placeholders(command, program);
  fill_steps(tree, program);
  if (program.name.empty()) program.name = name_of_folder(program.folder);
  program.name = folder_name(program.name);
  return program;
}

void drop_program(Yaml& tree) {
  if (tree.find("program") == nullptr) return;
  tree.take("program");
  ProgramOptions program;
  if (const Yaml options = tree.take("options"); options.is_map()) read_options(options, "", program.options);
  fill_steps(tree, program);
}

std::map<std::string, std::string> declared_directions(const Yaml& tree) {
  const Yaml* program = tree.find("program");
  const Yaml* better = program == nullptr ? nullptr : program->given("better");
  return better == nullptr ? std::map<std::string, std::string>{} : read_directions(*better);
}

std::vector<std::string> words_at(const Yaml& node, const std::string& what) {
  if (!node.is_sequence() || node.items.empty()) {
    fail_at(node, fmt::format("{} must be a list of words, such as [python3, train.py, --lr, \"{{lr}}\"]", what));
  }
  return mapped(node.items, [&](const Yaml& item) { return scalar_text(item, "a word of " + what); });
}

void check_option_name(const Yaml& node, const std::string& name) {
  for (const std::string& part : split(name, '.')) {
    if (placeholders_in(fmt::format("{{{}}}", part)).size() != 1) fail_with_name(node, name);
  }
  if (!contains(kPlaces, name)) return;
  fail_at(node, fmt::format("options.{}: the placeholder {{{}}} has a meaning already\ngive the option another name{}",
                            name, name, name == "seed" ? ", or write seed outside of options" : ""));
}

void check_placeholders(const Yaml& node, const ProgramOptions& program, std::string_view further) {
  for (const Yaml& item : node.items) check_placeholders(item, program, further);
  for (const auto& [key, value] : node.entries) check_placeholders(value, program, further);
  if (!node.is_scalar()) return;
  std::vector<std::string> places(kPlaces.begin(), kPlaces.end());
  if (!further.empty()) places.emplace_back(further);
  for (const std::string& name : placeholders_in(node.scalar)) {
    const bool place = contains(places, name);
    if (place || program.option(name) != nullptr) continue;
    std::vector<std::string> known = mapped(program.options, [](const auto& option) { return option.first; });
    known.insert(known.end(), places.begin(), places.end());
    fail_at(node, fmt::format("{{{}}} is none of {}{}\nadd `options: {{{}: …}}` next to `program`, or write "
                              "{{{{{}}}}} for the text itself",
                              name, join(known, ", "), did_you_mean(name, known), name, name));
  }
}

std::vector<OptionEntry> further_entries(const ProgramOptions& program) {
  std::vector<OptionEntry> entries;
  entries.push_back(
      entry_named("program.command", "the words of the command, with placeholders", program.command, true));
  if (!program.code.empty()) {
    entries.push_back(entry_named("program.code",
                                  "patterns of the files that are its code, and behind ! of those that are not",
                                  program.code, false));
  }
  if (!program.environment.empty()) {
    entries.push_back(entry_named("program.environment", "variables that it is given", program.environment, true));
  }
  entries.push_back(entry_named(kMetricsParam, "how its numbers are read", program.metrics, false));
  for (const auto& [name, better] : program.better) {
    entries.push_back(
        entry_named("program.better." + name, "lower or higher: which way this quantity is better", better, false));
  }
  for (const auto& [key, value] : program.options) {
    entries.push_back(entry_named("options." + key, "an option of the program", value, true));
  }
  return entries;
}

void nest_options(Yaml& tree) {
  Yaml* options = tree.is_map() ? tree.find("options") : nullptr;
  if (options == nullptr || !options->is_map()) return;
  std::vector<Yaml::Entry> given = std::exchange(options->entries, {});
  for (auto& [key, value] : given) {
    Yaml* map = options;
    const std::vector<std::string> steps = split(key, '.');
    for (std::size_t i = 0; map != nullptr && i + 1 < steps.size(); ++i) map = map_at(*map, steps[i], value);
    if (map == nullptr || map->find(steps.back()) != nullptr) {
      fail_at(value, fmt::format("options.{} is given twice, or is both a value and a map", key));
    }
    map->entries.emplace_back(steps.back(), std::move(value));
  }
}

std::string filled(std::string_view text, const ProgramOptions& program,
                   const std::map<std::string, std::string>& places) {
  return with_values(text, [&](const std::string& name) {
    if (const Json* option = program.option(name)) return value_text(*option);
    return value_or(places, name, "");
  });
}

std::vector<std::string> command_words(const std::vector<std::string>& command, const ProgramOptions& program,
                                       const std::map<std::string, std::string>& places) {
  std::vector<std::string> words;
  for (const std::string& word : command) {
    const std::vector<std::string> names = placeholders_in(word);
    const Json* list = names.size() == 1 && word == "{" + names[0] + "}" ? program.option(names[0]) : nullptr;
    if (list == nullptr || !list->is_array()) {
      words.push_back(filled(word, program, places));
      continue;
    }
    for (const Json& item : *list) words.push_back(value_text(item));
  }
  return words;
}

std::vector<std::string> flag_words(const ProgramOptions& program) {
  using Flags = ProgramOptions::Flags;
  std::vector<std::string> words;
  if (program.flags == Flags::kNone) return words;
  for (const auto& [key, value] : program.options) {
    if (program.flags == Flags::kHydra) {
      words.push_back(key + "=" + hydra_word(value));
      continue;
    }
    if (value == false) {
      if (program.flags == Flags::kNegated) words.push_back("--no-" + key);
      continue;
    }
    words.push_back("--" + key);
    if (value.is_array()) {
      for (const Json& item : value) words.push_back(value_text(item));
    } else if (value != true) {
      words.push_back(value_text(value));
    }
  }
  return words;
}

}  // namespace xlm
