// xlm completion: scripts for bash, zsh and fish, made from the table of commands and their options.
#include <algorithm>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "cmd/command.h"
#include "experiments/configuration/configuration.h"

namespace xlm {
namespace {

struct Word {
  std::string text;
  std::string help;  // first line, without quotes
};

/// What can follow a subcommand: its options, its own subcommands, and configuration keys where it takes KEY=VALUE.
struct CommandWords {
  std::string name;
  std::string help;
  std::vector<Word> options;
  std::vector<Word> words;
};

std::string plain(const std::string& text) {
  std::string line = text.substr(0, text.find('\n'));
  line.erase(
      std::remove_if(line.begin(), line.end(), [](char c) { return c == '\'' || c == '"' || c == '`' || c == '\\'; }),
      line.end());
  std::replace(line.begin(), line.end(), ':', ' ');
  std::replace(line.begin(), line.end(), '[', '(');
  std::replace(line.begin(), line.end(), ']', ')');
  return line;
}

std::vector<Word> configuration_keys() {
  std::vector<Word> keys;
  std::set<std::string> seen;
  for (std::size_t i = 0; i < model_types().size(); ++i) {
    for (const OptionEntry& entry : option_entries(default_run_options(i))) {
      if (seen.insert(entry.key).second) keys.push_back({entry.key + "=", plain(entry.help)});
    }
  }
  return keys;
}

void add_options(const CLI::App& app, std::vector<Word>& words) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // for the program's own use
    for (const std::string& name : option->get_lnames()) {
      const Word word{"--" + name, plain(option->get_description())};
      const auto same = [&](const Word& other) { return other.text == word.text; };
      if (std::none_of(words.begin(), words.end(), same)) words.push_back(word);
    }
  }
}

bool takes_overrides(const CLI::App& app) {
  const auto options = app.get_options();
  return std::any_of(options.begin(), options.end(),
                     [](const CLI::Option* o) { return o->get_type_name() == "KEY=VALUE"; });
}

std::vector<CommandWords> all_commands(const CLI::App& program) {
  std::vector<CommandWords> commands;
  for (const CLI::App* app : program.get_subcommands([](const CLI::App*) { return true; })) {
    if (app->get_group().empty()) continue;
    CommandWords words{app->get_name(), plain(app->get_description()), {}, {}};
    add_options(*app, words.options);
    for (const CLI::App* inner : app->get_subcommands([](const CLI::App*) { return true; })) {
      words.words.push_back({inner->get_name(), plain(inner->get_description())});
      add_options(*inner, words.options);
    }
    if (takes_overrides(*app)) words.words = configuration_keys();
    commands.push_back(std::move(words));
  }
  return commands;
}

std::string texts(const std::vector<Word>& words) {
  std::vector<std::string> list;
  list.reserve(words.size());
  for (const Word& word : words) list.push_back(word.text);
  return join(list, " ");
}

std::string bash_script(const std::vector<CommandWords>& commands) {
  std::vector<std::string> names;
  std::string cases;
  for (const CommandWords& command : commands) {
    names.push_back(command.name);
    cases += fmt::format("    {}) options='{}'; words='{}' ;;\n", command.name, texts(command.options),
                         texts(command.words));
  }
  return fmt::format(R"(# Completion of xlm for bash: source <(xlm completion bash)
_xlm() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" command="" options="" words="" word
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "$word" in -*) ;; *) command="$word"; break ;; esac
  done
  case "$command" in
    '') COMPREPLY=($(compgen -W '{0} --help --version' -- "$current")); return ;;
{1}  esac
  case "$current" in
    -*) COMPREPLY=($(compgen -W "$options" -- "$current")) ;;
    *) COMPREPLY=($(compgen -W "$words" -- "$current") $(compgen -f -- "$current")) ;;
  esac
  case "${{COMPREPLY[0]}}" in *=) compopt -o nospace ;; esac
}}
complete -o filenames -F _xlm xlm
)",
                     join(names, " "), cases);
}

std::string zsh_words(const std::vector<Word>& words) {
  std::string text;
  for (const Word& word : words) text += fmt::format(" '{}:{}'", word.text, word.help);
  return text;
}

std::string zsh_script(const std::vector<CommandWords>& commands) {
  std::string names;
  std::string cases;
  for (const CommandWords& command : commands) {
    names += fmt::format(" '{}:{}'", command.name, command.help);
    cases += fmt::format("    {}) options=({}); values=({}) ;;\n", command.name, zsh_words(command.options),
                         zsh_words(command.words));
  }
  return fmt::format(R"(#compdef xlm
# Completion of xlm for zsh: source <(xlm completion zsh)
_xlm() {{
  local -a commands options values
  commands=({0})
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  case "$words[2]" in
{1}  esac
  if [[ $PREFIX == -* ]]; then
    _describe option options
  else
    _describe value values -S ''
    _files
  fi
}}
compdef _xlm xlm
)",
                     names, cases);
}

std::string fish_script(const std::vector<CommandWords>& commands) {
  std::string text = "# Completion of xlm for fish: xlm completion fish | source\n";
  for (const CommandWords& command : commands) {
    text += fmt::format("complete -c xlm -n __fish_use_subcommand -f -a {} -d '{}'\n", command.name, command.help);
  }
  for (const CommandWords& command : commands) {
    const std::string filter = fmt::format("'__fish_seen_subcommand_from {}'", command.name);
    for (const Word& option : command.options) {
      text += fmt::format("complete -c xlm -n {} -l {} -d '{}'\n", filter, option.text.substr(2), option.help);
    }
    for (const Word& word : command.words) {
      text += fmt::format("complete -c xlm -n {} -a '{}' -d '{}'\n", filter, word.text, word.help);
    }
  }
  return text;
}

}  // namespace

std::function<int()> declare_completion(CLI::App& app, const GlobalOptions& /*global*/) {
  const auto shell = std::make_shared<std::string>();
  app.add_option("shell", *shell, "bash, zsh or fish")->required()->type_name("SHELL");
  app.footer("To switch it on: source <(xlm completion bash), or the same line in ~/.bashrc");
  return [shell, &app] {
    const std::vector<CommandWords> commands = all_commands(*app.get_parent());
    const std::vector<std::string> shells{"bash", "zsh", "fish"};
    if (*shell == "bash") {
      print(bash_script(commands));
    } else if (*shell == "zsh") {
      print(zsh_script(commands));
    } else if (*shell == "fish") {
      print(fish_script(commands));
    } else {
      throw UsageError(fmt::format("there is no completion for '{}'{}; there is {}", *shell,
                                   did_you_mean(*shell, shells), join(shells, ", ")));
    }
    return static_cast<int>(kDone);
  };
}

}  // namespace xlm
