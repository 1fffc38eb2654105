// The commands in the comment at the top of a recipe.
#include "cmd/header_commands.h"

#include <regex>
#include <sstream>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "cmd/command.h"
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

std::string replaced(const std::string& text, const char* word, const std::string& by) {
  return std::regex_replace(text, std::regex(fmt::format(R"(\b{}\b)", word)), by);
}

/// The command as a user would type it for this recipe and profile.
std::string filled_in(std::string text, const CheckedRecipe& recipe) {
  static const std::regex profile(R"(--profile\s+(…|PROFILE|\S*\|\S*))");
  text = std::regex_replace(text, profile, recipe.profile.empty() ? "" : "--profile " + recipe.profile);
  text = replaced(text, "THIS", recipe.file.string());
  text = replaced(text, "EXPERIMENT", recipe_experiment(recipe.tree));
  return replaced(text, "RUN", recipe.runs.size() == 0 ? "RUN" : recipe.runs.id(0));
}

/// What was given for an option or for a positional argument; nothing where the command has none of that name.
std::vector<std::string> given(const CLI::App& app, const std::string& name) {
  const CLI::Option* option = app.get_option_no_throw(name);
  return option == nullptr ? std::vector<std::string>{} : option->results();
}

/// One command of a header, parsed.
class ParsedCommand {
 public:
  /// Throws UsageError for a command that the program does not take.
  ParsedCommand(const std::string& text, const CheckedRecipe& recipe) : recipe_(recipe) {
    const std::vector<std::string> words = split(text, ' ');
    name_ = words.size() > 1 ? words[1] : "";
    for (const Command& command : commands()) {
      if (command.name == name_) run_ = command.declare(app_, global_);
    }
    if (!run_) throw UsageError(fmt::format("there is no command '{}'", name_));
    add_global_options(app_, global_);
    try {
      app_.parse(text.substr(text.find(name_) + name_.size()), false);
    } catch (const CLI::ParseError& error) {
      throw UsageError(error.what());
    }
  }

  /// Throws UsageError where it would select nothing.
  void select() {
    if (name_ == "sweep" || name_ == "train") return expand();
    if (name_ == "table") choose(ExhibitKind::kTable);
    if (name_ == "figure") choose(ExhibitKind::kFigure);
    if (name_ == "continuation") choose(ExhibitKind::kContinuation);
    select_runs();
    for (const char* option : {"--x", "--y", "--value", "--group-by", "--columns", "--over"}) {
      for (const std::string& list : given(app_, option)) {
        for (const std::string& column : split(list, ',')) recipe_.runs.column(std::string(trim(column)));
      }
    }
  }

 private:
  bool is_about_this_file() const {
    for (const char* argument : {"file", "config", "SPEC.yaml", "RECIPE.yaml"}) {
      for (const std::string& file : given(app_, argument)) {
        if (file == recipe_.file.string()) return true;
      }
    }
    return false;
  }

  void expand() const {
    if (!is_about_this_file()) return;
    const std::vector<std::string> overrides = given(app_, "overrides");
    Yaml tree = read_configuration(recipe_.file, recipe_.profile, overrides);
    fix_axes(tree, overrides);
    length_in_words(tree);  // complains where there is no point, or one that is no valid run
  }

  void choose(ExhibitKind kind) const {
    if (!is_about_this_file()) return;
    const std::vector<std::string> name = given(app_, "--name");
    choose_exhibits(find_exhibits(recipe_.tree, kind), kind, name.empty() ? "" : name.front());
  }

  void select_runs() const {
    const std::vector<std::string> where = given(app_, "--where");
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
  std::string name_;
  GlobalOptions global_;
  CLI::App app_{"a command of a header"};
  std::function<int()> run_;  // keeps alive what options are bound to; it is never called
};

}  // namespace

std::vector<RecipeFinding> check_header_commands(const CheckedRecipe& recipe) {
  std::vector<RecipeFinding> findings;
  for (const HeaderCommand& command : commands_in_header(recipe.file)) {
    const std::string text = filled_in(command.text, recipe);
    try {
      ParsedCommand(text, recipe).select();
    } catch (const UsageError& error) {
      findings.push_back({fmt::format("{}:{}", recipe.file.string(), command.line),
                          fmt::format("the header's command '{}' does not work: {}", text, first_line(error.what())),
                          "mend the comment, or what it speaks of"});
    }
  }
  return findings;
}

}  // namespace xlm
