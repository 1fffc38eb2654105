// Model folders: config.yaml, model.safetensors, vocab.json; and those of Hugging Face, with config.json, whose weights
// may be in several files.
#pragma once

#include <string>

#include "core/models/language_model.h"
#include "core/runtime/safetensors.h"
#include "datasets/prepared/prepared.h"

namespace xlm {

/// Writes all files of a model folder, each atomically, the weights last, with the hash of the vocabulary. `merges`:
/// the text of merges.txt if the vocabulary is of byte-pair encoding.
void write_model_folder(const fs::path& folder, const LanguageModel& model, const Vocabulary& vocabulary,
                        const std::string& config_yaml, const std::string& merges = "");

struct LoadedModel {
  std::shared_ptr<LanguageModel> model;
  Vocabulary vocabulary;
};

/// Reads the vocabulary and the weights of a folder into a model with these options. A folder without a vocabulary (as
/// Hugging Face's save_pretrained leaves it) uses `otherwise`, if given. Embedding rows without a symbol are dropped,
/// with a note on standard error. Throws DataError.
LoadedModel load_model_folder(const fs::path& folder, const ModelOptions& options,
                              const Vocabulary* otherwise = nullptr);

/// Weights to begin from, by the names of the parameters, and the symbols whose rows they have.
struct SourceWeights {
  NamedTensors tensors;
  Vocabulary vocabulary;
  std::string name;      // in messages
  bool assumed = false;  // the folder has no vocabulary, and was given this one
};

/// Those of a model folder. A folder of Hugging Face's without a vocabulary uses `otherwise`, if given.
SourceWeights source_weights(const fs::path& folder, const Vocabulary* otherwise = nullptr);

/// Loads weights into `model`, which was made with `options` for `vocabulary`. Parameters that extend the other model
/// keep their values. If the vocabularies differ, rows of common symbols are loaded, and those of new symbols keep
/// their values. Returns a note of how many rows these are, or that the vocabulary was assumed; "" if there is none.
/// Throws DataError if no symbol is common, or if shapes differ otherwise.
std::string initialize_from(LanguageModel& model, const SourceWeights& source, const ModelOptions& options,
                            const Vocabulary& vocabulary);

/// The same for a Hugging Face folder and a model of so many symbols; a folder without weights changes nothing.
void load_pretrained(LanguageModel& model, const fs::path& folder, std::int64_t symbols);

/// Throws DataError if such a folder has a vocabulary that does not begin with the symbols of `vocabulary`.
void check_pretrained_vocabulary(const fs::path& folder, const Vocabulary& vocabulary);

/// All tensors of model.safetensors, or of the files in model.safetensors.index.json. Throws DataError if there are
/// none, or in another form; if a file of the index is missing or its tensors differ from the index; and if the
/// vocabulary is not the one that write_model_folder saved with them.
NamedTensors read_model_weights(const fs::path& folder);

}  // namespace xlm
