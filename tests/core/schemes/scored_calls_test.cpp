#include "core/schemes/scored_calls.h"

#include <array>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/rerun_recorder.h"
#include "core/api/adaptive_span_options.h"
#include "core/api/byte_patches_options.h"
#include "core/api/gpt2_options.h"
#include "core/api/hourglass_options.h"
#include "core/api/transformer_options.h"
#include "core/eval/evaluation.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

using testing::DoubleNear;
using testing::Pointwise;

/// Counts what its recorders do, also after they are gone.
struct Recordings {
  int made = 0;
  int replays = 0;
};

class CountingRecorder final : public StepRecorder {
 public:
  explicit CountingRecorder(Recordings& counts) : counts_(&counts) {}
  void warm_up(const std::function<void()>& work) override { inner_.warm_up(work); }
  void record(const std::function<void()>& work) override {
    ++counts_->made;
    inner_.record(work);
  }
  void replay() override {
    ++counts_->replays;
    inner_.replay();
  }
  void forget() override { inner_.forget(); }

 private:
  RerunRecorder inner_;
  Recordings* counts_;
};

class RefusingRecorder final : public StepRecorder {
 public:
  void warm_up(const std::function<void()>& work) override { work(); }
  void record(const std::function<void()>& /*work*/) override { throw Error("an operation waits for the device"); }
  void replay() override {}
  void forget() override {}
};

class ScoredCallsTest : public testing::Test {
 protected:
  static constexpr std::int64_t kTokens = 2400;

  static Split text(const fs::path& file) {
    std::string bytes;
    for (std::int64_t i = 0; i < kTokens; ++i) bytes.push_back(static_cast<char>(i * i % 37 % 11));
    write_file(file, bytes);
    Split split{TokenFile(file, 1)};
    for (std::int64_t begin = 0; begin < kTokens; begin += 800) split.documents.push_back(begin);
    return split;
  }

  /// The loss and the model's statistics, then the sums of parts.
  std::vector<double> evaluated(const ModelOptions& options, std::function<std::unique_ptr<StepRecorder>()> recorder) {
    torch::manual_seed(5);
    const auto model = make_model(options, vocabulary_);
    SplitSettings settings{.rows = 2, .block = 48, .context = 64, .stride = 32, .by_part = true};
    settings.recorder = std::move(recorder);
    torch::manual_seed(6);
    const SplitLoss found = evaluate_split(*model, source_, settings, [](std::int64_t, std::int64_t) { return true; });
    std::vector<double> values{found.loss};
    for (const auto& [name, value] : found.statistics) values.push_back(value);
    values.insert(values.end(), found.parts.sums.begin(), found.parts.sums.end());
    return values;
  }

  /// Evaluations with recordings equal those without them.
  Recordings expect_the_same(const ModelOptions& options) {
    Recordings counts;
    const std::vector<double> recorded =
        evaluated(options, [&counts] { return std::make_unique<CountingRecorder>(counts); });
    EXPECT_THAT(recorded, Pointwise(DoubleNear(1e-4), evaluated(options, {})));
    EXPECT_GE(counts.made, 1);
    EXPECT_GT(counts.replays, 4 * counts.made);
    return counts;
  }

  TemporaryFolder folder_;
  Vocabulary vocabulary_{.symbols = {" ", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}};
  Split split_ = text(folder_.path() / "tokens");
  TokenSource source_{split_, {}};
};

TEST_F(ScoredCallsTest, OfStreamsAreTheSameRecorded) {
  using SpanType = AdaptiveSpanOptions::SpanType;
  for (const SpanType type : {SpanType::kFixed, SpanType::kAdaptive, SpanType::kDynamic}) {
    AdaptiveSpanOptions options{.width = 16, .heads = 2, .feed_forward = 32, .layers = 2};
    options.span_type = type;
    options.span = 100;
    options.span_ramp = 8;
    expect_the_same(options);
  }
}

TEST_F(ScoredCallsTest, OfChunksAreTheSameRecorded) {
  using Type = BoundaryOptions::Type;
  for (const Type type : {Type::kNone, Type::kFixed, Type::kWhitespace, Type::kGumbel}) {
    HourglassOptions options{.width = 8, .heads = 2, .feed_forward = 16, .layers = {1, 1, 1}};
    options.boundaries.type = type;
    if (type == Type::kNone) options.layers = {3};
    expect_the_same(options);
  }
}

TEST_F(ScoredCallsTest, OfWindowsAreTheSameRecorded) {
  for (const bool pools : {false, true}) {
    Gpt2Options options{.width = 16, .heads = 2, .layers = 2};
    options.positions = options.window = 48;
    options.overlap = 16;
    options.recurrence.pool = pools ? RecurrenceOptions::Pool::kMean : RecurrenceOptions::Pool::kNone;
    expect_the_same(options);
  }
}

TEST_F(ScoredCallsTest, OfRandomWindowsAreTheSameRecorded) {
  TransformerOptions transformer{.width = 16, .layers = 2};
  transformer.block.head_width = 8;
  expect_the_same(transformer);
  BytePatchesOptions patches = BytePatchesOptions::smallest().front();
  patches.places = 64;
  patches.positions = 64;
  vocabulary_.unit = Vocabulary::Unit::kByte;
  expect_the_same(patches);
}

TEST_F(ScoredCallsTest, OneThatCannotBeRecordedIsComputed) {
  AdaptiveSpanOptions options{.width = 16, .heads = 2, .feed_forward = 32, .layers = 2};
  options.span = 50;
  EXPECT_EQ(evaluated(options, [] { return std::make_unique<RefusingRecorder>(); }), evaluated(options, {}));
}

// The room of groups in evaluations is not that of training steps, which would be recorded again.
TEST_F(ScoredCallsTest, HeldSizesAreThoseOfBefore) {
  HourglassOptions options{.width = 8, .heads = 2, .feed_forward = 16, .layers = {1, 1, 1}};
  options.boundaries.type = BoundaryOptions::Type::kGumbel;
  const auto model = make_model(options, vocabulary_);
  capability<Capturable>(*model)->set_held_sizes({127});
  SplitSettings settings{.rows = 2, .context = 64, .stride = 32};
  settings.recorder = [] { return std::make_unique<RerunRecorder>(); };
  evaluate_split(*model, source_, settings, [](std::int64_t, std::int64_t) { return true; });
  EXPECT_THAT(capability<Capturable>(*model)->held_sizes(), testing::ElementsAre(127));
}

}  // namespace
}  // namespace xlm
