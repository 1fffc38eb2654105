// The table of subcommands: dispatch, help, completion and "did you mean" come from it.
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>

#include "base/shared_library.h"
#include "base/text.h"
#include "cmd/command.h"

namespace xlm {

DeclareCommand declare_prepare_data, declare_data, declare_train, declare_sweep, declare_eval, declare_eval_overlap,
    declare_sample, declare_segment, declare_pareto, declare_compare, declare_try, declare_decide, declare_table,
    declare_figure, declare_fit, declare_continuation, declare_report, declare_runs, declare_completion,
    declare_complete, declare_help, declare_worker;
// A unity build has its definition in front.
DeclareCommand declare_claims;  // NOLINT(readability-redundant-declaration)

const std::vector<Command>& commands() {
  static const std::vector<Command> table{
      {"prepare-data", "Turn a raw corpus into a prepared data folder", declare_prepare_data},
      {"data", "Show a prepared data folder, or import a Hugging Face dataset", declare_data},
      {"train", "Train one model, or resume an unfinished run", declare_train},
      {"sweep", "Run all unfinished runs of a sweep", declare_sweep},
      {"eval", "Evaluate a run or a model folder", declare_eval},
      {"eval-overlap", "Evaluate a model by window and overlap", declare_eval_overlap},
      {"sample", "Continue a text", declare_sample},
      {"segment", "Show the boundaries that an hourglass predicts in a text", declare_segment},
      {"pareto", "Print the Pareto front of columns of the store", declare_pareto},
      {"compare", "Test whether two settings differ", declare_compare},
      {"try", "Say whether a change is a gain: keep, discard or undecided", declare_try},
      {"decide", "Run the seeds that undecided claims need, within a budget", declare_decide},
      {"table", "Print a paper's tables from the store", declare_table},
      {"claims", "Say which claims of a paper the store's runs confirm", declare_claims},
      {"figure", "Plot the store's results", declare_figure},
      {"fit", "Fit scaling laws to runs, and predict larger ones", declare_fit},
      {"continuation", "Compare how models continue the same passages", declare_continuation},
      {"report", "Write all tables and figures of recipes to one page", declare_report},
      {"runs", "List, inspect, move and delete runs", declare_runs},
      {"completion", "Print shell completion for bash, zsh or fish", declare_completion},
      {"help", "Print the help of a command, or the man page", declare_help},
      {"complete", "", declare_complete},
      {"worker", "", declare_worker},
  };
  return table;
}

std::vector<const CLI::App*> listed_commands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* sub) { return !sub->get_group().empty(); });
}

std::vector<std::string> names_of_commands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : listed_commands(app)) names.push_back(sub->get_name());
  return names;
}

void add_global_options(CLI::App& app, GlobalOptions& global) {
  app.add_flag("--json", global.json, "Machine-readable results on standard output");
  app.add_flag("-q,--quiet", global.quiet, "No progress and no notes");
  app.add_flag("-v,--verbose", global.verbose, "Print more; add the cause to errors");
  app.add_option("--runs", global.runs, "Folder of runs")
      ->transform([](const std::string& named) {  // a/../b is b in what is printed, too
        const fs::path folder = fs::path(named).lexically_normal();
        return folder.has_filename() || !folder.has_relative_path() ? folder.string() : folder.parent_path().string();
      })
      ->capture_default_str()
      ->type_name("DIR");
  app.add_option("--store", global.store, "Results store (default: results.db in the folder of runs)")
      ->type_name("FILE");
}

fs::path shipped_file(const std::string& kind, const std::string& name) {
  std::error_code ignored;
  const fs::path program = executable_path();
  for (fs::path folder = program.parent_path(); folder.has_relative_path(); folder = folder.parent_path()) {
    for (const char* place : {"share/xlm", "experiments"}) {
      for (const char* ending : {"", ".yaml"}) {
        fs::path file = folder / place / kind / (name + ending);
        if (fs::exists(file, ignored)) return file;
      }
    }
  }
  return {};
}

std::string recipe_file(const std::string& named) {
  std::error_code ignored;
  if (named.empty() || fs::path(named).is_absolute() || fs::exists(named, ignored)) return named;
  const fs::path shipped = shipped_file("recipes", named);
  return shipped.empty() ? named : shipped.string();
}

void print(std::string_view raw) {
  const std::string text = ::isatty(STDOUT_FILENO) == 1 ? printable(raw) : std::string(raw);
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    if (errno == EPIPE) {  // long work ignores SIGPIPE; restored, it ends the program as usual
      std::signal(SIGPIPE, SIG_DFL);
      std::raise(SIGPIPE);
    }
    throw_file_error("write", "standard output", errno);
  }
}

void write_output(const fs::path& file, std::string_view text) {
  create_folders(folder_of(file));
  write_file(file, text);
}

void print_or_write(std::string_view text, const fs::path& file) {
  if (file.empty()) {
    print(text);
  } else {
    write_output(file, text);
  }
}

}  // namespace xlm
