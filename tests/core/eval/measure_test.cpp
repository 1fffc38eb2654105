// The divisors of losses: a uniform model needs log2 V bits for a symbol, however a text is split.
#include "core/eval/measure.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/models/capabilities.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

constexpr std::int64_t kUniformSymbols = 257;  // 256 bytes and the end of a text

/// All symbols are equally likely.
class UniformModel final : public LanguageModel, public ReadsWindows {
 public:
  explicit UniformModel(TextScheme scheme) : scheme_(scheme) {}
  ModelOutput forward(const ModelInput& input, const State& /*state*/) override {
    const std::int64_t scored = input.scored > 0 ? input.scored : input.tokens.size(1);
    return {.hidden = torch::zeros({input.tokens.size(0), scored, kUniformSymbols}, torch::kDouble)};
  }
  using LanguageModel::forward;
  State initial_state(std::int64_t /*batch*/) const override { return {}; }
  NamedValues costs(std::int64_t /*block*/) const override { return {}; }
  TextScheme scheme() const override { return scheme_; }
  WindowShape windows() const override { return {5, 2}; }

 private:
  TextScheme scheme_;
};

/// One byte per symbol, so that a text of n bytes has n tokens. The split gives the number of words.
class MeasureTest : public testing::Test {
 protected:
  MeasureTest() {
    Vocabulary bytes{Vocabulary::Unit::kByte, {}};
    for (int byte = 0; byte < 256; ++byte) bytes.symbols.emplace_back(1, static_cast<char>(byte));
    bytes.symbols.emplace_back("<|endoftext|>");
    vocabulary_ = bytes;
    vocabulary_.unit = Vocabulary::Unit::kBpe;  // words are counted only for these
    std::string text;
    for (int i = 0; i < kTextBytes; ++i) text += static_cast<char>('a' + i % 26);
    write_file(folder_.path() / "tokens", text);
  }

  NamedValues measured(TextScheme scheme, std::vector<std::int64_t> documents, bool first_token,
                       std::int64_t unknown = 0) {
    // Ids of this vocabulary take two bytes in a real folder; here one is enough.
    Split split{TokenFile(folder_.path() / "tokens", 1), kTextWords, kTextBytes, std::move(documents), {}, {}};
    split.unknown = unknown;
    TokenSource source(split, {});
    Vocabulary bytes = vocabulary_;
    bytes.unit = Vocabulary::Unit::kByte;  // its symbols are the bytes themselves
    source.set_vocabulary(bytes);
    UniformModel model(scheme);
    const SplitSettings settings{.rows = 3, .block = 7, .context = 9, .stride = 4, .first_token = first_token};
    return measure(model, {"test", split, source, vocabulary_}, settings, 1, Traced::kNo,
                   [](auto, auto) { return true; })
        ->values;
  }

  static constexpr std::int64_t kTextBytes = 100;
  static constexpr std::int64_t kTextWords = 20;
  TemporaryFolder folder_;
  Vocabulary vocabulary_;
};

TEST_F(MeasureTest, UnknownCharactersHaveNoKnownBytes) {
  EXPECT_TRUE(measured(TextScheme::kStreaming, {}, false).contains("bits_per_byte"));
  const NamedValues values = measured(TextScheme::kStreaming, {}, false, 3);
  EXPECT_FALSE(values.contains("bits_per_byte"));
  EXPECT_TRUE(values.contains("token_perplexity"));
}

TEST(EvaluationWarnings, NameWhatIsNotScored) {
  Evaluation evaluation;
  evaluation.split = "test";
  evaluation.values = {{"left_out_share", 0.5}};
  EXPECT_THAT(evaluation_warnings(evaluation, {.context = 64, .stride = 64}, 27),
              testing::ElementsAre(testing::HasSubstr("50 % of the predictions on test are not scored")));
  EXPECT_THAT(evaluation_warnings(evaluation, {.context = 64, .stride = 32}, 27), testing::IsEmpty()) << "all are";
  evaluation.values = {{"left_out_share", 0.01}, {"worse_than_guessing", 1}};
  EXPECT_THAT(evaluation_warnings(evaluation, {.context = 64, .stride = 64}, 27),
              testing::ElementsAre(testing::HasSubstr("above that of guessing all 27 symbols alike")));
}

TEST_F(MeasureTest, AUniformModelNeedsTheSameBitsForAnySplitting) {
  const double bits = std::log2(static_cast<double>(kUniformSymbols));
  const double perplexity = std::exp(std::log(static_cast<double>(kUniformSymbols)) * kTextBytes / kTextWords);
  std::vector<std::int64_t> pairs;
  for (std::int64_t begin = 0; begin < kTextBytes; begin += 2) pairs.push_back(begin);
  const std::vector<std::vector<std::int64_t>> cuts{{}, {0}, {0, 1, 2, 3, 99}, {0, 50}, {0, 3, 4, 47, 90}, pairs};
  for (const std::vector<std::int64_t>& documents : cuts) {
    for (const bool first_token : {false, true}) {
      const NamedValues values = measured(TextScheme::kWindows, documents, first_token);
      EXPECT_NEAR(values.at("bits_per_byte"), bits, 1e-9) << documents.size();
      EXPECT_NEAR(values.at("word_perplexity") / perplexity, 1, 1e-9) << documents.size();
      const auto skipped = static_cast<double>(first_token ? 0 : std::max<std::size_t>(1, documents.size()));
      EXPECT_EQ(values.at("bytes"), kTextBytes - skipped);
      EXPECT_NEAR(values.at("words"), kTextWords * (kTextBytes - skipped) / kTextBytes, 1e-9);
    }
  }
}

TEST_F(MeasureTest, LossesOfRowsAreDividedByScoredBytes) {
  const double bits = std::log2(static_cast<double>(kUniformSymbols));
  for (const auto scheme : {TextScheme::kStreaming, TextScheme::kRotatedChunks}) {
    const NamedValues values = measured(scheme, {}, false);
    EXPECT_NEAR(values.at("bits_per_byte"), bits, 1e-9);
    EXPECT_EQ(values.at("bytes"), 96) << "of three rows of 33, each without its first";
  }
}

}  // namespace
}  // namespace xlm
