// Making a prepared data folder from the command line: what prepare-data and data import share.
#pragma once

#include <functional>

#include "cmd/command.h"
#include "datasets/prepare.h"

namespace xlm {

using MakePreparation = std::function<Preparation(const PrepareObserver& observer)>;

/// Declares the options that any text can be prepared with.
void add_text_options(CLI::App& app, PrepareRequest& request);

/// Prepares `out` with progress on the screen, and prints what is in it.
int prepare_and_report(const GlobalOptions& global, const fs::path& out, const MakePreparation& make_preparation);

}  // namespace xlm
