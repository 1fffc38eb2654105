// What is recorded of single tokens: which, in how many calls, and as what text.
#include "core/eval/trace.h"

#include <vector>

#include <gtest/gtest.h>

#include "core/models/capabilities.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

/// Says of every token how many it has seen before it, and of its call how many tokens it had.
class Counter final : public LanguageModel, public TracesTokens {
 public:
  explicit Counter(Scheme scheme) : scheme_(scheme) {}

  ModelOutput forward(const ModelInput& input, const State& state) override {
    EXPECT_TRUE(input.traced);
    const torch::Tensor seen = state.at(0) + torch::arange(input.tokens.size(1));  // [1, T]
    ModelOutput output;
    output.state = {state.at(0) + input.tokens.size(1)};
    output.token_values = {{"seen", seen}, {"of", torch::full_like(input.tokens, input.tokens.size(1))}};
    return output;
  }
  State initial_state(std::int64_t batch) const override { return {torch::zeros({batch, 1}, torch::kLong)}; }
  NamedValues costs(std::int64_t /*block*/) const override { return {}; }
  Scheme scheme() const override { return scheme_; }
  bool has_token_values() const override { return true; }

 private:
  Scheme scheme_;
};

class Silent final : public LanguageModel {
 public:
  ModelOutput forward(const ModelInput& /*input*/, const State& /*state*/) override {
    ADD_FAILURE() << "it has nothing to say";
    return {};
  }
  State initial_state(std::int64_t /*batch*/) const override { return {}; }
  NamedValues costs(std::int64_t /*block*/) const override { return {}; }
};

class TraceTest : public testing::Test {
 protected:
  TokenFile tokens(const std::string& bytes) {
    write_file(folder_.path() / "tokens", bytes);
    return {folder_.path() / "tokens", 1};
  }

  TemporaryFolder folder_;
  const Vocabulary letters_{.unit = Vocabulary::Unit::kCharacter, .symbols = {"a", "é"}};
  const SplitSettings settings_{.rows = 8, .block = 4, .context = 6, .stride = 2};
};

TEST_F(TraceTest, StreamsGoOnWithTheirState) {
  const TokenFile file = tokens(std::string(9, '\1') + std::string(1, '\0'));
  Counter model(LanguageModel::Scheme::kStreaming);
  const TokenTrace trace = trace_tokens(model, TokenSource(file, {}), letters_, settings_);
  EXPECT_EQ(trace.tokens, (std::vector<std::string>{"é", "é", "é", "é", "é", "é", "é", "é", "é", "a"}));
  EXPECT_EQ(trace.values.at("seen"), (std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(trace.values.at("of"), (std::vector<double>{4, 4, 4, 4, 4, 4, 4, 4, 2, 2}));
}

TEST_F(TraceTest, OfALongTextTheBeginningIsEnough) {
  const TokenFile file = tokens(std::string(3000, '\0'));
  Counter model(LanguageModel::Scheme::kStreaming);
  const TokenTrace trace = trace_tokens(model, TokenSource(file, {}), letters_, settings_);
  EXPECT_EQ(trace.tokens.size(), 512U);
  EXPECT_EQ(trace.values.at("seen").size(), 512U);
}

TEST_F(TraceTest, WithoutStateThereIsOneWindow) {
  const TokenFile file = tokens(std::string(10, '\0'));
  Counter model(LanguageModel::Scheme::kRotatedChunks);
  const TokenTrace trace = trace_tokens(model, TokenSource(file, {}), letters_, settings_);
  EXPECT_EQ(trace.values.at("of"), (std::vector<double>(6, 6.0)));
}

TEST_F(TraceTest, BytesBeyondAsciiHaveNames) {
  const TokenFile file = tokens(std::string("\0\1\2", 3));
  const Vocabulary bytes{.unit = Vocabulary::Unit::kByte, .symbols = {"a", "\n", "\xc3"}};
  Counter model(LanguageModel::Scheme::kStreaming);
  EXPECT_EQ(trace_tokens(model, TokenSource(file, {}), bytes, settings_).tokens,
            (std::vector<std::string>{"a", "\n", "<0xC3>"}));
}

TEST_F(TraceTest, AModelThatSaysNothingIsNotAsked) {
  const TokenFile file = tokens(std::string(10, '\0'));
  Silent model;
  EXPECT_TRUE(trace_tokens(model, TokenSource(file, {}), letters_, settings_).tokens.empty());
}

}  // namespace
}  // namespace xlm
