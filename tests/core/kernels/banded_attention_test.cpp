// Banded attention against a triple loop.
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/kernels/banded_attention.h"
#include "tests/core/kernels/counted_memory.h"
#include "tests/core/kernels/exactness.h"

namespace xlm {
namespace {

struct BandSizes {
  std::int64_t batch, heads, queries, band, width;
};

enum class Mask { kNone, kPerHead, kPerQuery };

BandedAttentionInput random_input(const BandSizes& s, Mask mask) {
  const auto real = torch::TensorOptions(torch::kDouble);
  BandedAttentionInput input{.query = torch::randn({s.batch, s.heads, s.queries, s.width}, real),
                             .key = torch::randn({s.batch, s.heads, s.band + s.queries, s.width}, real),
                             .value = torch::randn({s.batch, s.heads, s.band + s.queries, s.width}, real),
                             .position = torch::randn({s.width, s.band}, real),
                             .span = {},
                             .ramp = 3};
  const auto band = static_cast<double>(s.band);
  if (mask == Mask::kPerHead) input.span = torch::rand({1, s.heads, 1, 1}, real) * band;
  if (mask == Mask::kPerQuery) input.span = torch::rand({s.batch, s.heads, s.queries, 1}, real) * band;
  return input;
}

/// The definition, one query at a time; the renormalisation adds `epsilon`.
torch::Tensor by_loop(const BandedAttentionInput& in, double epsilon) {
  torch::Tensor out = torch::zeros_like(in.query);
  const std::int64_t band = in.position.size(1);
  const torch::Tensor spans =
      in.span.defined() ? in.span.expand({in.query.size(0), in.query.size(1), in.query.size(2), 1}) : in.span;
  for (std::int64_t b = 0; b < in.query.size(0); ++b) {
    for (std::int64_t h = 0; h < in.query.size(1); ++h) {
      for (std::int64_t i = 0; i < in.query.size(2); ++i) {
        const torch::Tensor q = in.query[b][h][i];
        const torch::Tensor keys = in.key[b][h].narrow(0, i, band) + in.position.t();  // (k + p)·q
        torch::Tensor weights = torch::softmax(keys.mv(q) / std::sqrt(static_cast<double>(q.size(0))), 0);
        if (in.span.defined()) {
          const torch::Tensor distance = torch::arange(band, 0, -1, torch::kDouble);
          const torch::Tensor mask = (in.ramp + spans[b][h][i] - (distance - 1)) / in.ramp;
          const torch::Tensor moves = (mask >= 0).logical_and(mask <= 1);  // as torch's clamp before 2.14
          weights = weights * torch::where(moves, mask, mask.detach().clamp(0, 1));
          weights = weights / (weights.sum() + epsilon);
        }
        out[b][h][i] = in.value[b][h].narrow(0, i, band).t().mv(weights);
      }
    }
  }
  return out;
}

torch::Tensor by_definition(const BandedAttentionInput& in) { return by_loop(in, 1e-8); }

using Attention = torch::Tensor (*)(const BandedAttentionInput&);

/// Output and the gradients of all inputs for a fixed upstream gradient.
std::vector<torch::Tensor> output_and_gradients(Attention attention, BandedAttentionInput input) {
  std::vector<torch::Tensor> leaves;
  for (torch::Tensor* tensor : {&input.query, &input.key, &input.value, &input.position, &input.span}) {
    if (!tensor->defined()) continue;
    *tensor = tensor->detach().clone().set_requires_grad(true);
    leaves.push_back(*tensor);
  }
  const torch::Tensor output = attention(input);
  torch::manual_seed(99);
  const torch::Tensor upstream = torch::randn(output.sizes(), torch::kDouble).to(output.scalar_type());
  std::vector<torch::Tensor> all{output.detach()};
  for (const torch::Tensor& gradient : torch::autograd::grad({(output * upstream).sum()}, leaves))
    all.push_back(gradient);
  return all;
}

void expect_equal(const std::vector<torch::Tensor>& actual, const std::vector<torch::Tensor>& expected,
                  double tolerance) {
  const std::vector<std::string> names{"output", "query", "key", "value", "position", "span"};
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const double scale = 1 + expected[i].abs().max().item<double>();
    EXPECT_LT((actual[i].to(torch::kDouble) - expected[i].to(torch::kDouble)).abs().max().item<double>(),
              tolerance * scale)
        << names[i];
  }
}

/// Spans stay in single precision, as parameters do.
BandedAttentionInput in_precision(torch::ScalarType type, BandedAttentionInput input) {
  for (torch::Tensor* tensor : {&input.query, &input.key, &input.value, &input.position}) *tensor = tensor->to(type);
  if (input.span.defined()) input.span = input.span.to(torch::kFloat);
  return input;
}

constexpr std::array<Mask, 3> kMasks{Mask::kNone, Mask::kPerHead, Mask::kPerQuery};

class BandedAttention : public testing::TestWithParam<BandSizes> {};

TEST_P(BandedAttention, PlainAndFusedEqualTheDefinitionInValueAndGradient) {
  torch::manual_seed(3);
  for (const Mask mask : kMasks) {
    const BandedAttentionInput input = random_input(GetParam(), mask);
    const auto expected = output_and_gradients(by_definition, input);
    expect_equal(output_and_gradients(banded_attention_plain, input), expected, 1e-12);
    expect_equal(output_and_gradients(banded_attention_fused, input), expected, 1e-12);
  }
}

// A whole-number span puts a distance on the mask's outer corner, where the mask is 0 and its derivative is not.
TEST_P(BandedAttention, ComposedEqualsTheDefinitionWithoutItsEpsilon) {
  torch::manual_seed(3);
  for (const Mask mask : kMasks) {
    for (const bool whole : {false, true}) {
      BandedAttentionInput input = random_input(GetParam(), mask);
      if (whole && input.span.defined()) input.span = input.span.floor();
      const auto expected = output_and_gradients([](const BandedAttentionInput& in) { return by_loop(in, 0); }, input);
      expect_equal(output_and_gradients(banded_attention_composed, input), expected, 1e-11);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, BandedAttention,
                         testing::Values(BandSizes{1, 1, 1, 1, 2}, BandSizes{2, 3, 5, 7, 4}, BandSizes{1, 2, 9, 4, 3},
                                         BandSizes{1, 2, 37, 40, 8}));

torch::Tensor without_epsilon(const BandedAttentionInput& in) { return by_loop(in, 0); }

torch::Tensor in_blocks_of_64(const BandedAttentionInput& in) { return banded_attention_in_blocks(in, 64); }

class BandedAttentionInBlocks : public testing::TestWithParam<BandSizes> {};

// Spans of 0, within the ramp, on its far corner and as long as the band.
TEST_P(BandedAttentionInBlocks, EqualsTheDefinitionInValueAndGradient) {
  torch::manual_seed(11);
  const auto band = static_cast<double>(GetParam().band);
  Exactness exactness;
  for (const Mask mask : kMasks) {
    BandedAttentionInput input = random_input(GetParam(), mask);
    input.ramp = 32;
    if (mask == Mask::kPerQuery) {
      input.span.select(2, 0).zero_();
      input.span.select(2, 1).fill_(std::max(0.0, band - 20.5));
      input.span.select(2, 2).fill_(std::max(0.0, band - 32));
      input.span.select(2, GetParam().queries - 1).fill_(band);
    }
    const auto expected = output_and_gradients(without_epsilon, input);
    expect_equal(output_and_gradients(in_blocks_of_64, input), expected, 1e-11);
    expect_equal(output_and_gradients(banded_attention_composed, input), expected, 1e-11);
    const BandedAttentionInput single = in_precision(torch::kFloat, input);
    exactness.add(torch::kFloat, output_and_gradients(in_blocks_of_64, single),
                  output_and_gradients(banded_attention_plain, single), expected);
  }
  exactness.expect_as_plain(1e-6);
}

// Blocks that are whole, one of them short, and one alone; bands shorter and longer than a block.
INSTANTIATE_TEST_SUITE_P(Sizes, BandedAttentionInBlocks,
                         testing::Values(BandSizes{2, 1, 128, 64, 64}, BandSizes{1, 2, 129, 33, 96},
                                         BandSizes{1, 1, 100, 260, 128}, BandSizes{2, 1, 63, 100, 64},
                                         BandSizes{1, 2, 200, 7, 64}));

TEST(BandedAttentionInBlocks, SpansOfHeadsAtTheCornersHaveTheirGradient) {
  torch::manual_seed(12);
  for (const double span : {0.0, 5.5, 18.0, 50.0}) {  // z = 0; in the ramp; the ramp's end at the limit; z = L
    BandedAttentionInput input = random_input({1, 2, 70, 50, 8}, Mask::kPerHead);
    input.ramp = 32;
    input.span.fill_(span);
    expect_equal(output_and_gradients(in_blocks_of_64, input), output_and_gradients(without_epsilon, input), 1e-11);
  }
}

TEST(BandedAttentionInBlocks, ShortBandsHaveShortBlocksAndLongBandsHaveOne) {
  EXPECT_EQ(banded_block(512, 64, 64), 64);
  EXPECT_EQ(banded_block(512, 128, 64), 64);
  EXPECT_EQ(banded_block(512, 8192, 64), 512) << "the bias hardly shrinks, and copying keys and values costs more";
  EXPECT_EQ(banded_block(40, 64, 64), 40);
}

/// The memory that a call keeps for its gradient and its result.
std::int64_t kept_bytes(Attention attention, BandedAttentionInput input) {
  for (torch::Tensor* tensor : {&input.query, &input.key, &input.value, &input.position, &input.span}) {
    if (tensor->defined()) *tensor = tensor->detach().clone().set_requires_grad(true);
  }
  attention(input);  // libtorch's first call sets itself up
  const CountedMemory memory;
  const torch::Tensor output = attention(input);
  return memory.live();
}

// A dynamic span's mask is as large as the attention weights, and libtorch's own operations would keep it twice.
TEST(BandedAttentionInBlocks, KeepsOnlySpansOfTheMask) {
  torch::manual_seed(13);
  const BandSizes sizes{1, 2, 256, 128, 16};
  const BandedAttentionInput masked = random_input(sizes, Mask::kPerQuery);
  BandedAttentionInput bare = masked;
  bare.span = torch::Tensor();
  const std::int64_t spans = sizes.heads * sizes.queries * static_cast<std::int64_t>(sizeof(double));
  for (const Attention attention : {in_blocks_of_64, banded_attention_composed}) {
    const std::int64_t more = kept_bytes(attention, masked) - kept_bytes(attention, bare);
    EXPECT_LE(more, 2 * spans) << "a mask takes " << spans * sizes.band;
  }
}

// The kept memory grows with the band and the block, not with the number of queries times all keys.
TEST(BandedAttentionInBlocks, MemoryGrowsWithBandAndBlock) {
  torch::manual_seed(14);
  const BandSizes sizes{1, 2, 1024, 64, 16};
  const BandedAttentionInput input = random_input(sizes, Mask::kPerHead);
  const auto whole = [](const BandedAttentionInput& in) { return banded_attention_in_blocks(in, in.query.size(2)); };
  const std::int64_t seen = (64 + 64) * sizes.heads * sizes.queries * static_cast<std::int64_t>(sizeof(double));
  EXPECT_LT(kept_bytes(in_blocks_of_64, input), 6 * seen);
  EXPECT_GT(kept_bytes(whole, input), 8 * seen);
  EXPECT_EQ(kept_bytes(banded_attention_composed, input), kept_bytes(in_blocks_of_64, input));
}

class FusedBandedAttention : public testing::TestWithParam<BandSizes> {};

TEST_P(FusedBandedAttention, IsAsExactAsThePlainVersionInEveryPrecisionAndWithDropout) {
  torch::manual_seed(4);
  Exactness exactness;
  for (const Mask mask : kMasks) {
    for (const double dropout : {0.0, 0.3}) {
      BandedAttentionInput input = random_input(GetParam(), mask);
      input.ramp = 32;
      input.dropout = dropout;
      input.seed = 7;
      const auto expected = output_and_gradients(banded_attention_plain, input);
      expect_equal(output_and_gradients(banded_attention_fused, input), expected, 1e-11);
      for (const torch::ScalarType type : {torch::kFloat, torch::kBFloat16}) {
        const BandedAttentionInput lower = in_precision(type, input);
        exactness.add(type, output_and_gradients(banded_attention_fused, lower),
                      output_and_gradients(banded_attention_plain, lower), expected);
      }
    }
  }
  exactness.expect_as_plain(1e-6);
}

// Lengths that are no multiple of a tile, one tile, several; bands shorter and longer than the block; odd lengths,
// which bfloat16 does not pair.
INSTANTIATE_TEST_SUITE_P(Sizes, FusedBandedAttention,
                         testing::Values(BandSizes{2, 2, 64, 64, 16}, BandSizes{1, 2, 100, 33, 32},
                                         BandSizes{1, 1, 70, 300, 24}, BandSizes{1, 2, 33, 1600, 16},
                                         BandSizes{2, 2, 34, 1600, 32}));

TEST(FusedBandedAttention, ANanScoreIsNotHidden) {  // otherwise a run that diverges would continue
  torch::manual_seed(1);
  BandedAttentionInput input{.query = torch::randn({1, 1, 32, 8}),
                             .key = torch::randn({1, 1, 96, 8}),
                             .value = torch::randn({1, 1, 96, 8}),
                             .position = torch::randn({8, 64})};
  input.key.select(2, 80).fill_(std::nanf(""));  // query i sees the keys i to i + 63
  const torch::Tensor lost = banded_attention_fused(input).isnan().all(-1).flatten();
  EXPECT_TRUE(torch::equal(lost, torch::arange(32) >= 17));
  EXPECT_TRUE(torch::equal(lost, banded_attention_plain(input).isnan().all(-1).flatten()));
  input.key.select(2, 80).zero_();
  input.span = torch::full({1, 1, 1, 1}, std::nanf(""));
  input.ramp = 8;
  EXPECT_TRUE(banded_attention_fused(input).isnan().all().item<bool>());
}

TEST(FusedBandedAttention, SpansAtTheCornersHaveTheGradientOfTheMask) {
  torch::manual_seed(6);
  for (const double span : {0.0, 3.0, 37.0, 40.0}) {  // z = 0; ramp's end inside; ramp's end at the limit; z = L
    BandedAttentionInput input = random_input({1, 2, 9, 40, 4}, Mask::kPerHead);
    input.span.fill_(span);
    expect_equal(output_and_gradients(banded_attention_fused, input),
                 output_and_gradients(banded_attention_plain, input), 1e-12);
  }
}

TEST(FusedBandedAttention, ReadsInterleavedHeads) {
  torch::manual_seed(8);
  BandedAttentionInput input = random_input({2, 3, 20, 30, 8}, Mask::kNone);
  const torch::Tensor expected = banded_attention_plain(input);
  for (torch::Tensor* tensor : {&input.query, &input.key, &input.value}) {
    *tensor = tensor->transpose(1, 2).contiguous().transpose(1, 2);
  }
  EXPECT_LT((banded_attention_fused(input) - expected).abs().max().item<double>(), 1e-12);
}

// Rows begin at odd elements, and an odd number of elements apart, so pairs are not aligned like floats.
TEST(FusedBandedAttention, ReadsUnalignedBfloat16) {
  torch::manual_seed(10);
  BandedAttentionInput input = in_precision(torch::kBFloat16, random_input({1, 2, 20, 30, 8}, Mask::kNone));
  const torch::Tensor expected = banded_attention_fused(input);
  for (torch::Tensor* tensor : {&input.query, &input.key, &input.value}) {
    torch::Tensor wider = torch::zeros({1, 2, tensor->size(2), 9}, torch::kBFloat16);
    wider.narrow(3, 1, 8).copy_(*tensor);
    *tensor = wider.narrow(3, 1, 8);
  }
  EXPECT_TRUE(torch::equal(banded_attention_fused(input), expected));
}

TEST(FusedBandedAttention, SameSeedDropsTheSame) {
  torch::manual_seed(9);
  BandedAttentionInput input = random_input({1, 2, 40, 50, 8}, Mask::kNone);
  input.dropout = 0.5;
  const torch::Tensor once = banded_attention_fused(input);
  EXPECT_TRUE(torch::equal(banded_attention_fused(input), once));
  input.seed = 1;
  EXPECT_FALSE(torch::equal(banded_attention_fused(input), once));
}

TEST(BandedAttention, DropoutDropsTheGivenShareAndKeepsTheMean) {
  BandedAttentionInput input = random_input({2, 3, 50, 400, 4}, Mask::kNone);
  for (const double dropout : {0.1, 0.4}) {
    input.dropout = dropout;
    const torch::Tensor factors = banded_dropout_factors(input);
    EXPECT_NEAR((factors == 0).to(torch::kDouble).mean().item<double>(), dropout, 0.005);
    EXPECT_NEAR(factors.mean().item<double>(), 1, 0.01);
    // No column or row is dropped more often.
    EXPECT_LT((factors.mean(-1) - 1).abs().max().item<double>(), 0.25);
    EXPECT_LT((factors.mean(std::vector<std::int64_t>{0, 1, 2}) - 1).abs().max().item<double>(), 0.25);
  }
}

}  // namespace
}  // namespace xlm
