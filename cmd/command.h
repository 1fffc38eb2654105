// A subcommand: its name, its line of help, and a function that declares its options and returns what to run.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/files.h"
#include "base/terminal.h"

namespace xlm {

/// What every command receives: the global options and the terminal.
struct GlobalOptions {
  bool json = false;
  bool quiet = false;
  bool verbose = false;
  fs::path runs = "runs";
  fs::path store;  // empty: runs/results.db
  Terminal standard_error;
  Terminal standard_output;

  fs::path store_file() const { return store.empty() ? runs / "results.db" : store; }

  /// Columns of what goes to standard output, or to `out` if that names a file; 0: any number.
  int width(const fs::path& out = {}) const {
    return standard_output.is_terminal && out.empty() ? standard_output.width : 0;
  }
};

/// Declares options on `app` and returns the function that runs the command and returns the exit code. That function
/// owns the variables of the options. `global` outlives it and is filled before it runs.
using DeclareCommand = std::function<int()>(CLI::App& app, const GlobalOptions& global);

struct Command {
  std::string_view name;
  std::string_view summary;
  DeclareCommand* declare;
};

/// The subcommands of a command that its help lists, and their names.
std::vector<const CLI::App*> listed_commands(const CLI::App& app);
std::vector<std::string> names_of_commands(const CLI::App& app);

/// All subcommands, in the order of the help.
const std::vector<Command>& commands();

void add_global_options(CLI::App& app, GlobalOptions& global);

/// A file that comes with the program, by its name in a folder, with or without .yaml: "recipes", "sites". Empty: none.
fs::path shipped_file(const std::string& kind, const std::string& name);

/// The file of a recipe that is called by its name below experiments/recipes, with or without .yaml:
/// "adaptive-span/span-limit". Other words, and those of files that are there, stay.
std::string recipe_file(const std::string& named);

/// Prints `text` to standard output. Throws Error if it cannot be written; a closed pipe ends the program silently.
void print(std::string_view text);

/// Writes `text` to `file` atomically; creates its folder if it is missing.
void write_output(const fs::path& file, std::string_view text);

/// Prints `text`, or writes it to `file` if one is named.
void print_or_write(std::string_view text, const fs::path& file);

}  // namespace xlm
