// xlm completion: scripts for bash, zsh and fish. They ask the program itself what can stand where the cursor is
// (xlm complete), so that they know its newest runs.
#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "cmd/command.h"
#include "datasets/corpora/registry.h"
#include "experiments/configuration/configuration.h"

namespace xlm {
namespace {

struct Candidate {
  std::string text;
  std::string help;  // one line, or empty
};

struct Candidates {
  std::vector<Candidate> words;
  bool files = false;  // file names fit too
};

constexpr std::string_view kOneOf = "one of ";

/// The command line up to the cursor: its command, what was given so far, and the option that awaits a value.
struct Line {
  const CLI::App* command = nullptr;
  std::vector<std::string> arguments;
  const CLI::Option* awaiting = nullptr;  // the option whose value comes next
  fs::path runs = GlobalOptions().runs;
};

bool is_shown(const CLI::Option& option) { return !option.get_group().empty(); }

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

const CLI::Option* find_option(const CLI::App& command, const std::string& word) {
  const std::string name = word.substr(word.starts_with("--") ? 2 : 1);
  for (const CLI::Option* option : command.get_options()) {
    const auto& names = word.starts_with("--") ? option->get_lnames() : option->get_snames();
    if (std::ranges::find(names, name) != names.end()) return option;
  }
  return nullptr;
}

void take_value(Line& line, const CLI::Option& option, const std::string& value) {
  if (option.check_lname("runs")) line.runs = value;
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
  for (const CLI::App* sub : listed_commands(command)) {
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
  const auto* const use = std::ranges::find(kWeightsUseNames, line.command->get_name());
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

std::vector<Candidate> run_ids(const Line& line) {
  std::vector<Candidate> words;
  std::error_code error;
  for (fs::directory_iterator entry(line.runs, error), end; !error && entry != end; entry.increment(error)) {
    if (fs::exists(entry->path() / "journal.jsonl")) words.push_back({entry->path().filename().string(), ""});
  }
  return words;
}

/// Values of an option, or of an argument that stands by itself.
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
  const bool is_side = name == "A" || name == "B";  // of a comparison
  if (name == "RUN" || is_side || type == "MODEL") return {run_ids(line), true};
  if (type == "KEY=VALUE") return {settings(line, current)};
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
  Candidates found = values(line, *option, current.substr(before.size()));
  for (Candidate& word : found.words) word.text = before + word.text;
  return found;
}

/// What the last of `words` may become: the line behind the program's name, up to the place that is completed.
Candidates candidates(const CLI::App& program, const std::vector<std::string>& words) {
  const Line line = read_line(program, words);
  const std::string current = words.empty() ? "" : words.back();
  Candidates found = all_candidates(line, current);
  std::erase_if(found.words, [&](const Candidate& word) { return !word.text.starts_with(current); });
  std::ranges::sort(found.words, [](const Candidate& a, const Candidate& b) { return a.text < b.text; });
  return found;
}

// bash splits words at = : @ < >, so a reply loses the part before the last of these.
constexpr std::string_view kBash = R"(# Completion of xlm for bash: source <(xlm completion bash)
_xlm() {
  local line="${COMP_LINE:0:COMP_POINT}" words=() reply files="" current before
  read -ra words <<< "$line"
  [[ "$line" == *[[:space:]] ]] && words+=("")
  current="${words[${#words[@]}-1]}"
  before="${current%"${current##*[=:@<>]}"}"
  COMPREPLY=()
  while IFS=$'\t' read -r reply _; do
    if [[ "$reply" == :files ]]; then files=1; else COMPREPLY+=("${reply#"$before"}"); fi
  done < <("${words[0]}" complete -- "${words[@]:1}" 2>/dev/null)
  if [[ -n "$files" ]]; then
    compopt -o filenames 2>/dev/null
    while IFS= read -r reply; do COMPREPLY+=("$reply"); done < <(compgen -f -- "${current#"$before"}")
  fi
  if [[ ${#COMPREPLY[@]} == 1 && "${COMPREPLY[0]}" == *= ]]; then compopt -o nospace 2>/dev/null; fi
}
complete -F _xlm xlm
)";

constexpr std::string_view kZsh = R"(#compdef xlm
# Completion of xlm for zsh: source <(xlm completion zsh)
_xlm() {
  local -a lines described
  local line files
  lines=("${(@f)$("${words[1]}" complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  for line in $lines; do
    if [[ $line == :files ]]; then files=1; continue; fi
    [[ -n $line ]] && described+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
  done
  if (( ${#described} )); then
    if [[ ${described[1]} == *=:* ]]; then _describe value described -S ''; else _describe value described; fi
  fi
  [[ -n $files ]] && _files
}
compdef _xlm xlm
)";

constexpr std::string_view kFish = R"(# Completion of xlm for fish: xlm completion fish | source
function __xlm_complete
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  for line in ($words[1] complete -- $words[2..-1] "$current" 2>/dev/null)
    if test "$line" = ":files"
      __fish_complete_path "$current"
    else
      echo $line
    end
  end
end
complete -c xlm -f -a '(__xlm_complete)'
)";

/// A tab or a line end would be read as a separator of the list.
std::string in_one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20; }, ' ');
  return text;
}

}  // namespace

std::function<int()> declare_completion(CLI::App& app, const GlobalOptions& global) {
  const auto shell = std::make_shared<std::string>();
  app.add_option("shell", *shell, "bash, zsh or fish")->required()->type_name("SHELL");
  app.footer("To enable it: source <(xlm completion bash), or add that line to ~/.bashrc");
  return [shell, &global] {
    const std::vector<std::string> shells{"bash", "zsh", "fish"};
    constexpr std::array<std::string_view, 3> kScripts{kBash, kZsh, kFish};
    const auto known = std::ranges::find(shells, *shell);
    if (known == shells.end()) {
      throw UsageError(fmt::format("no completion for '{}'{}; available: {}", *shell, did_you_mean(*shell, shells),
                                   join(shells, ", ")));
    }
    const std::string script(kScripts.at(static_cast<std::size_t>(known - shells.begin())));
    print(global.json ? json_text({{"shell", *shell}, {"script", script}}) : script);
    return static_cast<int>(kDone);
  };
}

std::function<int()> declare_complete(CLI::App& app, const GlobalOptions& /*global*/) {
  const auto words = std::make_shared<std::vector<std::string>>();
  app.add_option("words", *words, "The line behind the program's name, up to the cursor");
  return [words, &app] {
    const Candidates found = candidates(*app.get_parent(), *words);
    std::string text;
    for (const Candidate& word : found.words) {
      text += in_one_line(word.text) + (word.help.empty() ? "" : "\t" + in_one_line(word.help)) + "\n";
    }
    print(text + (found.files ? ":files\n" : ""));
    return static_cast<int>(kDone);
  };
}

}  // namespace xlm
