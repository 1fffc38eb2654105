// Preparing a data folder from the command line, shared by prepare-data and data import.
#pragma once

#include <functional>

#include "cmd/command.h"
#include "datasets/prepare.h"

namespace xlm {

using MakePreparation = std::function<Preparation(const PrepareObserver& observer)>;

void add_text_options(CLI::App& app, PrepareRequest& request);

/// Prepares `out` with progress on the screen, and prints what is in it.
int prepare_and_report(const GlobalOptions& global, const fs::path& out, const MakePreparation& make_preparation);

}  // namespace xlm
