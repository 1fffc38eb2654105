// Preparing a data folder from the command line, shared by prepare-data and data import, and what is shown of one.
#pragma once

#include <functional>
#include <string>

#include "base/json.h"
#include "cmd/command.h"
#include "datasets/prepare.h"
#include "datasets/prepared/prepared.h"

namespace xlm {

using MakePreparation = std::function<Preparation(const PrepareObserver& observer)>;

void add_text_options(CLI::App& app, PrepareRequest& request);

/// Prepares `out` with progress on the screen, and prints what is in it.
int prepare_and_report(const GlobalOptions& global, const fs::path& out, const MakePreparation& make_preparation);

/// "27 symbols (characters)", "50257 symbols (byte pairs)".
std::string symbols_text(const Vocabulary& vocabulary);

/// A line for each split: tokens, words, bytes, documents; `width` as TextTable::render takes it.
std::string splits_table(const PreparedData& data, int width);

/// The same, by split.
Json splits_json(const PreparedData& data);

}  // namespace xlm
