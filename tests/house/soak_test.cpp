// scripts/soak.sh: which campaigns it runs, and how it reports those that it cannot run.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// A checkout with stand-ins for the campaigns, which print their arguments. Of this machine's programs the script sees
/// only those that every machine has.
class Soak : public ::testing::Test {
 protected:
  Soak() {
    program("xlm/scripts/fuzz.sh", "echo fuzzed for $XLM_FUZZ_SECONDS");
    program("xlm/scripts/soak_corpora.sh", "echo corpora of $1");
    program("xlm/scripts/trained_numbers.sh", "echo trained numbers of $1");
    program("xlm/build/bin/test_pipeline", "echo pipeline $1, kills \"[$XLM_KILLS]\", campaigns \"[$XLM_CAMPAIGNS]\"");
    program("xlm/build/bin/test_results", "echo results $1, simulations \"[$XLM_SIMULATIONS]\"");
    program("bin/id", "echo 1000");
    for (const char* name : {"bash", "dirname", "mktemp", "rm", "sed", "tee"}) {
      const fs::path usual = fs::path("/usr/bin") / name;
      fs::create_symlink(fs::exists(usual) ? usual : fs::path("/bin") / name, folder_.path() / "bin" / name);
    }
    campaigns_say("");
    fs::copy_file(fs::path(XLM_SOURCE_DIR) / "scripts/soak.sh", folder_.path() / "xlm/scripts/soak.sh");
  }

  void program(const std::string& name, const std::string& lines) {
    const fs::path file = folder_.path() / name;
    fs::create_directories(file.parent_path());
    write_file(file, "#!/bin/sh\n" + lines + "\n");
    fs::permissions(file, fs::perms::owner_all);
  }

  void campaigns_say(const std::string& lines) {
    program("xlm/build/bin/test_campaigns", "echo campaigns $XLM_CAMPAIGNS, Slurm by \"[$XLM_TEST_SLURM]\"\n" + lines);
  }

  /// Makes the programs of Slurm look installed, for root.
  void install_slurm() {
    for (const char* name : {"slurmctld", "slurmd", "munged"}) program(std::string("bin/") + name, "");
    program("bin/id", "echo 0");
  }

  int soak(const std::string& settings = "XLM_TEST_SLURM=") {
    const std::string place = folder_.path().string();
    const std::string command = "unset XLM_CAMPAIGNS XLM_KILLS XLM_SIMULATIONS XLM_FUZZ_SECONDS; PATH='" + place +
                                "/bin' " + settings + " bash '" + place + "/xlm/scripts/soak.sh' build >'" + place +
                                "/said' 2>&1";
    const int status = std::system(command.c_str());
    said_ = read_file(folder_.path() / "said");
    return WEXITSTATUS(status);
  }

  TemporaryFolder folder_;
  std::string said_;
};

TEST_F(Soak, StartsTheSlurmNextToTheCheckout) {
  install_slurm();
  EXPECT_EQ(soak(), 0);
  EXPECT_THAT(said_, HasSubstr("campaigns full, Slurm by []\n"));
  program("shared/tools/local-slurm", "");
  EXPECT_EQ(soak(), 0);
  EXPECT_THAT(said_, HasSubstr("/xlm/../shared/tools/local-slurm]\n"));
  EXPECT_THAT(said_, HasSubstr("pipeline --gtest_filter=*Killed*, kills [200], campaigns []\n"
                               "pipeline --gtest_filter=RealDamage.*, kills [], campaigns [full]\n"
                               "trained numbers of build\nresults --gtest_filter=*Simulation.*, simulations [full]\n"
                               "corpora of build\nfuzzed for 300\n"));
  EXPECT_EQ(soak("XLM_TEST_SLURM=/another/slurm"), 0);
  EXPECT_THAT(said_, HasSubstr("Slurm by [/another/slurm]\n"));
}

TEST_F(Soak, RunsOnGpusThatComputeNothingIfTheyAreBuilt) {
  EXPECT_EQ(soak(), 0);
  EXPECT_THAT(said_, HasSubstr("left out (make setup CUDA=1)"));
  program("xlm/build/bin/test_null_cuda", "echo null CUDA, campaigns \"[$XLM_CAMPAIGNS]\"");
  EXPECT_EQ(soak(), 0);
  EXPECT_THAT(said_, HasSubstr("null CUDA, campaigns [full]\ncampaigns full"));
}

TEST_F(Soak, WhatWasSkippedIsNamedAtTheEndAndIsAnError) {
  campaigns_say(
      "echo '[ RUN      ] SlurmTestCampaign.EveryRun'\necho 'slurm.cpp:17: Skipped'\n"
      "echo '[  SKIPPED ] SlurmTestCampaign.EveryRun (1 ms)'\necho '[       OK ] Kills.NothingIsLost (3 ms)'\n"
      "echo '[  SKIPPED ] 1 test, listed below:'\necho '[  SKIPPED ] SlurmTestCampaign.EveryRun'");
  EXPECT_EQ(soak(), 1);
  EXPECT_THAT(said_, ::testing::EndsWith("fuzzed for 300\nsoak: incomplete; skipped, for the reasons "
                                         "above:\n  SlurmTestCampaign.EveryRun\n"));
}

TEST_F(Soak, ACampaignThatFailsEndsIt) {
  campaigns_say("exit 1");
  EXPECT_EQ(soak(), 1);
  EXPECT_THAT(said_, Not(HasSubstr("fuzzed")));
}

TEST_F(Soak, SaysWhatASlurmNextToTheCheckoutNeeds) {
  program("shared/tools/local-slurm", "");
  const auto says_it = [&](const std::string& missing) {
    EXPECT_EQ(soak(), 0);
    EXPECT_THAT(said_, HasSubstr("can start a Slurm for root if slurm-wlm and munge are installed")) << missing;
    EXPECT_THAT(said_, HasSubstr("Slurm by []")) << missing;
  };
  install_slurm();
  program("bin/id", "echo 1000");
  says_it("root");
  for (const char* name : {"slurmctld", "slurmd", "munged"}) {
    install_slurm();
    fs::remove(folder_.path() / "bin" / name);
    says_it(name);
  }
}

}  // namespace
}  // namespace xlm
