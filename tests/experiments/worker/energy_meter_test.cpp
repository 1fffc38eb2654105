// Counters of energy as Linux shows them.
#include "experiments/worker/energy_meter.h"

#include <gtest/gtest.h>

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
  EnergyMeter meter(folder.path());
  EXPECT_DOUBLE_EQ(meter.joules().value(), 0);
  set("intel-rapl:0", "1000000");
  set("intel-rapl:1", "700000");
  set("intel-rapl:0:0", "5000000");
  EXPECT_DOUBLE_EQ(meter.joules().value(), 2.2);
  set("intel-rapl:0", "1500000");
  EXPECT_DOUBLE_EQ(meter.joules().value(), 2.7);
}

TEST(EnergyMeterTest, SaysNothingWithoutReadableCounters) {
  const TemporaryFolder folder;
  EXPECT_FALSE(EnergyMeter(folder.path()).joules());
  EXPECT_FALSE(EnergyMeter(folder.path() / "absent").joules());
  create_folders(folder.path() / "intel-rapl:0");
  write_file(folder.path() / "intel-rapl:0" / "energy_uj", "many\n");
  EXPECT_FALSE(EnergyMeter(folder.path()).joules());
}

}  // namespace
}  // namespace xlm
