// Training survives anything: stopped and resumed at any step it gives the same bits; divergence keeps the last finite
// checkpoint.
#include "core/train/trainer.h"

#include <cmath>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "core/runtime/safetensors.h"
#include "core/train/checkpoint.h"
#include "datasets/prepare.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

/// Remembers what it is given; asks to stop after chosen steps.
class RecordingSink : public TrainSink {
 public:
  void progress(std::int64_t step, const NamedValues& values) override {
    last_step = step;
    losses[step] = values.at("loss");
  }
  void metrics(std::int64_t step, const NamedValues& values) override { (void)values, metric_steps.push_back(step); }
  void grid(std::int64_t step, const Grid& grid) override { (void)step, grids.push_back(grid); }
  void evaluation(const Evaluation& evaluation) override { evaluations.push_back(evaluation); }
  void costs(const NamedValues& values) override { cost = values; }
  void checkpoint(std::int64_t step, const fs::path& file) override { (void)step, checkpoints.push_back(file); }
  void message(const std::string& text) override { messages.push_back(text); }
  void check_owner() override {
    if (lost) throw Error("another worker has taken the run over");
  }
  bool should_stop() override { return last_step == stop_after; }

  std::int64_t stop_after = -1;
  bool lost = false;
  std::int64_t last_step = 0;
  std::map<std::int64_t, double> losses;
  std::vector<std::int64_t> metric_steps;
  std::vector<Grid> grids;
  std::vector<Evaluation> evaluations;
  NamedValues cost;
  std::vector<fs::path> checkpoints;
  std::vector<std::string> messages;
};

class TrainerTest : public testing::Test {
 protected:
  void SetUp() override {
    std::ofstream text(folder_.path() / "corpus.txt");
    for (int i = 0; i < 700; ++i)
      text << "the quick brown fox jumps over line " << i * i % 97 << " and " << i << " more\n";
    text.close();
    prepare({.dataset = "text", .from = {folder_.path() / "corpus.txt"}, .out = folder_.path() / "data"}, {});
  }

  TrainJob job(const std::string& name, AdaptiveSpanOptions::SpanType type = AdaptiveSpanOptions::SpanType::kAdaptive) {
    TrainJob job;
    job.folder = folder_.path() / name;
    create_folders(job.folder);
    job.model_yaml = "model: {}\n";
    job.options.data.path = folder_.path() / "data";
    job.options.model = AdaptiveSpanOptions{.width = 16,
                                            .heads = 2,
                                            .feed_forward = 32,
                                            .layers = 2,
                                            .dropout = 0.2,
                                            .attention_dropout = 0.2,
                                            .span = 40,
                                            .span_type = type,
                                            .span_ramp = 8};
    job.options.optimizer = {
        .type = OptimizerOptions::Type::kAdagrad, .lr = 0.07, .warmup_steps = 5, .clip_step = 0.03};
    job.options.train.steps = 24;
    job.options.train.batch = 4;
    job.options.train.block = 16;
    job.options.train.checkpoint_every = 5;
    job.options.train.eval_every = 10;
    job.options.train.threads = 1;
    job.options.eval.batch = 2;
    job.options.device = "cpu";
    return job;
  }

  TrainJob hourglass_job(const std::string& name, BoundaryOptions::Type type) {
    TrainJob hourglass = job(name);
    hourglass.options.model = HourglassOptions{.width = 16,
                                               .heads = 2,
                                               .feed_forward = 32,
                                               .layers = {1, 1, 1},
                                               .dropout = 0.2,
                                               .attention_dropout = 0.2,
                                               .boundaries = {.type = type, .factor = 3}};
    hourglass.options.optimizer = {.type = OptimizerOptions::Type::kAdam,
                                   .lr = 5e-3,
                                   .warmup_steps = 5,
                                   .schedule = OptimizerOptions::Schedule::kCosine,
                                   .clip_norm = 0.25};
    hourglass.options.train.batch = 128;  // rows of a few hundred tokens: a few chunks an epoch, the last one short
    hourglass.options.train.block = 64;
    hourglass.options.train.steps = 12;
    hourglass.options.eval.context = 128;
    hourglass.options.eval.stride = 64;
    return hourglass;
  }

  TrainJob recurrent_job(const std::string& name, bool checkpoint_windows) {
    TrainJob recurrent = job(name);
    recurrent.options.model = Gpt2Options{.width = 16,
                                          .heads = 2,
                                          .layers = 2,
                                          .positions = 32,
                                          .dropout = 0.2,
                                          .attention_dropout = 0.2,
                                          .window = 12,
                                          .overlap = 4,
                                          .recurrence = {.pool = RecurrenceOptions::Pool::kMean, .hidden = {8}}};
    recurrent.options.optimizer = {.type = OptimizerOptions::Type::kAdam, .lr = 5e-3, .warmup_steps = 5};
    recurrent.options.train.block = 50;
    recurrent.options.train.steps = 12;
    recurrent.options.train.checkpoint_windows = checkpoint_windows;
    recurrent.options.eval.select = EvalOptions::Select::kBest;
    return recurrent;
  }

  static void expect_same_model(const TrainJob& a, const TrainJob& b) {
    const TensorFile first = read_safetensors(a.folder / "model/model.safetensors");
    const TensorFile second = read_safetensors(b.folder / "model/model.safetensors");
    ASSERT_EQ(first.tensors.size(), second.tensors.size());
    for (std::size_t i = 0; i < first.tensors.size(); ++i) {
      EXPECT_EQ(first.tensors[i].first, second.tensors[i].first);
      EXPECT_TRUE(torch::equal(first.tensors[i].second, second.tensors[i].second)) << first.tensors[i].first;
    }
  }

  /// Trains `whole` at once and `parts` with stops at the given steps, and compares; returns the last evaluation.
  Evaluation expect_the_same_bits(const TrainJob& whole, const TrainJob& parts, const std::vector<std::int64_t>& stops,
                                  std::int64_t last_step) {
    RecordingSink whole_sink;
    EXPECT_EQ(train(whole, whole_sink), TrainOutcome::kDone);
    for (const std::int64_t stop : stops) {
      RecordingSink sink;
      sink.stop_after = stop;
      EXPECT_EQ(train(parts, sink), TrainOutcome::kStopped) << stop;
    }
    RecordingSink last;
    EXPECT_EQ(train(parts, last), TrainOutcome::kDone);
    expect_same_model(whole, parts);
    EXPECT_EQ(last.evaluations.back().loss, whole_sink.evaluations.back().loss);
    EXPECT_EQ(last.losses.at(last_step), whole_sink.losses.at(last_step));
    return last.evaluations.back();
  }

  TemporaryFolder folder_;
};

TEST_F(TrainerTest, LearnsEvaluatesAndWritesAModel) {
  RecordingSink sink;
  TrainJob whole = job("whole");
  whole.options.train.steps = 150;
  EXPECT_EQ(train(whole, sink), TrainOutcome::kDone);
  EXPECT_LT(sink.losses.at(150), 0.8 * sink.losses.at(1));
  ASSERT_GE(sink.evaluations.size(), 2U);
  const Evaluation& test = sink.evaluations.back();
  EXPECT_EQ(test.split, "test");
  EXPECT_TRUE(test.final);
  EXPECT_NEAR(test.values.at("bpc"), test.loss / std::log(2.0), 1e-12);
  EXPECT_TRUE(fs::exists(whole.folder / "model/model.safetensors"));
  EXPECT_TRUE(fs::exists(whole.folder / "model/vocab.json"));
  EXPECT_TRUE(fs::exists(whole.folder / "model/config.yaml"));
  for (const auto* name : {"params", "flops_per_token", "paper_flops", "peak_memory", "step_seconds"}) {
    EXPECT_GT(sink.cost.at(name), 0) << name;
  }
}

TEST_F(TrainerTest, FinalEvaluationsOfDynamicSpansTraceThem) {
  RecordingSink sink;
  EXPECT_EQ(train(job("dynamic", AdaptiveSpanOptions::SpanType::kDynamic), sink), TrainOutcome::kDone);
  EXPECT_TRUE(sink.evaluations.front().trace.tokens.empty()) << "not final";
  const TokenTrace& trace = sink.evaluations.back().trace;
  EXPECT_EQ(trace.values.at("span").size(), trace.tokens.size());
  EXPECT_GT(trace.tokens.size(), 100U);
  RecordingSink fixed;
  EXPECT_EQ(train(job("fixed", AdaptiveSpanOptions::SpanType::kFixed), fixed), TrainOutcome::kDone);
  EXPECT_TRUE(fixed.evaluations.back().trace.values.empty());
}

TEST_F(TrainerTest, StoppedAtAnyStepAndResumedItGivesTheSameBits) {
  for (const auto type : {AdaptiveSpanOptions::SpanType::kFixed, AdaptiveSpanOptions::SpanType::kAdaptive,
                          AdaptiveSpanOptions::SpanType::kDynamic}) {
    const std::string suffix = std::to_string(static_cast<int>(type));
    expect_the_same_bits(job("whole" + suffix, type), job("parts" + suffix, type), {1, 7, 10, 23}, 24);
  }
}

TEST_F(TrainerTest, ChunksStoppedInTheMiddleOfAnEpochAndResumedGiveTheSameBits) {
  for (const auto type : {BoundaryOptions::Type::kFixed, BoundaryOptions::Type::kGumbel}) {
    const std::string suffix = std::to_string(static_cast<int>(type));
    const Evaluation last = expect_the_same_bits(hourglass_job("whole" + suffix, type),
                                                 hourglass_job("parts" + suffix, type), {2, 3, 10, 11}, 12);
    EXPECT_GE(last.values.at("shortening_factor"), 1);
  }
}

TEST_F(TrainerTest, RecurrentWindowsStoppedAndResumedGiveTheSameBits) {
  for (const bool checkpoint : {false, true}) {
    const std::string suffix = checkpoint ? "-again" : "-kept";
    const Evaluation last = expect_the_same_bits(recurrent_job("whole" + suffix, checkpoint),
                                                 recurrent_job("parts" + suffix, checkpoint), {2, 3, 10, 11}, 12);
    EXPECT_LT(last.loss, 4);
    EXPECT_TRUE(fs::exists(folder_.path() / ("whole" + suffix) / "model/config.json"));
  }
}

TEST_F(TrainerTest, MicroBatchesAddUpToTheBatch) {
  RecordingSink whole_sink;
  RecordingSink parts_sink;
  TrainJob whole = job("whole");
  TrainJob parts = job("parts");
  for (TrainJob* each : {&whole, &parts}) {
    auto& model = std::get<AdaptiveSpanOptions>(each->options.model);
    model.dropout = model.attention_dropout = 0;
    each->options.train.steps = 3;
  }
  parts.options.train.micro_batch = 1;
  train(whole, whole_sink);
  train(parts, parts_sink);
  for (const std::int64_t step : {1, 2, 3}) EXPECT_NEAR(parts_sink.losses.at(step), whole_sink.losses.at(step), 2e-3);
  EXPECT_NEAR(parts_sink.losses.at(1), whole_sink.losses.at(1), 1e-5);
}

TEST_F(TrainerTest, ACorruptNewestCheckpointFallsBackAndTheResultIsTheSame) {
  RecordingSink whole_sink;
  const TrainJob whole = job("whole");
  train(whole, whole_sink);
  const TrainJob parts = job("parts");
  RecordingSink stopped;
  stopped.stop_after = 12;
  train(parts, stopped);
  fs::resize_file(stopped.checkpoints.back(), fs::file_size(stopped.checkpoints.back()) - 7);
  RecordingSink sink;
  EXPECT_EQ(train(parts, sink), TrainOutcome::kDone);
  EXPECT_TRUE(sink.messages.front().starts_with("warning")) << sink.messages.front();
  expect_same_model(whole, parts);
}

TEST_F(TrainerTest, DivergenceKeepsTheLastFiniteCheckpoint) {
  TrainJob diverging = job("diverging");
  RecordingSink finite;
  finite.stop_after = 7;
  ASSERT_EQ(train(diverging, finite), TrainOutcome::kStopped);
  diverging.options.optimizer.lr = 1e30;
  RecordingSink sink;
  EXPECT_THROW(train(diverging, sink), DivergedError);
  const auto kept = CheckpointFolder(diverging.folder / "checkpoints").load_newest([](const std::string&) {});
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->step, 7);
  for (const auto& [name, tensor] : kept->tensors) EXPECT_TRUE(torch::isfinite(tensor).all().item<bool>()) << name;
  EXPECT_FALSE(fs::exists(diverging.folder / "model"));
}

// Weights may be finite and their products not.
TEST_F(TrainerTest, AModelWithoutAFiniteLossIsNoModelOfTheData) {
  const TrainJob made = job("made");
  RecordingSink sink;
  ASSERT_EQ(train(made, sink), TrainOutcome::kDone);
  const fs::path weights = made.folder / "model" / "model.safetensors";
  TensorFile file = read_safetensors(weights);
  for (auto& [name, tensor] : file.tensors) {
    if (name == "out_emb.weight") tensor.mul_(1e38);
  }
  write_safetensors(weights, file.tensors, file.metadata);
  EXPECT_THAT(
      [&] {
        xlm_core()->evaluate({.model = made.folder / "model", .options = made.options, .split = "test"},
                             [](double, double) {});
      },
      testing::ThrowsMessage<DataError>(testing::HasSubstr("it is no model of these data")));
}

TEST_F(TrainerTest, ARecordingWithoutAGpuIsSaidToHaveNoEffect) {
  TrainJob recorded = job("recorded");
  recorded.options.train.cuda_graph = true;
  recorded.options.train.steps = 2;
  recorded.options.device = "cpu";
  RecordingSink sink;
  ASSERT_EQ(train(recorded, sink), TrainOutcome::kDone);
  ASSERT_FALSE(sink.messages.empty());
  EXPECT_EQ(sink.messages.front(), "note: train.cuda_graph has no effect: the device is no GPU");
}

TEST_F(TrainerTest, AWorkerThatLostItsRunWritesNothingMore) {
  RecordingSink sink;
  sink.lost = true;
  const TrainJob lost = job("lost");
  EXPECT_THROW(train(lost, sink), Error);
  EXPECT_TRUE(fs::is_empty(lost.folder / "checkpoints"));
}

TEST_F(TrainerTest, BestSelectionTakesTheBestValidationWeights) {
  TrainJob best = job("best");
  best.options.eval.select = EvalOptions::Select::kBest;
  best.options.train.steps = 60;
  best.options.optimizer.lr = 0.5;  // so that the loss goes up and down
  RecordingSink sink;
  train(best, sink);
  double lowest = 1e9;
  for (const Evaluation& evaluation : sink.evaluations) {
    if (!evaluation.final && evaluation.split == "valid") lowest = std::min(lowest, evaluation.loss);
  }
  for (const Evaluation& evaluation : sink.evaluations) {
    if (evaluation.final && evaluation.split == "valid") {
      EXPECT_DOUBLE_EQ(evaluation.loss, lowest);
    }
  }
}

TEST_F(TrainerTest, TooShortATextIsRefused) {
  TrainJob wide = job("wide");
  wide.options.train.block = 1 << 20;
  RecordingSink sink;
  EXPECT_THROW(train(wide, sink), DataError);
}

TEST_F(TrainerTest, BfloatTrainsCloseToSinglePrecision) {
  for (const TrainJob& single : {job("single"), hourglass_job("hourglass", BoundaryOptions::Type::kWhitespace),
                                 recurrent_job("recurrent", true)}) {
    RecordingSink single_sink;
    RecordingSink bfloat_sink;
    TrainJob bfloat = single;
    bfloat.folder += "-bfloat";
    bfloat.options.train.precision = Precision::kBfloat16;
    train(single, single_sink);
    train(bfloat, bfloat_sink);
    const std::int64_t last = single.options.train.steps;
    EXPECT_NEAR(bfloat_sink.losses.at(last), single_sink.losses.at(last), 0.05 * single_sink.losses.at(last));
  }
}

}  // namespace
}  // namespace xlm
