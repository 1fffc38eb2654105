// Losses of the parts of a split: which token belongs to which part, for every scheme.
#include "core/schemes/part_sums.h"

#include <array>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/eval/evaluation.h"
#include "core/models/capabilities.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

constexpr std::int64_t kPartSymbols = 128;

/// Says the same of every token, whatever it has read: the loss depends on the target alone.
class FixedLogits final : public LanguageModel, public ReadsWindows {
 public:
  explicit FixedLogits(TextScheme scheme) : scheme_(scheme) {}

  ModelOutput forward(const ModelInput& input, const State& /*state*/) override {
    const std::int64_t scored = input.scored > 0 ? input.scored : input.tokens.size(1);
    const torch::Tensor logits = torch::arange(kPartSymbols, torch::kFloat) / 64;  // exact in float
    return {.hidden = logits.expand({input.tokens.size(0), scored, kPartSymbols}).contiguous()};
  }
  using LanguageModel::forward;
  State initial_state(std::int64_t /*batch*/) const override { return {}; }
  NamedValues costs(std::int64_t /*block*/) const override { return {}; }
  TextScheme scheme() const override { return scheme_; }
  WindowShape windows() const override { return {7, 3}; }

 private:
  TextScheme scheme_;
};

/// The same loss, without the model.
double loss_of_target(std::int64_t id) {
  double sum = 0;
  for (std::int64_t symbol = 0; symbol < kPartSymbols; ++symbol) sum += std::exp(static_cast<double>(symbol) / 64);
  return std::log(sum) - static_cast<double>(id) / 64;
}

class PartSumsTest : public testing::Test {
 protected:
  static std::int64_t id_at(std::int64_t place) { return place * 37 % 101; }

  /// A text with documents of `size` tokens; 0: without documents.
  Split text(std::int64_t tokens, std::int64_t size) const {
    std::string bytes;
    for (std::int64_t i = 0; i < tokens; ++i) bytes.push_back(static_cast<char>(id_at(i)));
    write_file(folder_.path() / "tokens", bytes);
    Split split{TokenFile(folder_.path() / "tokens", 1)};
    for (std::int64_t begin = 0; size > 0 && begin < tokens; begin += size) split.documents.push_back(begin);
    return split;
  }

  SplitLoss evaluated(TextScheme scheme, const TokenSource& source) {
    FixedLogits model(scheme);
    return evaluate_split(model, source, settings_, [](std::int64_t, std::int64_t) { return true; });
  }

  /// The places that a scheme scores.
  std::vector<bool> scored(TextScheme scheme, const TokenSource& source) const {
    std::vector<bool> places(static_cast<std::size_t>(source.size()), true);
    const auto skip = [&](std::int64_t place) { places[static_cast<std::size_t>(place)] = false; };
    if (scheme == TextScheme::kWindows) {
      for (const auto& [begin, size] : source.documents()) skip(begin);
    }
    if (scheme == TextScheme::kStreaming || scheme == TextScheme::kRotatedChunks) {
      const std::int64_t row = source.size() / settings_.rows;
      for (std::int64_t i = 0; i < settings_.rows; ++i) skip(i * row);
      for (std::int64_t place = row * settings_.rows; place < source.size(); ++place) skip(place);
    }
    return places;
  }

  /// Compares with sums over the places of each part, which begins at multiples of `length`.
  void check(const SplitLoss& result, TextScheme scheme, const TokenSource& source, std::int64_t length) const {
    const std::vector<bool> places = scored(scheme, source);
    const auto parts = static_cast<std::size_t>((source.size() + length - 1) / length);
    std::vector<std::int64_t> tokens(parts);
    std::vector<double> sums(parts);
    for (std::int64_t place = 0; place < source.size(); ++place) {
      if (!places[static_cast<std::size_t>(place)]) continue;
      ++tokens[static_cast<std::size_t>(place / length)];
      sums[static_cast<std::size_t>(place / length)] += loss_of_target(id_at(place));
    }
    EXPECT_EQ(result.parts.tokens, tokens);
    ASSERT_EQ(result.parts.sums.size(), sums.size());
    for (std::size_t i = 0; i < sums.size(); ++i) EXPECT_NEAR(result.parts.sums[i], sums[i], 1e-9) << i;
    EXPECT_EQ(std::accumulate(tokens.begin(), tokens.end(), std::int64_t{0}), result.tokens);
    const double whole = std::accumulate(result.parts.sums.begin(), result.parts.sums.end(), 0.0);
    EXPECT_NEAR(whole / static_cast<double>(result.tokens), result.loss, 1e-5);
  }

  static constexpr std::array<TextScheme, 4> kSchemes{TextScheme::kStreaming, TextScheme::kRotatedChunks,
                                                      TextScheme::kWindows, TextScheme::kRandomWindows};
  TemporaryFolder folder_;
  SplitSettings settings_{.rows = 3, .block = 64, .context = 40, .stride = 16, .by_part = true};
};

TEST_F(PartSumsTest, ATextWithoutDocumentsIsCutIntoAThousandStretches) {
  const Split split = text(2500, 0);
  const TokenSource source(split, {});
  for (const TextScheme scheme : kSchemes) {
    const SplitLoss result = evaluated(scheme, source);
    EXPECT_FALSE(result.parts.of_documents);
    EXPECT_EQ(result.parts.each, 3);
    check(result, scheme, source, 3);
  }
}

TEST_F(PartSumsTest, AHundredDocumentsAreParts) {
  for (const std::int64_t size : {10, 26}) {  // 200 documents, and 77 of which the last is shorter
    const Split split = text(2000, size);
    const TokenSource source(split, {});
    for (const TextScheme scheme : kSchemes) {
      const SplitLoss result = evaluated(scheme, source);
      EXPECT_EQ(result.parts.of_documents, size == 10);
      EXPECT_EQ(result.parts.each, size == 10 ? 1 : 2);
      check(result, scheme, source, size == 10 ? 10 : 2);
    }
  }
}

TEST_F(PartSumsTest, ThousandsOfDocumentsAreTakenTogether) {
  const Split split = text(2 * 4100, 2);
  const TokenSource source(split, {});
  for (const TextScheme scheme : kSchemes) {
    const SplitLoss result = evaluated(scheme, source);
    EXPECT_TRUE(result.parts.of_documents);
    EXPECT_EQ(result.parts.each, 3);
    check(result, scheme, source, 2 * 3);
  }
}

TEST_F(PartSumsTest, MaxWindowsLimitsTheBlocksOfStreamedRows) {
  const Split split = text(600, 0);  // three rows of 199 predictions, in blocks of 64
  const TokenSource source(split, {});
  for (const auto& [most, tokens] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 3 * 64}, {3, 3 * 192}, {4, 3 * 199}, {0, 3 * 199}}) {
    settings_.max_windows = most;
    const SplitLoss result = evaluated(TextScheme::kStreaming, source);
    EXPECT_EQ(result.tokens, tokens);
    EXPECT_EQ(result.whole, tokens == 3 * 199);
    EXPECT_EQ(std::accumulate(result.parts.tokens.begin(), result.parts.tokens.end(), std::int64_t{0}), tokens);
  }
}

TEST_F(PartSumsTest, AreKeptOnlyIfTheyAreWanted) {
  const Split split = text(500, 0);
  const TokenSource source(split, {});
  const SplitLoss with = evaluated(TextScheme::kStreaming, source);
  settings_.by_part = false;
  const SplitLoss without = evaluated(TextScheme::kStreaming, source);
  EXPECT_TRUE(without.parts.sums.empty());
  EXPECT_EQ(with.loss, without.loss) << "to the last bit";
  RunOptions options;
  EXPECT_FALSE(split_settings(options, torch::kCPU).by_part);
  options.eval.by_document = true;
  EXPECT_TRUE(split_settings(options, torch::kCPU).by_part);
}

/// A group whose processes all have the same numbers.
class AlikeProcesses final : public ProcessGroup {
 public:
  AlikeProcesses() : ProcessGroup(0, 3) {}
  void sum(const torch::Tensor& values) override { values.mul_(size()); }
  void max(const torch::Tensor& /*values*/) override {}
  torch::Tensor gather(const torch::Tensor& own) override { return own; }
};

TEST_F(PartSumsTest, AddUpOverProcesses) {
  const Split split = text(90, 0);
  const TokenSource source(split, {});
  PartSums parts(source);
  const ModelOutput output = FixedLogits(TextScheme::kStreaming).forward(torch::zeros({1, 5}, torch::kLong), {});
  const torch::Tensor targets = torch::full({1, 5}, 7, torch::kLong);
  parts.add(output.losses(targets), targets, 10, 0);
  AlikeProcesses group;
  parts.unite(group);
  EXPECT_EQ(parts.losses().tokens[12], 3);
  EXPECT_NEAR(parts.losses().sums[12], 3 * loss_of_target(7), 1e-9);
  EXPECT_EQ(parts.losses().tokens[15], 0);
}

TEST_F(PartSumsTest, PredictionsThatAreLeftOutDoNotCount) {
  const Split split = text(90, 0);
  const TokenSource source(split, {});
  PartSums parts(source);
  ModelOutput output = FixedLogits(TextScheme::kStreaming).forward(torch::zeros({1, 4}, torch::kLong), {});
  output.left_out = torch::tensor({false, true, false, false}).unsqueeze(0);
  const torch::Tensor targets = torch::tensor({3, 3, 3, 3}, torch::kLong).unsqueeze(0);
  targets[0][3] = kNoTarget;
  parts.add(output.losses(targets), output.counted_targets(targets), 20, 0);
  const std::vector<std::int64_t> counted(parts.losses().tokens.begin() + 20, parts.losses().tokens.begin() + 24);
  EXPECT_EQ(counted, (std::vector<std::int64_t>{1, 0, 1, 0}));
  EXPECT_EQ(parts.losses().sums[21], 0);
}

TEST(ModelOutputTest, LossesOfPredictionsAddUpToTheSummedLoss) {
  torch::manual_seed(3);
  ModelOutput output{.hidden = torch::randn({2, 3, 4}),
                     .head = {.weight = torch::randn({5, 4}), .bias = torch::randn({5})}};
  output.left_out = torch::zeros({2, 3}, torch::kBool);
  output.left_out[1][2] = true;
  const torch::Tensor targets = torch::randint(5, {2, 3}, torch::kLong);
  targets[0][1] = kNoTarget;
  const torch::Tensor losses = output.losses(targets);
  EXPECT_EQ(losses.scalar_type(), torch::kDouble);
  EXPECT_NEAR(losses.sum().item<double>(), output.summed_loss(targets).item<double>(), 1e-5);
  EXPECT_EQ(losses[0][1].item<double>(), 0);
  EXPECT_EQ(losses[1][2].item<double>(), 0);
  const torch::Tensor logarithms = torch::log_softmax(output.logits().to(torch::kDouble), 2);
  const auto target = targets[1][0].item<std::int64_t>();
  EXPECT_NEAR(losses[1][0].item<double>(), -logarithms[1][0][target].item<double>(), 1e-6);
}

}  // namespace
}  // namespace xlm
