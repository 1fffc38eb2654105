// The program takes every command in README, CONTRIBUTING, docs/, recipes and its own help.
#include <functional>
#include <regex>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "cmd/command.h"
#include "tests/pages.h"

namespace xlm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Parses a line that begins with `xlm COMMAND`, without running it. Throws UsageError if the program does not take it.
void parse_command(const std::string& line) {
  const std::vector<std::string> words = split(line, ' ');
  const std::string name = words.size() > 1 ? words[1] : "";
  GlobalOptions global;
  CLI::App app;
  std::function<int()> run;  // keeps the variables of the options alive; it is never called
  for (const Command& command : commands()) {
    if (command.name == name) run = command.declare(app, global);
  }
  if (!run) throw UsageError(fmt::format("there is no command '{}'", name));
  add_global_options(app, global);
  try {
    app.parse(line.substr(line.find(name) + name.size()), false);
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  }
}

/// A command without comments and the shell's parts: pipes, redirections, further commands.
std::string without_shell(const std::string& line) {
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (quote != 0) {
      if (line[i] == quote) quote = 0;
    } else if (line[i] == '"' || line[i] == '\'') {
      quote = line[i];
    } else if (line[i] == ' ' && i + 1 < line.size() && std::string("><|&#").find(line[i + 1]) != std::string::npos) {
      return std::string(trim(line.substr(0, i)));
    }
  }
  return std::string(trim(line));
}

/// Throws UsageError if the recipe lacks what --name chooses.
std::string lacking_name(const std::string& command) {
  static const std::regex named(R"(xlm \S+ (experiments/recipes/\S+\.yaml)\b.* --name (\S+).*)");
  std::smatch parts;
  if (!std::regex_match(command, parts, named)) return "";
  const std::string recipe = read_file(fs::path(XLM_SOURCE_DIR) / parts[1].str());
  const std::regex described("(^|\n)( *name: | +)" + parts[2].str() + ":?(\n|$)");
  return std::regex_search(recipe, described) ? "" : fmt::format("{}: the recipe describes no such", command);
}

/// The reason why the program does not take it; empty if it does. A command within a sentence may lack arguments, and
/// `xlm --version` is no command.
std::string problem_with(const std::string& command, bool in_sentence) {
  if (command.starts_with("xlm -") || command.find("…") != std::string::npos) return "";
  try {
    parse_command(command);
    return lacking_name(command);
  } catch (const UsageError& error) {
    const std::string message = error.what();
    const bool unfinished = message.find("required") != std::string::npos;
    return in_sentence && unfinished ? "" : fmt::format("{}: {}", command, message);
  }
}

std::vector<std::string> problems_of(const std::string& page) {
  static const std::regex inline_code("`(xlm [^`]*)`");
  std::vector<std::string> problems;
  const auto check = [&problems](const std::string& command, bool in_sentence) {
    if (std::string problem = problem_with(without_shell(command), in_sentence); !problem.empty()) {
      problems.push_back(std::move(problem));
    }
  };
  bool block = false;
  std::string sentences;
  for (const std::string& line : split(page, '\n')) {
    if (line.starts_with("```")) {
      block = !block;
    } else if (!block) {
      sentences += line + " ";
    } else if (line.starts_with("xlm ") || line.starts_with("$ xlm ")) {
      check(line.substr(line.find("xlm ")), false);
    }
  }
  for (std::sregex_iterator match(sentences.begin(), sentences.end(), inline_code), end; match != end; ++match) {
    check((*match)[1], true);
  }
  return problems;
}

TEST(DocumentedCommands, OfEveryPageAreTakenByTheProgram) {
  std::vector<fs::path> pages = manual_pages();
  pages.push_back(fs::path(XLM_SOURCE_DIR) / "CONTRIBUTING.md");
  EXPECT_GT(pages.size(), 10U);
  for (const fs::path& page : pages) EXPECT_THAT(problems_of(read_file(page)), IsEmpty()) << page;
}

TEST(DocumentedCommands, OfTheHelpAreTakenByTheProgram) {
  int examples = 0;
  const std::function<void(const CLI::App&)> check = [&](const CLI::App& app) {
    for (const std::string& line : split(app.get_footer(), '\n')) {
      const std::string command(trim(line));
      if (!command.starts_with("xlm ")) continue;
      EXPECT_EQ(problem_with(without_shell(command), false), "");
      ++examples;
    }
    for (const CLI::App* inner : app.get_subcommands([](const CLI::App*) { return true; })) check(*inner);
  };
  for (const Command& command : commands()) {
    CLI::App app;
    const GlobalOptions global;
    const std::function<int()> run = command.declare(app, global);
    check(app);
  }
  EXPECT_GT(examples, 40);
}

/// The comment at the top of a recipe shows its commands in lines "#   xlm …", where THIS is the recipe.
TEST(DocumentedCommands, OfRecipesAreTakenByTheProgram) {
  int found = 0;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(XLM_SOURCE_DIR) / "experiments/recipes")) {
    if (entry.path().extension() != ".yaml") continue;
    for (const std::string& line : split(read_file(entry.path()), '\n')) {
      if (!line.starts_with("#   xlm ")) continue;
      const std::string profile = std::regex_replace(line.substr(4), std::regex("…|smoke\\|[a-z|]+"), "smoke");
      EXPECT_EQ(problem_with(without_shell(profile), false), "") << entry.path();
      ++found;
    }
  }
  EXPECT_GT(found, 40);
}

TEST(DocumentedCommands, ThatTheProgramDoesNotTakeAreFound) {
  EXPECT_THAT(problems_of("```\n$ xlm tabel a.yaml\nxlm table a.yaml --fromat csv | less  # no\n```\n"),
              ElementsAre(HasSubstr("there is no command 'tabel'"), HasSubstr("--fromat")));
  EXPECT_THAT(problems_of("Then `xlm table` shows it, `xlm runs\nls --sort seed`, never `xlm eval x --spilt valid`.\n"),
              ElementsAre(HasSubstr("--spilt")));
  EXPECT_THAT(problems_of("```\nxlm compare a=1 b=2 > out\nxlm sample m --prompt 'a | b' < page.txt\n```\n"),
              IsEmpty());
}

}  // namespace
}  // namespace xlm
