// A trained model's card.
#include "experiments/runs/model_card.h"

#include <utility>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "base/version.h"
#include "base/yaml.h"
#include "results/quantities/quantities.h"

namespace xlm {
namespace {

constexpr const char* kSharedConfig = "config.json";
constexpr const char* kEndOfText = "<|endoftext|>";

std::string text_param(const Run& run, std::string_view key) {
  const Json* value = run.param(key);
  return value == nullptr ? "" : value->is_string() ? value->get<std::string>() : value->dump();
}

/// The quantities that a card shows: those that can stand for a run.
std::vector<const Quantity*> card_quantities(const RunEvaluation& evaluation) {
  std::vector<const Quantity*> shown;
  for (const Quantity* quantity : headlines()) {
    if (evaluation.values.contains(quantity->name)) shown.push_back(quantity);
  }
  return shown;
}

std::vector<const RunEvaluation*> card_evaluations(const Run& run) {
  std::vector<const RunEvaluation*> shown;
  for (const RunEvaluation& evaluation : run.evaluations) {
    if (evaluation.main || !evaluation.at.empty()) shown.push_back(&evaluation);
  }
  return shown;
}

/// The corpus that an evaluation was made on, and its other settings.
std::string data_of(const Run& run, const RunEvaluation& evaluation) {
  for (const auto& [key, value] : evaluation.at) {
    if (key == "data.name" && value.is_string()) return value.get<std::string>();
  }
  return text_param(run, "data.name");
}

std::string other_settings(const RunEvaluation& evaluation) {
  SettingList others = evaluation.at;
  std::erase_if(others, [](const auto& setting) { return setting.first == "data.name"; });
  return others.empty() ? "" : " (" + at_text(others) + ")";
}

Json model_index(const Run& run) {
  Json results = Json::array();
  for (const RunEvaluation* evaluation : card_evaluations(run)) {
    Json metrics = Json::array();
    for (const Quantity* quantity : card_quantities(*evaluation)) {
      metrics.push_back({{"type", quantity->name},
                         {"value", evaluation->values.at(quantity->name)},
                         {"name", quantity->meaning + other_settings(*evaluation)}});
    }
    if (metrics.empty()) continue;
    const std::string data = data_of(run, *evaluation);
    results.push_back({{"task", {{"type", "text-generation"}}},
                       {"dataset", {{"name", data}, {"type", data}, {"split", evaluation->split}}},
                       {"metrics", std::move(metrics)}});
  }
  return Json::array({{{"name", run.id}, {"results", std::move(results)}}});
}

std::string front_matter(const Run& run) {
  Json data = {{"tags", {"xlm", text_param(run, "model.type")}},
               {"pipeline_tag", "text-generation"},
               {"datasets", {text_param(run, "data.name")}},
               {"model-index", model_index(run)}};
  if (const std::string language = run.environment.value("language", ""); !language.empty())
    data["language"] = language;
  if (fs::exists(RunPaths{run.folder}.model() / kSharedConfig)) data["library_name"] = "transformers";
  return "---\n# license: choose one when you publish the model\n" + to_text(yaml_from_json(data, "model card")) +
         "---\n";
}

std::string results_table(const Run& run) {
  std::string rows;
  for (const RunEvaluation* evaluation : card_evaluations(run)) {
    for (const Quantity* quantity : card_quantities(*evaluation)) {
      rows += fmt::format("| {}{} | {} | {} | {} |\n", data_of(run, *evaluation), other_settings(*evaluation),
                          evaluation->split, quantity->meaning,
                          list_number(*quantity, evaluation->values.at(quantity->name)));
    }
  }
  return rows.empty() ? ""
                      : "## Results\n\n| data | split | quantity | value |\n| --- | --- | --- | ---: |\n" + rows + "\n";
}

/// The class that loads the model in transformers, as config.json names it; "" without such a file.
std::string shared_class(const Run& run) {
  const fs::path file = RunPaths{run.folder}.model() / kSharedConfig;
  if (!fs::exists(file)) return "";
  const Json architectures = read_json_object(file).value("architectures", Json::array());
  return architectures.empty() ? "AutoModelForCausalLM" : architectures.front().get<std::string>();
}

std::string how_to_load(const Run& run) {
  std::string text = "## Loading\n\n```\nxlm eval FOLDER --data DATA\nxlm sample FOLDER --prompt 'Some text'\n```\n";
  const std::string shared = shared_class(run);
  if (shared.empty()) return text + "\n";
  text +=
      fmt::format("\n```python\nfrom transformers import {0}\nmodel = {0}.from_pretrained(\"FOLDER\")\n```\n", shared);
  for (const auto& [key, name] :
       {std::pair("model.recurrence.pool", "recurrence"), std::pair("model.memory", "memory")}) {
    const std::string way = text_param(run, key);
    if (way.empty() || way == "none") continue;
    text += fmt::format(
        "\n`transformers` loads it without its {}, as a GPT-2 that sees one window. The numbers above are those of "
        "xlm.\n",
        name);
  }
  return text + "\n";
}

/// The configuration with the last part of each absolute path: other machines have other folders.
std::string portable_config(const Run& run) {
  const fs::path file = RunPaths{run.folder}.config();
  if (!fs::exists(file)) return "";
  std::string text = read_file(file);
  for (const auto& [key, value] : run.params) {
    if (!value.is_string()) continue;
    const auto path = value.get<std::string>();
    if (!fs::path(path).is_absolute()) continue;
    const std::string last = (fs::path(path) / "x").lexically_normal().parent_path().filename().string();
    if (last.empty()) continue;
    for (std::size_t at = text.find(path); at != std::string::npos; at = text.find(path, at + last.size())) {
      text.replace(at, path.size(), last);
    }
  }
  return text;
}

/// The id of the token that ends a text. Null unless the vocabulary is GPT-2's and has it.
Json end_of_text(const fs::path& model) {
  const fs::path file = model / "vocab.json";
  if (!fs::exists(file)) return {};
  const Json vocabulary = read_json(file);
  return vocabulary.is_object() ? vocabulary.value(kEndOfText, Json()) : Json();
}

}  // namespace

std::string model_card(const Run& run) {
  const auto params = run.costs.find("params");
  return fmt::format(
      "{}\n# {}\n\nA model of type {}{}, trained for {} steps on {} by xlm {}.\n\n{}"
      "## Data\n\n{}{}, prepared by `xlm prepare-data`; fingerprint `{}`.\n\n{}"
      "## Licence\n\nNot chosen yet: it depends on the data and on the model's publisher.\n\n"
      "## Configuration\n\n```yaml\n{}```\n",
      front_matter(run), run.id, text_param(run, "model.type"),
      params == run.costs.end() ? "" : fmt::format(" with {} parameters", human_count(params->second)),
      in_thousands(run.step), text_param(run, "data.name"), kVersion, results_table(run), text_param(run, "data.name"),
      run.environment.value("language", "").empty() ? "" : ", language " + run.environment.value("language", ""),
      run.environment.value("fingerprint", ""), how_to_load(run), portable_config(run));
}

void describe_model(const Run& run) {
  const fs::path model = RunPaths{run.folder}.model();
  if (!fs::is_directory(model)) return;
  const fs::path shared = model / kSharedConfig;
  if (fs::exists(shared)) {
    Json config = read_json_object(shared);
    const Json end = end_of_text(model);
    for (const char* key : {"bos_token_id", "eos_token_id"}) config[key] = end;
    write_file(shared, config.dump(2) + "\n");
    const Json generation{{"bos_token_id", end}, {"eos_token_id", end}, {"pad_token_id", end}, {"do_sample", false}};
    write_file(model / "generation_config.json", json_text(generation));
  }
  write_file(model / "README.md", model_card(run));
}

}  // namespace xlm
