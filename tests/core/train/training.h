// Small trainings for tests: a text, jobs for every model, and a sink that keeps its values.
#pragma once

#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"
#include "core/api/adaptive_span_options.h"
#include "core/api/gpt2_options.h"
#include "core/api/hourglass_options.h"
#include "core/runtime/safetensors.h"
#include "core/train/trainer.h"
#include "datasets/prepare.h"
#include "datasets/prepared/prepared.h"
#include "tests/temporary_folder.h"
#include "tests/test_seed.h"

namespace xlm {

/// A small model with a cache, dropout and spans of that type.
inline AdaptiveSpanOptions spans_of(AdaptiveSpanOptions::SpanType type) {
  return {.width = 16,
          .heads = 2,
          .feed_forward = 32,
          .layers = 2,
          .dropout = 0.2,
          .attention_dropout = 0.2,
          .span = 40,
          .span_type = type,
          .span_ramp = 8};
}

/// Keeps all values. Asks training to stop after chosen steps.
class RecordingSink : public TrainSink {
 public:
  void progress(std::int64_t step, const NamedValues& values) override {
    last_step = step;
    losses[step] = values.at("loss");
  }
  void metrics(std::int64_t step, const NamedValues& values) override {
    records[step] = values;
    for (const char* speed : {"tokens_per_second", "training_seconds"}) records[step].erase(speed);
  }
  void grid(std::int64_t step, const Grid& grid) override { (void)step, grids.push_back(grid); }
  void evaluation(const Evaluation& evaluation) override { evaluations.push_back(evaluation); }
  void costs(const NamedValues& values) override { cost = values; }
  void saving() override { saves_begun_at.push_back(last_step); }
  void checkpoint(std::int64_t step, const fs::path& file) override {
    saved_steps.push_back(step);
    checkpoints.push_back(file);
  }
  void message(const std::string& text) override { messages.push_back(text); }
  void check_owner() override {
    if (lost) throw Error("another worker has taken the run over");
  }
  bool should_stop() override { return last_step == stop_after; }

  /// The last grid of a name; if there is none, a grid without rows.
  Grid last_grid(const std::string& name) const {
    for (auto grid = grids.rbegin(); grid != grids.rend(); ++grid) {
      if (grid->name == name) return *grid;
    }
    return {};
  }

  std::int64_t stop_after = -1;
  bool lost = false;
  std::int64_t last_step = 0;
  std::map<std::int64_t, double> losses;
  std::map<std::int64_t, NamedValues> records;  // by step, without speeds
  std::vector<Grid> grids;
  std::vector<Evaluation> evaluations;
  NamedValues cost;
  std::vector<std::int64_t> saves_begun_at;  // the steps after which a checkpoint was begun
  std::vector<std::int64_t> saved_steps;
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
    prepare(check_request({.dataset = "text", .from = {folder_.path() / "corpus.txt"}, .out = folder_.path() / "data"}),
            {});
  }

  TrainJob job(const std::string& name, AdaptiveSpanOptions::SpanType type = AdaptiveSpanOptions::SpanType::kAdaptive) {
    TrainJob job;
    job.folder = folder_.path() / name;
    create_folders(job.folder);
    job.model_yaml = "model: {}\n";
    job.options.data.path = folder_.path() / "data";
    job.options.model = spans_of(type);
    job.options.optimizer = {
        .type = OptimizerOptions::Type::kAdagrad, .lr = 0.07, .warmup_steps = 5, .clip_step = 0.03};
    job.options.train.steps = 24;
    job.options.train.batch = 4;
    job.options.train.block = 16;
    job.options.train.checkpoint_every = 5;
    job.options.train.eval_every = 10;
    job.options.train.threads = 1;
    job.options.eval.batch = 2;
    job.options.seed = test_seed(1);
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

  TrainJob memory_job(const std::string& name, WindowMemoryOptions::Type type, bool checkpoint_windows) {
    TrainJob remembering = recurrent_job(name, checkpoint_windows);
    auto& model = remembering.options.model.get<Gpt2Options>();
    model.recurrence = {};
    model.memory = {.type = type, .windows = 2, .tokens = 2};
    return remembering;
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

  /// Trains `whole` at once and `parts` with stops at the given steps, compares them, and returns the last evaluation.
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

}  // namespace xlm
