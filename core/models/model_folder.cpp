// Model folders.
#include "core/models/model_folder.h"

#include <array>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/json.h"
#include "base/sha256.h"
#include "core/models/capabilities.h"
#include "datasets/tokens/bpe.h"

namespace xlm {
namespace {

constexpr const char* kWeights = "model.safetensors";
constexpr const char* kIndex = "model.safetensors.index.json";
constexpr const char* kPickled = "pytorch_model.bin";
constexpr const char* kConfig = "config.yaml";
constexpr const char* kVocabulary = "vocab.json";
constexpr const char* kMerges = "merges.txt";
constexpr std::array kHashedWithWeights{kVocabulary, kMerges};

/// Under which name the metadata of the weights have the hash of a file beside them.
std::string hash_key(const std::string& file) { return "xlm.sha256." + file; }

/// Throws DataError where the vocabulary is another than the weights were saved with. Earlier programs did not say.
void check_vocabulary(const fs::path& folder, const std::map<std::string, std::string>& metadata) {
  for (const char* name : kHashedWithWeights) {
    const auto hash = metadata.find(hash_key(name));
    if (hash == metadata.end() || !fs::exists(folder / name) || sha256_file(folder / name) == hash->second) continue;
    throw DataError(fmt::format("{} is corrupt: it is not what {} was saved with", (folder / name).string(), kWeights));
  }
}

/// Which file holds which tensor, as an index of shards says.
std::map<std::string, std::string> read_index(const fs::path& file) {
  const Json index = read_json(file);
  const auto map = index.is_object() ? index.find("weight_map") : index.end();
  if (!index.is_object() || map == index.end() || !map->is_object() || map->empty()) {
    throw DataError(fmt::format("{} is malformed: it has no 'weight_map'", file.string()));
  }
  std::map<std::string, std::string> files;
  for (const auto& [tensor, name] : map->items()) {
    const bool plain = name.is_string() && !name.get<std::string>().empty() &&
                       fs::path(name.get<std::string>()).filename() == name.get<std::string>();
    if (!plain) {
      throw DataError(
          fmt::format("{} is malformed: '{}' lies in {}, which is no file name", file.string(), tensor, name.dump()));
    }
    files[tensor] = name.get<std::string>();
  }
  return files;
}

NamedTensors read_shards(const fs::path& folder) {
  const fs::path index = folder / kIndex;
  const std::map<std::string, std::string> files = read_index(index);
  std::set<std::string> shards;
  for (const auto& [tensor, file] : files) shards.insert(file);
  NamedTensors tensors;
  for (const std::string& shard : shards) {
    if (!fs::is_regular_file(folder / shard)) {
      throw DataError(fmt::format("{} names {}, which is not there", index.string(), shard));
    }
    for (auto& [name, tensor] : read_safetensors(folder / shard).tensors) {
      const auto expected = files.find(name);
      if (expected == files.end() || expected->second != shard) {
        throw DataError(fmt::format("{} does not say that {} holds '{}'", index.string(), shard, name));
      }
      tensors.emplace_back(name, std::move(tensor));
    }
  }
  if (tensors.size() < files.size()) {
    std::set<std::string> found;
    for (const auto& [name, tensor] : tensors) found.insert(name);
    for (const auto& [name, file] : files) {
      if (found.count(name) == 0) {
        throw DataError(fmt::format("{} says that {} holds '{}'; it does not", index.string(), file, name));
      }
    }
  }
  return tensors;
}

/// GPT-2's two files for byte-pair encoding, so that other programs find what they know; ours for other symbols.
void write_vocabulary(const fs::path& folder, const Vocabulary& vocabulary, const std::string& merges) {
  if (vocabulary.unit != Vocabulary::Unit::kBpe) return write_file(folder / kVocabulary, vocabulary_json(vocabulary));
  nlohmann::ordered_json::object_t ids;
  ids.reserve(vocabulary.symbols.size());
  for (const std::string& symbol : vocabulary.symbols) {
    std::vector<std::pair<const std::string, nlohmann::ordered_json>>& entries = ids;
    entries.emplace_back(symbol, entries.size());
  }
  write_file(folder / kVocabulary, nlohmann::ordered_json(std::move(ids)).dump() + "\n");
  if (!merges.empty()) write_file(folder / kMerges, merges);
}

/// vocab.json in our form or GPT-2's.
Vocabulary read_model_vocabulary(const fs::path& folder) {
  const fs::path file = folder / kVocabulary;
  const std::string text = read_file(file);
  check_json_depth(text, file.string());
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  const bool ours = !json.is_object() || (json.contains("unit") && json["unit"].is_string());
  return ours ? parse_vocabulary(text, file.string()) : parse_bpe_vocabulary(text, file.string());
}

/// The file that errors name.
fs::path weights_file(const fs::path& folder) {
  return fs::exists(folder / kWeights) || !fs::exists(folder / kIndex) ? folder / kWeights : folder / kIndex;
}

void load_folder(LanguageModel& model, const fs::path& folder, Missing allowed) {
  load_weights(model, read_model_weights(folder), weights_file(folder).string(), allowed);
}

}  // namespace

NamedTensors read_model_weights(const fs::path& folder) {
  if (weights_file(folder).filename() == kIndex) return read_shards(folder);
  if (!fs::exists(folder / kWeights) && fs::exists(folder / kPickled)) {
    throw DataError(
        fmt::format("{0} has its weights in {1} alone, which is a program rather than data and is not read\n"
                    "convert it: python -c \"from transformers import GPT2LMHeadModel as M; "
                    "M.from_pretrained('{0}').save_pretrained('{0}', safe_serialization=True)\"",
                    folder.string(), kPickled));
  }
  TensorFile file = read_safetensors(folder / kWeights);
  check_vocabulary(folder, file.metadata);
  return std::move(file.tensors);
}

void write_model_folder(const fs::path& folder, const LanguageModel& model, const Vocabulary& vocabulary,
                        const std::string& config_yaml, const std::string& merges) {
  create_folders(folder);
  write_file(folder / kConfig, config_yaml);
  write_vocabulary(folder, vocabulary, merges);
  NamedTensors weights = model.weights();
  if (const auto* shares = capability<SharesWeightFiles>(model)) {
    for (const auto& [name, content] : shares->companion_files()) write_file(folder / name, content);
    for (auto& [name, tensor] : weights) name = shares->stored_name(name);
  }
  std::map<std::string, std::string> metadata{{"format", "pt"}};
  for (const char* name : kHashedWithWeights) {
    if (fs::exists(folder / name)) metadata[hash_key(name)] = sha256_file(folder / name);
  }
  write_safetensors(folder / kWeights, weights, metadata);
}

LoadedModel load_model_folder(const fs::path& folder, const ModelOptions& options, const Vocabulary* otherwise) {
  LoadedModel loaded;
  const bool foreign = !fs::exists(folder / kVocabulary) && !fs::exists(folder / kConfig);
  loaded.vocabulary = otherwise != nullptr && foreign ? *otherwise : read_model_vocabulary(folder);
  loaded.model = make_model(options, loaded.vocabulary);
  load_folder(*loaded.model, folder, Missing::kNone);
  return loaded;
}

void initialize_from(LanguageModel& model, const fs::path& folder, const Vocabulary& vocabulary) {
  if (!(read_model_vocabulary(folder) == vocabulary)) {
    throw DataError(fmt::format("model.init_from: the vocabulary of {} is not that of the data", folder.string()));
  }
  load_folder(model, folder, Missing::kAdditions);
}

void load_pretrained(LanguageModel& model, const fs::path& folder) {
  const bool weights = fs::exists(weights_file(folder)) || fs::exists(folder / kPickled);
  if (weights) load_folder(model, folder, Missing::kAdditions);
}

}  // namespace xlm
