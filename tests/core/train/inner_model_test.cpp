// A model that another has inside: trained before, taken in, and saved with the other as it was.
#include "core/train/inner_model.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "core/api/byte_patches_options.h"
#include "core/api/transformer_options.h"
#include "core/runtime/safetensors.h"
#include "tests/core/train/training.h"

namespace xlm {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;

TEST_F(TrainerTest, TheSmallModelOfEntropiesIsTakenInAndStaysAsItIs) {
  TrainJob before = job("small");
  TransformerOptions small{.width = 8, .layers = 1, .positions = 16};
  small.block = {.head_width = 4, .windows = {6}};
  before.options.model = small;
  before.model_yaml = "model: {type: transformer, width: 8, layers: 1, positions: 16, head_width: 4, windows: [6]}\n";
  before.options.train.steps = 6;
  before.options.eval.context = before.options.eval.stride = 16;
  RecordingSink of_small;
  ASSERT_EQ(train(before, of_small), TrainOutcome::kDone);

  TrainJob patches = job("patches");
  patches.options.model = BytePatchesOptions{.width = 16,
                                             .layers = 1,
                                             .local_width = 8,
                                             .local_layers = 2,
                                             .local_window = 6,
                                             .positions = 16,
                                             .places = 16,
                                             .boundaries = {.type = PatchBoundaryOptions::Type::kEntropy,
                                                            .factor = 4,
                                                            .model = (before.folder / "model").string(),
                                                            .width = 8,
                                                            .layers = 1},
                                             .block = {.head_width = 4}};
  patches.options.optimizer = {.type = OptimizerOptions::Type::kAdamW, .lr = 0.1, .weight_decay = 0.5};
  patches.options.train.steps = 6;
  patches.options.eval.context = patches.options.eval.stride = 16;
  RecordingSink sink;
  ASSERT_EQ(train(patches, sink), TrainOutcome::kDone);
  EXPECT_THAT(sink.messages, Contains(HasSubstr("bytes each on validation")));

  std::size_t taken = 0;
  const TensorFile own = read_safetensors(patches.folder / "model/model.safetensors");
  for (const auto& [name, weight] : read_safetensors(before.folder / "model/model.safetensors").tensors) {
    for (const auto& [own_name, own_weight] : own.tensors) {
      if (own_name != "model.boundaries.model." + name) continue;
      EXPECT_TRUE(torch::equal(own_weight, weight)) << name;
      ++taken;
    }
  }
  EXPECT_EQ(taken, make_model(small, 5)->weights().size());

  TrainJob parts = job("parts");
  parts.options = patches.options;
  RecordingSink stopped;
  stopped.stop_after = 3;
  ASSERT_EQ(train(parts, stopped), TrainOutcome::kStopped);
  const fs::path moved = folder_.path() / "moved";
  fs::rename(before.folder, moved);
  RecordingSink resumed;
  ASSERT_EQ(train(parts, resumed), TrainOutcome::kDone) << "without the small model's folder";
  EXPECT_THAT(resumed.messages, Contains(HasSubstr("resuming from step 3")));
  EXPECT_THAT(resumed.messages, Each(Not(HasSubstr("bytes each on validation"))));
  expect_same_model(patches, parts);
  fs::rename(moved, before.folder);

  write_file(before.folder / "model/config.yaml",
             "model: {type: transformer, width: 8, layers: 1, positions: 16, head_width: 4, windows: [5]}\n");
  TrainJob of_other_windows = job("other-windows");
  of_other_windows.options = patches.options;
  EXPECT_THAT([&] { train(of_other_windows, sink); },
              ThrowsMessage<DataError>(HasSubstr("model.windows is 5, and must be 6")));

  write_file(folder_.path() / "other.txt", std::string(4000, 'a') + std::string(4000, 'b'));
  prepare(check_request({.dataset = "text", .from = {folder_.path() / "other.txt"}, .out = folder_.path() / "other"}),
          {});
  TrainJob another = job("other-symbols");
  another.options = patches.options;
  another.options.data.path = folder_.path() / "other";
  EXPECT_THAT([&] { train(another, sink); }, ThrowsMessage<DataError>(HasSubstr("has other symbols")));
}

TEST(InnerModel, IsNeededIfTheOptionsNameOne) {
  BytePatchesOptions options = BytePatchesOptions::smallest().front();
  EXPECT_FALSE(needs_inner_model(*make_model(options, 5)));
  options.boundaries.type = PatchBoundaryOptions::Type::kEntropy;
  EXPECT_FALSE(needs_inner_model(*make_model(options, 5))) << "of sizes alone";
  options.boundaries.model = "runs/small/model";
  EXPECT_TRUE(needs_inner_model(*make_model(options, 5)));
  EXPECT_FALSE(needs_inner_model(*make_model(TransformerOptions::smallest().front(), 5)));
}

}  // namespace
}  // namespace xlm
