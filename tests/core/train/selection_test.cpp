// Which weights become the model: the last ones are a candidate like all evaluated ones.
#include <algorithm>
#include <cmath>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/core/train/training.h"

namespace xlm {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

class SelectionTest : public TrainerTest {
 protected:
  TrainJob best_job(const std::string& name, double lr) {
    TrainJob best = job(name);
    best.options.eval.select = EvalOptions::Select::kBest;
    best.options.train.steps = 25;
    best.options.train.eval_every = 10;
    best.options.optimizer.lr = lr;
    return best;
  }
  TrainJob falling_job(const std::string& name) { return best_job(name, 0.07); }
  /// A rate that keeps growing makes weights and losses grow, whatever the rounding.
  TrainJob rising_job(const std::string& name) {
    TrainJob rising = best_job(name, 1000);
    rising.options.optimizer.warmup_steps = 1000;
    rising.options.optimizer.clip_step = 0;
    return rising;
  }

  static std::vector<Evaluation> of_split(const RecordingSink& sink, const std::string& split) {
    std::vector<Evaluation> chosen;
    std::copy_if(sink.evaluations.begin(), sink.evaluations.end(), std::back_inserter(chosen),
                 [&](const Evaluation& evaluation) { return evaluation.split == split; });
    return chosen;
  }

  /// Expects the model of `step`, whose validation loss is the lowest, and that the last evaluation and grids are its.
  static void expect_the_best(const TrainJob& done, const RecordingSink& sink, std::int64_t step) {
    const std::vector<Evaluation> valid = of_split(sink, "valid");
    const auto lowest =
        std::min_element(valid.begin(), valid.end(), [](const auto& a, const auto& b) { return a.loss < b.loss; });
    EXPECT_EQ(lowest->step, step);
    EXPECT_EQ(valid.back().step, step);
    EXPECT_EQ(valid.back().loss, lowest->loss);
    EXPECT_EQ(std::count_if(valid.begin(), valid.end(), [](const auto& e) { return e.final; }), 1);
    EXPECT_TRUE(valid.back().final);
    const Evaluation test = of_split(sink, "test").back();
    EXPECT_EQ(test.step, step);
    const TensorFile model = read_safetensors(done.folder / "model/model.safetensors");
    for (const auto& [name, tensor] : model.tensors) {
      if (!name.ends_with("current_val")) continue;
      const auto layer = static_cast<std::size_t>(name.at(7) - '0');
      const std::vector<double> shown = sink.last_grid("spans").rows.at(layer);
      for (std::int64_t head = 0; head < tensor.numel(); ++head) {
        const double z = 40 * tensor.flatten()[head].item<double>();
        EXPECT_EQ(shown.at(static_cast<std::size_t>(head)), std::min(40.0, std::ceil(z) + 8)) << name;
      }
    }
  }
};

TEST_F(SelectionTest, TheLastWeightsAreTakenIfTheyAreTheBest) {
  RecordingSink sink;
  const TrainJob falling = falling_job("falling");
  ASSERT_EQ(train(falling, sink), TrainOutcome::kDone);
  expect_the_best(falling, sink, 25);
  EXPECT_EQ(of_split(sink, "valid").size(), 3U) << "steps 10, 20 and 25, each once";
}

TEST_F(SelectionTest, EarlierWeightsAreTakenIfTheyAreBetterThanTheLast) {
  RecordingSink sink;
  const TrainJob rising = rising_job("rising");
  ASSERT_EQ(train(rising, sink), TrainOutcome::kDone);
  const std::vector<Evaluation> valid = of_split(sink, "valid");
  ASSERT_EQ(valid.size(), 4U) << "steps 10, 20 and 25, and the best once more";
  EXPECT_EQ(valid[2].step, 25);
  EXPECT_FALSE(valid[2].final);
  EXPECT_GT(valid[2].loss, valid[3].loss);
  expect_the_best(rising, sink, valid[0].loss < valid[1].loss ? 10 : 20);
}

TEST_F(SelectionTest, WithoutEarlierEvaluationsTheLastWeightsAreTheModel) {
  TrainJob falling = falling_job("falling");
  falling.options.train.eval_every = 0;
  RecordingSink sink;
  ASSERT_EQ(train(falling, sink), TrainOutcome::kDone);
  EXPECT_EQ(of_split(sink, "valid").size(), 1U);
  expect_the_best(falling, sink, 25);
}

TEST_F(SelectionTest, ARunThatIsStoppedInItsFinalEvaluationChoosesTheSame) {
  for (const bool falls : {true, false}) {
    const std::string suffix = falls ? "-falling" : "-rising";
    const auto make = [&](const std::string& name) { return falls ? falling_job(name) : rising_job(name); };
    const TrainJob whole = make("whole" + suffix);
    const TrainJob parts = make("parts" + suffix);
    RecordingSink whole_sink;
    ASSERT_EQ(train(whole, whole_sink), TrainOutcome::kDone);
    for (const std::int64_t stop : {13, 25}) {
      RecordingSink stopped;
      stopped.stop_after = stop;
      ASSERT_EQ(train(parts, stopped), TrainOutcome::kStopped);
    }
    RecordingSink last;
    ASSERT_EQ(train(parts, last), TrainOutcome::kDone);
    expect_same_model(whole, parts);
    EXPECT_EQ(of_split(last, "test").back().loss, of_split(whole_sink, "test").back().loss);
    for (const char* name : {"spans", "attention", "mask"}) {
      EXPECT_FALSE(last.last_grid(name).rows.empty()) << name;
      EXPECT_EQ(last.last_grid(name).rows, whole_sink.last_grid(name).rows) << name;
    }
  }
}

/// A damaged file is reported and not used: other weights become the model.
TEST_F(SelectionTest, DamagedBestWeightsAreReportedAndNotUsed) {
  TrainJob last = rising_job("last");
  last.options.eval.select = EvalOptions::Select::kLast;
  RecordingSink last_sink;
  ASSERT_EQ(train(last, last_sink), TrainOutcome::kDone);
  const TrainJob stopped = rising_job("stopped");
  RecordingSink stopping;
  stopping.stop_after = 25;
  ASSERT_EQ(train(stopped, stopping), TrainOutcome::kStopped);
  const std::string whole = read_file(stopped.folder / "checkpoints/best.safetensors");
  const std::size_t header = whole.find("__metadata__");
  const auto flipped = [&](std::size_t at, std::size_t count) {
    std::string bytes = whole;
    for (std::size_t i = at; i < at + count; ++i) bytes[i] = static_cast<char>(bytes[i] ^ 1);
    return bytes;
  };
  const TensorFile known = read_safetensors(stopped.folder / "checkpoints/best.safetensors");
  const std::string step = known.metadata.at("step");
  std::map<std::string, std::string> words = known.metadata;
  words["step"] = "the tenth";
  const fs::path renamed = folder_.path() / "renamed.safetensors";
  write_safetensors(renamed, known.tensors, words);  // with a hash that fits
  const std::map<std::string, std::string> damaged{{"one bit of the weights", flipped(whole.size() - 3, 1)},
                                                   {"many bytes of the weights", flipped(whole.size() / 2, 1500)},
                                                   {"the step", flipped(whole.find("\"" + step + "\"") + 1, 1)},
                                                   {"the loss", flipped(whole.find("\"loss\":\"") + 10, 1)},
                                                   {"the name of the hash", flipped(whole.find("xlm.sha256"), 1)},
                                                   {"a name of a weight", flipped(whole.find("\"dtype\"") - 4, 1)},
                                                   {"the header's length", flipped(0, 1)},
                                                   {"the header", flipped(header, 1)},
                                                   {"a step that is no number", read_file(renamed)},
                                                   {"nothing", ""}};
  for (const auto& [what, bytes] : damaged) {
    SCOPED_TRACE(what);
    TrainJob job = stopped;
    job.folder = folder_.path() / ("damaged " + what);
    fs::copy(stopped.folder, job.folder, fs::copy_options::recursive);
    write_file(job.folder / "checkpoints/best.safetensors", bytes);
    RecordingSink sink;
    ASSERT_EQ(train(job, sink), TrainOutcome::kDone);
    EXPECT_THAT(sink.messages, Contains(HasSubstr("best.safetensors is missing or damaged")));
    expect_same_model(last, job);
    EXPECT_EQ(of_split(sink, "test").back().loss, of_split(last_sink, "test").back().loss);
  }
}

TEST_F(SelectionTest, MissingBestWeightsAreReported) {
  const TrainJob rising = rising_job("rising");
  RecordingSink stopped;
  stopped.stop_after = 25;
  ASSERT_EQ(train(rising, stopped), TrainOutcome::kStopped);
  fs::remove(rising.folder / "checkpoints/best.safetensors");
  RecordingSink sink;
  ASSERT_EQ(train(rising, sink), TrainOutcome::kDone);
  EXPECT_THAT(sink.messages, Contains(HasSubstr("best.safetensors")));
  EXPECT_EQ(of_split(sink, "valid").back().step, 25);
}

}  // namespace
}  // namespace xlm
