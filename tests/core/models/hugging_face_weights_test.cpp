// Weights and shapes of GPT-2 as other programs save them: names, types, rows, and refused files.
#include <cmath>
#include <cstring>
#include <map>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/json.h"
#include "core/api/gpt2_options.h"
#include "core/models/model_folder.h"
#include "datasets/tokens/decoder.h"
#include "tests/temporary_folder.h"
#include "tests/thrown_message.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

Gpt2Options small_shape() {
  return {.width = 8, .heads = 2, .layers = 2, .positions = 16, .dropout = 0, .attention_dropout = 0};
}

/// A vocabulary of all bytes and some special tokens, with so many symbols.
Vocabulary bytes_and_more(std::size_t symbols) {
  Vocabulary vocabulary{Vocabulary::Unit::kBpe, {}};
  for (int byte = 0; byte < 256; ++byte) vocabulary.symbols.push_back(byte_symbol(static_cast<unsigned char>(byte)));
  while (vocabulary.symbols.size() < symbols) {
    vocabulary.symbols.push_back(fmt::format("<{}>", vocabulary.symbols.size()));
  }
  return vocabulary;
}

class HuggingFaceWeights : public testing::Test {
 protected:
  void SetUp() override {
    torch::manual_seed(3);
    model_ = make_model(small_shape(), data_);
    model_->eval();
    for (const auto& [name, weight] : model_->weights()) {
      if (name.ends_with("bias")) weight.data().normal_();
      weights_["transformer." + name] = weight.detach();
    }
  }

  void write(const std::map<std::string, torch::Tensor>& tensors) {
    write_safetensors(folder_.path() / "model.safetensors", {tensors.begin(), tensors.end()});
    plain_header();
  }
  /// Removes our hash from the file, because other programs write none, and replaces a type by `other`.
  void plain_header(const std::string& name = "", const std::string& type = "") {
    const fs::path file = folder_.path() / "model.safetensors";
    const std::string text = read_file(file);
    std::uint64_t length = 0;
    std::memcpy(&length, text.data(), sizeof(length));
    Json header = Json::parse(text.substr(sizeof(length), length));
    header["__metadata__"] = nullptr;
    if (!name.empty()) header[name]["dtype"] = type;
    const std::string changed = header.dump();
    const std::uint64_t size = changed.size();
    std::string whole(sizeof(size), '\0');
    std::memcpy(whole.data(), &size, sizeof(size));
    write_file(file, whole + changed + text.substr(sizeof(length) + length));
  }
  torch::Tensor logits(LanguageModel& model) const {
    model.eval();
    return model.forward(torch::arange(12).view({1, 12}), {}).logits();
  }
  void expect_loads() {
    const LoadedModel loaded = load_model_folder(folder_.path(), small_shape(), &data_);
    EXPECT_TRUE(torch::equal(logits(*loaded.model), logits(*model_)));
  }
  std::string complaint() {
    return thrown_message<DataError>([&] { load_model_folder(folder_.path(), small_shape(), &data_); });
  }
  /// Gives the embedding so many rows.
  torch::Tensor rows(std::int64_t count) const {
    const torch::Tensor wte = model_->weights().front().second.detach();
    return torch::cat({wte, torch::ones({count - wte.size(0), wte.size(1)})});
  }

  TemporaryFolder folder_;
  Vocabulary data_ = bytes_and_more(260);
  std::shared_ptr<LanguageModel> model_;
  std::map<std::string, torch::Tensor> weights_;
};

TEST_F(HuggingFaceWeights, AreReadDespiteBuffersOfAnyType) {
  const std::string mask = "transformer.h.0.attn.bias";
  weights_["transformer.h.1.attn.masked_bias"] = torch::tensor(-1e4F);
  weights_[mask] = torch::ones({1, 1, 16, 16}, torch::kByte);
  for (const char* type : {"U8", "BOOL", "I8", "F8_E4M3", "F8_E8M0", "OF_A_LATER_VERSION"}) {
    write(weights_);
    plain_header(mask, type);
    expect_loads();
  }
  for (const auto type : {torch::kHalf, torch::kLong, torch::kDouble, torch::kInt}) {
    weights_[mask] = torch::ones({1, 1, 16, 16}, type);
    write(weights_);
    expect_loads();
  }
}

TEST_F(HuggingFaceWeights, WithoutFloatingPointAreRefused) {
  const std::string norm = "transformer.ln_f.weight";
  weights_[norm] = torch::ones({8}, torch::kChar);
  write(weights_);
  EXPECT_THAT(complaint(), HasSubstr("'transformer.ln_f.weight' holds numbers of type Char, not weights"));
  for (const char* type : {"BOOL", "F8_E5M2", "X"}) {
    plain_header(norm, type);
    EXPECT_THAT(complaint(), HasSubstr(std::string("'transformer.ln_f.weight' has the type '") + type + "'"));
  }
}

TEST_F(HuggingFaceWeights, AreReadWithThePrefixesOfWrappers) {
  for (const char* prefix : {"_orig_mod.", "module.", "module._orig_mod.", "_orig_mod.module.", "module.module."}) {
    std::map<std::string, torch::Tensor> named;
    for (const auto& [name, tensor] : weights_) named[prefix + name] = tensor;
    write(named);
    expect_loads();
  }
  std::map<std::string, torch::Tensor> layers;  // compiled one by one
  for (const auto& [stored_name, tensor] : weights_) {
    std::string name = stored_name;
    if (const std::size_t at = name.find(".mlp."); at != std::string::npos) name.insert(at + 1, "_orig_mod.");
    layers[name] = tensor;
  }
  write(layers);
  expect_loads();
  layers["transformer.my_orig_mod.x"] = torch::ones({1});
  write(layers);
  EXPECT_THAT(complaint(), HasSubstr("no tensor 'transformer.my_orig_mod.x'"));
}

TEST_F(HuggingFaceWeights, ThatAreTiedAreReadUnderEitherName) {
  const torch::Tensor wte = weights_.extract("transformer.wte.weight").mapped();
  for (const char* name : {"lm_head.weight", "_orig_mod.lm_head.weight", "module.lm_head.weight", "wte.weight"}) {
    std::map<std::string, torch::Tensor> named = weights_;
    named[name] = wte;
    write(named);
    expect_loads();
  }
  write(weights_);
  EXPECT_THAT(complaint(), HasSubstr("the tensor 'wte.weight' is missing"));
  weights_["lm_head.weight"] = wte.narrow(1, 0, 4);
  write(weights_);
  EXPECT_THAT(complaint(), HasSubstr("'lm_head.weight' has shape [260, 4], the model's is [260, 8]"));
  weights_["lm_head.weight"] = wte * NAN;
  write(weights_);
  EXPECT_THAT(complaint(), HasSubstr("not finite"));
}

TEST_F(HuggingFaceWeights, OfPaddedRowsAreReadWithoutThem) {
  for (const std::int64_t count : {264, 272, 320, 384, 512}) {
    weights_["transformer.wte.weight"] = rows(count);
    write(weights_);
    testing::internal::CaptureStderr();
    expect_loads();
    EXPECT_THAT(testing::internal::GetCapturedStderr(),
                HasSubstr("left out of every softmax too: " + std::to_string(count - 260)));
  }
  weights_["lm_head.weight"] = rows(512);
  write(weights_);
  expect_loads();
  // 304 is no usual padding of 260, and of 300 rows any 260 could be the symbols.
  for (const std::int64_t count : {261, 263, 300, 304, 1000}) {
    weights_["transformer.wte.weight"] = weights_["lm_head.weight"] = rows(count);
    write(weights_);
    EXPECT_THAT(complaint(), AllOf(HasSubstr(std::to_string(count) + " rows, and there are 260 symbols"),
                                   HasSubstr("tokenizer.json")));
  }
}

TEST_F(HuggingFaceWeights, WithTheirVocabularyMayHaveAnyNumberOfMoreRows) {
  Json ids = Json::object();
  for (const std::string& symbol : data_.symbols) ids[symbol] = ids.size();
  write_file(folder_.path() / "vocab.json", ids.dump());
  for (const std::int64_t count : {261, 300, 320}) {
    weights_["transformer.wte.weight"] = rows(count);
    write(weights_);
    expect_loads();
    Gpt2Options options = small_shape();
    options.pretrained = folder_.path();
    EXPECT_TRUE(torch::equal(logits(*make_model(options, data_)), logits(*model_)));
  }
  weights_["transformer.wte.weight"] = rows(260).narrow(0, 0, 259).clone();
  write(weights_);
  EXPECT_THAT(complaint(), HasSubstr("'transformer.wte.weight' has shape [259, 8], the model's is [260, 8]"));
}

TEST_F(HuggingFaceWeights, ForTrainingNeedTheDatasSymbols) {
  write(weights_);
  Gpt2Options options = small_shape();
  options.pretrained = folder_.path();
  EXPECT_NO_THROW(make_model(options, data_)) << "the folder has no vocabulary";
  Vocabulary other = data_;
  std::swap(other.symbols[7], other.symbols[9]);
  Json ids = Json::object();
  for (const std::string& symbol : other.symbols) ids[symbol] = ids.size();
  write_file(folder_.path() / "vocab.json", ids.dump());
  EXPECT_THAT([&] { make_model(options, data_); },
              ThrowsMessage<DataError>(HasSubstr("is not that of the data: they part at symbol 7")));
  EXPECT_NO_THROW(make_model(options, other));
}

TEST_F(HuggingFaceWeights, InUnsupportedFormatsAreNotIgnored) {
  Gpt2Options options = small_shape();
  options.pretrained = folder_.path();
  EXPECT_NO_THROW(make_model(options, data_)) << "a shape alone";
  for (const auto& [name, complaint] : std::map<std::string, std::string>{
           {"pytorch_model.bin", "save_pretrained"},
           {"pytorch_model.bin.index.json", "save_pretrained"},
           {"tf_model.h5", "from_tf=True"},
           {"flax_model.msgpack", "from_flax=True"},
           {"model.fp16.safetensors", "give them that name"},
           {"adapter_model.safetensors", "has no model.safetensors, but adapter_model.safetensors"}}) {
    write_file(folder_.path() / name, "x");
    EXPECT_THAT([&] { make_model(options, data_); }, ThrowsMessage<DataError>(HasSubstr(complaint))) << name;
    EXPECT_THAT(this->complaint(), HasSubstr(complaint));
    fs::remove(folder_.path() / name);
  }
}

TEST_F(HuggingFaceWeights, OfAnIndexMustBeInItsShards) {
  weights_["transformer.h.0.attn.bias"] = torch::ones({4}, torch::kByte);
  write(weights_);
  fs::rename(folder_.path() / "model.safetensors", folder_.path() / "shard.safetensors");
  Json map = Json::object();
  for (const auto& [name, tensor] : weights_) map[name] = "shard.safetensors";
  const auto with_index = [&](const Json& given) {
    write_file(folder_.path() / "model.safetensors.index.json", Json{{"weight_map", given}}.dump());
  };
  with_index(map);
  expect_loads();
  Json more = map;
  more["lm_head.weight"] = "shard.safetensors";
  with_index(more);
  EXPECT_THAT(complaint(), HasSubstr("says that shard.safetensors holds 'lm_head.weight'; it does not"));
  more = map;
  more["transformer.h.1.attn.bias"] = "shard.safetensors";
  with_index(more);
  expect_loads();  // ignored tensors may be missing
}

Gpt2Options adopted(const Json& config) {
  Gpt2Options options;
  options.adopt(config, "config.json");
  return options;
}

TEST(HuggingFaceConfig, IsReadUnderTheOtherNamesOfItsSizes) {
  const Gpt2Options options = adopted({{"model_type", "gpt2"},
                                       {"hidden_size", 24},
                                       {"num_hidden_layers", 3},
                                       {"num_attention_heads", 2},
                                       {"max_position_embeddings", 40},
                                       {"n_inner", nullptr}});
  EXPECT_EQ(options.width, 24);
  EXPECT_EQ(options.layers, 3);
  EXPECT_EQ(options.heads, 2);
  EXPECT_EQ(options.positions, 40);
  EXPECT_EQ(options.feed_forward, 96);
  EXPECT_EQ(adopted({{"n_ctx", 50}}).positions, 50);
  EXPECT_EQ(adopted({{"n_ctx", 50}, {"n_positions", 60}}).positions, 60);
  EXPECT_EQ(adopted({{"n_embd", 24}, {"hidden_size", 24}}).width, 24);
  EXPECT_THAT(
      [] {
        adopted({{"n_embd", 24}, {"hidden_size", 32}});
      },
      ThrowsMessage<DataError>(HasSubstr("'n_embd' is 24 and 'hidden_size' is 32")));
  EXPECT_THAT(
      [] {
        adopted({{"num_hidden_layers", "3"}});
      },
      ThrowsMessage<DataError>(HasSubstr("'num_hidden_layers' is \"3\", not a size")));
}

TEST(HuggingFaceConfig, GivesActivationAndScaleOfAttention) {
  using Activation = Gpt2Options::Activation;
  for (const auto& [name, activation] : std::map<std::string, Activation>{{"gelu_new", Activation::kGeluNew},
                                                                          {"gelu_fast", Activation::kGeluNew},
                                                                          {"gelu_pytorch_tanh", Activation::kGeluNew},
                                                                          {"gelu", Activation::kGelu},
                                                                          {"gelu_python", Activation::kGelu},
                                                                          {"relu", Activation::kRelu},
                                                                          {"swish", Activation::kSilu},
                                                                          {"silu", Activation::kSilu}}) {
    EXPECT_EQ(adopted({{"activation_function", name}}).activation, activation) << name;
  }
  using Scale = Gpt2Options::AttentionScale;
  const auto scale = [](bool by_width, bool by_layer) {
    return adopted({{"scale_attn_weights", by_width}, {"scale_attn_by_inverse_layer_idx", by_layer}}).attention_scale;
  };
  EXPECT_EQ(scale(true, false), Scale::kWidth);
  EXPECT_EQ(scale(true, true), Scale::kWidthAndLayer);
  EXPECT_EQ(scale(false, false), Scale::kNone);
  EXPECT_EQ(scale(false, true), Scale::kLayer);
  EXPECT_EQ(adopted({{"reorder_and_upcast_attn", true}}).attention_scale, Scale::kWidth) << "float32 has enough range";
}

TEST(HuggingFaceConfig, WithUnsupportedFeaturesIsRefused) {
  for (const Json& config : std::vector<Json>{{{"activation_function", "quick_gelu"}},
                                              {{"activation_function", "tanh"}},
                                              {{"activation_function", 7}},
                                              {{"scale_attn_weights", "yes"}},
                                              {{"scale_attn_by_inverse_layer_idx", 1}},
                                              {{"tie_word_embeddings", nullptr}},
                                              {{"layer_norm_epsilon", "1e-5"}},
                                              {{"layer_norm_epsilon", -1}},
                                              {{"add_cross_attention", true}},
                                              {{"is_encoder_decoder", true}},
                                              {{"quantization_config", {{"bits", 8}}}},
                                              {{"pruned_heads", {{"0", {1}}}}},
                                              {{"auto_map", {{"AutoModelForCausalLM", "m.M"}}}},
                                              {{"model_type", "openai-gpt"}}}) {
    const std::string key = config.items().begin().key();
    EXPECT_THAT([&] { adopted(config); },
                ThrowsMessage<DataError>(AllOf(HasSubstr("config.json: "), HasSubstr("'" + key + "'"))))
        << config;
  }
  for (const Json& config : std::vector<Json>{{{"quantization_config", nullptr}},
                                              {{"pruned_heads", Json::object()}},
                                              {{"bos_token_id", 1}, {"resid_pdrop", 0.5}}}) {
    EXPECT_NO_THROW(adopted(config)) << config;
  }
}

}  // namespace
}  // namespace xlm
