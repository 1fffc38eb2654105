// Traces of single tokens: which tokens, in how many calls, and as what text.
#include "core/eval/trace.h"

#include <vector>

#include <gtest/gtest.h>

#include "core/api/hourglass_options.h"
#include "core/eval/measure.h"
#include "core/models/capabilities.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

/// Its values are, for every token, the number of tokens before it, and the number of tokens of its call.
class Counter final : public LanguageModel, public TracesTokens {
 public:
  explicit Counter(TextScheme scheme) : scheme_(scheme) {}

  ModelOutput forward(const ModelInput& input, const State& state) override {
    EXPECT_TRUE(input.traced);
    const torch::Tensor seen = state.at(0) + torch::arange(input.tokens.size(1));  // [1, T]
    const std::int64_t length = input.tokens.size(1);
    const std::int64_t scored = input.scored > 0 ? input.scored : length;
    const auto of_scored = [&](const torch::Tensor& x) { return x.narrow(1, length - scored, scored); };
    ModelOutput output;
    output.state = {state.at(0) + length};
    output.token_values = {{"seen", of_scored(seen)}, {"of", of_scored(torch::full_like(input.tokens, length))}};
    return output;
  }
  State initial_state(std::int64_t batch) const override { return {torch::zeros({batch, 1}, torch::kLong)}; }
  NamedValues costs(std::int64_t /*block*/) const override { return {}; }
  TextScheme scheme() const override { return scheme_; }
  bool has_token_values() const override { return true; }

 private:
  TextScheme scheme_;
};

class Silent final : public LanguageModel {
 public:
  ModelOutput forward(const ModelInput& /*input*/, const State& /*state*/) override {
    ADD_FAILURE() << "it has no values";
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

TEST_F(TraceTest, StreamsCarryTheirState) {
  const TokenFile file = tokens(std::string(9, '\1') + std::string(1, '\0'));
  Counter model(TextScheme::kStreaming);
  const TokenTrace trace = trace_tokens(model, TokenSource(file, {}), letters_, settings_);
  EXPECT_EQ(trace.tokens, (std::vector<std::string>{"é", "é", "é", "é", "é", "é", "é", "é", "é", "a"}));
  EXPECT_EQ(trace.values.at("seen"), (std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(trace.values.at("of"), (std::vector<double>{4, 4, 4, 4, 4, 4, 4, 4, 2, 2}));
}

TEST_F(TraceTest, OfALongTextOnlyTheBeginningIsRead) {
  const TokenFile file = tokens(std::string(3000, '\0'));
  Counter model(TextScheme::kStreaming);
  const TokenTrace trace = trace_tokens(model, TokenSource(file, {}), letters_, settings_);
  EXPECT_EQ(trace.tokens.size(), 512U);
  EXPECT_EQ(trace.values.at("seen").size(), 512U);
}

TEST_F(TraceTest, WithoutStateThereIsOneWindow) {
  const TokenFile file = tokens(std::string(10, '\0'));
  Counter model(TextScheme::kRotatedChunks);
  const TokenTrace trace = trace_tokens(model, TokenSource(file, {}), letters_, settings_);
  EXPECT_EQ(trace.values.at("of"), (std::vector<double>(6, 6.0)));
}

TEST_F(TraceTest, RandomWindowsHaveABeginningInFrontOfTheText) {
  const TokenFile file = tokens(std::string(10, '\0'));
  Counter model(TextScheme::kRandomWindows);
  const TokenTrace trace = trace_tokens(model, TokenSource(file, {}), letters_, settings_);
  EXPECT_EQ(trace.tokens.size(), 5U);
  EXPECT_EQ(trace.values.at("seen"), (std::vector<double>{1, 2, 3, 4, 5}));
  EXPECT_EQ(trace.values.at("of"), (std::vector<double>(5, 6.0)));
}

TEST_F(TraceTest, BytesBeyondAsciiHaveNames) {
  const TokenFile file = tokens(std::string("\0\1\2", 3));
  const Vocabulary bytes{.unit = Vocabulary::Unit::kByte, .symbols = {"a", "\n", "\xc3"}};
  Counter model(TextScheme::kStreaming);
  EXPECT_EQ(trace_tokens(model, TokenSource(file, {}), bytes, settings_).tokens,
            (std::vector<std::string>{"a", "\n", "<0xC3>"}));
}

TEST_F(TraceTest, AModelWithoutValuesIsNotCalled) {
  const TokenFile file = tokens(std::string(10, '\0'));
  Silent model;
  EXPECT_TRUE(trace_tokens(model, TokenSource(file, {}), letters_, settings_).tokens.empty());
}

/// Two heads. Its values are the number of tokens before the call, and the distances.
class Watcher final : public LanguageModel, public TracesHeads {
 public:
  explicit Watcher(std::int64_t reach) : reach_(reach) {}

  ModelOutput forward(const ModelInput& input, const State& state) override {
    ModelOutput output;
    if (input.heads_traced) {
      const torch::Tensor distances = torch::arange(1, reach_ + 1, torch::kDouble);
      output.head_values = {{"distance", torch::stack({distances, -distances})},
                            {"seen", state.at(0)[0].to(torch::kDouble).expand({2, reach_})}};
    }
    output.state = {state.at(0) + input.tokens.size(1)};
    return output;
  }
  State initial_state(std::int64_t batch) const override { return {torch::zeros({batch, 1}, torch::kLong)}; }
  NamedValues costs(std::int64_t /*block*/) const override { return {}; }
  std::int64_t head_reach() const override { return reach_; }

 private:
  std::int64_t reach_;
};

TEST_F(TraceTest, HeadsAreTracedAfterAsMuchTextAsTheyMaySee) {
  const TokenFile file = tokens(std::string(3000, '\0'));
  Watcher model(9);
  const std::vector<Grid> grids = trace_heads(model, TokenSource(file, {}), settings_);  // blocks of 4
  ASSERT_EQ(grids.size(), 2U);
  EXPECT_EQ(grids[0].name, "distance");
  EXPECT_EQ(grids[0].rows[0], (std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(grids[0].rows[1].back(), -9);
  EXPECT_EQ(grids[0].columns, (std::vector<std::int64_t>{1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(grids[1].rows[0].front(), 12) << "nine tokens need three blocks";
}

TEST_F(TraceTest, AShortTextIsTracedInItsLastBlock) {
  const TokenFile file = tokens(std::string(11, '\0'));
  Watcher model(900);
  EXPECT_EQ(trace_heads(model, TokenSource(file, {}), settings_)[1].rows[0].front(), 4);
  const TokenFile three = tokens(std::string(3, '\0'));
  EXPECT_EQ(trace_heads(model, TokenSource(three, {}), settings_)[1].rows[0].front(), 0);
}

TEST_F(TraceTest, ManyDistancesShareColumnsThatHoldTheirMean) {
  const TokenFile file = tokens(std::string(3000, '\0'));
  Watcher model(300);  // three per column, with a full last column
  const Grid three = trace_heads(model, TokenSource(file, {}), settings_)[0];
  ASSERT_EQ(three.columns.size(), 100U);
  EXPECT_EQ(three.columns[0], 3);
  EXPECT_EQ(three.columns.back(), 300);
  EXPECT_EQ(three.rows[0][0], 2);
  Watcher uneven(257);
  const Grid last = trace_heads(uneven, TokenSource(file, {}), settings_)[0];
  EXPECT_EQ(last.columns.back(), 257);
  EXPECT_EQ(last.rows[0].back(), (256 + 257) / 2.0);
}

TEST_F(TraceTest, AModelWithoutValuesOfHeadsIsNotCalled) {
  const TokenFile file = tokens(std::string(10, '\0'));
  Silent model;
  EXPECT_TRUE(trace_heads(model, TokenSource(file, {}), settings_).empty());
}

/// Samples of gumbel follow from the seed, also those of the trace, so a resumed run has the same trace.
TEST_F(TraceTest, ATraceOfSampledBoundariesFollowsFromTheSeed) {
  const Split split{.tokens = tokens(std::string(200, '\1') + std::string(200, '\0'))};
  const auto model = make_model(HourglassOptions{.width = 16,
                                                 .heads = 2,
                                                 .feed_forward = 32,
                                                 .layers = {1, 1, 1},
                                                 .boundaries = {.type = BoundaryOptions::Type::kGumbel}},
                                letters_);
  const TokenSource source(split, {});
  const auto evaluation = [&](std::uint64_t before) {
    torch::manual_seed(before);
    return measure(*model, {"test", split, source, letters_}, {.rows = 2, .context = 40, .stride = 20}, 1, Traced::kYes,
                   [](std::int64_t, std::int64_t) { return true; })
        .value();
  };
  const Evaluation one = evaluation(1);
  const Evaluation other = evaluation(2);
  EXPECT_EQ(one.trace.values.at("boundary"), other.trace.values.at("boundary"));
  EXPECT_EQ(one.loss, other.loss);
}

}  // namespace
}  // namespace xlm
