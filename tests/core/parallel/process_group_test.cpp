// Collective operations of processes; here each process is a thread.
#include "core/parallel/reductions.h"

#include <array>
#include <functional>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/secret.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

/// On one machine, and by TCP.
class ProcessGroupTest : public ::testing::TestWithParam<const char*> {
 protected:
  /// Calls `work` once for each of `count` processes. Returns their errors by rank ("" for none).
  std::vector<std::string> together(std::int64_t count, const std::function<void(ProcessGroup&)>& work,
                                    std::int64_t missing = -1) {
    const fs::path meeting = folder_.path() / std::to_string(++meetings_);
    create_folders(meeting);
    const std::string secret = fresh_secret();
    std::vector<std::string> errors(static_cast<std::size_t>(count));
    std::vector<std::thread> threads;
    for (std::int64_t rank = 0; rank < count; ++rank) {
      if (rank == missing) continue;
      threads.emplace_back([&, rank] {
        try {
          const auto group = join({.rank = rank,
                                   .count = count,
                                   .meeting = meeting,
                                   .secret = secret,
                                   .address = GetParam(),
                                   .patience = missing < 0 ? 60.0 : 1.0});
          work(*group);
        } catch (const Error& error) {
          errors[static_cast<std::size_t>(rank)] = error.what();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    return errors;
  }

  TemporaryFolder folder_;
  int meetings_ = 0;
};

INSTANTIATE_TEST_SUITE_P(By, ProcessGroupTest, ::testing::Values("", "127.0.0.1"),
                         [](const auto& kind) { return std::string(*kind.param == '\0' ? "UnixSockets" : "Tcp"); });

TEST_P(ProcessGroupTest, OneProcessNeedsNoOther) {
  EXPECT_EQ(join({}), nullptr);
  EXPECT_EQ(own_rows(nullptr, 7).count, 7);
}

TEST_P(ProcessGroupTest, NumbersAddUpToTheSameBitsEverywhere) {
  for (const std::int64_t count : {2, 3, 5}) {
    std::vector<std::vector<float>> sums(static_cast<std::size_t>(count));
    const auto errors = together(count, [&](ProcessGroup& group) {
      std::vector<float> values;
      for (int i = 0; i < 1000; ++i) {
        values.push_back(0.1F * static_cast<float>(i) + 1e-3F * static_cast<float>(group.rank()));
      }
      group.sum(values.data(), values.size());
      sums[static_cast<std::size_t>(group.rank())] = values;
      std::array<double, 2> largest{static_cast<double>(group.rank()), -static_cast<double>(group.rank())};
      group.max(largest.data(), largest.size());
      EXPECT_EQ(largest[0], static_cast<double>(count - 1));
      EXPECT_EQ(largest[1], 0.0);
      double third = 1.0 / 3;
      group.sum(&third, 1);
      EXPECT_DOUBLE_EQ(third, static_cast<double>(count) / 3);
    });
    EXPECT_THAT(errors, Each(""));
    EXPECT_THAT(sums, Each(sums.front()));
    EXPECT_NEAR(sums.front()[999],
                99.9 * static_cast<double>(count) + 1e-3 * static_cast<double>(count * (count - 1)) / 2, 1e-4);
  }
}

// More numbers than sockets hold, in parts that are no multiple of a piece. Whole numbers add up exactly in any order.
TEST_P(ProcessGroupTest, ManyNumbersAddUpInAnyParts) {
  for (const std::int64_t count : {2, 3, 4}) {
    for (const std::size_t numbers : {std::size_t{1}, std::size_t{2}, std::size_t{65'537}, std::size_t{1'000'003}}) {
      const auto errors = together(count, [&](ProcessGroup& group) {
        std::vector<float> floats(numbers);
        std::vector<double> doubles(numbers);
        for (std::size_t i = 0; i < numbers; ++i) {
          floats[i] = static_cast<float>(i % 1000 + static_cast<std::size_t>(group.rank()));
          doubles[i] = -static_cast<double>(i) * static_cast<double>(group.rank() + 1);
        }
        group.sum(floats.data(), numbers);
        group.sum(doubles.data(), numbers);
        const auto extra = static_cast<std::size_t>(count * (count - 1) / 2);
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < numbers; ++i) {
          const bool right =
              floats[i] == static_cast<float>((i % 1000) * static_cast<std::size_t>(count) + extra) &&
              doubles[i] == -static_cast<double>(i) * static_cast<double>(extra + static_cast<std::size_t>(count));
          wrong += right ? 0 : 1;
        }
        EXPECT_EQ(wrong, 0U) << numbers << " numbers of " << count;
      });
      EXPECT_THAT(errors, Each(""));
    }
  }
}

TEST_P(ProcessGroupTest, RowsAreSharedWithoutAGapAndGatheredInOrder) {
  for (const std::int64_t rows : {3, 4, 7, 12}) {
    const torch::Tensor whole = torch::arange(rows * 2, torch::kFloat).view({rows, 2});
    const auto errors = together(3, [&](ProcessGroup& group) {
      const OwnRows own = own_rows(&group, rows);
      EXPECT_GE(own.count, 1);
      const torch::Tensor gathered = gather_rows(group, whole.narrow(0, own.begin, own.count), rows);
      EXPECT_TRUE(gathered.equal(whole)) << gathered;
    });
    EXPECT_THAT(errors, Each(""));
  }
}

/// Sums in main memory as NCCL does on GPUs.
class SumsOfGroup : public DeviceSums {
 public:
  explicit SumsOfGroup(ProcessGroup& group) : group_(&group) {}
  void sum(const torch::Tensor& values) override {
    ++calls;
    ASSERT_TRUE(values.is_contiguous());
    group_->sum(values.data_ptr<float>(), static_cast<std::size_t>(values.numel()));
  }
  int calls = 0;

 private:
  ProcessGroup* group_;
};

TEST_P(ProcessGroupTest, GradientsAddUpIfOnlySomeProcessesHaveThem) {
  const auto add_up = [&](ProcessGroup& group, DeviceSums* sums) {
    const auto weight = [](std::int64_t size) { return torch::zeros({size}).requires_grad_(); };
    const NamedTensors weights{{"both", weight(3)}, {"one", weight(2)}, {"none", weight(2)}};
    weights[0].second.mutable_grad() = torch::full({3}, 1.0 + static_cast<double>(group.rank()));
    if (group.rank() == 1) weights[1].second.mutable_grad() = torch::full({2}, 5.0);
    sum_gradients(group, sums, weights);
    EXPECT_TRUE(weights[0].second.grad().equal(torch::full({3}, 3.0)));
    EXPECT_TRUE(weights[1].second.grad().equal(torch::full({2}, 5.0)));
    EXPECT_FALSE(weights[2].second.grad().defined());
  };
  const auto errors = together(2, [&](ProcessGroup& group) {
    EXPECT_EQ(device_sums(&group, torch::kCPU, nullptr), nullptr);
    add_up(group, nullptr);
    SumsOfGroup by_device(group);
    add_up(group, &by_device);
    EXPECT_EQ(by_device.calls, 1);
  });
  EXPECT_THAT(errors, Each(""));
}

TEST_P(ProcessGroupTest, AMissingProcessIsNotWaitedForForever) {
  const auto errors = together(
      3, [](ProcessGroup&) { FAIL() << "a process is missing"; }, 2);
  EXPECT_THAT(errors[0], HasSubstr("process 1 of 3 did not meet the others: not all came within 1 s"));
  EXPECT_THAT(errors[1], HasSubstr("process 2 of 3 did not meet the others: not all came within 1 s"));
}

TEST_P(ProcessGroupTest, AnEndedProcessEndsTheOthers) {
  const auto errors = together(2, [](ProcessGroup& group) {
    std::vector<float> values(100000, 1);
    group.sum(values.data(), values.size());  // both have met
    if (group.rank() == 1) return;
    group.sum(values.data(), values.size());
  });
  EXPECT_THAT(errors[0], HasSubstr("another process of the run has ended"));
  EXPECT_EQ(errors[1], "");
}

}  // namespace
}  // namespace xlm
