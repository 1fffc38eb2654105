#include "cmd/program.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <re2/re2.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "base/argument_file.h"
#include "base/error.h"
#include "base/foreign_error.h"
#include "base/shared_library.h"
#include "base/text.h"
#include "base/version.h"
#include "cmd/command.h"
#include "experiments/worker/core_library.h"

namespace xlm {
namespace {

/// CLI11 writes "..." behind every option that may be repeated, even if each takes one value.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    constexpr std::string_view kMore = " ...";
    std::string text = CLI::Formatter::make_option_opts(option);
    const std::size_t more = text.find(kMore);
    if (!option->get_allow_extra_args() && more != std::string::npos) text.erase(more, kMore.size());
    return text;
  }
};

/// Escapes control characters: messages contain names of files and runs, which must not control the terminal.
class PrintableMessage : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm& /*time*/, spdlog::memory_buf_t& out) override {
    const std::string text = printable({message.payload.data(), message.payload.size()});
    out.append(text.data(), text.data() + text.size());
  }
  std::unique_ptr<spdlog::custom_flag_formatter> clone() const override { return std::make_unique<PrintableMessage>(); }
};

void configure_log(const GlobalOptions& global) {
  auto logger = std::make_shared<spdlog::logger>("xlm", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<PrintableMessage>('*').set_pattern("%l: %*");
  logger->set_formatter(std::move(formatter));
  logger->set_level(global.quiet ? spdlog::level::err : global.verbose ? spdlog::level::debug : spdlog::level::info);
  spdlog::set_default_logger(logger);
}

/// Cuts the middle out of a long message. Messages repeat input of any length, and end with what is wrong.
std::string shortened(const std::string& message) {
  constexpr std::size_t kMaxBytes = 6000;  // a path has 4096 bytes at most
  if (message.size() <= kMaxBytes) return message;
  std::size_t end = message.size() - kMaxBytes / 6;
  while (end < message.size() && (static_cast<unsigned char>(message[end]) & 0xC0U) == 0x80U) ++end;
  std::size_t begin = kMaxBytes / 6;
  while (begin > 0 && (static_cast<unsigned char>(message[begin]) & 0xC0U) == 0x80U) --begin;
  return message.substr(0, begin) + " … " + message.substr(end);
}

void complain(const GlobalOptions& global, const std::string& message) {
  const std::string head = paint(global.standard_error, Colour::kRed, "error:");
  say(fmt::format("{} {}\n", head, printable(without_logins(shortened(message)))));
}

/// The innermost subcommand that was recognised, and what the user typed to get there: "runs ls".
std::pair<const CLI::App*, std::string> innermost(const CLI::App& app) {
  const CLI::App* command = &app;
  std::string words;
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    words += " " + command->get_name();
  }
  return {command, words};
}

/// " (did you mean 'runs watch'?)" for a word that is a subcommand of some command; otherwise "".
std::string meant_below(const CLI::App& app, const std::string& word) {
  for (const CLI::App* command : listed_commands(app)) {
    const auto meant = command->get_subcommands([&](const CLI::App* sub) { return sub->get_name() == word; });
    if (!meant.empty()) return fmt::format(" (did you mean '{} {}'?)", command->get_name(), word);
  }
  return "";
}

/// The message for an unknown subcommand, which CLI11 reports as an extra argument, with the nearest known one.
std::string unknown_word(const CLI::App& app, const std::string& message, int argc, char** argv) {
  const auto [command, words] = innermost(app);
  const std::vector<std::string> names = names_of_commands(*command);
  if (names.empty()) return message;
  bool reached = command == &app;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (!reached) {
      reached = word == command->get_name();
    } else if (!word.empty() && word.front() != '-') {
      const std::string below = meant_below(app, word);
      return fmt::format("unknown command '{}'{}\nrun 'xlm{} --help' for the list",
                         fmt::format("{} {}", words, word).substr(1), below.empty() ? did_you_mean(word, names) : below,
                         words);
    }
  }
  return message;
}

/// Rewrites CLI11's "--top-p: Value 2 not in range 0.000000 to 1.000000", whose upper bound may have 300 digits; from
/// 2.6 on "[0 - 1]".
std::string plain_range(const std::string& message) {
  static const RE2 form(R"((?s)(.*) not in range \[?(\S+) (?:to|-) ([^\s\]]+)\]?)");
  std::string head;
  std::string least;
  std::string most;
  double low = 0;
  double high = 0;
  if (!RE2::FullMatch(message, form, &head, &least, &most)) return message;
  if (!parse_real(least, low) || !parse_real(most, high)) return message;
  constexpr double kNoBound = 1e300;
  return high > kNoBound ? fmt::format("{} is not more than {:.0f}", head, low)
                         : fmt::format("{} is not in the range from {} to {}", head, low, high);
}

std::string with_suggestion(const CLI::App& app, const CLI::ParseError& error) {
  std::string message = plain_range(error.what());
  const auto [command, words] = innermost(app);
  const std::size_t dashes = message.find(" -");
  const bool extra = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  if (extra && dashes == std::string::npos && command->get_option_no_throw("--from") != nullptr) {
    message += "\nname files with --from";
  }
  if (extra && dashes != std::string::npos) {
    std::vector<std::string> names;
    for (const CLI::Option* option : command->get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
    const std::string word = split(message.substr(dashes + 1), ' ').front();
    message = fmt::format("unknown option {}{}", word, did_you_mean(word, names));
  }
  return fmt::format("{}\nrun 'xlm{} --help' for its options", message, words);
}

/// A stream that the caller closed must not give its number to the next file that is opened. Writing to it still fails.
void fill_closed_streams() {
  for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) == -1 && errno == EBADF) ::open("/dev/null", O_RDONLY);
  }
}

/// Files are read through memory maps. If another process truncates one, the program cannot continue and ends here.
extern "C" void handle_bus_error(int /*signal*/) {
  constexpr std::string_view kMessage =
      "error: a file was truncated while it was read (data, weights or a journal)\nrestore the file\n";
  if (::write(STDERR_FILENO, kMessage.data(), kMessage.size()) < 0) ::_exit(kBadData);
  ::_exit(kBadData);
}

/// Sets what happens on signals that stand for a system error.
void install_error_handlers() {
  std::signal(SIGPIPE, SIG_DFL);
  std::signal(SIGXFSZ, SIG_IGN);  // a file larger than `ulimit -f` allows: writing fails
  std::signal(SIGBUS, handle_bus_error);
}

/// Runs a command; turns exceptions into messages and exit codes.
int run_command(const GlobalOptions& global, const std::function<int()>& runner) {
  configure_log(global);
  try {
    if (is_portable()) ::prctl(PR_SET_NAME, "xlm");  // in lists of processes; the kernel has started the loader
    return runner();
  } catch (const std::exception& error) {
    const Error in_words = as_error(error);
    const std::string what = error.what();
    const std::size_t more = what.find('\n');  // libtorch adds a backtrace
    const bool whole = global.verbose && dynamic_cast<const Error*>(&error) == nullptr && more != std::string::npos;
    complain(global, whole ? in_words.what() + what.substr(more) : in_words.what());
    return in_words.code();
  }
}

/// The words of the command line. In --runs=~/x and data.path=~/x a shell leaves the ~, which is the home folder.
std::vector<std::string> given_words(int argc, char** argv) {
  std::vector<std::string> words(argv, argv + argc);
  for (std::string& word : words) {
    const std::size_t value = word.find('=') + 1;                              // npos + 1 is 0
    const bool is_null = !word.starts_with('-') && word.substr(value) == "~";  // in YAML
    if (value > 0 && !is_null) word = word.substr(0, value) + expand_home(word.substr(value));
  }
  return words;
}

/// Whether -v is given: CLI11 stops parsing at --version.
bool asks_for_more(int argc, char** argv) {
  return std::any_of(argv + 1, argv + argc, [](std::string_view word) { return word == "-v" || word == "--verbose"; });
}

/// What --version says with --verbose: libtorch, the device, and the kernels that train on it.
int show_machine() {
  for (const auto& [name, value] : core().environment("auto")) fmt::print("  {:<16} {}\n", name, value);
  for (const Precision precision : {Precision::kFloat32, Precision::kBfloat16}) {
    fmt::print("\n  kernels in {}\n", kPrecisionNames.at(static_cast<std::size_t>(precision)));
    for (const KernelUse& use : core().kernels("auto", precision)) {
      fmt::print("  {:<20} {}{}\n", use.operation, use.version, use.gain.empty() ? "" : " (" + use.gain + ")");
      for (const std::string& reason : use.passed_over) fmt::print("  {:<20}   not {}\n", "", reason);
    }
  }
  return 0;
}

}  // namespace

int run_program(int argc, char** argv) {
  fill_closed_streams();
  install_error_handlers();
  std::setlocale(LC_CTYPE, "C.UTF-8");
  GlobalOptions global;
  global.standard_error = Terminal::of(STDERR_FILENO);
  global.standard_output = Terminal::of(STDOUT_FILENO);

  CLI::App app{
      "xlm: ask a question about language models, and get an answer that you can defend.\n"
      "Your own training script, or a model that is built in, with several seeds of each setting: tables, figures, "
      "verdicts.\n",
      "xlm"};
  app.set_version_flag("-V,--version", fmt::format("xlm {} ({})", kVersion, kCommit),
                       "Version; with --verbose also libtorch, the device, and which kernels train on it");
  app.require_subcommand(1);
  app.footer(
      "Examples:\n"
      "  xlm sweep mine.yaml            # your train.py, with every setting and seed\n"
      "  xlm claims mine.yaml\n"
      "  xlm try change.yaml --against base.yaml --value valid.loss\n"
      "  xlm prepare-data text8 --from text8.zip --out data/text8\n"
      "  xlm sweep adaptive-span/span-limit --profile smoke data.path=data/text8\n\n"
      "'xlm COMMAND --help' explains a command.");
  add_global_options(app, global);

  std::vector<std::pair<CLI::App*, std::function<int()>>> runners;
  for (const Command& command : commands()) {
    CLI::App* sub = app.add_subcommand(std::string(command.name), std::string(command.summary));
    sub->formatter(std::make_shared<HelpFormatter>());
    runners.emplace_back(sub, command.declare(*sub, global));
    if (sub->get_subcommands({}).empty()) {
      add_global_options(*sub, global);
    } else {
      for (CLI::App* inner : sub->get_subcommands({})) add_global_options(*inner, global);
    }
    if (command.summary.empty()) sub->group("");  // internal commands
  }
  if (argc == 1) {
    say(app.help());
    return kUsage;
  }
  std::vector<std::string> words = given_words(argc, argv);
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  try {
    app.parse(argc, pointers.data());
  } catch (const CLI::CallForVersion& version) {
    const int code = app.exit(version);
    return asks_for_more(argc, argv) ? run_command(global, show_machine) : code;
  } catch (const CLI::Success& success) {
    return app.exit(success);  // --help
  } catch (const CLI::ParseError& error) {
    complain(global, unknown_word(app, with_suggestion(app, error), argc, argv));
    return kUsage;
  }
  for (const auto& [sub, runner] : runners) {
    if (sub->parsed()) return run_command(global, runner);
  }
  return kUsage;
}

}  // namespace xlm
