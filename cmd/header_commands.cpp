// The commands in the comment at the top of a recipe.
#include "cmd/header_commands.h"

#include <cctype>
#include <sstream>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "cmd/results_store.h"
#include "cmd/typed_command.h"
#include "experiments/checks/supposed_runs.h"
#include "experiments/configuration/configuration.h"
#include "experiments/sweeps/sweep.h"
#include "results/exhibits/exhibits.h"

namespace xlm {
namespace {

struct HeaderCommand {
  int line = 0;
  std::string text;  // without a comment behind it
};

/// The command in a line "#  xlm …  # what it does"; empty if the line has none.
std::string command_in(std::string_view line) {
  const std::string_view text = trim(line.substr(1));
  const bool is_indented = line.find_first_not_of(" \t", 1) >= 3;
  if (!is_indented || !(text.starts_with("xlm ") || text.starts_with("xlm\t"))) return "";
  std::size_t comment = text.find('#');
  while (comment != std::string_view::npos && !trim(text.substr(comment - 2, 2)).empty())
    comment = text.find('#', comment + 1);
  return std::string(trim(text.substr(0, comment)));
}

std::vector<HeaderCommand> commands_in_header(const std::string& recipe) {
  std::vector<HeaderCommand> found;
  std::istringstream text(recipe);
  std::string line;
  for (int number = 1; std::getline(text, line) && line.starts_with('#'); ++number) {
    if (std::string command = command_in(line); !command.empty()) found.push_back({number, std::move(command)});
  }
  return found;
}

/// `text` with every `word` replaced by `by`, as one word of the command.
std::string replaced(std::string_view text, std::string_view word, const std::string& by) {
  const auto is_of_words = [&](std::size_t at) {
    return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
  };
  std::string written;
  std::size_t done = 0;
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + word.size())) {
    if (is_of_words(at + word.size()) || (at > 0 && is_of_words(at - 1))) continue;
    written.append(text.substr(done, at - done)).append(shell_word(by));
    done = at + word.size();
  }
  return written.append(text.substr(done));
}

/// `--profile a|b|c` becomes the profile that is checked.
std::string with_profile(const std::string& text, const std::string& profile) {
  std::vector<std::string> words = split(text, ' ');
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string& name = words[i + 1];
    if (words[i] != "--profile" || (name != "…" && name != "PROFILE" && name.find('|') == std::string::npos)) continue;
    const auto at = words.begin() + static_cast<std::ptrdiff_t>(i);
    if (profile.empty()) {
      words.erase(at, at + 2);
    } else {
      words[i + 1] = profile;
    }
  }
  return join(words, " ");
}

/// The command as a user would type it for this recipe and profile.
std::string filled_in(std::string text, const CheckedRecipe& recipe) {
  text = with_profile(text, recipe.profile);
  text = replaced(text, "THIS", recipe.file.path.string());
  text = replaced(text, "EXPERIMENT", recipe_experiment(recipe.tree));
  return replaced(text, "RUN", recipe.runs.size() == 0 ? "RUN" : recipe.runs.id(0));
}

/// One command of a header.
class HeaderCommandCheck {
 public:
  /// Throws UsageError if the program does not accept the command.
  HeaderCommandCheck(const std::string& text, const CheckedRecipe& recipe) : recipe_(recipe), command_(text) {}

  /// Throws UsageError if the command would select nothing.
  void select() {
    const std::string& name = command_.name();
    if (name == "sweep" || name == "train") return expand();
    if (name == "table") choose(ExhibitKind::kTable);
    if (name == "figure") choose(ExhibitKind::kFigure);
    if (name == "continuation") choose(ExhibitKind::kContinuation);
    select_runs();
    for (const char* option : {"--x", "--y", "--value", "--group-by", "--columns", "--over"}) {
      for (const std::string& column : listed_columns(command_.given(option))) recipe_.runs.column(column);
    }
  }

 private:
  bool is_about_this_file() const {
    for (const char* argument : {"file", "config", "SPEC.yaml", "RECIPE.yaml"}) {
      for (const std::string& file : command_.given(argument)) {
        if (file == recipe_.file.path.string()) return true;
      }
    }
    return false;
  }

  void expand() const {
    if (!is_about_this_file()) return;
    const std::vector<std::string> overrides = command_.given("overrides");
    Yaml tree = configuration_of(recipe_.file.tree, recipe_.file.path, recipe_.profile, overrides);
    fix_axes(tree, overrides);
    length_in_words(tree);  // throws if there is no point, or an invalid one
  }

  void choose(ExhibitKind kind) const {
    if (!is_about_this_file()) return;
    const std::vector<std::string> name = command_.given("--name");
    choose_exhibits(find_exhibits(recipe_.tree, kind), kind, name.empty() ? "" : name.front());
  }

  void select_runs() const {
    const std::vector<std::string> where = command_.given("--where");
    if (where.empty()) return;
    std::vector<Filter> filters = parse_filters(where);
    if (is_about_this_file()) {
      filters.push_back({"experiment", Filter::Relation::kEqual, {recipe_experiment(recipe_.tree)}});
    }
    if (recipe_.runs.select(filters).empty()) {
      throw UsageError(fmt::format("no run of the sweep has {}", join(where, ", ")));
    }
  }

  const CheckedRecipe& recipe_;
  TypedCommand command_;
};

}  // namespace

std::vector<RecipeFinding> check_header_commands(const CheckedRecipe& recipe) {
  std::vector<RecipeFinding> findings;
  for (const HeaderCommand& command : commands_in_header(recipe.file.text)) {
    const std::string text = filled_in(command.text, recipe);
    try {
      HeaderCommandCheck(text, recipe).select();
    } catch (const UsageError& error) {
      findings.push_back({fmt::format("{}:{}", recipe.file.path.string(), command.line),
                          fmt::format("the header's command '{}' does not work: {}", text, first_line(error.what())),
                          "correct the comment, or the recipe"});
    }
  }
  return findings;
}

}  // namespace xlm
