// The first tensor of a step that is not finite is named.
#include "core/train/first_non_finite.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/kernels/linear.h"
#include "core/models/model_folder.h"
#include "tests/core/train/training.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Two layers, relu between them, and the sum of squares as the loss.
class TwoLayers {
 public:
  TwoLayers() : watch_(weights_) {}

  /// A step with `input` [rows, 4].
  std::optional<std::string> step(const torch::Tensor& input) {
    watch_.begin_step();
    {
      const ObservedProducts observed(&watch_);
      const torch::Tensor hidden = torch::relu(linear_layer(input, weight(0)));
      const torch::Tensor loss = linear_layer(hidden, weight(1)).square().sum();
      watch_.loss(loss);
      loss.backward();
    }
    watch_.end_step();
    return watch_.found();
  }
  torch::Tensor& weight(std::size_t index) { return weights_[index].second; }

 private:
  NamedTensors weights_{{"layers.0.weight", torch::full({3, 4}, 0.5F).set_requires_grad(true)},
                        {"layers.1.weight", torch::full({2, 3}, 0.5F).set_requires_grad(true)}};
  FirstNonFinite watch_;
};

TEST(FirstNonFinite, AFiniteStepHasNone) {
  TwoLayers model;
  EXPECT_FALSE(model.step(torch::ones({5, 4})).has_value());
}

TEST(FirstNonFinite, AWeightIsNamedBeforeWhatItSpoils) {
  TwoLayers model;
  {
    const torch::NoGradGuard no_grad;
    model.weight(1)[1][2] = kInfinity;
  }
  EXPECT_EQ(model.step(torch::ones({5, 4})), "the weight layers.1.weight, before the step: 1 of 6 numbers");
}

TEST(FirstNonFinite, AnActivationIsNamedWithItsRow) {
  TwoLayers model;
  torch::Tensor input = torch::ones({5, 4});
  input[3][1] = kInfinity;
  EXPECT_EQ(model.step(input), "the activation that layers.0.weight reads: 1 of 20 numbers, the first in row 4 of 5");
  input[3][1] = 1e38F;
  {
    const torch::NoGradGuard no_grad;
    model.weight(0).fill_(100);
  }
  EXPECT_EQ(model.step(input), "the activation that layers.0.weight makes: 3 of 15 numbers, the first in row 4 of 5");
}

TEST(FirstNonFinite, AWeightMadeOfAParameterHasItsName) {
  const torch::Tensor weight = torch::full({3, 4}, 0.5F).set_requires_grad(true);
  FirstNonFinite watch({{"layers.0.weight", weight}});
  watch.begin_step();
  {
    const ObservedProducts observed(&watch);
    linear_layer(torch::full({5, 4}, kInfinity), weight.flip(1), {}, weight);
  }
  EXPECT_THAT(watch.found(), Optional(HasSubstr("the activation that layers.0.weight reads")));
}

TEST(FirstNonFinite, ALossOfFiniteActivationsIsNamed) {
  TwoLayers model;
  torch::Tensor input = torch::ones({5, 4});
  input[3][1] = 1e25F;  // its square is beyond floats
  EXPECT_EQ(model.step(input), "the loss, though layers.1.weight reads finite numbers: 1 of 1 numbers");
}

TEST(FirstNonFinite, AGradientIsNamedIfTheForwardPassIsFinite) {
  NamedTensors weights{{"layers.0.weight", torch::zeros({3, 4}).set_requires_grad(true)}};
  FirstNonFinite watch(weights);
  watch.begin_step();
  {
    const ObservedProducts observed(&watch);
    const torch::Tensor loss = linear_layer(torch::ones({5, 4}), weights[0].second).sqrt().sum();  // √ is steep at 0
    watch.loss(loss);
    loss.backward();
  }
  EXPECT_EQ(watch.found(),
            "the gradient of the activation that layers.0.weight makes: 15 of 15 numbers, the first in row 1 of 5");
}

TEST(FirstNonFinite, AWeightThatItsUpdateSpoilsIsNamed) {
  NamedTensors weights{{"layers.0.weight", torch::zeros({3, 4}).set_requires_grad(true)}};
  FirstNonFinite watch(weights);
  watch.begin_step();
  {
    const torch::NoGradGuard no_grad;
    weights[0].second.fill_(kInfinity);
  }
  watch.end_step();
  EXPECT_EQ(watch.found(), "the weight layers.0.weight, after its update: 12 of 12 numbers");
}

/// A model folder whose second layer has a planted number.
class PlantedTest : public TrainerTest {
 protected:
  TrainJob planted(const std::string& weight, float number) {
    const TrainJob made = job("made");
    RecordingSink sink;
    EXPECT_EQ(train(made, sink), TrainOutcome::kDone);
    const fs::path file = made.folder / "model/model.safetensors";
    TensorFile tensors = read_safetensors(file);
    for (auto& [name, tensor] : tensors.tensors) {
      if (name == weight) tensor.flatten()[5] = number;
    }
    write_safetensors(file, tensors.tensors, tensors.metadata);
    TrainJob spoilt = job("spoilt");
    spoilt.options.init_from = (made.folder / "model").string();
    spoilt.options.train.debug = true;
    return spoilt;
  }
};

TEST_F(PlantedTest, DivergenceNamesTheLayerWhoseProductsAreTooLargeTheStepAndTheBatch) {
  const TrainJob spoilt = planted("layers.1.ff.fc1.weight", 3e38F);
  RecordingSink sink;
  EXPECT_THAT([&] { train(spoilt, sink); },
              ThrowsMessage<DivergedError>(AllOf(HasSubstr("step 1 diverged"),
                                                 HasSubstr("the activation that layers.1.ff.fc1.weight makes: "),
                                                 HasSubstr("of 4"), HasSubstr("its batch is at {"))));
}

TEST_F(TrainerTest, LookingChangesNoBit) {
  const TrainJob plain = job("plain");
  TrainJob watched = job("watched");
  watched.options.train.debug = true;
  RecordingSink sink;
  ASSERT_EQ(train(plain, sink), TrainOutcome::kDone);
  ASSERT_EQ(train(watched, sink), TrainOutcome::kDone);
  expect_same_model(plain, watched);
}

TEST_F(TrainerTest, AnUpdateThatSpoilsAWeightIsNamedAtItsStep) {
  TrainJob diverging = job("diverging");
  diverging.options.optimizer.lr = 1e39;  // beyond floats
  diverging.options.optimizer.warmup_steps = 0;
  diverging.options.optimizer.clip_step = 0;
  diverging.options.train.debug = true;
  RecordingSink sink;
  EXPECT_THAT([&] { train(diverging, sink); },
              ThrowsMessage<DivergedError>(
                  AllOf(HasSubstr("step 1 diverged"), HasSubstr("the weight in_emb.weight, after its update: "))));
}

}  // namespace
}  // namespace xlm
