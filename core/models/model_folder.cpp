// Model folders.
#include "core/models/model_folder.h"

#include <fmt/format.h>

#include "base/error.h"
#include "core/safetensors.h"

namespace xlm {
namespace {

constexpr const char* kWeights = "model.safetensors";
constexpr const char* kVocabulary = "vocab.json";

void load(LanguageModel& model, const fs::path& folder) {
  const fs::path file = folder / kWeights;
  load_weights(model, read_safetensors(file).tensors, file.string());
}

}  // namespace

void write_model_folder(const fs::path& folder, const LanguageModel& model, const Vocabulary& vocabulary,
                        const std::string& config_yaml) {
  create_folders(folder);
  write_file(folder / "config.yaml", config_yaml);
  write_file(folder / kVocabulary, vocabulary_json(vocabulary));
  write_safetensors(folder / kWeights, {model.weights().begin(), model.weights().end()}, {{"format", "pt"}});
}

LoadedModel load_model_folder(const fs::path& folder, const ModelOptions& options) {
  LoadedModel loaded;
  loaded.vocabulary = read_vocabulary(folder / kVocabulary);
  loaded.model = make_model(options, loaded.vocabulary);
  load(*loaded.model, folder);
  return loaded;
}

void initialize_from(LanguageModel& model, const fs::path& folder, const Vocabulary& vocabulary) {
  if (!(read_vocabulary(folder / kVocabulary) == vocabulary)) {
    throw DataError(fmt::format("model.init_from: the vocabulary of {} is not that of the data", folder.string()));
  }
  load(model, folder);
}

}  // namespace xlm
