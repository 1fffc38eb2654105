// The groups that a model pools a text into: boundaries drawn window by window are those that the model pools by.
#include "core/eval/segment.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"
#include "core/api/adaptive_span_options.h"
#include "core/api/byte_patches_options.h"
#include "core/api/hourglass_options.h"

namespace xlm {
namespace {

constexpr std::int64_t kIds = 100;

std::shared_ptr<LanguageModel> hourglass_with(BoundaryOptions boundaries) {
  torch::manual_seed(3);
  const Vocabulary vocabulary{.unit = Vocabulary::Unit::kCharacter, .symbols = {" ", "a", "b", "c", "d"}};
  const bool none = boundaries.type == BoundaryOptions::Type::kNone;
  return make_model(HourglassOptions{.width = 16,
                                     .heads = 2,
                                     .feed_forward = 24,
                                     .layers = none ? std::vector<std::int64_t>{2} : std::vector<std::int64_t>{1, 1, 1},
                                     .boundaries = std::move(boundaries)},
                    vocabulary);
}

std::vector<std::int64_t> some_ids() {
  std::vector<std::int64_t> ids;
  for (std::int64_t i = 0; i < kIds; ++i) ids.push_back(i * i * 7 % 11 % 5);
  return ids;
}

std::vector<bool> drawn(LanguageModel& model, std::int64_t context, std::int64_t stride) {
  return draw_boundaries(model, some_ids(), {.context = context, .stride = stride});
}

TEST(DrawBoundaries, SpacesAndFixedGroupsHaveTheirPlacesInTheWholeText) {
  const std::vector<std::int64_t> ids = some_ids();
  const auto spaces = drawn(*hourglass_with({.type = BoundaryOptions::Type::kWhitespace}), 24, 7);
  const auto fixed = drawn(*hourglass_with({.type = BoundaryOptions::Type::kFixed, .factor = 3}), 24, 7);
  ASSERT_EQ(spaces.size(), ids.size());
  ASSERT_EQ(fixed.size(), ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    EXPECT_EQ(spaces[i], ids[i] == 0) << i;
    EXPECT_EQ(fixed[i], i % 3 == 0) << i;
  }
}

TEST(DrawBoundaries, PredictedOnesAreThoseOfTheModel) {
  const auto model = hourglass_with({.type = BoundaryOptions::Type::kEntropy});
  for (const auto& [name, weight] : model->weights()) {  // freshly drawn weights are too small to predict any
    const torch::NoGradGuard no_grad;
    if (weight.dim() > 1) weight.mul_(20);
  }
  const std::vector<bool> flags = drawn(*model, kIds, kIds);
  const auto count = std::count(flags.begin(), flags.end(), true);
  ASSERT_GT(count, 0);
  ASSERT_LT(count, kIds);
  model->reset_statistics();
  const torch::NoGradGuard no_grad;
  model->forward(torch::tensor(some_ids()).unsqueeze(0), {});
  EXPECT_DOUBLE_EQ(model->statistics().at("shortening_factor"), static_cast<double>(kIds) / static_cast<double>(count));
}

/// A model that is fed behind a beginning gets one: in " b b  bc b " no patch begins at the first space. Windows of six
/// tokens have five of the text.
TEST(DrawBoundaries, OfPatchesStandBehindABeginning) {
  using Type = PatchBoundaryOptions::Type;
  const Vocabulary vocabulary{.unit = Vocabulary::Unit::kByte, .symbols = {" ", "b", "c"}};
  const std::vector<std::int64_t> text{0, 1, 0, 1, 0, 0, 1, 2, 0, 1, 0};
  const auto drawn_by = [&](Type type, std::int64_t stride) {
    BytePatchesOptions options = BytePatchesOptions::smallest().front();
    options.positions = 6;
    options.boundaries.type = type;
    const auto flags = draw_boundaries(*make_model(options, vocabulary), text, {.context = 6, .stride = stride});
    std::string result;
    for (const bool flag : flags) result.push_back(flag ? '^' : '-');
    return result;
  };
  for (const std::int64_t stride : {1, 2, 6}) {
    EXPECT_EQ(drawn_by(Type::kSpacelike, stride), "--^-^---^-^") << stride;
    EXPECT_EQ(drawn_by(Type::kWhitespace, stride), "^-^-^^--^-^") << stride;
    EXPECT_EQ(drawn_by(Type::kFixed, stride), "--^--^--^--") << stride;
  }
}

TEST(DrawBoundaries, AModelWithoutGroupsIsRefused) {
  EXPECT_THROW(drawn(*hourglass_with({.type = BoundaryOptions::Type::kNone}), 24, 7), UsageError);
  EXPECT_THROW(drawn(*make_model(ModelOptions(AdaptiveSpanOptions{}), 5), 24, 7), UsageError);
}

}  // namespace
}  // namespace xlm
