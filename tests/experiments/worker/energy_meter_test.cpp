// Counters of energy as Linux shows them, and as a stand-in for NVIDIA's library does.
#include "experiments/worker/energy_meter.h"

#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "tests/experiments/worker/fake_nvml.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

TEST(EnergyMeterTest, AddsPackagesAndKnowsThatCountersBeginAgain) {
  const TemporaryFolder folder;
  const auto set = [&](const std::string& name, const std::string& microjoules) {
    create_folders(folder.path() / name);
    write_file(folder.path() / name / "max_energy_range_uj", "10000000\n");
    write_file(folder.path() / name / "energy_uj", microjoules + "\n");
  };
  set("intel-rapl:0", "9000000");
  set("intel-rapl:1", "500000");
  set("intel-rapl:0:0", "0");  // a part of the first
  set("intel-rapl", "0");
  EnergyMeter meter({}, folder.path());
  EXPECT_DOUBLE_EQ(meter.joules().at("energy"), 0);
  set("intel-rapl:0", "1000000");
  set("intel-rapl:1", "700000");
  set("intel-rapl:0:0", "5000000");
  EXPECT_DOUBLE_EQ(meter.joules().at("energy"), 2.2);
  set("intel-rapl:0", "1500000");
  EXPECT_DOUBLE_EQ(meter.joules().at("energy"), 2.7);
}

TEST(EnergyMeterTest, SaysNothingWithoutReadableCounters) {
  const TemporaryFolder folder;
  EXPECT_TRUE(EnergyMeter({}, folder.path()).joules().empty());
  EXPECT_TRUE(EnergyMeter({}, folder.path() / "absent").joules().empty());
  create_folders(folder.path() / "intel-rapl:0");
  write_file(folder.path() / "intel-rapl:0" / "energy_uj", "many\n");
  EXPECT_TRUE(EnergyMeter({}, folder.path()).joules().empty());
}

class EnergyOfCards : public ::testing::Test {
 protected:
  static constexpr GpuRange kAllGpus{.first = 0, .count = GpuRange::kAll};

  static EnergyMeter meter(const GpuRange& gpus = kAllGpus) {
    return EnergyMeter(gpus, "/none", XLM_FAKE_NVML_LIBRARY);
  }

  /// Which of the cards "GPU-a", "GPU-b" and "GPU-c" a meter counts: their letters.
  std::string counted(const std::string& visible, const GpuRange& gpus = kAllGpus) {
    ::setenv("CUDA_VISIBLE_DEVICES", visible.c_str(), 1);
    nvml_.set(hidden_ + "GPU-a A100 0\nGPU-b " + kind_of_second_ + " 0\nGPU-c A100 0\n");
    EnergyMeter meter = this->meter(gpus);
    nvml_.set(hidden_ + "GPU-a A100 1000\nGPU-b " + kind_of_second_ + " 10000\nGPU-c A100 100000\n");
    const NamedValues joules = meter.joules();
    if (joules.empty()) return "unknown";
    std::string letters;
    auto left = static_cast<int>(joules.at("energy_gpu"));
    for (const char* letter : {"a", "b", "c"}) {
      if (left % 10 == 1) letters += letter;
      left /= 10;
    }
    return letters;
  }

  FakeNvml nvml_;
  std::string hidden_;
  std::string kind_of_second_ = "A100";
};

TEST_F(EnergyOfCards, AddsTheirCounters) {
  ::setenv("CUDA_VISIBLE_DEVICES", "0,1", 1);
  nvml_.set("GPU-a A100 7000\nGPU-b A100 20000\n");
  EnergyMeter both = meter();
  EnergyMeter second = meter({.first = 1, .count = 1});
  EXPECT_DOUBLE_EQ(both.joules().at("energy_gpu"), 0);
  nvml_.set("GPU-a A100 7500\nGPU-b A100 23000\n");
  EXPECT_DOUBLE_EQ(both.joules().at("energy_gpu"), 3.5);
  EXPECT_DOUBLE_EQ(second.joules().at("energy_gpu"), 3);
  nvml_.set("GPU-a A100 7500\nGPU-b A100 2000\n");
  EXPECT_DOUBLE_EQ(both.joules().at("energy_gpu"), 5.5) << "a counter that began again";
  nvml_.set("GPU-a A100 -\nGPU-b A100 2250\n");
  EXPECT_DOUBLE_EQ(both.joules().at("energy_gpu"), 5.75) << "one does not answer for a while";
}

TEST_F(EnergyOfCards, AreUnknownWithoutALibraryADriverOrACounter) {
  ::setenv("CUDA_VISIBLE_DEVICES", "0,1", 1);
  nvml_.set("GPU-a A100 7000\nGPU-b A100 1000\n");
  EXPECT_EQ(meter().joules().size(), 1U);
  EXPECT_TRUE(EnergyMeter(kAllGpus, "/none", "libno-such-library.so.1").joules().empty());
  EXPECT_TRUE(EnergyMeter(kAllGpus, "/none", "libz.so.1").joules().empty()) << "another library";
  EXPECT_TRUE(meter({}).joules().empty()) << "a run on the processor";
  EXPECT_TRUE(meter({.first = 2, .count = 1}).joules().empty());
  nvml_.set("GPU-a A100 7000\nGPU-b K80 -\n");
  ::setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 1);
  EXPECT_EQ(meter({.first = 0, .count = 1}).joules().size(), 1U);
  EXPECT_TRUE(meter().joules().empty()) << "one card alone is not the energy of both";
  nvml_.unload_driver();
  EXPECT_TRUE(meter().joules().empty());
}

TEST_F(EnergyOfCards, AreThoseThatCudaShows) {
  EXPECT_EQ(counted("0,1,2"), "abc");
  EXPECT_EQ(counted("0,1,2", {.first = 1, .count = 2}), "bc");
  EXPECT_EQ(counted("2,0"), "ac");
  EXPECT_EQ(counted("2,0", {.first = 0, .count = 1}), "c");
  EXPECT_EQ(counted(""), "unknown");
  EXPECT_EQ(counted("1,-1,0"), "b");
  EXPECT_EQ(counted("GPU-c"), "c");
  EXPECT_EQ(counted("GPU-x,GPU-a"), "unknown");
  hidden_ = "hidden\n";  // a card that this process may not use has no number
  EXPECT_EQ(counted("0"), "a");
  EXPECT_EQ(counted("2"), "c");
  EXPECT_EQ(counted("3"), "unknown");
}

TEST_F(EnergyOfCards, NumbersOfSeveralKindsNeedTheOrderOfTheBus) {
  kind_of_second_ = "T4";
  EXPECT_EQ(counted("1"), "unknown") << "CUDA counts the fastest first";
  EXPECT_EQ(counted("GPU-b"), "b");
  ::setenv("CUDA_DEVICE_ORDER", "FASTEST_FIRST", 1);
  EXPECT_EQ(counted("1"), "unknown");
  ::setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 1);
  EXPECT_EQ(counted("1"), "b");
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
