// Many workers at once on one list of runs: one of them claims each run, and a claim needs the same number of file
// system calls for any length of the list.
#include <gmock/gmock.h>

#include <memory>

#include "base/json.h"
#include "results/run_folder/journal.h"
#include "tests/campaigns/campaign.h"

namespace xlm {
namespace {

class ManyWorkersTest : public Campaign {
 protected:
  /// Queues so many short runs and returns the work list.
  std::string queue_runs(int count) {
    std::string seeds;
    for (int seed = 1; seed <= count; ++seed) seeds += (seed > 1 ? ", " : "") + std::to_string(seed);
    write_sweep("sweep: {grid: {seed: [" + seeds + "]}}\n");
    const ProgramResult queued = run({"sweep", "sweep.yaml", "--launcher", "manual", "train.steps=2", "--json"});
    EXPECT_EQ(queued.code, 0) << queued.err;
    return Json::parse(queued.out)["list"].get<std::string>();
  }

  /// How often workers began the run, and whether it is done.
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

  struct Calls {
    double changes = 0;  // calls that change files
    double looks = 0;    // calls that open files to read them, or look at files and folders
  };

  /// Calls per run while so many workers do so many runs at once.
  Calls calls_per_run(int count, int workers) {
    fs::remove_all(runs_);
    const std::string list = queue_runs(count);
    const fs::path changes = folder_.path() / "calls.changes";
    const fs::path looks = folder_.path() / "calls.looks";
    for (const fs::path& log : {changes, looks}) fs::remove(log);
    const ProgramResult done = shell(
        folder_.path(), fmt::format("export {} XLM_FAULT_FOLDER='{}' XLM_FAULT_LOG='{}' XLM_LOOK_LOG='{}'\n"
                                    "for i in $(seq {}); do '{}' worker --quiet --sweep '{}' & all=\"$all $!\"; done\n"
                                    "for each in $all; do wait $each || exit 1; done",
                                    preload(), folder_.path().string(), changes.string(), looks.string(), workers,
                                    XLM_FAKE_BINARY, list));
    EXPECT_EQ(done.code, 0) << done.err;
    EXPECT_EQ(run_folders().size(), static_cast<std::size_t>(count));
    for (const fs::path& folder : run_folders()) EXPECT_TRUE(begun_and_done(folder).second) << folder;
    const auto lines = [&](const fs::path& log) {
      const std::string text = read_file(log);
      return static_cast<double>(std::count(text.begin(), text.end(), '\n')) / count;
    };
    return {.changes = lines(changes), .looks = lines(looks)};
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

TEST_F(ManyWorkersTest, AClaimCostsTheSameForAnyNumberOfRuns) {
  const Calls few = calls_per_run(10, 1);
  const Calls many = calls_per_run(30, 1);
  EXPECT_NEAR(few.changes, many.changes, 2);
  EXPECT_LT(many.changes, 120);
  EXPECT_NEAR(few.looks, many.looks, 20);
  EXPECT_LT(many.looks, 150);
  report(
      fmt::format("many workers: {:.0f} calls that change files for each run, its training among them, and {:.0f} "
                  "that look at them",
                  many.changes, many.looks));
}

TEST_F(ManyWorkersTest, AClaimAmongManyWorkersCostsTheSameForAnyNumberOfRuns) {
  const Calls few = calls_per_run(24, 8);
  const Calls many = calls_per_run(96, 8);
  EXPECT_LT(many.changes, 120);
  EXPECT_LT(many.looks, 1.2 * few.looks) << "each worker looks at each run once or twice, not at every claim";
  EXPECT_LT(many.looks, 300);
  report(fmt::format("many workers: with 8 at once {:.0f} calls that change files for each run and {:.0f} that look",
                     many.changes, many.looks));
}

}  // namespace
}  // namespace xlm
