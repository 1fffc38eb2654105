// Memories that expire, against loops by hand.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "core/nn/expire_span.h"

namespace xlm {
namespace {

/// Spans from −R, which no query sees, to somewhat more than the band.
BandedAttentionInput memory_input(std::int64_t queries, std::int64_t band) {
  return {.query = torch::randn({2, 3, queries, 4}, torch::kDouble),
          .key = torch::randn({2, 3, band + queries, 4}, torch::kDouble),
          .value = torch::randn({2, 3, band + queries, 4}, torch::kDouble),
          .position = torch::randn({4, band}, torch::kDouble),
          .span = {},
          .ramp = 3};
}

torch::Tensor memory_spans_of(std::int64_t queries, std::int64_t band) {
  return torch::rand({2, band + queries}, torch::kDouble) * static_cast<double>(band + 4) - 3;
}

/// clamp((e − x) / R + 1, 0, 1).
double factor_by_hand(double span, double age, double ramp) {
  return std::min(std::max((span - age) / ramp + 1, 0.0), 1.0);
}

TEST(ExpireMask, FallsFromTheSpanOnOverTheRamp) {
  // One query behind four memories, of the ages 4 to 1.
  const torch::Tensor spans = torch::tensor({{4.0, 1.0, 0.5, -2.0, 9.0}}, torch::kDouble);
  const torch::Tensor mask = expire_mask(spans, 4, 2);
  ASSERT_EQ(mask.sizes(), (torch::IntArrayRef{1, 1, 1, 4}));
  const torch::Tensor expected = torch::tensor({1.0, 0.0, 0.25, 0.0}, torch::kDouble);
  EXPECT_TRUE(torch::equal(mask.flatten(), expected)) << mask;
}

TEST(ExpireMask, FollowsTheMemoryAndNotTheColumn) {
  const torch::Tensor spans = memory_spans_of(5, 6);
  const torch::Tensor mask = expire_mask(spans, 6, 3);
  ASSERT_EQ(mask.sizes(), (torch::IntArrayRef{2, 1, 5, 6}));
  for (std::int64_t row = 0; row < 2; ++row) {
    for (std::int64_t query = 0; query < 5; ++query) {
      for (std::int64_t column = 0; column < 6; ++column) {
        const double expected =
            factor_by_hand(spans[row][query + column].item<double>(), static_cast<double>(6 - column), 3);
        EXPECT_NEAR(mask[row][0][query][column].item<double>(), expected, 1e-15) << query << " " << column;
      }
    }
  }
}

TEST(CountKept, ReachesBackToTheOldestMemoryThatLives) {
  EXPECT_EQ(count_kept(torch::zeros({2, 0}, torch::kDouble), 4), 0);
  // Ages 5 to 1: a memory lives while its age is below e + R.
  EXPECT_EQ(count_kept(torch::tensor({{0.0, 0.0, 0.0, 0.0, 0.0}}, torch::kDouble), 4), 3);
  EXPECT_EQ(count_kept(torch::tensor({{0.0, 0.5, 0.0, 0.0, 0.0}}, torch::kDouble), 4), 4);
  EXPECT_EQ(count_kept(torch::tensor({{0.0, 0.0, 0.0, 0.0, 0.0}, {2.0, -4.0, -4.0, -4.0, -4.0}}, torch::kDouble), 4),
            5);
  EXPECT_EQ(count_kept(torch::full({1, 5}, -4.0, torch::kDouble), 4), 0);
}

TEST(ExpiringAttention, EqualsALoopOverQueriesAndMemories) {
  torch::manual_seed(3);
  constexpr std::int64_t kQueries = 5;
  constexpr std::int64_t kBand = 6;
  const BandedAttentionInput in = memory_input(kQueries, kBand);
  const torch::Tensor spans = memory_spans_of(kQueries, kBand);
  const torch::Tensor out = expiring_attention(in, spans);
  for (std::int64_t row = 0; row < 2; ++row) {
    for (std::int64_t head = 0; head < 3; ++head) {
      for (std::int64_t query = 0; query < kQueries; ++query) {
        torch::Tensor sum = torch::zeros({4}, torch::kDouble);
        double total = 0;
        for (std::int64_t column = 0; column < kBand; ++column) {
          const std::int64_t memory = query + column;
          const torch::Tensor key = in.key[row][head][memory] + in.position.select(1, column);
          const double score = in.query[row][head][query].dot(key).item<double>() / 2;  // √d = 2
          const double weight = std::exp(score) * factor_by_hand(spans[row][memory].item<double>(),
                                                                 static_cast<double>(kBand - column), in.ramp);
          sum += weight * in.value[row][head][memory];
          total += weight;
        }
        if (total > 0) sum /= total;
        EXPECT_LT((out[row][head][query] - sum).abs().max().item<double>(), 1e-12)
            << row << " " << head << " " << query;
      }
    }
  }
}

/// The gradient of the spans is that of differences in value.
TEST(ExpiringAttention, HandsTheGradientToTheSpansOfTheRamp) {
  torch::manual_seed(4);
  const BandedAttentionInput in = memory_input(5, 6);
  torch::Tensor spans = memory_spans_of(5, 6);
  spans.set_requires_grad(true);
  const torch::Tensor upstream = torch::randn({2, 3, 5, 4}, torch::kDouble);
  (expiring_attention(in, spans) * upstream).sum().backward();
  EXPECT_GT(spans.grad().abs().max().item<double>(), 1e-3);
  const torch::NoGradGuard no_grad;
  for (std::int64_t row = 0; row < 2; ++row) {
    for (std::int64_t memory = 0; memory < 11; ++memory) {
      const auto loss_at = [&](double step) {
        torch::Tensor moved = spans.detach().clone();
        moved[row][memory].add_(step);
        return (expiring_attention(in, moved) * upstream).sum().item<double>();
      };
      EXPECT_NEAR(spans.grad()[row][memory].item<double>(), (loss_at(1e-6) - loss_at(-1e-6)) / 2e-6, 1e-6) << memory;
    }
  }
}

TEST(ExpiringAttention, DropsTheSameMemoriesWhateverTheLengthOfTheBand) {
  BandedAttentionInput in = memory_input(5, 6);
  in.dropout = 0.5;
  in.seed = 3;
  const torch::Tensor spans = memory_spans_of(5, 6).clamp_max(3);  // none is seen behind the shorter band
  BandedAttentionInput wider = in;                                 // by two memories that do not exist
  wider.key = torch::constant_pad_nd(in.key, {0, 0, 2, 0});
  wider.value = torch::constant_pad_nd(in.value, {0, 0, 2, 0});
  wider.position = torch::constant_pad_nd(in.position, {2, 0});
  const torch::Tensor out = expiring_attention(in, spans);
  EXPECT_TRUE(torch::allclose(expiring_attention(wider, torch::constant_pad_nd(spans, {2, 0}, -3)), out, 1e-12, 1e-12));
  in.dropout = 0;
  EXPECT_FALSE(torch::allclose(expiring_attention(in, spans), out, 1e-3, 1e-3)) << "it drops something";
}

TEST(ExpiringAttention, OfAQueryWithoutMemoriesIsZeroAndSoIsItsGradient) {
  for (const auto type : {torch::kFloat, torch::kDouble}) {
    BandedAttentionInput in = memory_input(3, 4);
    for (torch::Tensor* part : {&in.query, &in.key, &in.value, &in.position}) {
      *part = part->to(type).set_requires_grad(true);
    }
    const torch::Tensor spans = torch::full({2, 7}, -3.0, torch::TensorOptions(type)).set_requires_grad(true);
    const torch::Tensor out = expiring_attention(in, spans);
    EXPECT_EQ(out.abs().max().item<double>(), 0);
    out.sum().backward();
    for (const torch::Tensor& part : {in.query, in.key, in.value, in.position, spans}) {
      EXPECT_EQ(part.grad().abs().max().item<double>(), 0);
    }
  }
}

TEST(LiveMemories, AreTheBlockAndWhatLivesInTheCache) {
  torch::manual_seed(5);
  const torch::Tensor cache = torch::randn({2, 6, 4}, torch::kDouble);
  const torch::Tensor block = torch::randn({2, 3, 4}, torch::kDouble);
  ExpireSpan span{.weight = torch::zeros({1, 4}, torch::kDouble),
                  .bias = torch::full({1}, -50.0, torch::kDouble),  // e is 0
                  .limit = 8,
                  .ramp = 3};
  LiveMemories memories = live_memories(cache, block, span);
  const torch::Tensor all = torch::cat({cache, block}, 1);
  EXPECT_EQ(memories.own.sizes(), (torch::IntArrayRef{2, 3}));
  EXPECT_TRUE(torch::equal(memories.state, all.narrow(1, 1, 8)));
  // The first query sees two, the last one four positions before it: two places in front are empty.
  ASSERT_EQ(memories.seen.sizes(), (torch::IntArrayRef{2, 7, 4}));
  EXPECT_EQ(memories.seen.narrow(1, 0, 2).abs().max().item<double>(), 0);
  EXPECT_TRUE(torch::equal(memories.seen.narrow(1, 2, 5), all.narrow(1, 4, 5)));
  EXPECT_TRUE(torch::equal(memories.spans.narrow(1, 0, 2), torch::full({2, 2}, -3.0, torch::kDouble)));
  // All live, and the limit cuts off the oldest of the later queries.
  span.bias.fill_(50);
  memories = live_memories(cache, block, span);
  EXPECT_EQ(memories.seen.sizes(), (torch::IntArrayRef{2, 11, 4}));
  EXPECT_TRUE(torch::equal(memories.seen.narrow(1, 2, 9), all));
  EXPECT_NEAR(memories.own.min().item<double>(), 8, 1e-12);
  // No cache, one token: nothing is seen.
  memories = live_memories(cache.narrow(1, 0, 0), block.narrow(1, 0, 1), span);
  EXPECT_EQ(memories.seen.sizes(), (torch::IntArrayRef{2, 2, 4}));
  EXPECT_EQ(expire_mask(memories.spans, 1, 3).max().item<double>(), 0);
}

TEST(MemorySpans, HandTheirGradientToTheBlockAndTheWeightsAlone) {
  torch::manual_seed(6);
  const torch::Tensor block = torch::randn({2, 3, 4}, torch::kDouble).set_requires_grad(true);
  const torch::Tensor seen = torch::cat({torch::randn({2, 2, 4}, torch::kDouble), block.detach()}, 1);
  const ExpireSpan span{.weight = torch::randn({1, 4}, torch::kDouble).set_requires_grad(true),
                        .bias = torch::randn({1}, torch::kDouble).set_requires_grad(true),
                        .limit = 20,
                        .ramp = 3};
  const torch::Tensor spans = memory_spans(seen, block, span);
  ASSERT_EQ(spans.sizes(), (torch::IntArrayRef{2, 5}));
  spans.sum().backward();
  const torch::Tensor gate = torch::sigmoid(torch::matmul(seen, span.weight.detach()[0]) + span.bias.detach());
  EXPECT_TRUE(torch::allclose(spans.detach(), 20 * gate, 0, 1e-12));
  const torch::Tensor slope = 20 * gate * (1 - gate);  // [2, 5]
  EXPECT_NEAR(span.bias.grad().item<double>(), slope.sum().item<double>(), 1e-10);
  EXPECT_TRUE(torch::allclose(span.weight.grad()[0], (slope.unsqueeze(-1) * seen).flatten(0, 1).sum(0), 0, 1e-10));
  EXPECT_TRUE(torch::allclose(block.grad(), slope.narrow(1, 2, 3).unsqueeze(-1) * span.weight.detach()[0], 0, 1e-10));
}

}  // namespace
}  // namespace xlm
