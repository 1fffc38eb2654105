// Model folders whose vocabulary is damaged, or has no hash.
#include "core/models/model_folder.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "base/json.h"
#include "core/api/adaptive_span_options.h"
#include "tests/temporary_folder.h"
#include "tests/thrown_message.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;

class ModelFolder : public ::testing::Test {
 protected:
  void write(const Vocabulary& vocabulary, const std::string& merges = "") {
    write_model_folder(folder_.path(), *make_model(options_, vocabulary), vocabulary, "model: {}\n", merges);
  }

  std::string complaint() const {
    return thrown_message<DataError>([&] { load_model_folder(folder_.path(), options_); });
  }

  TemporaryFolder folder_;
  ModelOptions options_{AdaptiveSpanOptions{.width = 8, .heads = 2, .feed_forward = 8, .layers = 1, .span = 8}};
};

TEST_F(ModelFolder, WithReorderedSymbolsIsCorrupt) {
  write({.symbols = {"a", "b", "c"}});
  EXPECT_EQ(complaint(), "");
  write_file(folder_.path() / "vocab.json", vocabulary_json({.symbols = {"b", "a", "c"}}));
  EXPECT_THAT(complaint(), HasSubstr("vocab.json is corrupt: it is not what model.safetensors was saved with"));
}

TEST_F(ModelFolder, WithChangedMergesIsCorrupt) {
  write({.unit = Vocabulary::Unit::kBpe, .symbols = {"a", "b", "ab"}}, "#version: 0.2\na b\n");
  EXPECT_NO_THROW(read_model_weights(folder_.path()));
  write_file(folder_.path() / "merges.txt", "#version: 0.2\nb a\n");
  EXPECT_THROW(read_model_weights(folder_.path()), DataError);
  fs::remove(folder_.path() / "merges.txt");
  EXPECT_NO_THROW(read_model_weights(folder_.path())) << "missing merges are an error only if they are read";
}

TEST_F(ModelFolder, SaysWhoseTokenizerReadsItsBytePairs) {
  write({.symbols = {"a", "b", "c"}});
  EXPECT_FALSE(fs::exists(folder_.path() / "tokenizer_config.json"));
  write({.unit = Vocabulary::Unit::kBpe, .symbols = {"a", "b", "ab"}}, "#version: 0.2\na b\n");
  EXPECT_EQ(read_json(folder_.path() / "tokenizer_config.json"),
            Json::parse(R"({"tokenizer_class": "GPT2Tokenizer"})"));
}

TEST_F(ModelFolder, BuffersOfRotationsAreNoWeights) {
  write({.symbols = {"a", "b", "c"}});
  const fs::path weights = folder_.path() / "model.safetensors";
  auto [tensors, metadata] = read_safetensors(weights);
  tensors.emplace_back("model.layers.0.self_attn.rotary_emb.inv_freq", torch::ones({2}));
  write_safetensors(weights, tensors, metadata);
  EXPECT_EQ(complaint(), "");
}

TEST_F(ModelFolder, WithoutAHashOfItsVocabularyIsRead) {
  write({.symbols = {"a", "b", "c"}});
  const fs::path weights = folder_.path() / "model.safetensors";
  write_safetensors(weights, read_safetensors(weights).tensors, {{"format", "pt"}});
  write_file(folder_.path() / "vocab.json", vocabulary_json({.symbols = {"b", "a", "c"}}));
  EXPECT_EQ(complaint(), "");
}

}  // namespace
}  // namespace xlm
