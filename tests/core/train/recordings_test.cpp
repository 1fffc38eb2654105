// Recordings do not change what a step computes: where one is refused, and where memory is too small for it.
#include "core/train/batch_gradients.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/rerun_recorder.h"
#include "core/kernels/step_context.h"
#include "core/models/capabilities.h"
#include "tests/core/train/trained_batches.h"
#include "tests/core/train/training.h"

namespace xlm {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Runs a step like a recorder, and then finds that it cannot be recorded.
class RefusingRecorder final : public StepRecorder {
 public:
  RefusingRecorder(std::function<void()> refuse, int& asked) : refuse_(std::move(refuse)), asked_(&asked) {}
  void warm_up(const std::function<void()>& work) override { work(); }
  void record(const std::function<void()>& work) override {
    ++*asked_;
    work();
    torch::manual_seed(77);  // the generator must be seeded again
    refuse_();
  }
  void replay() override { FAIL() << "there is no recording"; }
  void forget() override {}

 private:
  std::function<void()> refuse_;
  int* asked_;
};

using BeforeStep = std::function<void(BatchGradients&, std::int64_t step)>;

/// A step for each of `widths`, the tokens of a row, with dropout.
TrainedBatches trained_on(const std::vector<std::int64_t>& widths, const BeforeStep& before_step) {
  RunOptions options;
  options.model = spans_of(AdaptiveSpanOptions::SpanType::kFixed);
  options.train.batch = 3;
  return train_batches(options, widths, before_step);
}

void unrecorded(BatchGradients& /*gradients*/, std::int64_t /*step*/) {}

TrainedBatches trained_alike(const BeforeStep& before_step) {
  return trained_on(std::vector<std::int64_t>(8, 16), before_step);
}

TrainedBatches trained_by(std::unique_ptr<StepRecorder> recorder, TrainSink& sink) {
  return trained_alike([&](BatchGradients& gradients, std::int64_t step) {
    if (step == 0) gradients.record_by(std::move(recorder), sink);
  });
}

TEST(RefusedRecordings, TrainAsUnrecordedStepsDoAndSaySoOnce) {
  const TrainedBatches expected = trained_alike(unrecorded);
  const std::vector<std::pair<std::function<void()>, const char*>> refusals{
      {[] {
         throw c10::Error(c10::SourceLocation{__func__, __FILE__, 0},
                          "CUDA error: operation not permitted when stream is capturing\nand more");
       },
       "CUDA error: operation not permitted when stream is capturing"},
      {[] {
         throw c10::OutOfMemoryError(c10::SourceLocation{__func__, __FILE__, 0}, "CUDA out of memory.");
       },
       "CUDA out of memory."},
      {[] { throw Error("cannot start an attention kernel: unknown"); }, "cannot start an attention kernel: unknown"}};
  for (const auto& [refuse, why] : refusals) {
    RecordingSink sink;
    int asked = 0;
    const TrainedBatches found = trained_by(std::make_unique<RefusingRecorder>(refuse, asked), sink);
    EXPECT_TRUE(found == expected) << why;
    EXPECT_THAT(sink.messages,
                ElementsAre(AllOf(HasSubstr("train.cuda_graph has no effect from step 6 on"), testing::EndsWith(why))));
    EXPECT_EQ(asked, 1);
  }
}

TEST(RefusedRecordings, OthersAreReplayedWithoutAWord) {
  const TrainedBatches expected = trained_alike(unrecorded);
  RecordingSink sink;
  const TrainedBatches found = trained_by(std::make_unique<RerunRecorder>(), sink);
  EXPECT_TRUE(found == expected);
  EXPECT_THAT(sink.messages, IsEmpty());
}

/// The cache is full after five steps. Two more run before the eighth is recorded and the ninth replayed. Two of the
/// longer text run before one could be recorded.
const std::vector<std::int64_t> kTwoWidths{8, 8, 8, 8, 8, 8, 8, 8, 8, 16, 16, 16, 16, 16};
constexpr std::int64_t kLonger = 9;

TEST(RecordingsInMemory, RoomIsAskedForBeforeEach) {
  const TrainedBatches expected = trained_on(kTwoWidths, unrecorded);
  RecordingSink sink;
  auto own = std::make_unique<RerunRecorder>();
  const RerunRecorder* recorder = own.get();  // until it is dropped
  int asked = 0;
  const TrainedBatches found = trained_on(kTwoWidths, [&](BatchGradients& gradients, std::int64_t step) {
    if (step == 0) gradients.record_by(std::move(own), sink, [&] { return ++asked == 1; });
    if (step == kLonger) {
      EXPECT_EQ(recorder->replays, 1);
      EXPECT_THAT(sink.messages, IsEmpty());
    }
  });
  EXPECT_TRUE(found == expected);
  EXPECT_EQ(asked, 2);
  EXPECT_THAT(sink.messages, ElementsAre(HasSubstr("steps are no longer recorded")));
}

TEST(RecordingsInMemory, WithoutRoomForTheFirstThereIsNone) {
  const TrainedBatches expected = trained_on(kTwoWidths, unrecorded);
  RecordingSink sink;
  const TrainedBatches found = trained_on(kTwoWidths, [&](BatchGradients& gradients, std::int64_t step) {
    if (step == 0) gradients.record_by(std::make_unique<RerunRecorder>(), sink, [] { return false; });
  });
  EXPECT_TRUE(found == expected);
  EXPECT_THAT(sink.messages, ElementsAre(HasSubstr("steps are not recorded")));
}

/// Holds memory while there is a recording.
class HoldingRecorder final : public StepRecorder {
 public:
  explicit HoldingRecorder(bool& holds) : holds_(&holds) {}
  void warm_up(const std::function<void()>& work) override { inner_.warm_up(work); }
  void record(const std::function<void()>& work) override {
    *holds_ = true;
    inner_.record(work);
  }
  void replay() override { inner_.replay(); }
  void forget() override {
    *holds_ = false;
    inner_.forget();
  }

 private:
  RerunRecorder inner_;
  bool* holds_;
};

TEST(RecordingsInMemory, AnEvaluationOutOfMemoryIsRepeatedOnceWithout) {
  const TrainedBatches expected = trained_on(kTwoWidths, unrecorded);
  RecordingSink sink;
  bool held = false;
  int evaluations = 0;
  const auto evaluate = [&] {
    ++evaluations;
    if (held) throw c10::OutOfMemoryError(c10::SourceLocation{__func__, __FILE__, 0}, "CUDA out of memory.");
  };
  const TrainedBatches found = trained_on(kTwoWidths, [&](BatchGradients& gradients, std::int64_t step) {
    if (step == 0) gradients.record_by(std::make_unique<HoldingRecorder>(held), sink);
    if (step + 1 != kLonger) return;
    ASSERT_TRUE(held);
    EXPECT_THROW(gradients.beside_recording([] { throw Error("another"); }), Error);
    ASSERT_TRUE(held) << "other errors have nothing to do with it";
    gradients.beside_recording(evaluate);
    EXPECT_EQ(evaluations, 2);
    EXPECT_FALSE(held);
    held = true;  // other memory
    EXPECT_THROW(gradients.beside_recording(evaluate), c10::OutOfMemoryError);
    EXPECT_EQ(evaluations, 3);
  });
  EXPECT_TRUE(found == expected);
  EXPECT_THAT(sink.messages, ElementsAre(HasSubstr("an evaluation needs the memory of the recording")));
}

/// A model of single tokens that writes down what it is asked for.
class AskedModel final : public LanguageModel, public Capturable {
 public:
  AskedModel() : weight_(parameter("weight", torch::randn({11, 4}))) {}
  ModelOutput forward(const ModelInput& input, const State& state) override {
    rooms.push_back(input.room);
    seeds_on_device.push_back(step_context().seeds_on_device);
    ModelOutput output;
    output.hidden = torch::embedding(weight_, input.tokens);
    output.head.weight = weight_;
    output.state = state;
    if (lacks_room > 0) output.needed = torch::tensor({7});
    draws.push_back(torch::rand({1}).item<double>());
    return output;
  }
  bool had_room(const std::vector<std::int64_t>& needed, std::int64_t room) override {
    EXPECT_THAT(needed, ElementsAre(7));
    EXPECT_EQ(room, 5);
    return lacks_room-- == 0;
  }
  State initial_state(std::int64_t /*batch*/) const override { return {}; }
  NamedValues costs(std::int64_t /*block*/) const override { return {}; }
  std::optional<std::string> graph_signature() const override { return ""; }
  std::int64_t room(const ModelInput& /*input*/) override { return 5; }

  std::vector<std::int64_t> rooms;
  std::vector<bool> seeds_on_device;
  std::vector<double> draws;
  int lacks_room = 0;  // in so many steps from now on

 private:
  torch::Tensor weight_;
};

// Dropout of a GPU depends on both. A resumed run may have memory for recordings where the run before it had none.
TEST(RecordingsInMemory, StepsWithoutHaveTheSameSeedsAndRoom) {
  const RunOptions options;
  const auto step = [&](AskedModel& model, BatchGradients& gradients) {
    for (const auto& [name, weight] : model.weights()) weight.mutable_grad().reset();
    const torch::Tensor tokens = torch::zeros({options.train.batch, 7}, torch::kLong);
    gradients.add({.input = {.tokens = tokens}, .targets = tokens, .fresh = true}, 0);
  };
  for (const bool has_room :
       {false, true}) {  // with room, the recorder refuses the third step, which is computed again
    AskedModel model;
    BatchGradients gradients(options, model, torch::kCPU, nullptr);
    RecordingSink sink;
    int asked = 0;
    const auto refuse = [] { throw Error("another"); };
    gradients.record_by(std::make_unique<RefusingRecorder>(refuse, asked), sink, [has_room] { return has_room; });
    for (int i = 0; i < 5; ++i) step(model, gradients);
    EXPECT_THAT(sink.messages,
                ElementsAre(HasSubstr(has_room ? "train.cuda_graph has no effect" : "steps are not recorded")));
    const std::size_t computed = has_room ? 6 : 5;
    EXPECT_EQ(model.rooms, std::vector<std::int64_t>(computed, 5));
    EXPECT_EQ(model.seeds_on_device, std::vector<bool>(computed, true));
  }

  AskedModel other;
  BatchGradients never(options, other, torch::kCPU, nullptr);
  step(other, never);
  EXPECT_EQ(other.rooms, std::vector<std::int64_t>{0});
  EXPECT_EQ(other.seeds_on_device, std::vector<bool>{false});
}

TEST(RecordingsInMemory, AStepWithoutRoomForItsGroupsIsDoneAgain) {
  const RunOptions options;
  for (const bool has_room : {false, true}) {  // with room the steps are recorded
    AskedModel model;
    BatchGradients gradients(options, model, torch::kCPU, nullptr);
    RecordingSink sink;
    gradients.record_by(std::make_unique<RerunRecorder>(), sink, [has_room] { return has_room; });
    const torch::Tensor tokens = torch::zeros({options.train.batch, 7}, torch::kLong);
    for (int i = 0; i < 6; ++i) {
      for (const auto& [name, weight] : model.weights()) weight.mutable_grad().reset();
      if (i == 5) model.lacks_room = 1;
      gradients.add({.input = {.tokens = tokens}, .targets = tokens, .fresh = true}, 3);
    }
    ASSERT_EQ(model.draws.size(), 7U);
    EXPECT_THAT(model.draws, testing::Each(model.draws.front())) << "with the same random numbers";
    const torch::Tensor found = model.weights().front().second.grad().clone();
    model.weights().front().second.mutable_grad().reset();
    gradients.add({.input = {.tokens = tokens}, .targets = tokens, .fresh = true}, 3);
    EXPECT_TRUE(torch::equal(found, model.weights().front().second.grad())) << "of one step";
  }
}

TEST(RecordingsInMemory, StoppingFreesTheRecordingAndItsGradients) {
  RecordingSink sink;
  bool held = false;
  trained_on(kTwoWidths, [&](BatchGradients& gradients, std::int64_t step) {
    if (step == 0) gradients.record_by(std::make_unique<HoldingRecorder>(held), sink);
    if (step + 1 != kLonger) return;
    ASSERT_TRUE(held);
    gradients.stop_recording();
    EXPECT_FALSE(held);
  });
  EXPECT_FALSE(held) << "none is made any more";
  EXPECT_THAT(sink.messages, IsEmpty());
}

}  // namespace
}  // namespace xlm
