// What makes two runs the same work: the id of a run, equal wherever and however it is done.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "datasets/prepared/prepared.h"
#include "experiments/configuration/configuration.h"
#include "experiments/programs/code_snapshot.h"

namespace xlm {

/// What a run starts from, besides its options.
struct RunInputs {
  PreparedSummary data;
  /// What stands behind a name that an option gives, by its key: a sha256 or, for the model of a run, which may be
  /// still to be trained, that run ("run:ID", see run_of_content), for a checkpoint "run:ID@STEP". Of a program's
  /// folder: its code.
  std::map<std::string, std::string> contents;
  std::shared_ptr<const Code> code = nullptr;  // of a program, and what git says of it
  std::string read_code = {};                  // the hash of its code as it lies in its folder now
  Json git = Json::object();
};

/// The id in "run:ID"; "" for another content.
std::string run_of_content(const std::string& content);

/// Looks at the data folder, the initial weights and whatever else the options of a model's run name. Throws DataError
/// when something is not there.
RunInputs read_inputs(const RunOptions& options);

/// All that can change the result (docs/configuration.md), as lines KEY=VALUE in the order of the keys: two runs are
/// the same work where these are the same.
std::string run_identity(const RunConfiguration& options, const RunInputs& inputs);

/// "adaptive-span-text8-3fa9c1d240b7e115": model, dataset, and 64 bits of a hash of the identity.
std::string run_id(const RunConfiguration& options, const RunInputs& inputs);

/// The id that version 0.1.0 gave a program's run: how its numbers were read was a part of it.
std::string run_id_with_metrics(const RunConfiguration& options, const RunInputs& inputs);

/// The same of other work: the type of its model, its dataset, and a hash in hexadecimal digits.
std::string run_name(const std::string& model, const std::string& dataset, const std::string& hash);

/// Which of `ids` a user means by `text`: the one that is so called; otherwise those that begin with it; otherwise
/// those whose hash, behind the last dash, does, as boards show it.
std::vector<std::string> ids_called(const std::string& text, const std::vector<std::string>& ids);

/// The SHA-256 of a folder's weights, in one file or several, or of a config.json that stands alone. Throws DataError
/// when there are none.
std::string weights_sha256(const fs::path& folder);

/// Lower-case letters, digits, dots and dashes: what a folder's name may hold on any file system.
std::string folder_name(const std::string& text);

}  // namespace xlm
