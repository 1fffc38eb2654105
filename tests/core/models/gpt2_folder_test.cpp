// Folders of GPT-2 in Hugging Face's format: reading and writing them.
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/json.h"
#include "core/models/capabilities.h"
#include "core/models/language_model.h"
#include "core/models/model_folder.h"
#include "core/runtime/safetensors.h"
#include "tests/core/models/golden_gpt2.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

class Gpt2Folder : public testing::Test {
 protected:
  void SetUp() override {
    torch::manual_seed(3);
    model_ = make_model(gpt2_options(), kGptSymbols);
    model_->eval();
    for (const auto& [name, weight] : model_->weights()) {
      if (name.ends_with("bias")) weight.data().normal_();
      weights_.emplace_back("transformer." + name, weight.detach());
    }
  }

  fs::path folder(const std::string& name) {
    const fs::path path = folder_.path() / name;
    create_folders(path);
    return path;
  }
  void expect_loads(const fs::path& path, double tolerance = 0) {
    const Vocabulary letters = vocabulary();
    const LoadedModel loaded = load_model_folder(path, gpt2_options(), &letters);
    loaded.model->eval();
    EXPECT_TRUE(torch::allclose(loaded.model->forward(gpt2_tokens(), {}).logits(),
                                model_->forward(gpt2_tokens(), {}).logits(), 0, tolerance));
  }
  static Vocabulary vocabulary() {
    Vocabulary letters;
    for (std::int64_t i = 0; i < kGptSymbols; ++i) letters.symbols.emplace_back(1, static_cast<char>('a' + i));
    return letters;
  }
  TemporaryFolder folder_;
  std::shared_ptr<LanguageModel> model_;
  NamedTensors weights_;
};

TEST_F(Gpt2Folder, IsReadWithPrefixBuffersAndAStoredOutput) {
  NamedTensors stored = weights_;
  stored.emplace_back("transformer.h.0.attn.bias", torch::ones({1, 1, 32, 32}, torch::kByte));
  stored.emplace_back("h.1.attn.masked_bias", torch::tensor(-1e4F));
  stored.emplace_back("lm_head.weight", weights_.front().second);
  write_safetensors(folder("prefixed") / "model.safetensors", stored);
  expect_loads(folder("prefixed"));
  stored.back().second = stored.back().second + 1;
  write_safetensors(folder("other") / "model.safetensors", stored);
  EXPECT_THAT([&] { expect_loads(folder("other")); }, ThrowsMessage<Error>(HasSubstr("tied to 'wte.weight'")));
}

TEST_F(Gpt2Folder, CostsOfAModelThatBeginsThereReadNoWeights) {
  const fs::path path = folder("costs");
  write_file(path / "model.safetensors", "no weights");
  Gpt2Options plain = gpt2_options();
  const NamedValues expected = model_costs(plain, kGptSymbols, 8);
  plain.pretrained = path.string();
  EXPECT_EQ(model_costs(plain, kGptSymbols, 8), expected);
}

TEST_F(Gpt2Folder, IsReadInHalfPrecision) {
  for (const auto type : {torch::kHalf, torch::kBFloat16}) {
    NamedTensors stored;
    for (const auto& [name, weight] : weights_) {
      stored.emplace_back(name, weight.to(type));
    }
    write_safetensors(folder("half") / "model.safetensors", stored);
    expect_loads(folder("half"), 0.05);
  }
}

TEST_F(Gpt2Folder, IsReadFromShards) {
  const fs::path path = folder("shards");
  const NamedTensors first(weights_.begin(), weights_.begin() + 5);
  const NamedTensors second(weights_.begin() + 5, weights_.end());
  write_safetensors(path / "model-1-of-2.safetensors", first);
  write_safetensors(path / "model-2-of-2.safetensors", second);
  Json map = Json::object();
  for (const auto& [name, tensor] : first) map[name] = "model-1-of-2.safetensors";
  for (const auto& [name, tensor] : second) map[name] = "model-2-of-2.safetensors";
  const fs::path index = path / "model.safetensors.index.json";
  write_file(index, Json{{"weight_map", map}}.dump());
  expect_loads(path);

  Json wrong = map;
  wrong["transformer.nothing"] = "model-2-of-2.safetensors";
  write_file(index, Json{{"weight_map", wrong}}.dump());
  EXPECT_THAT([&] { expect_loads(path); }, ThrowsMessage<Error>(HasSubstr("'transformer.nothing'; it does not")));
  wrong = map;
  wrong["transformer.wte.weight"] = "../model.safetensors";
  write_file(index, Json{{"weight_map", wrong}}.dump());
  EXPECT_THAT([&] { expect_loads(path); }, ThrowsMessage<Error>(HasSubstr("no file name")));
  write_file(index, Json{{"weight_map", map}}.dump());
  fs::remove(path / "model-2-of-2.safetensors");
  EXPECT_THAT([&] { expect_loads(path); }, ThrowsMessage<Error>(HasSubstr("which is not there")));
}

TEST_F(Gpt2Folder, IsWrittenWithHuggingFacesConfig) {
  const fs::path path = folder("written");
  write_model_folder(path, *model_, vocabulary(), "model: {}\n");
  Gpt2Options read;
  read.adopt(read_json(path / "config.json"), "config.json");
  EXPECT_EQ(read.width, 16);
  EXPECT_EQ(read.heads, 4);
  EXPECT_EQ(read.layers, 3);
  EXPECT_EQ(read.feed_forward, 24);
  EXPECT_EQ(read.positions, 32);
  EXPECT_TRUE(read.tied);
  EXPECT_THROW(read.adopt(Json{{"model_type", "llama"}}, "x"), DataError);
  EXPECT_THROW(read.adopt(Json{{"n_embd", 0}}, "x"), DataError);
  EXPECT_THROW(read.adopt(Json{{"n_embd", 17}}, "x"), UsageError);
  EXPECT_THROW(Gpt2Options().adopt(Json{{"activation_function", 768}}, "x"), DataError);
}

// The names of GPT2LMHeadModel: all but the output layer begin with "transformer.". Without that prefix a file counts
// as one of GPT2Model. A model with tied weights has no output layer and is such a file.
TEST_F(Gpt2Folder, IsWrittenWithHuggingFacesNames) {
  const auto names_in = [](const fs::path& path) {
    std::vector<std::string> names;
    for (const auto& [name, tensor] : read_safetensors(path / "model.safetensors").tensors) names.push_back(name);
    return names;
  };
  write_model_folder(folder("tied"), *model_, vocabulary(), "model: {}\n");
  EXPECT_THAT(names_in(folder("tied")), testing::Not(testing::Contains(testing::StartsWith("transformer."))));

  Gpt2Options options = gpt2_options();
  options.tied = false;
  const auto untied = make_model(options, kGptSymbols);
  const fs::path path = folder("untied");
  write_model_folder(path, *untied, vocabulary(), "model: {}\n");
  std::vector<std::string> names = names_in(path);
  EXPECT_EQ(names.size(), untied->weights().size());
  EXPECT_EQ(std::erase(names, "lm_head.weight"), 1U);
  EXPECT_THAT(names, testing::Each(testing::StartsWith("transformer.")));
  EXPECT_THAT(names, testing::Contains("transformer.wte.weight"));

  const auto expect_equal = [&](LanguageModel& model) {
    for (const auto& [name, weight] : untied->weights()) {
      EXPECT_TRUE(torch::equal(model.named_parameters()[name], weight)) << name;
    }
  };
  expect_equal(*load_model_folder(path, options).model);
  const auto beginning = make_model(options, kGptSymbols);
  initialize_from(*beginning, source_weights(path), options, vocabulary());
  expect_equal(*beginning);
  options.pretrained = path.string();
  expect_equal(*make_model(options, kGptSymbols));
  options.recurrence.pool = RecurrenceOptions::Pool::kMean;
  expect_equal(*make_model(options, kGptSymbols));
}

TEST_F(Gpt2Folder, AModelThatComputesSomethingElseIsNamedByItsOption) {
  const Gpt2Options options = gpt2_options();
  const auto folder_files = capability<SharesWeightFiles>(*model_)->companion_files();
  const Json config = Json::parse(folder_files.at("config.json"));
  EXPECT_NO_THROW(options.check_foreign(config, "x"));
  const std::vector<std::tuple<std::string, Json, std::string>> changes{
      {"n_head", 2 * options.heads, fmt::format("heads is {}, and this run's is {}", 2 * options.heads, options.heads)},
      {"tie_word_embeddings", false, "tied is false, and this run's is true"},
      {"layer_norm_epsilon", 1e-6, "norm_epsilon is 1e-06, and this run's is 1e-05"},
      {"activation_function", "relu", "activation is relu, and this run's is gelu_new"},
      {"scale_attn_by_inverse_layer_idx", true, "attention_scale is width_and_layer, and this run's is width"}};
  for (const auto& [key, value, difference] : changes) {
    Json other = config;
    other[key] = value;
    EXPECT_THAT([&] { options.check_foreign(other, "x"); }, ThrowsMessage<DataError>("x: its model." + difference))
        << key;
  }
}

TEST_F(Gpt2Folder, AFolderWithoutAVocabularyHasTheDatasAndANoteSaysSo) {
  const Gpt2Options options = gpt2_options();
  const auto given = make_model(options, kGptSymbols);
  const fs::path path = folder("bare");
  write_model_folder(path, *given, vocabulary(), "model: {}\n");
  fs::remove(path / "config.yaml");
  fs::remove(path / "vocab.json");
  const auto model = make_model(options, kGptSymbols);
  const Vocabulary data = vocabulary();
  EXPECT_EQ(initialize_from(*model, source_weights(path, &data), options, data),
            "note: model.init_from: " + (path / "model.safetensors").string() +
                " has no vocab.json; its rows are taken to be those of the data's symbols, in their order");
  for (const auto& [name, weight] : given->weights()) {
    EXPECT_TRUE(torch::equal(model->named_parameters()[name], weight)) << name;
  }
  EXPECT_THROW(source_weights(path), DataError) << "nothing is assumed unasked";
}

}  // namespace
}  // namespace xlm
