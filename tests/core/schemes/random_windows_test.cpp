// Random windows: where they start, where the stream stands, and what the evaluation scores.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"
#include "core/eval/evaluation.h"
#include "core/schemes/part_sums.h"
#include "core/schemes/scheme.h"
#include "tests/core/models/golden_patches.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

constexpr std::int64_t kTextLength = 100;
constexpr std::int64_t kWindow = 8;  // T

/// Its logits are far apart, and say that the next token is the last one plus one, or 0 behind a beginning. It keeps
/// what it was given.
class Successor final : public LanguageModel {
 public:
  ModelOutput forward(const ModelInput& input, const State& /*state*/) override {
    inputs.push_back(input.tokens.clone());
    ModelOutput output;
    const torch::Tensor next = (input.tokens + 1).narrow(1, input.tokens.size(1) - input.scored, input.scored);
    output.hidden = torch::one_hot(next, 128).to(torch::kFloat) * 3;
    if (left_out_multiple > 0) output.left_out = next % left_out_multiple == 0;
    return output;
  }
  State initial_state(std::int64_t /*batch*/) const override { return {}; }
  NamedValues costs(std::int64_t /*block*/) const override { return {}; }
  TextScheme scheme() const override { return TextScheme::kRandomWindows; }

  std::vector<torch::Tensor> inputs;
  std::int64_t left_out_multiple = 0;  // predictions of its multiples are left out; 0: none
};

class RandomWindowsTest : public testing::Test {
 protected:
  RandomWindowsTest() : split_{TokenFile(write_places(folder_.path() / "tokens"), 1)} {
    split_.documents = {0, 30, 33, 90};
    source_.emplace(split_, std::vector<std::int64_t>{});
  }

  /// A file whose ids are their own places.
  static fs::path write_places(const fs::path& path) {
    std::string bytes;
    for (int i = 0; i < kTextLength; ++i) bytes.push_back(static_cast<char>(i));
    write_file(path, bytes);
    return path;
  }

  /// Flags of every third token.
  class EveryThird final : public TokenFlags {
   public:
    void copy(std::int64_t begin, std::int64_t count, bool* out) const override {
      for (std::int64_t i = 0; i < count; ++i) out[i] = (begin + i) % 3 == 0;
    }
  };

  std::unique_ptr<BatchStream> stream(std::int64_t seed, std::int64_t block = kWindow) const {
    return scheme_of(TextScheme::kRandomWindows).batches(*source_, {.batch = 3, .block = block}, seed);
  }

  SplitLoss evaluated(const SplitSettings& settings) {
    model_.inputs.clear();
    return scheme_of(TextScheme::kRandomWindows).evaluate(model_, *source_, settings, [](std::int64_t, std::int64_t) {
      return true;
    });
  }

  TemporaryFolder folder_;
  Split split_;
  std::optional<TokenSource> source_;
  Successor model_;
};

TEST_F(RandomWindowsTest, BringTheFlagsOfTheTextBehindTheBeginning) {
  EXPECT_FALSE(stream(1)->next().input.boundaries.defined());
  const TokenSource flagged(split_, {}, std::make_shared<EveryThird>());
  const auto windows = scheme_of(TextScheme::kRandomWindows).batches(flagged, {.batch = 3, .block = kWindow}, 1);
  const Batch batch = windows->next();
  const torch::Tensor places = batch.input.tokens;  // ids are their own places
  EXPECT_TRUE(torch::equal(batch.input.boundaries, places.remainder(3).eq(0).logical_and(places != kBeginning)));
}

TEST_F(RandomWindowsTest, AWindowStartsAtADocumentIfOneBeginsInIt) {
  std::map<std::int64_t, int> starts;
  const auto windows = stream(1);
  for (int i = 0; i < 3000; ++i) {
    const Batch batch = windows->next();
    EXPECT_TRUE(batch.fresh);
    for (std::int64_t row = 0; row < 3; ++row) {
      const std::int64_t start = batch.targets[row][0].item<std::int64_t>();
      ++starts[start];
      EXPECT_TRUE(torch::equal(batch.targets[row], torch::arange(start, start + kWindow)));
      EXPECT_EQ(batch.input.tokens[row][0].item<std::int64_t>(), kBeginning);
      EXPECT_TRUE(torch::equal(batch.input.tokens[row].narrow(0, 1, kWindow - 1),
                               batch.targets[row].narrow(0, 0, kWindow - 1)));
    }
  }
  // Of 100 places, 93 and later end behind the text. Those up to 7 in front of a document belong to its start, those of
  // 31 to 33 to the one of 33.
  for (const auto& [start, count] : starts) {
    const double places = start == 30 ? 8 : start == 33 ? 3 : start == 90 ? 8 : 1;
    const bool possible = start == 0 || start == 30 || start == 33 || start == 90 || (start > 0 && start < 23) ||
                          (start > 33 && start < 83) || start > 90;
    EXPECT_TRUE(possible && start <= kTextLength - kWindow) << start;
    const double expected = 9000 * places / 93;
    EXPECT_NEAR(count, expected, 5 * std::sqrt(expected)) << start;
  }
  EXPECT_EQ(starts.size(), 1 + 22 + 1 + 1 + 49 + 1 + 2);
}

TEST_F(RandomWindowsTest, ItGoesOnWhereItStopped) {
  const auto whole = stream(7);
  const auto before = stream(7);
  for (int i = 0; i < 5; ++i) {
    whole->next();
    before->next();
  }
  const auto after = stream(7);
  after->restore(before->state());
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(torch::equal(after->next().targets, whole->next().targets));
  EXPECT_FALSE(torch::equal(stream(7)->next().targets, stream(8)->next().targets));
  EXPECT_THROW(after->restore({{"rows", -1}}), DataError);
}

TEST_F(RandomWindowsTest, AWindowMayBeTheWholeTextAndNoLonger) {
  EXPECT_TRUE(torch::equal(stream(1, kTextLength)->next().targets[2], torch::arange(kTextLength)));
  EXPECT_THROW(stream(1, kTextLength + 1), DataError);
}

TEST_F(RandomWindowsTest, EveryTokenIsScoredOnceFromAWindowBehindABeginning) {
  const double right = std::log(std::exp(3) + 127) - 3;  // nats of a token that follows its predecessor
  for (const std::int64_t stride : {8, 3}) {
    const SplitLoss loss = evaluated({.rows = 4, .context = 8, .stride = stride});
    EXPECT_EQ(loss.tokens, kTextLength);
    EXPECT_TRUE(loss.whole);
    std::int64_t wrong = 0;  // scored right behind a beginning, but the first token of the text
    for (const torch::Tensor& rows : model_.inputs) {
      EXPECT_LE(rows.size(0), 4);
      EXPECT_LE(rows.size(1), 8);
      for (std::int64_t row = 0; row < rows.size(0); ++row) {
        EXPECT_EQ(rows[row][0].item<std::int64_t>(), kBeginning);
        for (std::int64_t t = 2; t < rows.size(1); ++t) {
          EXPECT_EQ(rows[row][t].item<std::int64_t>(), rows[row][t - 1].item<std::int64_t>() + 1);
        }
      }
    }
    if (stride == 8) wrong = kTextLength / 8;  // each window but the first begins with a guess of 0
    EXPECT_NEAR(loss.loss, static_cast<double>(kTextLength) * right + 3 * static_cast<double>(wrong), 1e-3) << stride;
  }
}

TEST_F(RandomWindowsTest, OnlyTheFirstWindowsAreScoredOnRequest) {
  const SplitLoss loss = evaluated({.rows = 4, .context = 8, .stride = 8, .max_windows = 5});
  EXPECT_EQ(loss.tokens, 40);
  EXPECT_FALSE(loss.whole);
}

/// Behind a beginning the prediction is 0, a multiple; elsewhere it is the token's own place.
TEST_F(RandomWindowsTest, PredictionsThatTheModelLeavesOutAreNotScored) {
  model_.left_out_multiple = 5;
  const SplitLoss loss = evaluated({.rows = 4, .context = 100, .stride = 100});
  const double right = std::log(std::exp(3) + 127) - 3;
  EXPECT_EQ(loss.tokens, kTextLength - 20);
  EXPECT_EQ(loss.computed, kTextLength);
  EXPECT_TRUE(loss.whole);
  EXPECT_NEAR(loss.loss, 80 * right, 1e-3);
}

/// The first row scores two of four predictions, one of them wrong, the second one of four, and the third none.
TEST_F(RandomWindowsTest, ATrainingLossIsTheMeanOverRowsOfWhatIsScored) {
  model_.left_out_multiple = 2;
  const torch::Tensor tokens = torch::tensor({{1, 2, 3, 4}, {1, 1, 1, 6}, {1, 3, 5, 7}}, torch::kLong);
  const torch::Tensor targets = torch::tensor({{9, 3, 9, 9}, {9, 9, 9, 7}, {2, 4, 6, 8}}, torch::kLong);
  const auto loss_of = [&](std::int64_t first, std::int64_t rows) {
    const ModelInput input{.tokens = tokens.narrow(0, first, rows), .scored = 4};
    return scheme_of(TextScheme::kRandomWindows)
        .loss(model_, input, targets.narrow(0, first, rows), {}, ActivationPolicy::kKeep)
        .total.item<double>();
  };
  const double wrong = std::log(std::exp(3) + 127);
  const double right = wrong - 3;
  EXPECT_NEAR(loss_of(0, 1), (right + wrong) / 2, 1e-5);
  EXPECT_NEAR(loss_of(1, 1), right, 1e-5);
  EXPECT_EQ(loss_of(2, 1), 0);
  EXPECT_NEAR(loss_of(0, 3), (loss_of(0, 1) + loss_of(1, 1)) / 3, 1e-6) << "parts of a batch, weighted by their rows";
}

/// A text of golden bytes and a model with few places. Patches are counted, and predictions made one by one, without
/// the scheme.
class LeftOutBytes : public testing::Test {
 protected:
  LeftOutBytes() : model_(golden_patches_model(patches_options(golden_patches().at("variants").at(1)))) {
    model_->eval();
    std::string bytes;
    for (std::int64_t i = 0; i < kBytes; ++i) bytes.push_back(static_cast<char>(ids_[i].item<std::int64_t>()));
    write_file(folder_.path() / "tokens", bytes);
    split_.emplace(Split{TokenFile(folder_.path() / "tokens", 1)});
    source_.emplace(*split_, std::vector<std::int64_t>{});
    source_->set_vocabulary(some_bytes());
  }

  /// Patches that begin in the input of the prediction of byte `place` in a window from `begin` on.
  std::int64_t patches_until(std::int64_t begin, std::int64_t place) const {
    std::int64_t patches = 1;
    bool before = true;  // the beginning
    for (std::int64_t i = begin; i < place; ++i) {
      const auto byte = static_cast<unsigned char>(symbols_[static_cast<std::size_t>(ids_[i].item<std::int64_t>())][0]);
      const bool spacelike = byte < 0x80 ? std::isalnum(byte) == 0 : byte >= 0xC0;
      if (spacelike && !before) ++patches;
      before = spacelike;
    }
    return patches;
  }

  double loss_of(std::int64_t begin, std::int64_t place) const {
    const torch::NoGradGuard no_grad;
    const torch::Tensor input =
        torch::cat({torch::full({1}, kBeginning, torch::kLong), ids_.narrow(0, begin, place - begin)});
    const torch::Tensor logits = model_->forward(input.unsqueeze(0), {}).logits()[0][-1];
    return -logits.log_softmax(0)[ids_[place].item<std::int64_t>()].item<double>();
  }

  SplitLoss evaluated(const SplitSettings& settings, PartSums& parts) {
    const torch::NoGradGuard no_grad;
    SplitSettings with_parts = settings;
    with_parts.parts = &parts;
    model_->reset_statistics();
    SplitLoss loss =
        scheme_of(TextScheme::kRandomWindows).evaluate(*model_, *source_, with_parts, [](std::int64_t, std::int64_t) {
          return true;
        });
    loss.statistics = model_->statistics();
    return loss;
  }

  static constexpr std::int64_t kBytes = 120;
  static constexpr std::int64_t kPlaces = 4;
  TemporaryFolder folder_;
  const torch::Tensor ids_ = golden_text(1, kBytes, some_bytes().size())[0];
  const std::vector<std::string> symbols_ = some_bytes().symbols;
  std::shared_ptr<LanguageModel> model_;
  std::optional<Split> split_;
  std::optional<TokenSource> source_;
};

// As experiments/recipes/successors/byte-patches.md#predictions-that-are-not-scored says.
TEST_F(LeftOutBytes, ArePredictedWithLessContextIfThereIsSome) {
  constexpr std::int64_t kContext = 24;
  constexpr std::int64_t kStride = 8;
  PartSums parts(*source_);
  const SplitLoss loss = evaluated({.rows = 4, .context = kContext, .stride = kStride}, parts);
  double sum = 0;
  std::int64_t left_out = 0;
  std::int64_t read = 0;
  std::set<std::int64_t> begins;
  ASSERT_EQ(parts.losses().each, 1);
  for (std::int64_t first = 0; first < kBytes; first += kStride) {
    const std::int64_t of_window = std::max<std::int64_t>(0, first - (kContext - kStride));
    std::int64_t begin = of_window;
    read += first + kStride - of_window;
    for (std::int64_t place = first; place < first + kStride; ++place) {
      left_out += patches_until(of_window, place) > kPlaces ? 1 : 0;
      while (patches_until(begin, place) > kPlaces) begin = place - (place - begin) / 2;
      begins.insert(begin);
      const double expected = loss_of(begin, place);
      sum += expected;
      EXPECT_NEAR(parts.losses().sums.at(static_cast<std::size_t>(place)), expected, 1e-9) << place;
      EXPECT_EQ(parts.losses().tokens.at(static_cast<std::size_t>(place)), 1) << place;
    }
  }
  EXPECT_GT(left_out, kBytes / 10);
  EXPECT_GT(std::ssize(begins), kBytes / kStride) << "windows begin at more places than the scheme's own";
  EXPECT_NEAR(loss.loss, sum, 1e-8);
  EXPECT_EQ(loss.tokens, kBytes);
  EXPECT_EQ(loss.bytes, kBytes);
  EXPECT_GT(loss.computed, read) << "and what is read again";
  EXPECT_DOUBLE_EQ(loss.statistics.at("left_out_share"), static_cast<double>(left_out) / kBytes);
}

/// As published.
TEST_F(LeftOutBytes, AreNotScoredInDisjointWindows) {
  constexpr std::int64_t kContext = 24;
  PartSums parts(*source_);
  const SplitLoss loss = evaluated({.rows = 4, .context = kContext, .stride = kContext}, parts);
  double sum = 0;
  std::int64_t scored = 0;
  for (std::int64_t place = 0; place < kBytes; ++place) {
    const std::int64_t begin = place / kContext * kContext;
    const bool has_place = patches_until(begin, place) <= kPlaces;
    EXPECT_EQ(parts.losses().tokens.at(static_cast<std::size_t>(place)), has_place ? 1 : 0) << place;
    if (!has_place) continue;
    ++scored;
    sum += loss_of(begin, place);
  }
  EXPECT_LT(scored, kBytes * 9 / 10);
  EXPECT_EQ(loss.tokens, scored);
  EXPECT_NEAR(loss.loss, sum, 1e-8);
  EXPECT_DOUBLE_EQ(loss.statistics.at("left_out_share"), 1 - static_cast<double>(scored) / kBytes);
}

TEST_F(RandomWindowsTest, AnEpochHasAsManyPredictionsAsTheText) {
  const Epoch epoch = epoch_of(TextScheme::kRandomWindows, 3, 8, {30, 3, 57, 10});
  EXPECT_DOUBLE_EQ(epoch.predictions, 100);
  EXPECT_DOUBLE_EQ(epoch.steps, 100.0 / 24);
  EXPECT_EQ(epoch_of(TextScheme::kRandomWindows, 3, 101, {30, 3, 57, 10}).steps, 0);
}

}  // namespace
}  // namespace xlm
