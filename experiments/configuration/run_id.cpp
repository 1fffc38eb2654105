// The id of a run.
#include "experiments/configuration/run_id.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "base/error.h"
#include "base/lookup.h"
#include "base/sha256.h"
#include "base/text.h"
#include "core/api/checkpoint_files.h"
#include "datasets/prepared/segmentation.h"
#include "results/run_folder/run_folder.h"

namespace xlm {
namespace {

constexpr std::size_t kHashDigits = 16;
constexpr const char* kWeights = "model.safetensors";
constexpr const char* kWeightsIndex = "model.safetensors.index.json";
constexpr const char* kShape = "config.json";
constexpr std::string_view kRunContent = "run:";

/// A run's model is what that run's id says, also before it is there.
bool is_model_of_run(const fs::path& folder) {
  return folder.filename() == "model" && (!fs::exists(folder) || fs::exists(folder.parent_path() / "journal.jsonl"));
}

/// "run:ID@STEP" for a checkpoint of a run, also one that is gone; "" for another path.
std::string checkpoint_content(const fs::path& file) {
  const std::int64_t step = step_of_checkpoint(file);
  if (step < 0) return "";
  return fmt::format("{}{}@{}", kRunContent, file.parent_path().parent_path().filename().string(), step);
}

std::string named_content(const OptionEntry& entry, const fs::path& data) {
  const std::string value = entry.value.get<std::string>();
  if (entry.content == OptionContent::kRun) return std::string(kRunContent) + value;
  if (std::string checkpoint = checkpoint_content(value); !checkpoint.empty()) return checkpoint;
  if (entry.content == OptionContent::kTokenizer) return sha256_file(tokenizer_file(data, value));
  if (is_model_of_run(value)) return std::string(kRunContent) + fs::path(value).parent_path().filename().string();
  return weights_sha256(value);
}

/// A run that has nothing to learn from is refused before there is a folder of it.
void check_training_split(const fs::path& data) {
  const Json sizes = read_prepared_meta(data).value("sizes", Json::object());
  if (sizes.value("train", std::int64_t{0}) > 0) return;
  std::vector<std::string> splits;
  for (const auto& [split, size] : sizes.items()) splits.push_back(split);
  throw DataError(
      fmt::format("data.path: {} has no training split, it has: {}\n"
                  "prepare the corpus with a text to train on, or name other data with data.path=DIR",
                  data.string(), join(splits, ", ")));
}

}  // namespace

RunInputs read_inputs(const RunOptions& options) {
  RunInputs inputs;
  const fs::path data = options.data.path;
  if (!fs::is_directory(data)) {
    throw DataError(
        fmt::format("data.path: there is no prepared data folder {}\n"
                    "make it with: xlm prepare-data DATASET --from FILES --out {}",
                    data.string(), data.string()));
  }
  inputs.data = summarize_prepared(data);
  check_training_split(data);
  for (const OptionEntry& entry : option_entries(options)) {
    if (entry.content == OptionContent::kValue || entry.value.get<std::string>().empty()) continue;
    inputs.contents[entry.key] = named_content(entry, data);
  }
  return inputs;
}

std::string run_of_content(const std::string& content) {
  return content.starts_with(kRunContent) ? content.substr(kRunContent.size()) : "";
}

std::string weights_sha256(const fs::path& folder) {
  if (fs::exists(folder / kWeights)) return sha256_file(folder / kWeights);
  if (!fs::exists(folder / kWeightsIndex)) {
    return sha256_file(folder / (fs::exists(folder / kShape) ? kShape : kWeights));
  }
  std::vector<fs::path> shards{folder / kWeightsIndex};
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".safetensors") shards.push_back(entry.path());
  }
  std::ranges::sort(shards);
  Sha256 hash;
  for (const fs::path& shard : shards) hash.update(sha256_file(shard));
  return hash.finish();
}

std::string folder_name(const std::string& text) {
  std::string name;
  for (const char c : lower_case(text)) {
    const bool digit = c >= '0' && c <= '9';
    const bool letter = c >= 'a' && c <= 'z';
    name += digit || letter || c == '.' ? c : '-';
  }
  return name;
}

namespace {

/// The parts of the identity, sorted: the order in which options are declared does not matter.
std::map<std::string, std::string> identity_parts(const RunConfiguration& options, const RunInputs& inputs) {
  std::map<std::string, std::string> parts = inputs.contents;
  parts["data.fingerprint"] = inputs.data.fingerprint;
  if (!options.program) parts["train.micro_batch"] = "0";  // it changes nothing; every id of a model holds this default
  for (const OptionEntry& entry : option_entries(options)) {
    const bool counts = entry.affects_result && !entry.as_before;
    if (counts && entry.content == OptionContent::kValue) parts[entry.key] = entry.value.dump();
  }
  return parts;
}

std::string text_of_parts(const std::map<std::string, std::string>& parts) {
  std::string identity;
  for (const auto& [key, value] : parts) identity += fmt::format("{}={}\n", key, value);
  return identity;
}

std::string id_of_parts(const RunConfiguration& options, const RunInputs& inputs,
                        const std::map<std::string, std::string>& parts) {
  const std::string model = options.program ? options.program->name : options.model.type();
  return run_name(model, inputs.data.dataset, sha256(text_of_parts(parts)));
}

}  // namespace

std::string run_identity(const RunConfiguration& options, const RunInputs& inputs) {
  return text_of_parts(identity_parts(options, inputs));
}

std::string run_name(const std::string& model, const std::string& dataset, const std::string& hash) {
  const std::string name = dataset.empty() ? model : fmt::format("{}-{}", model, folder_name(dataset));
  return fmt::format("{}-{}", name, hash.substr(0, kHashDigits));
}

std::string run_id(const RunConfiguration& options, const RunInputs& inputs) {
  return id_of_parts(options, inputs, identity_parts(options, inputs));
}

std::string run_id_with_metrics(const RunConfiguration& options, const RunInputs& inputs) {
  std::map<std::string, std::string> parts = identity_parts(options, inputs);
  parts[kMetricsParam] = options.program->metrics.dump();
  return id_of_parts(options, inputs, parts);
}

std::vector<std::string> ids_called(const std::string& text, const std::vector<std::string>& ids) {
  if (text.empty()) return {};
  if (contains(ids, text)) return {text};
  std::vector<std::string> called;
  const auto begins = [&](const std::string& id) { return id.starts_with(text); };
  std::copy_if(ids.begin(), ids.end(), std::back_inserter(called), begins);
  if (!called.empty()) return called;
  constexpr std::size_t kFewestDigits = 4;  // "32" may be a size
  if (text.size() < kFewestDigits) return {};
  const auto hash_begins = [&](const std::string& id) {
    const std::size_t dash = id.rfind('-');
    return dash != std::string::npos && std::string_view(id).substr(dash + 1).starts_with(text);
  };
  std::copy_if(ids.begin(), ids.end(), std::back_inserter(called), hash_begins);
  return called;
}

}  // namespace xlm
