// Many workers at once on one list of runs: every run is claimed by one of them, and a claim costs the file system the
// same however long the list is.
#include <gmock/gmock.h>

#include <memory>

#include "base/json.h"
#include "results/run_folder/journal.h"
#include "tests/campaigns/campaign.h"

namespace xlm {
namespace {

class ManyWorkersTest : public Campaign {
 protected:
  /// Queues so many short runs and returns the list that workers are given.
  std::string queue_runs(int count) {
    std::string seeds;
    for (int seed = 1; seed <= count; ++seed) seeds += (seed > 1 ? ", " : "") + std::to_string(seed);
    write_sweep("sweep: {grid: {seed: [" + seeds + "]}}\n");
    const ProgramResult queued = run({"sweep", "sweep.yaml", "--launcher", "manual", "train.steps=2", "--json"});
    EXPECT_EQ(queued.code, 0) << queued.err;
    return Json::parse(queued.out)["list"].get<std::string>();
  }

  /// How often workers began the run, and whether it was done in the end.
  static std::pair<std::int64_t, bool> begun_and_done(const fs::path& run) {
    std::int64_t begun = 0;
    std::string last;
    for (const Json& record : read_journal(RunPaths{run}.journal()).records) {
      if (record["type"] != "state") continue;
      last = record["state"].get<std::string>();
      begun += last == "running" ? 1 : 0;
    }
    return {begun, last == "done"};
  }

  /// Calls that change files while one worker does so many runs, for each of them.
  double calls_per_run(int count) {
    fs::remove_all(runs_);
    const std::string list = queue_runs(count);
    const fs::path log = folder_.path() / "calls";
    fs::remove(log);
    const ProgramResult worker = run_with(
        fmt::format("{} XLM_FAULT_FOLDER='{}' XLM_FAULT_LOG='{}'", preload(), folder_.path().string(), log.string()),
        "worker --quiet --sweep '" + list + "'");
    EXPECT_EQ(worker.code, 0) << worker.err;
    const std::string calls = read_file(log);
    return static_cast<double>(std::count(calls.begin(), calls.end(), '\n')) / count;
  }
};

TEST_F(ManyWorkersTest, EveryRunIsClaimedByOneOfThem) {
  const int runs = campaign_size(40, 2000);
  const int workers = campaign_size(8, 64);
  const std::string list = queue_runs(runs);
  std::vector<std::unique_ptr<BackgroundProgram>> started;
  for (int worker = 0; worker < workers; ++worker) {
    started.push_back(std::make_unique<BackgroundProgram>(
        std::vector<std::string>{XLM_FAKE_BINARY, "worker", "--quiet", "--sweep", list}, folder_.path()));
  }
  for (const auto& worker : started) {
    const ProgramResult result = worker->wait();
    EXPECT_EQ(result.code, 0) << result.err;
  }
  std::int64_t doubled = 0;
  std::int64_t lost = 0;
  for (const fs::path& folder : run_folders()) {
    const auto [begun, done] = begun_and_done(folder);
    doubled += begun > 1 || steps(folder).size() > 2 ? 1 : 0;
    lost += done ? 0 : 1;
  }
  EXPECT_EQ(run_folders().size(), static_cast<std::size_t>(runs));
  EXPECT_EQ(doubled, 0);
  EXPECT_EQ(lost, 0);
  const std::string indexed = store();
  EXPECT_EQ(store(true), indexed);
  report(fmt::format("many workers: {} runs by {} workers, {} lost, {} doubled", runs, workers, lost, doubled));
}

TEST_F(ManyWorkersTest, AClaimCostsTheSameHoweverManyRunsThereAre) {
  const double few = calls_per_run(10);
  const double many = calls_per_run(30);
  EXPECT_NEAR(few, many, 2);
  EXPECT_LT(many, 120);
  report(fmt::format("many workers: {:.0f} calls that change files for each run, its training among them", many));
}

}  // namespace
}  // namespace xlm
