// xlm help: the help of a command; with --man a man page of all commands, from the same tables.
#include <array>
#include <memory>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "base/version.h"
#include "cmd/agents_page.h"
#include "cmd/command.h"

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
    if (found.empty()) {
      throw UsageError(fmt::format("unknown command '{}'{}\nrun 'xlm help' for the list", join(words, " "),
                                   did_you_mean(word, names)));
    }
    name += " " + word;
    command = found.front();
  }
  // App::help would print the help of the parsed command, which is `xlm help`.
  return command->get_formatter()->make_help(command, name, CLI::AppFormatMode::Normal);
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
                 "A command: train, runs ls; or agents, the page for programs that try changes");
  app.add_flag("--man", options->man, "Print a man page of all commands");
  app.footer("Examples:\n  xlm help sweep\n  xlm help runs ls\n  xlm help --man > xlm.1");
  return [options, &app] {
    const CLI::App& program = *app.get_parent();
    if (options->words == std::vector<std::string>{"agents"}) {
      print(agents_page());
      return static_cast<int>(kDone);
    }
    print(options->man ? man_page(program) : help_of(program, options->words));
    return static_cast<int>(kDone);
  };
}

}  // namespace xlm
