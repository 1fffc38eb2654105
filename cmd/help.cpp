// xlm help: the help of a command; with --man a man page of all commands, from the same tables.
#include <algorithm>
#include <array>
#include <memory>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "base/version.h"
#include "cmd/command.h"
#include "cmd/docs_pages.h"

namespace xlm {
namespace {

struct HelpOptions {
  std::vector<std::string> words;
  bool man = false;
};

/// Subcommands that are for users.
std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* sub) { return !sub->get_group().empty(); });
}

/// Markdown without the targets of links and the signs around words.
std::string without_marks(const std::string& line) {
  std::string text;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == ']' && i + 1 < line.size() && line[i + 1] == '(') {
      i = std::min(line.find(')', i), line.size());
    } else if (line[i] != '[' && line[i] != '*' && line[i] != '`') {
      text += line[i];
    }
  }
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
    const std::vector<const CLI::App*> choices = commands_of(*command);
    std::vector<std::string> names;
    for (const CLI::App* choice : choices) names.push_back(choice->get_name());
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

/// Escapes text for roff: backslashes, requests at the beginning of a line, minus signs.
std::string roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if ((out.empty() || out.back() == '\n') && (c == '.' || c == '\'')) out += "\\&";
    out += c == '\\' ? "\\e" : c == '-' ? "\\-" : std::string(1, c);
  }
  return out;
}

std::string roff_options(const CLI::App& app) {
  std::string out;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    const std::string type = option->get_type_name();
    const bool shows_type = !type.empty() && option->get_name() != type;
    out += fmt::format(".TP\n.B {}\n{}\n", roff(option->get_name(false, true) + (shows_type ? " " + type : "")),
                       roff(option->get_description()));
  }
  return out;
}

std::string roff_command(const CLI::App& app, const std::string& name) {
  std::string out = fmt::format(".SS {}\n{}\n", roff(name), roff(app.get_description()));
  const std::vector<const CLI::App*> inner = commands_of(app);
  if (inner.empty()) out += roff_options(app);
  if (!app.get_footer().empty()) out += fmt::format(".PP\n.nf\n{}\n.fi\n", roff(app.get_footer()));
  for (const CLI::App* one : inner) out += roff_command(*one, name + " " + one->get_name());
  return out;
}

std::string man_page(const CLI::App& program) {
  std::string out = fmt::format(".TH XLM 1 \"\" \"xlm {}\"\n", kVersion);
  out += ".SH NAME\nxlm \\- language\\-model experiments from the shell\n";
  out += ".SH SYNOPSIS\n.B xlm\nCOMMAND [OPTIONS]\n";
  out += fmt::format(".SH DESCRIPTION\n{}\n.SH COMMANDS\n", roff(program.get_description()));
  for (const CLI::App* command : commands_of(program)) out += roff_command(*command, command->get_name());
  out += ".SH EXIT STATUS\n";
  constexpr std::array<std::pair<int, const char*>, 7> kCodes{{{kDone, "done"},
                                                               {kFailed, "failed"},
                                                               {kUsage, "wrong usage or configuration"},
                                                               {kBadData, "missing, malformed or corrupt data"},
                                                               {kDiverged, "training diverged"},
                                                               {kOutOfResources, "out of disk or memory"},
                                                               {kStopped, "stopped; the same command resumes"}}};
  for (const auto& [code, meaning] : kCodes) out += fmt::format(".TP\n.B {}\n{}\n", code, meaning);
  return out;
}

}  // namespace

std::function<int()> declare_help(CLI::App& app, const GlobalOptions& /*global*/) {
  const auto options = std::make_shared<HelpOptions>();
  app.add_option("COMMAND", options->words,
                 "A command, a word that the program prints, or a page of docs/ (default: the list of commands)");
  app.add_flag("--man", options->man, "Print a man page of all commands");
  app.footer("Pages: " + names_of_pages() +
             ".\n\nExamples:\n  xlm help sweep\n  xlm help runs ls\n  xlm help stale\n  xlm help sweeps\n  xlm help "
             "--man > xlm.1");
  return [options, &app] {
    const CLI::App& program = *app.get_parent();
    print(options->man ? man_page(program) : help_of(program, options->words));
    return static_cast<int>(kDone);
  };
}

}  // namespace xlm
