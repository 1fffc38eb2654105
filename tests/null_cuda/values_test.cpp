// The values of the program's own attention kernels in whole training steps, through everything that lies between a
// model and the GPU: libtorch's CUDA tensors, GpuBandKernels, the driver's call. The stand-in runs the kernels' own
// text by fibers at the addresses that the driver was given, and writes what they read and computed. Here the same is
// computed in double, from the formulas alone.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include <torch/torch.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/kernels/dropout.h"
#include "tests/campaign_size.h"
#include "tests/null_cuda/null_cuda_fixture.h"
#include "tests/null_cuda/stand_in/band_record.h"

namespace xlm {
namespace {

using ::testing::IsEmpty;
using torch::Tensor;

/// A start of a kernel, as tensors in double; undefined: the kernel does not have it.
struct RecordedStart {
  null_cuda::RecordHeader header{};
  std::vector<Tensor> read;      // in the order of null_cuda::ReadArray
  std::vector<Tensor> computed;  // forward the output; backward the gradients of the first six
};

Tensor read_array(std::ifstream& file, at::IntArrayRef sizes) {
  std::uint64_t count = 0;
  file.read(reinterpret_cast<char*>(&count), sizeof count);
  if (count == 0) return {};
  const Tensor values = torch::empty({static_cast<std::int64_t>(count)}, torch::kFloat);
  file.read(reinterpret_cast<char*>(values.data_ptr<float>()), static_cast<std::streamsize>(count * sizeof(float)));
  EXPECT_TRUE(file.good());
  return values.view(sizes).to(torch::kDouble);
}

RecordedStart read_start(const fs::path& path) {
  RecordedStart start;
  std::ifstream file(path, std::ios::binary);
  null_cuda::RecordHeader& h = start.header;
  file.read(reinterpret_cast<char*>(&h), sizeof h);
  EXPECT_TRUE(file.good()) << path;
  const std::vector<std::int64_t> of_queries{h.batch, h.heads, h.queries, h.width};
  const std::vector<std::int64_t> of_keys{h.batch, h.heads, h.keys, h.width};
  const std::vector<std::int64_t> of_positions{1, h.heads, h.band, h.width};
  const std::vector<std::int64_t> of_spans{h.batch, h.heads, h.queries, 1};
  const std::vector<std::vector<std::int64_t>> sizes{of_queries,   of_queries, of_keys,   of_keys,
                                                     of_positions, of_spans,   of_queries};
  for (const auto& each : sizes) start.read.push_back(read_array(file, each));
  const int computed = h.forward != 0 ? null_cuda::kOutputArrays : null_cuda::kGradientArrays;
  for (int i = 0; i < computed; ++i) start.computed.push_back(read_array(file, sizes[static_cast<std::size_t>(i)]));
  return start;
}

/// The factors of the dropout [B, n, M, L], 0 or 1 / (1 − dropout). They are drawn by place; `key` [M, L] is the key of
/// each column.
Tensor dropout_factors(const null_cuda::RecordHeader& h, const Tensor& key) {
  const Tensor factors = torch::empty({h.batch, h.heads, h.queries, h.band}, torch::kFloat);
  const Dropout dropout(static_cast<double>(h.drop_threshold) / 16777216.0);
  const auto keys = key.accessor<std::int64_t, 2>();
  float* out = factors.data_ptr<float>();
  for (std::int64_t b = 0; b < h.batch; ++b) {
    for (std::int64_t head = 0; head < h.heads; ++head) {
      for (std::int64_t i = 0; i < h.queries; ++i) {
        const std::uint32_t place = Dropout::key_of(h.seed, b, head, i);
        for (std::int64_t j = 0; j < h.band; ++j) {
          *out++ = dropout.factor(place, static_cast<std::uint32_t>(h.drop_by_key != 0 ? keys[i][j] : j));
        }
      }
    }
  }
  return factors.to(torch::kDouble);
}

/// Attention over a band: docs of core/cuda/kernels/band_arguments.h, and Sukhbaatar et al. 2019, §2.2, for the mask.
Tensor attention_of(const RecordedStart& start, const std::vector<Tensor>& in) {
  const null_cuda::RecordHeader& h = start.header;
  const Tensor column = torch::arange(h.band, torch::kLong).unsqueeze(0);                          // [1, L]
  const Tensor key = torch::arange(h.queries, torch::kLong).unsqueeze(1) + column - h.key_offset;  // [M, L]
  const Tensor seen = (key >= 0).logical_and_(key < h.keys);
  const Tensor place = key.clamp(0, h.keys - 1).flatten();
  const auto by_column = [&](const Tensor& x) {  // [B, n, T, d] to [B, n, M, L, d]
    return x.index_select(2, place).view({h.batch, h.heads, h.queries, h.band, h.width});
  };
  const Tensor& position_query = h.two_queries != 0 ? in[null_cuda::kPositionQuery] : in[null_cuda::kQuery];
  Tensor scores = (by_column(in[null_cuda::kKey]) * in[null_cuda::kQuery].unsqueeze(3)).sum(-1) +
                  torch::matmul(position_query, in[null_cuda::kPosition].transpose(2, 3));  // [B, n, M, L]
  scores = (scores * static_cast<double>(h.scale)).masked_fill(~seen, -std::numeric_limits<double>::infinity());
  Tensor weights = torch::softmax(scores, -1);
  if (h.masked != 0) {
    const double ramp = h.ramp;
    const Tensor distance = h.band - column.to(torch::kDouble);  // the last column is at the distance 1
    const Tensor mask = ((ramp + in[null_cuda::kSpan] - (distance - 1)) / ramp).clamp(0, 1);
    weights = weights * mask;
    weights = weights / (weights.sum(-1, /*keepdim=*/true) + 1e-8);
  }
  if (h.dropped != 0) weights = weights * dropout_factors(h, key);
  return (weights.unsqueeze(-1) * by_column(in[null_cuda::kValue])).sum(3);
}

/// Which numbers differ from those in double by more than bfloat16's roundings do; the limit is that of the program's
/// own examination of its kernels (core/kernels/examined_kernels.cpp).
std::vector<std::string> wrong_values(const RecordedStart& start) {
  constexpr double kTolerance = 0.02;
  const null_cuda::RecordHeader& h = start.header;
  std::vector<Tensor> leaves;
  for (const Tensor& each : start.read) {
    leaves.push_back(each.defined() ? each.clone().set_requires_grad(true) : each);
  }
  const Tensor out = attention_of(start, leaves);
  std::vector<Tensor> expected{out.detach()};
  if (h.forward == 0) {
    expected.clear();
    out.backward(start.read[null_cuda::kOutGradient]);
    for (std::size_t i = 0; i < null_cuda::kGradientArrays; ++i) {
      expected.push_back(leaves[i].defined() ? leaves[i].grad() : Tensor());
    }
    Tensor& position = expected[null_cuda::kPosition];
    if (h.one_position != 0) position = position.sum(1, /*keepdim=*/true).expand(position.sizes());
  }
  std::vector<std::string> wrong;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const bool is_there = expected[i].defined();
    // A gradient of the span is computed without a mask, too, and not used.
    if (!is_there && (!start.computed[i].defined() || i == null_cuda::kSpan)) continue;
    if (is_there != start.computed[i].defined()) {
      wrong.push_back(fmt::format("result {} is missing or not asked for", i));
      continue;
    }
    const double size = expected[i].norm().item<double>();
    const double off = (start.computed[i] - expected[i]).norm().item<double>();
    const double least = 1e-6 * std::sqrt(static_cast<double>(expected[i].numel()));
    if (!(off <= kTolerance * size + least))
      wrong.push_back(fmt::format("result {} is off by {:.3g} of {:.3g}", i, off, size));
  }
  return wrong;
}

class NullCudaValues : public NullCuda {
 protected:
  /// The starts of kernels in a short run in bfloat16.
  std::vector<fs::path> starts_of(const std::string& name, int capability, const std::string& model) {
    std::string text;  // a short one: fibers are slow, and the run ends with evaluations
    for (int i = 0; i < 60; ++i) text += fmt::format("line {} of a short text\n", i * i % 97);
    write_file(folder_.path() / "short.txt", text);
    EXPECT_EQ(xlm({"prepare-data", "text", "--from", "short.txt", "--split", "70%,15%,15%", "--out", "short"}).code, 0);
    write_file(folder_.path() / "run.yaml",
               "seed: 1\ndata: {path: short}\ndevice: cuda\noptimizer: {warmup_steps: 2}\n"
               "eval: {batch: 1, context: 70, stride: 70}\n"
               "train: {steps: 3, batch: " +
                   std::to_string(campaign_size(1, 2)) +
                   ", block: 70, eval_every: 0, precision: bfloat16, threads: 1}\n" + model);
    const fs::path folder = folder_.path() / (name + ".values");
    create_folders(folder);
    const ProgramResult result =
        train_on_gpu(name, fmt::format("capability={};values={}", capability, folder.string()));
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_THAT(report(name).violations, IsEmpty());
    std::vector<fs::path> starts;
    for (const auto& entry : fs::directory_iterator(folder)) starts.push_back(entry.path());
    std::sort(starts.begin(), starts.end());
    return starts;
  }

  void expect_right(const std::vector<fs::path>& starts, bool masked) {
    int forward = 0;
    int backward = 0;
    int dropped = 0;
    for (const fs::path& path : starts) {
      const RecordedStart start = read_start(path);
      EXPECT_THAT(wrong_values(start), IsEmpty()) << path;
      ++(start.header.forward != 0 ? forward : backward);
      if (start.header.dropped != 0) ++dropped;
      EXPECT_EQ(start.header.masked != 0, masked) << path;
    }
    EXPECT_GE(backward, 4) << "three steps, and the examination of the kernels";
    EXPECT_GT(forward, backward) << "evaluations have no backward pass";
    EXPECT_GE(dropped, 6);
  }
};

/// With another key, another mask, another draw of the dropout, or another place of a result.
void expect_faults_found(const RecordedStart& right) {
  RecordedStart wrong = right;
  wrong.header.key_offset += 1;
  EXPECT_FALSE(wrong_values(wrong).empty());
  wrong = right;
  wrong.header.ramp = 2 * right.header.ramp;
  EXPECT_FALSE(wrong_values(wrong).empty());
  wrong = right;
  wrong.header.seed += 1;
  EXPECT_FALSE(wrong_values(wrong).empty());
  wrong = right;
  wrong.computed[0] = right.computed[0].roll(1, /*dims=*/2);
  EXPECT_FALSE(wrong_values(wrong).empty());
}

const std::string kRelative =
    "model: {type: hourglass, width: 128, heads: 2, feed_forward: 64, layers: [1], dropout: 0.1, "
    "attention_dropout: 0.2, boundaries: {type: none}}\n";

TEST_F(NullCudaValues, BandedAttentionIsRightInATrainingStep) {
  const std::vector<fs::path> starts = starts_of(
      "banded", 90,
      "model: {type: adaptive-span, width: 128, heads: 2, feed_forward: 64, layers: 1, span: 100, span_ramp: 32, "
      "dropout: 0.1, attention_dropout: 0.2}\n");
  expect_right(starts, /*masked=*/true);
  int dropped = 0;
  for (const fs::path& path : starts) {  // the comparison finds what is wrong
    const RecordedStart start = read_start(path);
    if (start.header.dropped != 0 && ++dropped <= 2) expect_faults_found(start);
  }
}

TEST_F(NullCudaValues, RelativeAttentionIsRightInATrainingStep) {
  expect_right(starts_of("relative", 90, kRelative), /*masked=*/false);
}

// Blocks there have less shared memory.
TEST_F(NullCudaValues, CompactKernelsAreRightInATrainingStep) {
  expect_right(starts_of("compact", 86, kRelative), /*masked=*/false);
}

}  // namespace
}  // namespace xlm
