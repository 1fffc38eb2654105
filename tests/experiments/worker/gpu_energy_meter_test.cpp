// The energy of GPUs, by a stand-in for NVIDIA's library.
#include "experiments/worker/gpu_energy_meter.h"

#include <dlfcn.h>

#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "base/files.h"
#include "tests/experiments/worker/fake_nvml.h"

namespace xlm {
namespace {

class GpuEnergyMeterTest : public ::testing::Test {
 protected:
  GpuEnergyMeter meter(const GpuRange& gpus = {.first = 0, .count = GpuRange::kAll}) {
    return GpuEnergyMeter(gpus, XLM_FAKE_NVML_LIBRARY, [this] { return now_; });
  }

  /// Which of the cards "GPU-a…", "GPU-b…" and "GPU-c…" a meter counts: their letters.
  std::string counted(const std::string& visible, const GpuRange& gpus = {.first = 0, .count = GpuRange::kAll}) {
    ::setenv("CUDA_VISIBLE_DEVICES", visible.c_str(), 1);
    return counted(gpus);
  }

  std::string counted(const GpuRange& gpus) {
    nvml_.set(parts_ + "GPU-aa1 A100 0 -\nGPU-bb1 " + kind_of_second_ + " 0 -\nGPU-bb2 A100 0 -\n" + behind_);
    GpuEnergyMeter meter = this->meter(gpus);
    nvml_.set(parts_ + "GPU-aa1 A100 1000 -\nGPU-bb1 " + kind_of_second_ + " 10000 -\nGPU-bb2 A100 100000 -\n" +
              behind_);
    const std::optional<double> joules = meter.joules();
    if (!joules) return "unknown";
    std::string letters;
    auto left = static_cast<int>(*joules);
    for (const char* letter : {"a", "b", "c"}) {
      if (left % 10 > 0) letters += std::to_string(left % 10) + letter;
      left /= 10;
    }
    return letters;
  }

  FakeNvml nvml_;
  std::string parts_;
  std::string behind_;
  std::string kind_of_second_ = "A100";
  double now_ = 100;
};

TEST_F(GpuEnergyMeterTest, AddsTheCountersOfItsCards) {
  nvml_.set("GPU-a A100 7000 300000\nGPU-b A100 20000 300000\n");
  GpuEnergyMeter both = meter();
  GpuEnergyMeter second = meter({.first = 1, .count = 1});
  EXPECT_EQ(both.without_counter(), 0);
  EXPECT_DOUBLE_EQ(both.joules().value(), 0);
  nvml_.set("GPU-a A100 7500 300000\nGPU-b A100 23000 300000\n");
  EXPECT_DOUBLE_EQ(both.joules().value(), 3.5);
  EXPECT_DOUBLE_EQ(second.joules().value(), 3);
  nvml_.set("GPU-a A100 7500 300000\nGPU-b A100 2000 300000\n");
  EXPECT_DOUBLE_EQ(both.joules().value(), 5.5) << "a counter that began again";
  nvml_.set("GPU-a A100 - 300000\nGPU-b A100 2250 300000\n");
  EXPECT_DOUBLE_EQ(both.joules().value(), 5.75) << "one does not answer for a while";
}

TEST_F(GpuEnergyMeterTest, IntegratesThePowerOfACardWithoutCounter) {
  nvml_.set("GPU-a K80 - 100000\nGPU-b A100 1000 999\n");
  GpuEnergyMeter meter = this->meter();
  EXPECT_EQ(meter.without_counter(), 1);
  nvml_.set("GPU-a K80 - 300000\nGPU-b A100 1000 999\n");
  now_ += 10;
  meter.look();
  nvml_.set("GPU-a K80 - 900000\nGPU-b A100 1000 999\n");
  now_ += 0.5;
  meter.look();  // too soon: it asks nothing
  nvml_.set("GPU-a K80 - 200000\nGPU-b A100 3000 999\n");
  now_ += 1.5;
  EXPECT_DOUBLE_EQ(meter.joules().value(), 10 * (100 + 300) / 2.0 + 2 * (300 + 200) / 2.0 + 2);
  nvml_.set("GPU-a K80 - -\nGPU-b A100 3000 999\n");
  now_ += 1;
  EXPECT_DOUBLE_EQ(meter.joules().value(), 2000 + 500 + 2 + 200) << "the last power that it told";
}

TEST_F(GpuEnergyMeterTest, SaysNothingWithoutALibraryADriverOrACard) {
  nvml_.set("GPU-a A100 7000 300000\n");
  const GpuRange all{.first = 0, .count = GpuRange::kAll};
  EXPECT_TRUE(meter().joules());
  EXPECT_FALSE(GpuEnergyMeter(all, "libno-such-library.so.1").joules());
  EXPECT_FALSE(GpuEnergyMeter(all, "libz.so.1").joules()) << "another library";
  EXPECT_FALSE(meter({}).joules()) << "a run on the processor";
  EXPECT_FALSE(meter({.first = 1, .count = 1}).joules());
  nvml_.set("GPU-a A100 7000 300000\nGPU-b A100 - -\n");
  EXPECT_TRUE(meter({.first = 0, .count = 1}).joules());
  EXPECT_FALSE(meter().joules()) << "one card alone is not the energy of both";
  nvml_.unload_driver();
  EXPECT_FALSE(meter().joules());
}

TEST_F(GpuEnergyMeterTest, ClosesTheLibrary) {
  void* library = ::dlopen(XLM_FAKE_NVML_LIBRARY, RTLD_NOW);
  ASSERT_NE(library, nullptr);
  const auto open_sessions = reinterpret_cast<int (*)()>(::dlsym(library, "fake_nvml_open_sessions"));
  const int before = open_sessions();
  nvml_.set("GPU-a A100 7000 300000\n");
  {
    GpuEnergyMeter meter = this->meter();
    EXPECT_EQ(open_sessions(), before + 1);
  }
  EXPECT_EQ(open_sessions(), before);
  ::dlclose(library);
}

TEST_F(GpuEnergyMeterTest, CardsAreThoseThatCudaShows) {
  EXPECT_EQ(counted(GpuRange{.first = 0, .count = GpuRange::kAll}), "1a1b1c");
  EXPECT_EQ(counted(GpuRange{.first = 1, .count = 2}), "1b1c");
  EXPECT_EQ(counted("2,0"), "1a1c");
  EXPECT_EQ(counted("2,0", {.first = 0, .count = 1}), "1c");
  EXPECT_EQ(counted("2,0", {.first = 1, .count = 1}), "1a");
  EXPECT_EQ(counted(""), "unknown");
  EXPECT_EQ(counted("-1,0"), "unknown");
  EXPECT_EQ(counted("1,-1,0"), "1b");
  EXPECT_EQ(counted("1,7,0"), "1b");
  EXPECT_EQ(counted("GPU-bb2"), "1c");
  EXPECT_EQ(counted("GPU-a,GPU-bb1"), "1a1b");
  EXPECT_EQ(counted("GPU-b"), "unknown") << "two cards begin with it";
  EXPECT_EQ(counted("GPU-x,GPU-a"), "unknown");
  behind_ = "MIG-11 GPU-bb1\nMIG-12 GPU-bb1\n";
  EXPECT_EQ(counted("MIG-12"), "1b");
  EXPECT_EQ(counted("MIG-11,MIG-12"), "1b") << "two parts of one card";
  EXPECT_EQ(counted("MIG-13"), "unknown");
  EXPECT_EQ(counted("MIG-GPU-bb2/1/0"), "1c");
}

TEST_F(GpuEnergyMeterTest, NumbersOfCardsOfSeveralKindsNeedTheOrderOfTheBus) {
  kind_of_second_ = "T4";
  EXPECT_EQ(counted("1"), "unknown") << "CUDA counts the fastest first";
  EXPECT_EQ(counted("GPU-bb1"), "1b");
  EXPECT_EQ(counted("2,1,0"), "1a1b1c") << "all of them, in any order";
  ::setenv("CUDA_DEVICE_ORDER", "FASTEST_FIRST", 1);
  EXPECT_EQ(counted("1"), "unknown");
  ::setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 1);
  EXPECT_EQ(counted("1"), "1b");
}

TEST_F(GpuEnergyMeterTest, ACardThatIsHiddenFromTheProcessHasNoNumber) {
  parts_ = "hidden\n";
  EXPECT_EQ(counted(GpuRange{.first = 0, .count = 1}), "1a");
  EXPECT_EQ(counted("0"), "1a");
  EXPECT_EQ(counted("2"), "1c");
  EXPECT_EQ(counted("3"), "unknown");
}

TEST(GpusFrom, IsTheDeviceAndThoseBehindIt) {
  const auto range = [](const std::string& device, std::int64_t count) {
    const GpuRange gpus = gpus_from(device, count);
    return std::pair(gpus.first, gpus.count);
  };
  EXPECT_EQ(range("cpu", 4), std::pair(std::int64_t{0}, std::int64_t{0}));
  EXPECT_EQ(range("cuda", 4), std::pair(std::int64_t{0}, std::int64_t{4}));
  EXPECT_EQ(range("cuda:3", 1), std::pair(std::int64_t{3}, std::int64_t{1}));
}

}  // namespace
}  // namespace xlm
