// Recorded steps train like unrecorded ones, and the library that records on a GPU opens.
#include "core/models/captured_steps.h"

#include <dlfcn.h>

#include <functional>

#include <ATen/Context.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "bench/rerun_recorder.h"
#include "core/api/adaptive_span_options.h"
#include "core/api/byte_patches_options.h"
#include "core/api/gpt2_options.h"
#include "core/api/hourglass_options.h"
#include "core/models/capabilities.h"
#include "core/schemes/windows_loss.h"
#include "core/train/optimizer.h"
#include "tests/needs.h"

namespace xlm {
namespace {

/// A model of adaptive spans whose bands sometimes change while it learns.
struct Training {
  Training() {
    torch::manual_seed(7);
    AdaptiveSpanOptions options{.width = 16,
                                .heads = 2,
                                .feed_forward = 32,
                                .layers = 2,
                                .dropout = 0,
                                .attention_dropout = 0,
                                .span = 300,
                                .span_penalty = -0.05,  // spans that grow
                                .span_ramp = 8};
    model = make_model(options, 11);
    weights = model->weights();
    optimizer.emplace(OptimizerOptions{.type = OptimizerOptions::Type::kAdagrad, .lr = 0.07}, weights);
    state = model->initial_state(3);
  }

  /// One step; its loss.
  double step(CapturedSteps* recorded) {
    const torch::Tensor tokens = torch::randint(11, {3, 17}, torch::kLong);
    const ModelInput input{.tokens = tokens.narrow(1, 0, 16)};
    const torch::Tensor targets = tokens.narrow(1, 1, 16);
    const auto work = [this](const ModelInput& in, const torch::Tensor& wanted, const State& before) {
      ModelOutput output = model->forward(in, before);
      const torch::Tensor loss = output.summed_loss(wanted) / wanted.numel();
      (loss + output.auxiliary_loss).backward();
      return CapturedSteps::Outcome{.loss = loss.detach(), .state = output.state};
    };
    optimizer->zero_gradients();
    CapturedSteps::Outcome outcome =
        recorded != nullptr ? recorded->run(graph_signature_of(*model).value(), input, targets, state, work)
                            : work(input, targets, state);
    state = outcome.state;
    optimizer->step(0.07, ++steps);
    model->after_step();
    return outcome.loss.item<double>();
  }

  std::shared_ptr<LanguageModel> model;
  NamedTensors weights;
  std::optional<Optimizer> optimizer;
  State state;
  std::int64_t steps = 0;
};

TEST(CapturedSteps, TrainLikeUnrecordedOnes) {
  constexpr int kSteps = 80;
  Training plain;
  std::vector<double> expected;
  for (int i = 0; i < kSteps; ++i) expected.push_back(plain.step(nullptr));

  Training again;
  auto recorder = std::make_unique<RerunRecorder>();
  const RerunRecorder& runs = *recorder;
  CapturedSteps recorded(std::move(recorder), torch::kCPU, again.weights);
  std::vector<double> losses;
  for (int i = 0; i < kSteps; ++i) losses.push_back(again.step(&recorded));

  EXPECT_EQ(losses, expected);
  EXPECT_GT(recorded.recordings(), 1) << "the bands should have changed";
  EXPECT_GT(runs.replays, 10);
  EXPECT_EQ(runs.warm_ups + recorded.recordings() + runs.replays, kSteps) << "every step goes through the recorder";
  EXPECT_GE(runs.warm_ups, CapturedSteps::kUncaptured * 2) << "the first steps of a shape are not recorded";
}

/// A recording's results stay where they are, so the next replay overwrites what a step that is done again was given.
TEST(CapturedSteps, KnowTheStateThatAStepBeganWith) {
  CapturedSteps captured(std::make_unique<RerunRecorder>(), torch::kCPU, {});
  const torch::Tensor kept = torch::zeros({1, 2});
  const torch::Tensor input = torch::ones({1, 2});
  const auto work = [&](const ModelInput& in, const torch::Tensor& /*targets*/, const State& before) {
    kept.copy_(before[0] + in.tokens);
    return CapturedSteps::Outcome{.loss = kept.sum(), .state = {kept}};
  };
  State state{torch::zeros({1, 2})};
  for (int step = 0; step < CapturedSteps::kUncaptured + 3; ++step) {
    const torch::Tensor expected = state[0].clone();
    const State next = captured.run("", {.tokens = input}, input, state, work).state;
    if (step < CapturedSteps::kUncaptured) state = {expected};  // as given, which an unrecorded step leaves alone
    EXPECT_TRUE(captured.state_before(state)[0].equal(expected)) << step;
    EXPECT_TRUE(next[0].equal(expected + 1)) << step;
    state = step < CapturedSteps::kUncaptured ? State{next[0].clone()} : next;
  }
}

TEST(CapturedSteps, AreRecordedLessOftenWhereOperationsChangeAllTheTime) {
  const torch::Tensor weight = torch::ones({1}).set_requires_grad(true);
  auto recorder = std::make_unique<RerunRecorder>();
  const RerunRecorder& runs = *recorder;
  CapturedSteps captured(std::move(recorder), torch::kCPU, {{"weight", weight}});
  const auto work = [&](const ModelInput&, const torch::Tensor& targets, const State&) {
    torch::Tensor loss = (weight * targets).sum();
    loss.backward();
    return CapturedSteps::Outcome{.loss = loss.detach(), .state = {}};
  };
  const auto step = [&](int signature) {
    weight.mutable_grad().reset();
    captured.run(std::to_string(signature), {.tokens = torch::zeros({1}, torch::kLong)}, torch::ones({1}), {}, work);
  };
  for (int signature = 0; signature < 100; ++signature) {
    for (int i = 0; i < CapturedSteps::kUncaptured + 2; ++i) step(signature);
  }
  EXPECT_EQ(captured.recordings(), CapturedSteps::kPatience + 1) << "four steps of a kind are too few from then on";
  EXPECT_EQ(runs.replays, CapturedSteps::kPatience + 1);
  for (int i = 0; i < 40; ++i) step(100);
  EXPECT_EQ(captured.recordings(), CapturedSteps::kPatience + 2) << "but operations that stay are recorded";
}

TEST(CapturedSteps, TheOperationsOfAModelAreNamedIfKnown) {
  const auto operations = [](AdaptiveSpanOptions::SpanType type) {
    const AdaptiveSpanOptions options{
        .width = 8, .heads = 2, .feed_forward = 8, .layers = 2, .span = 100, .span_type = type};
    return graph_signature_of(*make_model(options, 5));
  };
  EXPECT_EQ(operations(AdaptiveSpanOptions::SpanType::kFixed), "100,100 100,100 ");
  EXPECT_EQ(operations(AdaptiveSpanOptions::SpanType::kAdaptive), "64,64 64,64 ");
  EXPECT_TRUE(operations(AdaptiveSpanOptions::SpanType::kDynamic)) << "bands that are held";
  EXPECT_EQ(operations(AdaptiveSpanOptions::SpanType::kExpire), std::nullopt);
}

/// A model of adaptive spans, and its operations if all heads have the span z.
struct WaveringSpans {
  WaveringSpans() {
    torch::manual_seed(7);
    const AdaptiveSpanOptions options{
        .width = 16, .heads = 2, .feed_forward = 32, .layers = 1, .span = 300, .span_ramp = 8};
    model = make_model(options, 11);
    model->eval();
  }
  std::string with(double z) const {
    const torch::NoGradGuard no_grad;
    for (const auto& [name, weight] : model->weights()) {
      if (name.ends_with("current_val")) weight.fill_(z / 300);
    }
    model->after_step();
    return graph_signature_of(*model).value();
  }
  Capturable& held() const {
    auto* captured = capability<Capturable>(*model);
    captured->hold_sizes();
    return *captured;
  }

  std::shared_ptr<LanguageModel> model;
};

TEST(CapturedSteps, AWaveringSpanDoesNotChangeHeldBands) {
  const WaveringSpans free;
  EXPECT_EQ(free.with(21.5), "32,32 ");  // reaches 31, with the ramp
  EXPECT_EQ(free.with(23.5), "64,64 ");
  EXPECT_EQ(free.with(21.5), "32,32 ");
  const WaveringSpans spans;
  spans.with(21.5);
  spans.held();
  EXPECT_EQ(spans.with(20.5), "32,32 ");
  EXPECT_EQ(spans.with(23.5), "64,64 ") << "a band is never shorter than a head needs";
  for (const double z : {21.5, 23.5, 10.5, 53.5}) EXPECT_EQ(spans.with(z), "64,64 ") << z;
  EXPECT_EQ(spans.with(5.5), "32,32 ");
  EXPECT_EQ(spans.with(290.5), "300,300 ");
  EXPECT_EQ(spans.with(250.5), "300,300 ");
  EXPECT_EQ(spans.with(240.5), "256,256 ");
}

TEST(CapturedSteps, AHeldBandComputesTheSame) {
  const WaveringSpans free;
  const WaveringSpans spans;
  spans.held();
  spans.with(23.5);
  EXPECT_NE(spans.with(12.5), free.with(12.5));
  const torch::Tensor tokens = torch::randint(11, {2, 16}, torch::kLong);
  const auto hidden = [&](const WaveringSpans& of) {
    return of.model->forward(tokens, of.model->initial_state(2)).hidden;
  };
  EXPECT_LT((hidden(spans) - hidden(free)).abs().max().item<double>(), 1e-6);
}

TEST(CapturedSteps, HeldBandsAreRestoredFromACheckpoint) {
  const WaveringSpans spans;
  Capturable& before = spans.held();
  spans.with(23.5);
  const std::string expected = spans.with(12.5);
  const WaveringSpans resumed;
  resumed.with(12.5);
  Capturable& after = resumed.held();
  EXPECT_NE(graph_signature_of(*resumed.model).value(), expected);
  after.set_held_sizes(before.held_sizes());
  EXPECT_EQ(graph_signature_of(*resumed.model).value(), expected);
  after.set_held_sizes({1, 1});
  EXPECT_EQ(graph_signature_of(*resumed.model).value(), "32,32 ") << "not shorter than needed";
  after.set_held_sizes({});
  EXPECT_EQ(graph_signature_of(*resumed.model).value(), "32,32 ") << "a checkpoint of steps that were not recorded";
}

// Their dropout follows from the seed that the generator gets before each step.
TEST(CapturedSteps, WindowsTrainLikeUnrecordedOnes) {
  const Gpt2Options plain{.width = 16,
                          .heads = 2,
                          .layers = 2,
                          .positions = 16,
                          .dropout = 0.1,
                          .attention_dropout = 0.1,
                          .window = 8,
                          .overlap = 3};
  std::vector<Gpt2Options> all(4, plain);
  all[1].recurrence.pool = RecurrenceOptions::Pool::kMean;
  all[2].memory.type = WindowMemoryOptions::Type::kCache;
  all[3].memory.type = WindowMemoryOptions::Type::kTokens;
  for (const Gpt2Options& options : all) {
    const auto losses = [&](bool record, ActivationPolicy policy) {
      torch::manual_seed(7);
      const auto model = make_model(options, 11);
      model->train();
      const NamedTensors& weights = model->weights();
      Optimizer optimizer({.type = OptimizerOptions::Type::kAdam}, weights);
      CapturedSteps captured(std::make_unique<RerunRecorder>(), torch::kCPU, weights);
      const auto work = [&](const ModelInput& in, const torch::Tensor& wanted, const State& before) {
        torch::Tensor loss = windows_loss(*model, in.tokens, wanted, policy);
        loss.backward();
        return CapturedSteps::Outcome{.loss = loss.detach(), .state = before};
      };
      std::vector<double> found;
      for (int step = 1; step <= 8; ++step) {
        const torch::Tensor tokens = torch::randint(11, {3, 31}, torch::kLong);
        const ModelInput input{.tokens = tokens.narrow(1, 0, 30)};
        const torch::Tensor targets = tokens.narrow(1, 1, 30);
        optimizer.zero_gradients();
        torch::manual_seed(static_cast<std::uint64_t>(100 + step));
        const State state = model->initial_state(3);
        const auto outcome = record ? captured.run(graph_signature_of(*model).value(), input, targets, state, work)
                                    : work(input, targets, state);
        found.push_back(outcome.loss.item<double>());
        optimizer.step(0.01, step);
      }
      EXPECT_EQ(captured.recordings(), record ? 1 : 0);
      return found;
    };
    for (const ActivationPolicy policy : {ActivationPolicy::kKeep, ActivationPolicy::kRecompute}) {
      EXPECT_EQ(losses(true, policy), losses(false, policy));
    }
  }
}

/// What training on texts [B, T + 1] gives: losses, and after every third step what the model has counted.
struct Trained {
  std::vector<double> values;
  std::vector<std::int64_t> rooms;  // of recorded steps
  int recordings = 0;
};

Trained trained(const std::shared_ptr<LanguageModel>& model, int steps, const std::function<torch::Tensor(int)>& text,
                bool record) {
  const NamedTensors& weights = model->weights();
  Optimizer optimizer({.type = OptimizerOptions::Type::kAdam}, weights);
  CapturedSteps captured(std::make_unique<RerunRecorder>(), torch::kCPU, weights);
  const auto work = [&](const ModelInput& in, const torch::Tensor& wanted, const State& before) {
    const ModelOutput output = model->forward(in, before);
    torch::Tensor loss = output.mean_loss(wanted);
    if (output.auxiliary_loss.defined()) loss = loss + output.auxiliary_loss;
    loss.backward();
    return CapturedSteps::Outcome{.loss = loss.detach(), .state = before, .needed = output.needed};
  };
  Trained result;
  if (record) capability<Capturable>(*model)->hold_sizes();
  for (int step = 1; step <= steps; ++step) {
    const torch::Tensor tokens = text(step);
    const State state = model->initial_state(tokens.size(0));
    ModelInput input{.tokens = tokens.slice(1, 0, -1)};
    const torch::Tensor targets = tokens.slice(1, 1);
    CapturedSteps::Outcome outcome;
    do {
      torch::manual_seed(static_cast<std::uint64_t>(step));
      optimizer.zero_gradients();
      if (record) {
        input = recordable_input(*model, input);
        result.rooms.push_back(input.room);
        outcome = captured.run(graph_signature_of(*model).value(), input, targets, state, work);
      } else {
        outcome = work(input, targets, state);
      }
    } while (record && !had_room(*model, input, outcome.needed));
    result.values.push_back(outcome.loss.item<double>());
    optimizer.step(0.01, step);
    if (step % 3 > 0) continue;
    for (const auto& [name, value] : model->statistics()) result.values.push_back(value);
    model->reset_statistics();
  }
  result.recordings = captured.recordings();
  return result;
}

// Sizes follow from options and windows, so that one recording serves all texts; counts outlive a report.
TEST(CapturedSteps, OfPatchesTrainLikeUnrecordedOnes) {
  for (BytePatchesOptions options : BytePatchesOptions::smallest()) {
    if (options.boundaries.type == PatchBoundaryOptions::Type::kUnigram) continue;  // the text has no segmentation
    options.places = 6;
    const auto numbers = [&](bool record) {
      torch::manual_seed(7);
      const Vocabulary vocabulary{.unit = Vocabulary::Unit::kByte, .symbols = {" ", "a", "b", ".", "c"}};
      const auto text = [](int) {
        return torch::cat({torch::full({3, 1}, kBeginning, torch::kLong), torch::randint(5, {3, 20}, torch::kLong)}, 1);
      };
      return trained(make_model(options, vocabulary), 8, text, record);
    };
    const Trained recorded = numbers(true);
    EXPECT_EQ(recorded.values, numbers(false).values);
    EXPECT_EQ(recorded.recordings, 1);
  }
}

HourglassOptions tiny_hourglass(BoundaryOptions::Type boundaries) {
  HourglassOptions options{.width = 8, .heads = 2, .feed_forward = 16, .layers = {1, 1, 1}};
  options.dropout = 0;
  options.attention_dropout = 0;
  options.boundaries.type = boundaries;
  return options;
}

// Groups have room in whole tiles, so that a recording serves texts with other numbers of them.
TEST(CapturedSteps, OfPoolingByWordsTrainLikeUnrecordedOnes) {
  const auto text = [](int step) {
    const std::int64_t word = step > 5 && step < 11 ? 2 : 4 + step % 2;  // letters and a space
    const torch::Tensor spaces = torch::arange(151).remainder(word) == word - 1;
    return torch::randint(1, 3, {3, 151}).masked_fill(spaces, 0);
  };
  const auto numbers = [&](bool record) {
    torch::manual_seed(7);
    const auto model =
        make_model(tiny_hourglass(BoundaryOptions::Type::kWhitespace), Vocabulary{.symbols = {" ", "a", "b"}});
    return trained(model, 16, text, record);
  };
  const Trained recorded = numbers(true);
  EXPECT_THAT(recorded.values, testing::Pointwise(testing::DoubleNear(1e-5), numbers(false).values));
  EXPECT_EQ(recorded.recordings, 2);
  const auto changed = recorded.rooms.begin() + 5;
  EXPECT_THAT(std::vector<std::int64_t>(recorded.rooms.begin(), changed), testing::Each(63));
  EXPECT_THAT(std::vector<std::int64_t>(changed, recorded.rooms.end()), testing::Each(127)) << "one tile less is kept";
}

// How many groups there are is known behind a step: one with too little room is done again, and counts once.
TEST(CapturedSteps, OfLearntPoolingTrainLikeUnrecordedOnes) {
  for (const auto boundaries : {BoundaryOptions::Type::kGumbel, BoundaryOptions::Type::kEntropy}) {
    const auto numbers = [&](bool record) {
      torch::manual_seed(7);
      const auto model = make_model(tiny_hourglass(boundaries), Vocabulary{.symbols = {" ", "a", "b"}});
      model->to(torch::kDouble);  // Adam's first updates have the sign of gradients that may be nearly 0
      capability<Capturable>(*model)->set_held_sizes({63});
      const auto text = [](int step) { return torch::randint(3, {3, step < 9 ? 201 : 101}); };
      return trained(model, 12, text, record);
    };
    const Trained recorded = numbers(true);
    EXPECT_THAT(recorded.values, testing::Pointwise(testing::DoubleNear(1e-5), numbers(false).values));
    EXPECT_GE(recorded.recordings, 2);
    EXPECT_EQ(recorded.rooms.front(), 63);
    EXPECT_GT(recorded.rooms[1], 63) << "the first step is done again";
    EXPECT_GT(recorded.rooms.size(), 12U);
  }
}

// How far heads reach is known behind a step, too.
TEST(CapturedSteps, OfSpansThatFollowFromTheTextTrainLikeUnrecordedOnes) {
  AdaptiveSpanOptions options{.width = 16, .heads = 2, .feed_forward = 32, .layers = 2};
  options.dropout = 0;
  options.attention_dropout = 0;
  options.span_type = AdaptiveSpanOptions::SpanType::kDynamic;
  options.span = 300;
  options.span_ramp = 8;
  const auto numbers = [&](bool record) {
    torch::manual_seed(7);
    const auto model = make_model(options, 11);
    {
      const torch::NoGradGuard no_grad;
      for (const auto& [name, weight] : model->weights()) {
        if (name.ends_with("dynamic_span.weight")) weight.normal_(0, 0.5);
      }
    }
    model->to(torch::kDouble);
    const auto text = [](int step) {
      return step < 9 ? torch::randint(11, {3, 33}) : torch::full({3, 33}, 4, torch::kLong);
    };
    return trained(model, 16, text, record);
  };
  const Trained recorded = numbers(true);
  const Trained expected = numbers(false);
  EXPECT_EQ(recorded.values.size(), 16 + 2 * 5);
  EXPECT_THAT(recorded.values, testing::Pointwise(testing::DoubleNear(1e-7), expected.values));
  EXPECT_GE(recorded.recordings, 2);
  EXPECT_EQ(recorded.rooms.front(), 32) << "as small as can be";
  EXPECT_GT(recorded.rooms[1], 32) << "the first step is done again";
  EXPECT_LT(recorded.rooms.back(), recorded.rooms[1]) << "what is not needed is given back";
}

// What a device that computes nonsense says it needs ends in the longest bands, not in a step that is done for ever.
TEST(CapturedSteps, BandsAreEnoughAtTheLongestSpan) {
  AdaptiveSpanOptions options{.width = 16, .heads = 2, .feed_forward = 32, .layers = 1};
  options.span_type = AdaptiveSpanOptions::SpanType::kDynamic;
  options.span = 300;
  const auto model = make_model(options, 11);
  auto* captured = capability<Capturable>(*model);
  captured->hold_sizes();
  const std::vector<std::int64_t> needed{std::int64_t{1} << 62, 5};
  EXPECT_FALSE(captured->had_room(needed, captured->room({})));
  EXPECT_TRUE(captured->had_room(needed, captured->room({})));
}

// The room of a block that is shorter than a tile is longer than the block.
TEST(CapturedSteps, OfPoolingInShortBlocksTrainLikeUnrecordedOnes) {
  for (const auto boundaries : {BoundaryOptions::Type::kWhitespace, BoundaryOptions::Type::kFixed}) {
    const auto numbers = [&](bool record) {
      torch::manual_seed(7);
      const auto model = make_model(tiny_hourglass(boundaries), Vocabulary{.symbols = {" ", "a", "b"}});
      return trained(
          model, 8,
          [](int) {
            return torch::randint(3, {2, 20});
          },
          record);
    };
    const Trained recorded = numbers(true);
    EXPECT_THAT(recorded.values, testing::Pointwise(testing::DoubleNear(1e-5), numbers(false).values));
    EXPECT_EQ(recorded.recordings, 1);
    EXPECT_THAT(recorded.rooms, testing::Each(boundaries == BoundaryOptions::Type::kFixed ? 10 : 63));
  }
}

TEST(CapturedSteps, RoomForGroupsShrinksWhenTwoTilesAreLeftOver) {
  HourglassOptions options = tiny_hourglass(BoundaryOptions::Type::kWhitespace);
  const auto model = make_model(options, Vocabulary{.symbols = {" ", "a"}});
  const auto room = [&](LanguageModel& of, std::int64_t groups) {
    torch::Tensor tokens = torch::ones({2, 300}, torch::kLong);
    tokens[1].narrow(0, 0, groups).fill_(0);
    return recordable_input(of, {.tokens = tokens}).room;
  };
  EXPECT_EQ(room(*model, 0), 63);
  EXPECT_EQ(room(*model, 64), 127);
  EXPECT_EQ(room(*model, 250), 255);
  EXPECT_EQ(room(*model, 150), 255);
  const auto resumed = make_model(options, Vocabulary{.symbols = {" ", "a"}});
  capability<Capturable>(*resumed)->set_held_sizes(capability<Capturable>(*model)->held_sizes());
  EXPECT_EQ(room(*resumed, 150), 255) << "as before the stop";
  EXPECT_EQ(room(*model, 127), 127);
  options.boundaries.type = BoundaryOptions::Type::kGumbel;
  EXPECT_EQ(room(*make_model(options, Vocabulary{.symbols = {" ", "a"}}), 9), 0) << "it is not known before the step";
}

// A recording reads the table of sinusoids, which a longer text, such as an evaluation's, replaces.
TEST(CapturedSteps, AnHourglassThatHasReadALongerTextIsRecordedAgain) {
  HourglassOptions options{.width = 8, .heads = 2, .feed_forward = 8, .layers = {1}};
  options.boundaries.type = BoundaryOptions::Type::kNone;
  const std::shared_ptr<LanguageModel> model = make_model(options, 5);
  const auto after = [&](std::int64_t length) {
    model->forward(torch::zeros({1, length}, torch::kLong), {});
    return graph_signature_of(*model).value();
  };
  const std::string trained = after(16);
  EXPECT_EQ(after(16), trained);
  EXPECT_NE(after(40), trained);
  EXPECT_EQ(after(16), after(40));
}

// All symbols that the recorder needs are in libtorch_cuda and its libraries. Only running it needs a GPU.
TEST(CudaRecorder, OpensIfLibtorchCudaIsInstalled) {
  Dl_info info{};
  ASSERT_NE(::dladdr(reinterpret_cast<const void*>(&at::globalContext), &info), 0);
  const fs::path torch_cuda = fs::path(info.dli_fname).parent_path() / "libtorch_cuda.so";
  // The wheel always has libtorch_cuda.so; only the CUDA set has the libraries that it needs.
  const fs::path cublas = torch_cuda.parent_path() / "../../nvidia/cu13/lib/libcublas.so.13";
  if (!fs::exists(cublas)) GTEST_SKIP() << needs::kCuda;
  ASSERT_NE(::dlopen(torch_cuda.c_str(), RTLD_NOW | RTLD_GLOBAL), nullptr) << ::dlerror();
  const fs::path own = fs::path(XLM_LIBRARIES) / "libxlm_cuda.so";
  void* const library = ::dlopen(own.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << ::dlerror();
  EXPECT_NE(::dlsym(library, "xlm_make_recorder"), nullptr);
  EXPECT_NE(::dlsym(library, "xlm_describe_device"), nullptr);
  EXPECT_NE(::dlsym(library, "xlm_join_by_nccl"), nullptr);
}

}  // namespace
}  // namespace xlm
