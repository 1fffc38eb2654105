// Model folders.
#include "core/models/model_folder.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/json.h"
#include "base/sha256.h"
#include "base/terminal.h"
#include "core/models/capabilities.h"
#include "core/models/symbol_rows.h"
#include "datasets/tokens/bpe.h"

namespace xlm {
namespace {

constexpr const char* kWeights = "model.safetensors";
constexpr const char* kIndex = "model.safetensors.index.json";
/// Weights that are programs or in formats of other libraries, and how transformers reads them.
struct UnreadWeights {
  const char* file;
  const char* how;
};
constexpr std::array<UnreadWeights, 5> kUnread{{{"pytorch_model.bin", ""},
                                                {"pytorch_model.bin.index.json", ""},
                                                {"tf_model.h5", ", from_tf=True"},
                                                {"tf_model.h5.index.json", ", from_tf=True"},
                                                {"flax_model.msgpack", ", from_flax=True"}}};
constexpr const char* kConfig = "config.yaml";
constexpr const char* kVocabulary = "vocab.json";
constexpr const char* kMerges = "merges.txt";
constexpr const char* kTokenizerConfig = "tokenizer_config.json";
constexpr std::array kHashedWithWeights{kVocabulary, kMerges};

/// The key in the weights' metadata for the hash of a file next to them.
std::string hash_key(const std::string& file) { return "xlm.sha256." + file; }

/// Throws DataError if the vocabulary is not the one saved with the weights. Other programs record none.
void check_vocabulary(const fs::path& folder, const std::map<std::string, std::string>& metadata) {
  for (const char* name : kHashedWithWeights) {
    const auto hash = metadata.find(hash_key(name));
    if (hash == metadata.end() || !fs::exists(folder / name) || sha256_file(folder / name) == hash->second) continue;
    throw DataError(fmt::format("{} is corrupt: it is not what {} was saved with", (folder / name).string(), kWeights));
  }
}

/// The file of each tensor, from an index of shards.
std::map<std::string, std::string> read_index(const fs::path& file) {
  const SortedJson index = parse_sorted_json(read_file(file), file.string());
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
    if (!is_known_buffer(tensor)) files[tensor] = name.get<std::string>();
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
    for (auto& [name, tensor] : read_safetensors(folder / shard, is_known_buffer).tensors) {
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

/// GPT-2's two files for byte-pair encoding, for other programs; our own file for other symbols. transformers takes the
/// tokenizer of the model's type, and a Llama's cannot read them, unless tokenizer_config.json names GPT-2's.
void write_vocabulary(const fs::path& folder, const Vocabulary& vocabulary, const std::string& merges) {
  if (vocabulary.unit != Vocabulary::Unit::kBpe) return write_file(folder / kVocabulary, vocabulary_json(vocabulary));
  nlohmann::ordered_json::object_t ids;
  ids.reserve(vocabulary.symbols.size());
  for (const std::string& symbol : vocabulary.symbols) {
    std::vector<std::pair<const std::string, nlohmann::ordered_json>>& entries = ids;
    entries.emplace_back(symbol, entries.size());
  }
  write_file(folder / kVocabulary, nlohmann::ordered_json(std::move(ids)).dump() + "\n");
  if (merges.empty()) return;
  write_file(folder / kMerges, merges);
  write_file(folder / kTokenizerConfig, Json{{"tokenizer_class", "GPT2Tokenizer"}}.dump() + "\n");
}

/// From vocab.json in our form; otherwise of byte pairs, from the files that have them.
Vocabulary read_model_vocabulary(const fs::path& folder) {
  const fs::path file = folder / kVocabulary;
  if (!fs::exists(file)) return has_vocabulary(folder) ? read_bpe_vocabulary(folder) : read_vocabulary(file);
  const std::string text = read_file(file);
  const SortedJson json = parse_sorted_json(text, file.string());
  const bool ours = !json.is_object() || (json.contains("unit") && json["unit"].is_string());
  return ours ? parse_vocabulary(text, file.string()) : read_bpe_vocabulary(folder);
}

/// A folder of Hugging Face's that has no vocabulary.
bool leaves_vocabulary_open(const fs::path& folder) { return !has_vocabulary(folder) && !fs::exists(folder / kConfig); }

/// The file for errors.
fs::path weights_file(const fs::path& folder) {
  return fs::exists(folder / kWeights) || !fs::exists(folder / kIndex) ? folder / kWeights : folder / kIndex;
}

void note_unused_rows(std::int64_t rows, const std::string& source) {
  if (rows == 0) return;
  say(fmt::format("note: rows of embeddings in {} that are of no symbol, left out of every softmax too: {}\n", source,
                  rows));
}

void load_folder(LanguageModel& model, const fs::path& folder, Missing allowed, UnusedRows unused) {
  note_unused_rows(load_weights(model, read_model_weights(folder), weights_file(folder).string(), allowed, unused),
                   folder.string());
}

/// A file with weights in an unsupported form; null: there is none.
const UnreadWeights* unread_weights(const fs::path& folder) {
  const auto* const found =
      std::ranges::find_if(kUnread, [&](const UnreadWeights& each) { return fs::exists(folder / each.file); });
  return found == kUnread.end() ? nullptr : found;
}

/// Weights with another name, such as model.fp16.safetensors or an adapter's; "" if there are none.
std::string oddly_named_weights(const fs::path& folder) {
  std::string name;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".safetensors") name = std::max(name, entry.path().filename().string());
  }
  return name;
}

}  // namespace

NamedTensors read_model_weights(const fs::path& folder) {
  if (weights_file(folder).filename() == kIndex) return read_shards(folder);
  if (!fs::exists(folder / kWeights)) {
    if (const UnreadWeights* unread = unread_weights(folder)) {
      throw DataError(
          fmt::format("{0} has its weights in {1} alone, which is not read\n"
                      "convert it{3}: python -c \"from transformers import GPT2LMHeadModel as M; "
                      "M.from_pretrained('{0}'{2}).save_pretrained('{0}', safe_serialization=True)\"",
                      folder.string(), unread->file, unread->how, *unread->how == 0 ? "" : " with transformers 4"));
    }
    if (const std::string name = oddly_named_weights(folder); !name.empty()) {
      throw DataError(fmt::format("{} has no {}, but {}\nif these are the whole model's weights, give them that name",
                                  folder.string(), kWeights, name));
    }
  }
  TensorFile file = read_safetensors(folder / kWeights, is_known_buffer);
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
  const bool is_of_data = otherwise != nullptr && leaves_vocabulary_open(folder);
  loaded.vocabulary = is_of_data ? *otherwise : read_model_vocabulary(folder);
  loaded.model = make_model(options, loaded.vocabulary);
  load_folder(*loaded.model, folder, Missing::kNone, is_of_data ? UnusedRows::kPadding : UnusedRows::kAny);
  return loaded;
}

SourceWeights source_weights(const fs::path& folder, const Vocabulary* otherwise) {
  const bool assumed = otherwise != nullptr && leaves_vocabulary_open(folder);
  return {.tensors = read_model_weights(folder),
          .vocabulary = assumed ? *otherwise : read_model_vocabulary(folder),
          .name = weights_file(folder).string(),
          .assumed = assumed};
}

std::string initialize_from(LanguageModel& model, const SourceWeights& source, const ModelOptions& options,
                            const Vocabulary& vocabulary) {
  const bool is_same = source.vocabulary == vocabulary;
  SymbolRows rows;
  if (!is_same) rows = common_rows(source.vocabulary, vocabulary, options, source.name);
  note_unused_rows(load_weights(model, source.tensors, source.name, Missing::kAdditions,
                                source.assumed ? UnusedRows::kPadding : UnusedRows::kAny, is_same ? nullptr : &rows),
                   source.name);
  if (source.assumed) {
    return fmt::format(
        "note: model.init_from: {} has no vocab.json; its rows are taken to be those of the data's symbols, in their "
        "order",
        source.name);
  }
  if (is_same) return "";
  const auto kept = static_cast<std::int64_t>(rows.from.size());
  return fmt::format(
      "note: model.init_from: the data have other symbols than {}: {} keep their rows, {} are new, {} are dropped",
      source.name, kept, vocabulary.size() - kept, source.vocabulary.size() - kept);
}

void load_pretrained(LanguageModel& model, const fs::path& folder, std::int64_t symbols) {
  const bool weights =
      fs::exists(weights_file(folder)) || unread_weights(folder) != nullptr || !oddly_named_weights(folder).empty();
  if (!weights) return;
  const bool says_rows = has_vocabulary(folder) && read_model_vocabulary(folder).size() >= symbols;
  load_folder(model, folder, Missing::kAdditions, says_rows ? UnusedRows::kAny : UnusedRows::kPadding);
}

void check_pretrained_vocabulary(const fs::path& folder, const Vocabulary& vocabulary) {
  if (!has_vocabulary(folder) || !fs::exists(weights_file(folder))) return;
  const Vocabulary own = read_model_vocabulary(folder);
  for (std::size_t id = 0; id < vocabulary.symbols.size(); ++id) {
    if (vocabulary.unit == own.unit && id < own.symbols.size() && own.symbols[id] == vocabulary.symbols[id]) continue;
    throw DataError(
        fmt::format("model.pretrained: the vocabulary of {} is not that of the data: they part at symbol {}\n"
                    "prepare the text with --unit bpe --bpe {}",
                    folder.string(), id, folder.string()));
  }
}

}  // namespace xlm
