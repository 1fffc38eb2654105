// What a subcommand is: a name, a line of help, and a function that declares its options and says what to run.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/files.h"
#include "base/terminal.h"

namespace xlm {

/// What every command is given: the options that work everywhere, and the terminal.
struct GlobalOptions {
  bool json = false;
  bool quiet = false;
  bool verbose = false;
  fs::path runs = "runs";
  fs::path store;  // empty: runs/results.db
  Terminal standard_error;
  Terminal standard_output;

  fs::path store_file() const { return store.empty() ? runs / "results.db" : store; }
};

/// Declares options on `app`, bound to variables that the returned function keeps alive; the function does the work and
/// returns the exit code. `global` outlives it and is filled when it runs.
using DeclareCommand = std::function<int()> (*)(CLI::App& app, const GlobalOptions& global);

struct Command {
  std::string_view name;
  std::string_view summary;
  DeclareCommand declare;
};

/// All subcommands, in the order of the help.
const std::vector<Command>& commands();

/// Declares the options that work everywhere.
void add_global_options(CLI::App& app, GlobalOptions& global);

/// Prints `text` to standard output; throws Error when it cannot be written (a closed pipe ends the program quietly).
void print(std::string_view text);

/// Writes what a command makes: the whole of `file`, in a folder that is made where it is missing.
void write_output(const fs::path& file, std::string_view text);

/// Prints `text`, or writes it atomically to `file` when one is named.
void print_or_write(std::string_view text, const fs::path& file);

}  // namespace xlm
