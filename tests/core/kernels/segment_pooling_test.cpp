// Pooling and up-sampling against their definition, one token at a time.
#include <gtest/gtest.h>

#include "core/kernels/segment_pooling.h"

namespace xlm {
namespace {

struct Rows {
  std::string name;
  std::vector<std::vector<int>> flags;
};

torch::Tensor flags_of(const Rows& rows) {
  std::vector<torch::Tensor> tensors;
  for (const std::vector<int>& row : rows.flags) tensors.push_back(torch::tensor(row, torch::kInt).to(torch::kBool));
  return torch::stack(tensors);
}

std::int64_t most_groups(const torch::Tensor& flags) {
  return flags.to(torch::kLong).sum(1).max().item<std::int64_t>();
}

/// Vectors of the closed groups, token by token: the mean, or the last.
torch::Tensor pooled_by_loop(const torch::Tensor& hidden, const torch::Tensor& flags, bool mean) {
  std::vector<torch::Tensor> rows;
  for (std::int64_t b = 0; b < hidden.size(0); ++b) {
    std::vector<torch::Tensor> groups;
    torch::Tensor sum = torch::zeros({hidden.size(2)}, hidden.options());
    std::int64_t size = 0;
    for (std::int64_t t = 0; t < hidden.size(1); ++t) {
      sum = sum + hidden[b][t];
      ++size;
      if (!flags[b][t].item<bool>()) continue;
      groups.push_back(mean ? sum / static_cast<double>(size) : hidden[b][t]);
      sum = torch::zeros({hidden.size(2)}, hidden.options());
      size = 0;
    }
    while (static_cast<std::int64_t>(groups.size()) < most_groups(flags)) {
      groups.push_back(torch::zeros({hidden.size(2)}, hidden.options()));
    }
    rows.push_back(groups.empty() ? torch::zeros({0, hidden.size(2)}, hidden.options()) : torch::stack(groups));
  }
  return torch::stack(rows);
}

torch::Tensor spread_by_loop(const torch::Tensor& pooled, const torch::Tensor& flags) {
  std::vector<torch::Tensor> rows;
  for (std::int64_t b = 0; b < flags.size(0); ++b) {
    std::int64_t closed = 0;
    for (std::int64_t t = 0; t < flags.size(1); ++t) {
      if (flags[b][t].item<bool>()) ++closed;
      rows.push_back(pooled[b][closed]);
    }
  }
  return torch::stack(rows).view({flags.size(0), flags.size(1), pooled.size(2)});
}

/// The published soft pooling: weights 1 − (s − c_t) at s = c_t, c_t = the boundaries before t, over their sum; the
/// gradient to the boundaries flows through c_t.
torch::Tensor soft_means(const torch::Tensor& hidden, const torch::Tensor& boundaries) {
  const std::int64_t count = most_groups(boundaries > 0.5);
  const torch::Tensor before = boundaries.cumsum(1) - boundaries;                            // [B, T]
  const torch::Tensor away = torch::arange(count, hidden.options()) - before.unsqueeze(-1);  // [B, T, G]
  const torch::Tensor total = boundaries.detach().sum(1, true).unsqueeze(-1);                // [B, 1, 1]
  const torch::Tensor open = before.detach().unsqueeze(-1) >= total;
  torch::Tensor weights = torch::where(away.detach() == 0, 1 - away, torch::zeros_like(away));
  weights = weights.masked_fill(open, 0);
  weights = weights / (weights.sum(1, true) + 1e-300);
  return torch::einsum("btg,btd->bgd", {weights, hidden});
}

class SegmentPooling : public testing::TestWithParam<Rows> {
 protected:
  void SetUp() override {
    torch::manual_seed(2);
    flags_ = flags_of(GetParam());
    hidden_ = torch::randn({flags_.size(0), flags_.size(1), 5}, torch::kDouble);
    groups_ = find_groups(flags_);
  }

  /// Value and gradient of two functions of one tensor.
  template <class A, class B>
  static void expect_same(const torch::Tensor& input, A&& actual, B&& expected) {
    const torch::Tensor first = input.clone().set_requires_grad(true);
    const torch::Tensor second = input.clone().set_requires_grad(true);
    const torch::Tensor a = actual(first);
    const torch::Tensor b = expected(second);
    ASSERT_EQ(a.sizes(), b.sizes());
    if (a.numel() == 0) return;
    EXPECT_LT((a - b).abs().max().template item<double>(), 1e-13);
    const torch::Tensor upstream = torch::randn(a.sizes(), torch::kDouble);
    (a * upstream).sum().backward();
    (b * upstream).sum().backward();
    EXPECT_LT((first.grad() - second.grad()).abs().max().template item<double>(), 1e-13);
  }

  torch::Tensor flags_, hidden_;
  Groups groups_;
};

TEST_P(SegmentPooling, MeansEqualTheLoopInValueAndGradient) {
  const torch::Tensor boundaries = flags_.to(torch::kDouble);
  expect_same(
      hidden_, [&](const torch::Tensor& h) { return group_means(h, boundaries, groups_); },
      [&](const torch::Tensor& h) { return pooled_by_loop(h, flags_, true); });
}

TEST_P(SegmentPooling, LastsEqualTheLoopInValueAndGradient) {
  expect_same(
      hidden_, [&](const torch::Tensor& h) { return group_lasts(h, groups_); },
      [&](const torch::Tensor& h) { return pooled_by_loop(h, flags_, false); });
}

TEST_P(SegmentPooling, SpreadingEqualsTheLoopInValueAndGradient) {
  const torch::Tensor pooled = torch::randn({flags_.size(0), groups_.count + 1, 5}, torch::kDouble);
  expect_same(
      pooled, [&](const torch::Tensor& x) { return spread_groups(x, groups_); },
      [&](const torch::Tensor& x) { return spread_by_loop(x, flags_); });
}

TEST_P(SegmentPooling, BoundariesHaveTheGradientOfTheSoftPooling) {
  expect_same(
      flags_.to(torch::kDouble), [&](const torch::Tensor& b) { return group_means(hidden_, b, groups_); },
      [&](const torch::Tensor& b) { return soft_means(hidden_, b); });
}

/// Rows 2, none, 0 of three: row 1 goes nowhere, and its gradient is 0.
TEST(MoveRows, TakesRowsAndHandsTheirGradientsBack) {
  for (const auto type : {torch::kFloat, torch::kDouble}) {
    const torch::Tensor x = torch::arange(6, type).view({1, 3, 2}).set_requires_grad(true);
    const torch::Tensor ids = torch::tensor({{2, 3, 0}}, torch::kLong);
    const torch::Tensor from = torch::tensor({{2, 3, 0}}, torch::kLong);
    const torch::Tensor moved = move_rows(x, ids, from);
    EXPECT_TRUE(torch::equal(moved, torch::tensor({{{4, 5}, {0, 0}, {0, 1}}}, type)));
    (moved * torch::tensor({{{10, 20}, {30, 40}, {50, 60}}}, type)).sum().backward();
    EXPECT_TRUE(torch::equal(x.grad(), torch::tensor({{{50, 60}, {0, 0}, {10, 20}}}, type)));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Flags, SegmentPooling,
    testing::Values(Rows{"one_group", {{0, 0, 1, 0}}},  //
                    Rows{"none", {{0, 0, 0}, {0, 0, 0}}}, Rows{"every_token", {{1, 1, 1, 1}}}, Rows{"one_token", {{1}}},
                    Rows{"rows_of_different_counts",
                         {{0, 1, 0, 1, 1, 0, 0}, {0, 0, 0, 0, 0, 0, 0}, {1, 0, 0, 0, 0, 0, 1}, {1, 1, 1, 1, 1, 1, 1}}}),
    [](const auto& instance) { return instance.param.name; });

TEST(SumsOfLater, AreTheSameByAProduct) {
  const torch::Tensor x = torch::tensor({{1.0, 2.0, 3.0}, {-1.0, 0.5, 4.0}}, torch::kDouble);
  const torch::Tensor expected = torch::tensor({{5.0, 3.0, 0.0}, {4.5, 4.0, 0.0}}, torch::kDouble);
  EXPECT_TRUE(sums_of_later(x, false).equal(expected));
  EXPECT_TRUE(sums_of_later(x, true).equal(expected));
}

TEST(FindGroups, NamesGroupsEndsAndSizes) {
  const Groups groups = find_groups(torch::tensor({{0, 1, 0, 0, 1, 0}, {0, 0, 0, 1, 0, 0}}).to(torch::kBool));
  EXPECT_EQ(groups.count, 2);
  EXPECT_TRUE(torch::equal(groups.group, torch::tensor({{0, 0, 1, 1, 1, 2}, {0, 0, 0, 0, 2, 2}}, torch::kLong)));
  EXPECT_TRUE(torch::equal(groups.closed, torch::tensor({{0, 1, 1, 1, 2, 2}, {0, 0, 0, 1, 1, 1}}, torch::kLong)));
  EXPECT_TRUE(torch::equal(groups.ends, torch::tensor({{1, 4}, {3, 6}}, torch::kLong)));
  EXPECT_TRUE(torch::equal(groups.sizes, torch::tensor({{2, 3}, {4, 1}}, torch::kLong)));
}

/// Room for more groups than there are changes nothing but the number of rows, which are 0 and get no gradient.
TEST(Groups, WithMoreRoomPoolAndSpreadTheSame) {
  torch::manual_seed(9);
  const torch::Tensor boundaries = torch::rand({3, 40}) < 0.3;
  const torch::Tensor hidden = torch::randn({3, 40, 4}, torch::kDouble).set_requires_grad(true);
  const torch::Tensor first = torch::randn({3, 1, 4}, torch::kDouble);
  const auto results = [&](std::int64_t room) {
    const Groups groups = find_groups(boundaries, room);
    const torch::Tensor means = group_means(hidden, boundaries.to(torch::kDouble), groups);
    const torch::Tensor lasts = group_lasts(hidden, groups);
    const torch::Tensor spread = spread_groups(torch::cat({first, means.square()}, 1), groups);
    const torch::Tensor gradient = torch::autograd::grad({spread.sum() + lasts.square().sum()}, {hidden})[0];
    return std::vector<torch::Tensor>{spread, gradient, means, lasts};
  };
  const std::vector<torch::Tensor> tight = results(0);
  const std::int64_t count = tight[2].size(1);
  const std::vector<torch::Tensor> roomy = results(64);
  ASSERT_EQ(roomy[2].size(1), 64);
  for (std::size_t i : {0, 1}) EXPECT_TRUE(roomy[i].equal(tight[i])) << i;
  for (std::size_t i : {2, 3}) {
    EXPECT_TRUE(roomy[i].narrow(1, 0, count).equal(tight[i])) << i;
    EXPECT_EQ(roomy[i].slice(1, count).abs().sum().item<double>(), 0) << i;
  }
}

}  // namespace
}  // namespace xlm
