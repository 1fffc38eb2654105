// Training: a run that is stopped and resumed at any step gives the same bits, and divergence keeps the last finite
// checkpoint.
#include "core/train/trainer.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/text.h"
#include "core/api/adaptive_span_options.h"
#include "core/api/byte_patches_options.h"
#include "core/api/gpt2_options.h"
#include "core/api/hourglass_options.h"
#include "core/runtime/safetensors.h"
#include "core/train/checkpoint.h"
#include "datasets/tokens/decoder.h"
#include "tests/core/train/training.h"
#include "tests/datasets/tokens/bpe_files.h"

namespace xlm {
namespace {

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

TEST_F(TrainerTest, BitsPerByteCountTheBytesOfTheScoredCharacters) {
  std::ofstream text(folder_.path() / "umlauts.txt");
  for (int i = 0; i < 6000; ++i) text << "über";
  text.close();
  prepare(
      check_request({.dataset = "text", .from = {folder_.path() / "umlauts.txt"}, .out = folder_.path() / "umlauts"}),
      {});
  const PreparedData data = open_prepared(folder_.path() / "umlauts");
  const TokenFile& tokens = data.split("test").tokens;
  double bytes = 0;  // of all characters but the first, which is not predicted
  for (std::int64_t i = 1; i < tokens.size(); ++i) {
    bytes += static_cast<double>(data.vocabulary.symbols[static_cast<std::size_t>(tokens.at(i))].size());
  }
  ASSERT_GT(bytes, 1.2 * static_cast<double>(tokens.size()));
  for (TrainJob umlauts :
       {job("blocks"), hourglass_job("strides", BoundaryOptions::Type::kFixed), recurrent_job("windows", false)}) {
    umlauts.options.data.path = data.path;
    umlauts.options.train = {.steps = 2, .batch = 4, .block = 16, .threads = 1};
    umlauts.options.eval.batch = 1;
    RecordingSink sink;
    ASSERT_EQ(train(umlauts, sink), TrainOutcome::kDone);
    const Evaluation& test = sink.evaluations.back();
    ASSERT_EQ(test.tokens, tokens.size() - 1);
    EXPECT_NEAR(test.values.at("bits_per_byte") * bytes, test.values.at("bpc") * static_cast<double>(test.tokens),
                1e-9 * bytes);
  }
}

TEST_F(TrainerTest, WithMaxWindowsOnlyScoredBytesCountAndNoWords) {
  const fs::path folder = folder_.path() / "pairs";
  prepare(check_request({.dataset = "text",
                         .from = {folder_.path() / "corpus.txt"},
                         .out = folder,
                         .unit = "bpe",
                         .bpe = write_small_bpe(folder_.path() / "bpe")}),
          {});
  const PreparedData data = open_prepared(folder);
  const Split& split = data.split("test");
  const std::vector<std::string> bytes_of = symbol_bytes(data.vocabulary);
  double first = 0;  // bytes that two windows of 64 tokens score
  for (std::int64_t i = 1; i <= 128; ++i) {
    first += static_cast<double>(bytes_of[static_cast<std::size_t>(split.tokens.at(i))].size());
  }
  ASSERT_GT(first, 128) << "tokens of several bytes";
  for (const std::int64_t most : {2, 1000}) {
    TrainJob pairs = hourglass_job(fmt::format("of-{}", most), BoundaryOptions::Type::kFixed);
    pairs.options.data.path = folder;
    pairs.options.train = {.steps = 1, .batch = 4, .block = 16, .threads = 1};
    pairs.options.eval.batch = 1;
    pairs.options.eval.max_windows = most;
    RecordingSink sink;
    ASSERT_EQ(train(pairs, sink), TrainOutcome::kDone);
    const Evaluation& test = sink.evaluations.back();
    const bool whole = most == 1000;
    ASSERT_EQ(test.tokens, whole ? split.tokens.size() - 1 : 128);
    const double bits = test.loss * static_cast<double>(test.tokens) / std::log(2.0);
    const double unscored = static_cast<double>(bytes_of[static_cast<std::size_t>(split.tokens.at(0))].size());
    const double bytes = whole ? static_cast<double>(split.bytes) - unscored : first;
    EXPECT_NEAR(test.values.at("bits_per_byte") * bytes, bits, 1e-9 * bits);
    EXPECT_TRUE(test.values.contains("token_perplexity"));
    for (const char* counted : {"word_perplexity", "words", "bytes"}) {
      EXPECT_EQ(test.values.contains(counted), whole) << counted;
    }
  }
}

TEST_F(TrainerTest, WithoutAValidationSplitEvaluationsAreRefusedBeforeTheFirstStep) {
  std::ofstream text(folder_.path() / "all.txt");
  for (int i = 0; i < 6000; ++i) text << "all of it ";
  text.close();
  const fs::path data = folder_.path() / "all";
  prepare(check_request({.dataset = "text", .from = {folder_.path() / "all.txt"}, .out = data, .split = "100%,0%,0%"}),
          {});
  TrainJob refused = job("refused");
  refused.options.data.path = data;
  RecordingSink sink;
  EXPECT_THAT([&] { train(refused, sink); }, ThrowsMessage<DataError>(testing::HasSubstr("train.eval_every=10")))
      << "no error";
  EXPECT_TRUE(sink.losses.empty()) << "no step was made";
  refused.options.train.eval_every = 0;
  EXPECT_EQ(train(refused, sink), TrainOutcome::kDone);
  EXPECT_THAT(sink.messages, testing::Not(testing::Contains(testing::HasSubstr("eval.select"))));

  TrainJob choosing = refused;
  choosing.folder += "-choosing";
  choosing.options.eval.select = EvalOptions::Select::kBest;
  RecordingSink told;
  told.stop_after = 1;
  EXPECT_EQ(train(choosing, told), TrainOutcome::kStopped);
  EXPECT_THAT(
      told.messages,
      testing::Contains(testing::HasSubstr("has no split 'valid', which eval.select=best needs: the last weights")));
}

TEST_F(TrainerTest, FinalEvaluationsOfDynamicSpansTraceThem) {
  RecordingSink sink;
  EXPECT_EQ(train(job("dynamic", AdaptiveSpanOptions::SpanType::kDynamic), sink), TrainOutcome::kDone);
  EXPECT_TRUE(sink.evaluations.front().trace.tokens.empty()) << "only final evaluations are traced";
  const TokenTrace& trace = sink.evaluations.back().trace;
  EXPECT_EQ(trace.values.at("span").size(), trace.tokens.size());
  EXPECT_GT(trace.tokens.size(), 100U);
  RecordingSink fixed;
  EXPECT_EQ(train(job("fixed", AdaptiveSpanOptions::SpanType::kFixed), fixed), TrainOutcome::kDone);
  EXPECT_TRUE(fixed.evaluations.back().trace.values.empty());
}

TEST_F(TrainerTest, AtTheEndAttentionOfEveryHeadIsReportedOnceAndChangesNoCost) {
  RecordingSink sink;
  EXPECT_EQ(train(job("dynamic", AdaptiveSpanOptions::SpanType::kDynamic), sink), TrainOutcome::kDone);
  EXPECT_EQ(std::count_if(sink.grids.begin(), sink.grids.end(), [](const Grid& g) { return g.name == "attention"; }),
            1);
  const Grid attention = sink.last_grid("attention");
  ASSERT_EQ(attention.rows.size(), 4U) << "two layers of two heads";
  EXPECT_EQ(attention.columns.back(), 40);
  for (const std::vector<double>& row : attention.rows) {
    EXPECT_NEAR(std::accumulate(row.begin(), row.end(), 0.0), 1, 1e-3);
  }
  EXPECT_EQ(sink.last_grid("mask").rows.size(), 4U);
  // Dynamic spans are those of the evaluation, not of the block whose attention is shown.
  const auto symbols = static_cast<double>(open_prepared(folder_.path() / "data").vocabulary.size());
  double multiply_adds = 16 * symbols + 2 * (4 * 16 * 16 + 2 * 16 * 32 + 16 * 2);
  const Grid spans = sink.last_grid("spans");
  for (const std::vector<double>& row : spans.rows) multiply_adds += 3 * 8 * (row.at(0) + row.at(1));
  EXPECT_DOUBLE_EQ(sink.cost.at("flops_per_token"), 2 * multiply_adds);
}

TEST_F(TrainerTest, StoppedAtAnyStepAndResumedItGivesTheSameBits) {
  for (const auto type : {AdaptiveSpanOptions::SpanType::kFixed, AdaptiveSpanOptions::SpanType::kAdaptive,
                          AdaptiveSpanOptions::SpanType::kDynamic, AdaptiveSpanOptions::SpanType::kExpire}) {
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

TEST_F(TrainerTest, WindowsWithAMemoryStoppedAndResumedGiveTheSameBits) {
  using Memory = WindowMemoryOptions::Type;
  for (const Memory type : {Memory::kCache, Memory::kTokens}) {
    for (const bool checkpoint : {false, true}) {
      const std::string suffix = fmt::format("-{}-{}", static_cast<int>(type), checkpoint);
      const Evaluation last = expect_the_same_bits(memory_job("whole" + suffix, type, checkpoint),
                                                   memory_job("parts" + suffix, type, checkpoint), {2, 3, 10, 11}, 12);
      EXPECT_LT(last.loss, 4);
    }
  }
}

TEST_F(TrainerTest, ARecordCoversAllStepsSinceTheLast) {
  for (TrainJob whole : {job("spans", AdaptiveSpanOptions::SpanType::kDynamic),
                         hourglass_job("boundaries", BoundaryOptions::Type::kGumbel)}) {
    whole.options.train.log_every = 4;
    RecordingSink sink;
    ASSERT_EQ(train(whole, sink), TrainOutcome::kDone);
    ASSERT_TRUE(sink.records.contains(12)) << "with an evaluation behind step 10";
    TrainJob undisturbed = whole;
    undisturbed.folder += "-undisturbed";
    undisturbed.options.train.eval_every = 0;
    RecordingSink undisturbed_sink;
    ASSERT_EQ(train(undisturbed, undisturbed_sink), TrainOutcome::kDone);
    EXPECT_EQ(undisturbed_sink.records, sink.records) << "evaluations";
    TrainJob parts = whole;
    parts.folder += "-parts";
    std::map<std::int64_t, NamedValues> records;
    for (const std::int64_t stop : {2, 3, 10, 11, -1}) {
      RecordingSink part;
      part.stop_after = stop;
      ASSERT_EQ(train(parts, part), stop > 0 ? TrainOutcome::kStopped : TrainOutcome::kDone);
      records.merge(part.records);
    }
    EXPECT_EQ(records, sink.records) << "stops";
  }
}

TEST_F(TrainerTest, ACheckpointWithoutCountsIsResumed) {
  TrainJob old = job("old", AdaptiveSpanOptions::SpanType::kDynamic);
  old.options.train.log_every = 4;
  RecordingSink stopped;
  stopped.stop_after = 6;
  ASSERT_EQ(train(old, stopped), TrainOutcome::kStopped);
  const CheckpointFolder checkpoints(old.folder / "checkpoints");
  Checkpoint checkpoint = checkpoints.load_newest([](const std::string&) {}).value();
  ASSERT_EQ(checkpoint.state.erase("counts"), 1U);
  checkpoints.save(checkpoint);
  RecordingSink sink;
  EXPECT_EQ(train(old, sink), TrainOutcome::kDone);
  EXPECT_TRUE(sink.records.at(8).contains("average_span"));
}

TEST_F(TrainerTest, MicroBatchesChangeNothingButRounding) {
  using Span = AdaptiveSpanOptions::SpanType;
  using Boundary = BoundaryOptions::Type;
  std::vector<TrainJob> jobs{recurrent_job("kept", false), recurrent_job("again", true),
                             memory_job("memory-cache", WindowMemoryOptions::Type::kCache, true),
                             memory_job("memory-tokens", WindowMemoryOptions::Type::kTokens, false)};
  for (const Span type : {Span::kFixed, Span::kAdaptive, Span::kDynamic, Span::kExpire}) {
    jobs.push_back(job(fmt::format("span{}", static_cast<int>(type)), type));
  }
  for (const Boundary type :
       {Boundary::kNone, Boundary::kFixed, Boundary::kWhitespace, Boundary::kEntropy, Boundary::kGumbel}) {
    jobs.push_back(hourglass_job(fmt::format("boundaries{}", static_cast<int>(type)), type));
    if (type == Boundary::kNone) jobs.back().options.model.get<HourglassOptions>().layers = {2};
  }
  jobs.push_back(job("patches"));  // with predictions that are not scored
  jobs.back().options.model = BytePatchesOptions{.width = 16,
                                                 .layers = 1,
                                                 .local_width = 8,
                                                 .local_layers = 2,
                                                 .positions = 16,
                                                 .places = 3,
                                                 .block = {.head_width = 4, .dropout = 0.2}};
  jobs.back().options.eval.context = jobs.back().options.eval.stride = 16;
  jobs.push_back(jobs.back());  // with a loss of its boundaries
  jobs.back().folder += "-router";
  jobs.back().options.model.get<BytePatchesOptions>().boundaries.type = PatchBoundaryOptions::Type::kRouter;
  for (TrainJob& whole : jobs) {
    whole.options.train.steps = 4;
    RecordingSink whole_sink;
    train(whole, whole_sink);
    for (const std::int64_t count : {2, 4}) {
      TrainJob parts = whole;
      parts.folder += fmt::format("-in-{}", count);
      parts.options.train.micro_batch = whole.options.train.batch / count;
      RecordingSink sink;
      train(parts, sink);
      for (const auto& [step, loss] : whole_sink.losses) {
        EXPECT_NEAR(sink.losses.at(step), loss, 2e-5 * loss) << parts.folder << " at step " << step;
      }
    }
  }
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

// Guessing all symbols alike costs ln V nats. A finite loss above that fails no other check.
TEST_F(TrainerTest, ALossAboveThatOfGuessingIsMarkedAndReported) {
  const double guessing = std::log(static_cast<double>(open_prepared(folder_.path() / "data").vocabulary.size()));
  TrainJob sensible = job("sensible");
  sensible.options.train.steps = 150;
  TrainJob wild = job("wild");
  wild.options.optimizer.lr = 30;
  wild.options.optimizer.clip_step = 0;
  for (const TrainJob& one : {sensible, wild}) {
    RecordingSink sink;
    ASSERT_EQ(train(one, sink), TrainOutcome::kDone);
    const bool is_wild = one.folder == wild.folder;
    int final_ones = 0;
    for (const Evaluation& evaluation : sink.evaluations) {
      ASSERT_EQ(evaluation.loss > guessing, is_wild) << evaluation.loss << " at step " << evaluation.step;
      EXPECT_EQ(evaluation.values.contains("worse_than_guessing"), is_wild) << evaluation.split;
      for (const auto& [name, value] : evaluation.values) EXPECT_TRUE(name != "worse_than_guessing" || value == 1);
      final_ones += evaluation.final ? 1 : 0;
    }
    ASSERT_EQ(final_ones, 2) << "validation and test";
    const std::string said = join(sink.messages, "\n");
    for (const char* split : {"valid", "test"}) {
      EXPECT_EQ(said.find(fmt::format("warning: the loss on {} (", split)) != std::string::npos, is_wild) << said;
    }
    EXPECT_EQ(said.find("guessing all") != std::string::npos, is_wild) << said;
  }
}

// Finite weights may have products that are not finite.
TEST_F(TrainerTest, AModelWithoutAFiniteLossIsRefused) {
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
      testing::ThrowsMessage<DataError>(testing::HasSubstr("it is not a model of these data")));
}

TEST_F(TrainerTest, ARecordingWithoutAGpuIsNoted) {
  TrainJob recorded = job("recorded");
  recorded.options.train.cuda_graph = TrainOptions::CudaGraph::kTrue;
  recorded.options.train.steps = 2;
  recorded.options.device = "cpu";
  RecordingSink sink;
  ASSERT_EQ(train(recorded, sink), TrainOutcome::kDone);
  ASSERT_FALSE(sink.messages.empty());
  EXPECT_EQ(sink.messages.front(), "note: train.cuda_graph has no effect: the device is no GPU");
}

TEST_F(TrainerTest, AMachineWithoutAGpuIsNoNewsIfNoRecordingIsAskedFor) {
  for (const auto wanted : {TrainOptions::CudaGraph::kAuto, TrainOptions::CudaGraph::kFalse}) {
    TrainJob made = job(fmt::format("made {}", static_cast<int>(wanted)));
    made.options.train.cuda_graph = wanted;
    made.options.train.steps = 2;
    RecordingSink sink;
    ASSERT_EQ(train(made, sink), TrainOutcome::kDone);
    EXPECT_THAT(sink.messages, testing::Not(testing::Contains(testing::HasSubstr("cuda_graph"))));
  }
}

TEST_F(TrainerTest, EveryCheckpointIsAnnouncedBeforeItIsMade) {
  RecordingSink sink;
  TrainJob whole = job("whole");
  whole.options.train.checkpoint_every = 10;
  train(whole, sink);
  EXPECT_EQ(sink.saved_steps.back(), 24);
  EXPECT_EQ(sink.saves_begun_at, sink.saved_steps);
}

TEST_F(TrainerTest, AWorkerThatLostItsRunWritesNothingMore) {
  RecordingSink sink;
  sink.lost = true;
  const TrainJob lost = job("lost");
  EXPECT_THROW(train(lost, sink), Error);
  EXPECT_TRUE(fs::is_empty(lost.folder / "checkpoints"));
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
    EXPECT_NE(bfloat_sink.losses.at(last), single_sink.losses.at(last)) << "nothing was rounded";
  }
}

}  // namespace
}  // namespace xlm
