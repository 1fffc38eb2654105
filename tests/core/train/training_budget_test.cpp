// Training whose length is a budget, and the arithmetic that is counted.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/api/byte_patches_options.h"
#include "core/api/transformer_options.h"
#include "core/models/language_model.h"
#include "core/train/checkpoint.h"
#include "core/train/training_budget.h"
#include "tests/core/train/training.h"
#include "tests/readers.h"

namespace xlm {
namespace {

constexpr double kOnePercent = 0.01;

class BudgetTest : public TrainerTest {
 protected:
  TrainJob transformer_job(const std::string& name) {
    TrainJob plain = job(name);
    plain.options.model = TransformerOptions{.width = 16,
                                             .layers = 3,
                                             .feed_forward = 40,
                                             .block = {.head_width = 4, .key_value_heads = 2, .windows = {5, 0}}};
    plain.options.optimizer = {.type = OptimizerOptions::Type::kAdam, .lr = 5e-3};
    plain.options.eval.context = 16;
    plain.options.eval.stride = 8;
    return plain;
  }

  /// The same run, which ends when `flops` are spent.
  static TrainJob with_budget(TrainJob given, double flops) {
    given.options.train.steps = 0;
    given.options.train.flops = flops;
    return given;
  }

  double symbols() const { return static_cast<double>(open_prepared(folder_.path() / "data").vocabulary.size()); }

  /// FLOPs of the whole training by the script that shares no code with the program.
  double by_the_papers(Json the_case, const RecordingSink& done) {
    the_case["symbols"] = symbols();
    the_case["tokens"] = done.cost.at("training_tokens");
    write_file(folder_.path() / "case.json", the_case.dump());
    const std::string count = read_with_python(folder_.path(), R"(
import json, sys
sys.path.insert(0, ")" XLM_SOURCE_DIR R"(/tests/golden")
import training_flops
print(repr(training_flops.training_flops(json.load(open("case.json")))))
)");
    return std::stod(count);
  }
};

Json saved_budget(const TrainJob& job) {
  const auto kept = CheckpointFolder(job.folder / "checkpoints").load_newest([](const std::string&) {});
  return kept->state.at("budget");
}

TEST_F(BudgetTest, ARunEndsWithTheStepThatReachesItsBudget) {
  TrainJob fixed = transformer_job("steps");
  fixed.options.train.steps = 7;
  RecordingSink by_steps;
  ASSERT_EQ(train(fixed, by_steps), TrainOutcome::kDone);
  const double step = by_steps.cost.at("training_flops") / 7;
  for (const auto& [budget, steps] : {std::pair{7 * step, 7}, {6.2 * step, 7}, {7.0001 * step, 8}}) {
    RecordingSink sink;
    ASSERT_EQ(train(with_budget(transformer_job(fmt::format("{}", budget)), budget), sink), TrainOutcome::kDone);
    EXPECT_EQ(sink.last_step, steps) << budget / step;
    EXPECT_DOUBLE_EQ(sink.cost.at("training_flops"), steps * step);
    EXPECT_EQ(sink.cost.at("training_tokens"), steps * 4 * 16);
  }
}

TEST_F(BudgetTest, SchedulesFollowTheShareThatIsSpent) {
  TrainJob cosine = transformer_job("steps");
  cosine.options.optimizer.schedule = OptimizerOptions::Schedule::kCosine;
  cosine.options.optimizer.warmup_ratio = 0.25;
  cosine.options.train.steps = 8;
  RecordingSink by_steps;
  ASSERT_EQ(train(cosine, by_steps), TrainOutcome::kDone);
  RecordingSink by_flops;
  const TrainJob budget = with_budget(transformer_job("flops"), by_steps.cost.at("training_flops"));
  TrainJob same = budget;
  same.options.optimizer = cosine.options.optimizer;
  ASSERT_EQ(train(same, by_flops), TrainOutcome::kDone);
  ASSERT_EQ(by_flops.records.size(), 8);
  for (const auto& [step, values] : by_steps.records) {
    EXPECT_NEAR(by_flops.records.at(step).at("lr"), values.at("lr"), 1e-15) << step;
  }
  const double half = 5e-3 * 0.5 * (1 + std::cos(std::numbers::pi * (5.0 / 8 - 0.25) / 0.75));
  EXPECT_NEAR(by_flops.records.at(5).at("lr"), half, 1e-15);
}

TEST_F(BudgetTest, MeasuredShorteningDecidesTheEnd) {
  TrainJob learnt = hourglass_job("gumbel", BoundaryOptions::Type::kGumbel);
  learnt.options.train.steps = 6;
  learnt.options.train.log_every = 1;
  RecordingSink by_steps;
  ASSERT_EQ(train(learnt, by_steps), TrainOutcome::kDone);
  const double third = by_steps.records.at(3).at("training_flops");
  RecordingSink sink;
  ASSERT_EQ(train(with_budget(hourglass_job("budget", BoundaryOptions::Type::kGumbel), third), sink),
            TrainOutcome::kDone);
  EXPECT_EQ(sink.last_step, 3) << "rates, and with them groups, are the same while they warm up";
  EXPECT_DOUBLE_EQ(sink.cost.at("training_flops"), third);
  std::set<double> of_steps;
  for (std::int64_t step = 2; step <= 6; ++step) {
    of_steps.insert(by_steps.records.at(step).at("training_flops") -
                    by_steps.records.at(step - 1).at("training_flops"));
  }
  EXPECT_GT(of_steps.size(), 3) << "each step counts its own text";
}

TEST_F(BudgetTest, AStoppedRunHasTheSameBitsAndTheSameSum) {
  const std::vector<std::pair<std::string, TrainJob>> jobs{
      {"transformer", transformer_job("a")},
      {"gumbel", hourglass_job("b", BoundaryOptions::Type::kGumbel)},
      {"dynamic", job("c", AdaptiveSpanOptions::SpanType::kDynamic)},
      {"expire", job("d", AdaptiveSpanOptions::SpanType::kExpire)}};
  for (const auto& [name, given] : jobs) {
    TrainJob short_run = given;
    short_run.folder = folder_.path() / (name + "-short");
    create_folders(short_run.folder);
    short_run.options.train.steps = 8;
    RecordingSink of_short;
    ASSERT_EQ(train(short_run, of_short), TrainOutcome::kDone);
    TrainJob whole = with_budget(given, of_short.cost.at("training_flops") * 1.4);
    whole.options.train.eval_every = 4;
    whole.options.optimizer.schedule = OptimizerOptions::Schedule::kCosine;
    whole.options.train.log_every = 3;
    TrainJob parts = whole;
    whole.folder = folder_.path() / (name + "-whole");
    parts.folder = folder_.path() / (name + "-parts");
    for (const TrainJob* each : {&whole, &parts}) create_folders(each->folder);
    TrainJob first = whole;
    first.folder = folder_.path() / (name + "-first");
    create_folders(first.folder);
    RecordingSink at_once;
    ASSERT_EQ(train(first, at_once), TrainOutcome::kDone);
    ASSERT_GT(at_once.last_step, 8) << name;
    expect_the_same_bits(whole, parts, {2, 5, 7}, at_once.last_step);
    EXPECT_EQ(saved_budget(parts).at("flops"), saved_budget(whole).at("flops")) << name;
    EXPECT_EQ(saved_budget(parts).at("flops"), at_once.cost.at("training_flops")) << name;
  }
}

TEST_F(BudgetTest, CountingChangesNoStatisticOfADynamicSpan) {
  // The model's counts are set to those of a step and back.
  const std::shared_ptr<LanguageModel> model =
      make_model(AdaptiveSpanOptions{.width = 8,
                                     .heads = 2,
                                     .feed_forward = 8,
                                     .layers = 1,
                                     .span = 20,
                                     .span_type = AdaptiveSpanOptions::SpanType::kDynamic,
                                     .span_ramp = 4},
                 5);
  const TrainOptions options;
  TrainingBudget budget(options, *model, nullptr);
  const torch::Tensor tokens = torch::randint(5, {2, 7}, torch::kLong);
  const auto pass = [&] { model->forward(tokens, model->initial_state(2)); };
  pass();
  budget.begin_step();
  pass();
  const Counts before = model->counts();
  budget.spend({.input = {.tokens = tokens}, .targets = tokens});
  EXPECT_EQ(model->counts().sums, before.sums);
  EXPECT_EQ(model->counts().maxima, before.maxima);
  EXPECT_GT(budget.values().at("training_flops"), 0);
}

/// Costs as many FLOPs for a token as it counted, and counts how often its counts are read.
class ReadCounts final : public LanguageModel {
 public:
  ModelOutput forward(const ModelInput& /*input*/, const State& /*state*/) override { return {}; }
  State initial_state(std::int64_t /*batch*/) const override { return {}; }
  Counts counts() const override {
    ++reads;
    return {.sums = {counted}, .maxima = {}};
  }
  void set_counts(const Counts& counts) override { counted = counts.sums.at(0); }
  NamedValues costs(std::int64_t /*block*/) const override { return {{"flops_per_token", counted}}; }

  mutable int reads = 0;
  double counted = 0;
};

/// A GPU has to be waited for at each reading.
TEST_F(BudgetTest, CountsAreReadOnceForEachStep) {
  ReadCounts model;
  const TrainOptions options;
  TrainingBudget budget(options, model, nullptr);
  const Batch batch{.targets = torch::zeros({1, 1}, torch::kLong)};
  double spent = 0;
  model.counted = 100;  // as a checkpoint has them
  int reads = 1;
  for (const double counted : {3.0, 5.0, 0.0, 7.0, 2.0}) {
    budget.begin_step();
    model.counted += counted;
    const double before = model.counted;
    budget.spend(batch);
    EXPECT_EQ(model.counted, before);
    spent += 3 * counted;
    EXPECT_EQ(budget.values().at("training_flops"), spent);
    EXPECT_EQ(model.reads, ++reads);
    if (counted != 5) continue;
    model.counted = 0;
    budget.counts_begin_again();
  }
}

TEST_F(BudgetTest, TimeIsABudgetToo) {
  TrainJob timed = transformer_job("seconds");
  timed.options.train.steps = 0;
  timed.options.train.seconds = 2;
  timed.options.train.log_every = 1;
  timed.options.optimizer.schedule = OptimizerOptions::Schedule::kLinear;
  RecordingSink sink;
  sink.stop_after = 3;
  ASSERT_EQ(train(timed, sink), TrainOutcome::kStopped);
  const double spent = saved_budget(timed).at("seconds").get<double>();
  RecordingSink rest;
  ASSERT_EQ(train(timed, rest), TrainOutcome::kDone);
  EXPECT_GE(rest.cost.at("training_seconds"), 2 * (1 - 1e-9));
  EXPECT_GE(saved_budget(timed).at("seconds").get<double>(), spent);
  double before = 1;
  for (const auto& [step, values] : rest.records) {
    EXPECT_LE(values.at("lr"), before);
    before = values.at("lr");
  }
  EXPECT_EQ(before, 0) << "the schedule ends with the budget";
}

TEST_F(BudgetTest, TheFormulasOfThePapersCountTheSame) {
  RecordingSink plain;
  ASSERT_EQ(train(transformer_job("transformer"), plain), TrainOutcome::kDone);
  const double transformer = by_the_papers({{"model",
                                             {{"type", "transformer"},
                                              {"width", 16},
                                              {"layers", 3},
                                              {"feed_forward", 40},
                                              {"head_width", 4},
                                              {"key_value_heads", 2},
                                              {"windows", {5, 0}},
                                              {"activation", "swiglu"}}},
                                            {"block", 16}},
                                           plain);
  EXPECT_NEAR(plain.cost.at("training_flops") / transformer, 1, kOnePercent);

  TrainJob patches = transformer_job("byte-patches");
  patches.options.model = BytePatchesOptions{.width = 16,
                                             .layers = 2,
                                             .feed_forward = 40,
                                             .local_width = 8,
                                             .local_layers = 3,
                                             .local_feed_forward = 20,
                                             .local_window = 5,
                                             .positions = 16,
                                             .places = 3,
                                             .block = {.head_width = 4}};
  RecordingSink of_patches;
  ASSERT_EQ(train(patches, of_patches), TrainOutcome::kDone);
  const double byte_patches = by_the_papers({{"model",
                                              {{"type", "byte-patches"},
                                               {"width", 16},
                                               {"layers", 2},
                                               {"feed_forward", 40},
                                               {"local_width", 8},
                                               {"local_layers", 3},
                                               {"local_feed_forward", 20},
                                               {"local_window", 5},
                                               {"places", 3},
                                               {"activation", "swiglu"}}},
                                             {"block", 16}},
                                            of_patches);
  EXPECT_NEAR(of_patches.cost.at("training_flops") / byte_patches, 1, kOnePercent);

  TrainJob windows = recurrent_job("gpt2", false);
  windows.options.model.get<Gpt2Options>().recurrence = {};
  RecordingSink of_windows;
  ASSERT_EQ(train(windows, of_windows), TrainOutcome::kDone);
  const double gpt2 = by_the_papers(
      {{"model",
        {{"type", "gpt2"}, {"width", 16}, {"layers", 2}, {"feed_forward", 64}, {"window", 12}, {"overlap", 4}}},
       {"block", 50}},
      of_windows);
  EXPECT_NEAR(of_windows.cost.at("training_flops") / gpt2, 1, kOnePercent);

  using Memory = WindowMemoryOptions::Type;
  for (const auto& [type, name] : {std::pair(Memory::kCache, "cache"), std::pair(Memory::kTokens, "tokens")}) {
    RecordingSink of_memory;
    ASSERT_EQ(train(memory_job(fmt::format("memory-{}", name), type, false), of_memory), TrainOutcome::kDone);
    const double remembering = by_the_papers({{"model",
                                               {{"type", "gpt2"},
                                                {"width", 16},
                                                {"layers", 2},
                                                {"feed_forward", 64},
                                                {"window", 12},
                                                {"overlap", 4},
                                                {name, 2}}},
                                              {"block", 50}},
                                             of_memory);
    EXPECT_NEAR(of_memory.cost.at("training_flops") / remembering, 1, kOnePercent) << name;
  }

  for (const auto type : {AdaptiveSpanOptions::SpanType::kFixed, AdaptiveSpanOptions::SpanType::kAdaptive}) {
    TrainJob spans = job(fmt::format("spans-{}", static_cast<int>(type)), type);
    spans.options.model.get<AdaptiveSpanOptions>().span_penalty = 10;  // spans stay where they began: at 0
    RecordingSink of_spans;
    ASSERT_EQ(train(spans, of_spans), TrainOutcome::kDone);
    const int learnt = type == AdaptiveSpanOptions::SpanType::kFixed ? 40 : 0;
    const double adaptive = by_the_papers({{"model",
                                            {{"type", "adaptive-span"},
                                             {"width", 16},
                                             {"heads", 2},
                                             {"layers", 2},
                                             {"feed_forward", 32},
                                             {"span", 40},
                                             {"learnt_span", learnt},
                                             {"span_ramp", 8}}},
                                           {"block", 16}},
                                          of_spans);
    EXPECT_NEAR(of_spans.cost.at("training_flops") / adaptive, 1, kOnePercent);
  }

  for (const auto type : {BoundaryOptions::Type::kFixed, BoundaryOptions::Type::kGumbel}) {
    const std::string name(BoundaryOptions::kTypeNames.at(static_cast<std::size_t>(type)));
    TrainJob groups = hourglass_job("hourglass-" + name, type);
    groups.options.train.batch = 4;  // the short chunk at a row's end is not reached
    groups.options.train.log_every = 1;
    RecordingSink of_groups;
    ASSERT_EQ(train(groups, of_groups), TrainOutcome::kDone);
    Json shortening = Json::array();
    for (const auto& [step, values] : of_groups.records) shortening.push_back(values.at("shortening_factor"));
    const double hourglass = by_the_papers(
        {{"model",
          {{"type", "hourglass"}, {"width", 16}, {"layers", {1, 1, 1}}, {"feed_forward", 32}, {"boundaries", name}}},
         {"block", 64},
         {"shortening", shortening}},
        of_groups);
    EXPECT_NEAR(of_groups.cost.at("training_flops") / hourglass, 1, kOnePercent) << name;
  }
}

TEST_F(BudgetTest, EvaluationsWhileTrainingReadAPart) {
  for (const TrainJob& given :
       {transformer_job("transformer"), job("streaming"), hourglass_job("hourglass", BoundaryOptions::Type::kFixed),
        recurrent_job("gpt2", false)}) {
    TrainJob partial = given;
    partial.options.train.steps = 11;
    partial.options.train.eval_every = 5;
    partial.options.eval.during.share = 0.25;
    partial.options.eval.select = EvalOptions::Select::kBest;
    RecordingSink sink;
    ASSERT_EQ(train(partial, sink), TrainOutcome::kDone);
    std::map<bool, std::vector<Evaluation>> valid;
    for (const Evaluation& each : sink.evaluations) {
      if (each.split == "valid") valid[each.final].push_back(each);
    }
    ASSERT_EQ(valid[true].size(), 1);
    ASSERT_GE(valid[false].size(), 2);
    for (const Evaluation& during : valid[false]) {
      const double share = static_cast<double>(during.tokens) / static_cast<double>(valid[true][0].tokens);
      EXPECT_NEAR(share, 0.25, 0.06) << partial.folder;
      EXPECT_LT(during.flops, 0.4 * valid[true][0].flops);
      EXPECT_GT(during.flops, 0);
    }
  }
}

TEST_F(BudgetTest, TheFirstWindowsAloneMayBeReadWhileTraining) {
  TrainJob partial = transformer_job("windows");
  partial.options.train.steps = 6;
  partial.options.train.eval_every = 5;
  partial.options.eval.during.max_windows = 3;
  RecordingSink sink;
  ASSERT_EQ(train(partial, sink), TrainOutcome::kDone);
  ASSERT_FALSE(sink.evaluations.front().final);
  EXPECT_EQ(sink.evaluations.front().tokens, 3 * 8);
  EXPECT_GT(sink.evaluations.back().tokens, 3 * 8);
}

TEST_F(BudgetTest, PartsAreComparedWithPartsForTheBestWeights) {
  TrainJob partial = job("best");
  partial.options.train.steps = 25;
  partial.options.eval.during.share = 0.3;
  partial.options.eval.select = EvalOptions::Select::kBest;
  partial.options.optimizer.lr = 1000;  // grows worse at every step
  partial.options.optimizer.warmup_steps = 1000;
  partial.options.optimizer.clip_step = 0;
  RecordingSink sink;
  ASSERT_EQ(train(partial, sink), TrainOutcome::kDone);
  std::vector<Evaluation> during;
  for (const Evaluation& each : sink.evaluations) {
    if (each.split == "valid" && !each.final) during.push_back(each);
  }
  ASSERT_EQ(during.size(), 3) << "of steps 10 and 20, and of the last step for the comparison";
  EXPECT_EQ(during.back().step, 25);
  const auto least = std::min_element(during.begin(), during.end(),
                                      [](const Evaluation& a, const Evaluation& b) { return a.loss < b.loss; });
  EXPECT_EQ(sink.evaluations.back().step, least->step);
  EXPECT_TRUE(sink.evaluations.back().final);
  EXPECT_GT(sink.evaluations.back().tokens, during.back().tokens);
}

}  // namespace
}  // namespace xlm
