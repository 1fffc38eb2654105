// xlm completion: scripts for bash, zsh and fish. They ask the program itself what can stand where the cursor is
// (xlm complete), so that they know its newest runs.
#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "cmd/candidates.h"
#include "cmd/command.h"

namespace xlm {
namespace {

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
std::string one_line(std::string text) {
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
    std::string script;
    if (*shell == "bash") {
      script = kBash;
    } else if (*shell == "zsh") {
      script = kZsh;
    } else if (*shell == "fish") {
      script = kFish;
    } else {
      throw UsageError(fmt::format("no completion for '{}'{}; available: {}", *shell, did_you_mean(*shell, shells),
                                   join(shells, ", ")));
    }
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
      text += one_line(word.text) + (word.help.empty() ? "" : "\t" + one_line(word.help)) + "\n";
    }
    print(text + (found.files ? ":files\n" : ""));
    return static_cast<int>(kDone);
  };
}

}  // namespace xlm
