// Model folders: config.yaml, model.safetensors, vocab.json.
#pragma once

#include <string>

#include "core/models/language_model.h"
#include "datasets/prepared.h"

namespace xlm {

/// Writes all files of a model folder, each atomically, the weights last.
void write_model_folder(const fs::path& folder, const LanguageModel& model, const Vocabulary& vocabulary,
                        const std::string& config_yaml);

struct LoadedModel {
  std::shared_ptr<LanguageModel> model;
  Vocabulary vocabulary;
};

/// Reads the vocabulary and the weights of a folder into a model with these options. Throws DataError.
LoadedModel load_model_folder(const fs::path& folder, const ModelOptions& options);

/// Loads another folder's weights into `model`, whose vocabulary is `vocabulary`. Throws DataError when the symbols or
/// shapes differ.
void initialize_from(LanguageModel& model, const fs::path& folder, const Vocabulary& vocabulary);

}  // namespace xlm
