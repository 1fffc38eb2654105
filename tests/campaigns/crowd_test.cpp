// Many processes at once on one folder of runs and one store.

#include "tests/campaigns/campaign.h"

namespace xlm {
namespace {

class CrowdTest : public Campaign {};

TEST_F(CrowdTest, SixteenProcessesShareOneFolderAndOneStore) {
  constexpr int kRuns = 12;
  write_sweep("sweep: {grid: {seed: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]}}\n");
  ASSERT_EQ(run({"sweep", "sweep.yaml", "--jobs", "2"}).code, 0);
  const std::string undisturbed = store();
  const int rounds = campaign_size(2, 50);
  for (int round = 0; round < rounds; ++round) {
    fs::remove_all(runs_);
    std::vector<std::unique_ptr<BackgroundProgram>> crowd;
    const auto add = [&](const std::string& arguments, int code) {
      // A command may find no runs yet.
      const std::string line = fmt::format("exec </dev/null; '{}' {}; code=$?; [ $code = 0 ] || [ $code = {} ]",
                                           XLM_FAKE_BINARY, arguments, code);
      crowd.push_back(
          std::make_unique<BackgroundProgram>(std::vector<std::string>{"/bin/sh", "-c", line}, folder_.path()));
    };
    for (int i = 0; i < 6; ++i) add("sweep sweep.yaml --jobs 2", 0);
    for (int i = 0; i < 4; ++i) add("runs sync", kBadData);
    for (int i = 0; i < 2; ++i) add("runs sync --rebuild", kBadData);
    for (int i = 0; i < 2; ++i) add("runs ls --json", 0);
    for (int i = 0; i < 2; ++i) add("pareto --x flops_per_token --y test.bpc", kBadData);
    for (const auto& program : crowd) {
      const ProgramResult result = program->wait();
      EXPECT_EQ(result.code, 0) << result.err;
    }
    expect_all_done(kRuns);
    for (const fs::path& run : run_folders()) EXPECT_EQ(steps(run).size(), 10U) << "done twice: " << run;
    EXPECT_EQ(store(), undisturbed);
    EXPECT_EQ(store(true), undisturbed);
  }
  report(fmt::format("crowds: {} of 16 processes, {} runs each", rounds, kRuns));
}

}  // namespace
}  // namespace xlm
