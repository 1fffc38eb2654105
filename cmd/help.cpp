// xlm help: the help of a command, a word of the glossary, or a page of docs/.
#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <re2/re2.h>

#include "base/error.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/docs_pages.h"

namespace xlm {
namespace {

/// Markdown without the targets of links and the signs around words.
std::string without_marks(std::string text) {
  static const RE2 marks(R"(\]\([^)]*\)?|[\[*`])");
  RE2::GlobalReplace(&text, marks, "");
  return text;
}

/// The cells of a row "| a | b |"; empty for another line.
std::vector<std::string> cells_of_line(const std::string& line) {
  std::vector<std::string> cells;
  if (!line.starts_with("| ")) return cells;
  for (const std::string& cell : split(line.substr(1, line.rfind('|') - 1), '|')) cells.emplace_back(trim(cell));
  return cells;
}

/// What docs/glossary.md says of a word or of the section with this title, as plain text; empty if it says nothing.
std::string glossary_entry(const std::string& word) {
  std::string entry;
  bool in_section = false;
  for (const std::string& raw : split(std::string(docs_pages().at("glossary")), '\n')) {
    const std::string line = without_marks(raw);
    if (line.starts_with("#")) {
      in_section = lower_case(trim(line.substr(line.find_first_not_of('#')))) == lower_case(word);
    } else if (in_section) {
      entry += line + "\n";
    } else if (std::vector<std::string> cells = cells_of_line(line); cells.size() > 1) {
      if (lower_case(cells.front()) != lower_case(word)) continue;
      cells.erase(cells.begin());
      entry += fmt::format("{}: {}\n", word, join(cells, ": "));
    }
  }
  return entry;
}

/// What `words` are called in docs/: a page, or an entry of the glossary. Empty if there is none.
std::string text_of_docs(const std::vector<std::string>& words) {
  const std::string word = join(words, " ");
  const auto page = docs_pages().find(word.ends_with(".md") ? word.substr(0, word.size() - 3) : word);
  return page == docs_pages().end() ? glossary_entry(word) : std::string(page->second);
}

std::string names_of_pages() {
  std::vector<std::string> names;
  for (const auto& [name, text] : docs_pages()) names.push_back(name);
  return join(names, ", ");
}

/// The help of "runs ls" and the like.
std::string help_of(const CLI::App& program, const std::vector<std::string>& words) {
  const CLI::App* command = &program;
  std::string name = program.get_name();
  for (const std::string& word : words) {
    const std::vector<std::string> names = names_of_commands(*command);
    const auto called = [&word](const CLI::App* sub) { return sub->get_name() == word; };
    const std::vector<const CLI::App*> found = command->get_subcommands(called);  // hidden ones, too
    if (found.empty() && command != &program) {
      throw UsageError(fmt::format("unknown command '{}'{}\nrun 'xlm help' for the list", join(words, " "),
                                   did_you_mean(word, names)));
    }
    if (found.empty()) {
      if (std::string text = text_of_docs(words); !text.empty()) return text;
      throw UsageError(fmt::format("unknown command, word or page '{}'{}\nrun 'xlm help' for the commands; pages: {}",
                                   join(words, " "), did_you_mean(word, names), names_of_pages()));
    }
    name += " " + word;
    command = found.front();
  }
  // App::help would print the help of the parsed command, which is `xlm help`.
  const std::string help = command->get_formatter()->make_help(command, name, CLI::AppFormatMode::Normal);
  const std::string word = join(words, " ");
  return docs_pages().contains(word) ? fmt::format("{}\nThe page {}: xlm help {}.md\n", help, word, word) : help;
}

}  // namespace

std::function<int()> declare_help(CLI::App& app, const GlobalOptions& /*global*/) {
  const auto words = std::make_shared<std::vector<std::string>>();
  app.add_option("COMMAND", *words,
                 "A command, a word that the program prints, or a page of docs/ (default: the list of commands)");
  app.footer("Pages: " + names_of_pages() +
             ".\n\nExamples:\n  xlm help sweep\n  xlm help runs ls\n  xlm help stale\n  xlm help sweeps");
  return [words, &app] {
    print(help_of(*app.get_parent(), *words));
    return static_cast<int>(kDone);
  };
}

}  // namespace xlm
