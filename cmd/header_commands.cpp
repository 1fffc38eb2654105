// The commands in the comment at the top of a recipe.
#include "cmd/header_commands.h"

#include <regex>
#include <sstream>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "cmd/typed_command.h"
#include "experiments/checks/supposed_runs.h"
#include "experiments/configuration/configuration.h"
#include "experiments/sweeps/sweep.h"
#include "results/exhibits/exhibits.h"

namespace xlm {
namespace {

struct HeaderCommand {
  int line = 0;
  std::string text;  // without what a comment behind it says
};

std::vector<HeaderCommand> commands_in_header(const fs::path& file) {
  static const std::regex command(R"(#\s\s+(xlm\s.*))");
  static const std::regex comment(R"(\s\s+#.*)");
  std::vector<HeaderCommand> found;
  std::istringstream text(read_file(file));
  std::string line;
  for (int number = 1; std::getline(text, line) && line.starts_with('#'); ++number) {
    std::smatch match;
    if (std::regex_match(line, match, command)) {
      found.push_back({number, std::regex_replace(match[1].str(), comment, "")});
    }
  }
  return found;
}

/// `by` as one word of the command, whatever it holds.
std::string replaced(const std::string& text, const char* word, const std::string& by) {
  std::string written;
  for (const char c : shell_word(by)) written += c == '$' ? "$$" : std::string(1, c);
  return std::regex_replace(text, std::regex(fmt::format(R"(\b{}\b)", word)), written);
}

/// The command as a user would type it for this recipe and profile.
std::string filled_in(std::string text, const CheckedRecipe& recipe) {
  static const std::regex profile(R"(--profile\s+(…|PROFILE|\S*\|\S*))");
  text = std::regex_replace(text, profile, recipe.profile.empty() ? "" : "--profile " + recipe.profile);
  text = replaced(text, "THIS", recipe.file.string());
  text = replaced(text, "EXPERIMENT", recipe_experiment(recipe.tree));
  return replaced(text, "RUN", recipe.runs.size() == 0 ? "RUN" : recipe.runs.id(0));
}

/// One command of a header.
class HeaderCommandCheck {
 public:
  /// Throws UsageError for a command that the program does not take.
  HeaderCommandCheck(const std::string& text, const CheckedRecipe& recipe) : recipe_(recipe), command_(text) {}

  /// Throws UsageError where it would select nothing.
  void select() {
    const std::string& name = command_.name();
    if (name == "sweep" || name == "train") return expand();
    if (name == "table") choose(ExhibitKind::kTable);
    if (name == "figure") choose(ExhibitKind::kFigure);
    if (name == "continuation") choose(ExhibitKind::kContinuation);
    select_runs();
    for (const char* option : {"--x", "--y", "--value", "--group-by", "--columns", "--over"}) {
      for (const std::string& list : command_.given(option)) {
        for (const std::string& column : split(list, ',')) recipe_.runs.column(std::string(trim(column)));
      }
    }
  }

 private:
  bool is_about_this_file() const {
    for (const char* argument : {"file", "config", "SPEC.yaml", "RECIPE.yaml"}) {
      for (const std::string& file : command_.given(argument)) {
        if (file == recipe_.file.string()) return true;
      }
    }
    return false;
  }

  void expand() const {
    if (!is_about_this_file()) return;
    const std::vector<std::string> overrides = command_.given("overrides");
    Yaml tree = read_configuration(recipe_.file, recipe_.profile, overrides);
    fix_axes(tree, overrides);
    length_in_words(tree);  // complains where there is no point, or one that is no valid run
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
  for (const HeaderCommand& command : commands_in_header(recipe.file)) {
    const std::string text = filled_in(command.text, recipe);
    try {
      HeaderCommandCheck(text, recipe).select();
    } catch (const UsageError& error) {
      findings.push_back({fmt::format("{}:{}", recipe.file.string(), command.line),
                          fmt::format("the header's command '{}' does not work: {}", text, first_line(error.what())),
                          "mend the comment, or what it speaks of"});
    }
  }
  return findings;
}

}  // namespace xlm
