// Runs of others: what a command executes of them.
#pragma once

#include <CLI/CLI.hpp>

#include "base/files.h"
#include "base/yaml.h"

namespace xlm {

void add_trust_option(CLI::App& app, fs::path& trusted);

/// Throws DataError if `file` is the config.yaml of a run of others and describes a program.
void check_file_of_run(const fs::path& file, const Yaml& tree);

}  // namespace xlm
