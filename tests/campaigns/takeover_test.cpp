// A worker is suspended until its lock expires, and one on another machine takes the run over. Clocks disagree.
#include <map>
#include <random>

#include <gmock/gmock.h>

#include "base/json.h"
#include "experiments/runs/run_lock.h"
#include "tests/campaigns/campaign.h"
#include "tests/needs.h"

namespace xlm {
namespace {

class TakeoverTest : public Campaign {
 protected:
  /// For locks, a program in a separate process namespace is on another machine.
  static std::vector<std::string> elsewhere(std::vector<std::string> arguments) {
    const std::vector<std::string> before{"/usr/bin/unshare", "--pid",        "--fork",
                                          "--mount-proc",     "--kill-child", XLM_FAKE_BINARY};
    arguments.insert(arguments.begin(), before.begin(), before.end());
    return arguments;
  }

  static bool is_done_already(const ProgramResult& result) {
    return result.code == 0 && result.err.find("is done already") != std::string::npos;
  }

  bool can_be_elsewhere() const { return shell(folder_.path(), "unshare --pid --fork --mount-proc true").code == 0; }

  /// The files without those that a suspended worker may still finish (docs/reliability.md): hidden files, and the
  /// checkpoint, which is a single file here.
  std::map<std::string, std::string> settled_files() const {
    auto found = files();
    std::erase_if(found, [](const auto& file) {
      return file.first.find("/checkpoints/") != std::string::npos ||
             fs::path(file.first).filename().string()[0] == '.';
    });
    return found;
  }

  std::string with_clock(int seconds_ahead) const {
    return fmt::format("{} XLM_CLOCK_AHEAD={}", preload(), seconds_ahead);
  }
};

TEST_F(TakeoverTest, ASleeperThatWakesChangesNothing) {
  if (!can_be_elsewhere()) GTEST_SKIP() << needs::kRoot;
  ASSERT_EQ(run({"train", "run.yaml"}).code, 0);
  const std::string undisturbed = store();
  order("pace=10");
  std::mt19937 random(11);
  const int wanted = campaign_size(5, 100);
  int taken_over = 0;
  int asleep_writing = 0;
  for (int round = 0; taken_over < wanted; ++round) {
    ASSERT_LT(round, 10 * wanted + 10);
    fs::remove_all(runs_);
    BackgroundProgram sleeper(elsewhere({"train", "run.yaml"}), folder_.path());
    ::usleep(static_cast<useconds_t>(1000 * std::uniform_int_distribution<int>(10, 200)(random)));
    sleeper.kill_group(SIGSTOP);
    if (!fs::exists(runs_) || run_folders().empty() || !has_live_worker(run_folders().front())) {
      sleeper.kill_group(SIGKILL);
      sleeper.wait();
      continue;
    }
    // Its lock is still valid, or it was suspended after the work, before it released the lock.
    const ProgramResult first = run_with("", "train run.yaml");
    EXPECT_TRUE(first.code == 1 || is_done_already(first)) << first.err;
    const ProgramResult second = run_with(with_clock(200), "train run.yaml");
    ASSERT_EQ(second.code, 0) << second.err;
    const std::string records = read_file(run_folders().front() / "journal.jsonl");
    const auto before = settled_files();
    sleeper.kill_group(SIGCONT);
    const ProgramResult woken = sleeper.wait();
    const bool lost = woken.code == 1 && woken.err.find("taken over") != std::string::npos;
    EXPECT_TRUE(lost || is_done_already(woken) || is_done_already(first)) << woken.err;
    EXPECT_EQ(settled_files(), before);
    // If it was suspended between checking the lock and writing a line, the line has an older token and does not count.
    const std::string now = read_file(run_folders().front() / "journal.jsonl");
    ASSERT_TRUE(now.starts_with(records));
    const auto lines = std::count(now.begin() + static_cast<std::ptrdiff_t>(records.size()), now.end(), '\n');
    EXPECT_LE(lines, 1);
    asleep_writing += static_cast<int>(lines);
    EXPECT_EQ(store(), undisturbed);
    EXPECT_EQ(store(true), undisturbed);
    ++taken_over;
  }
  report(fmt::format("takeovers: {}, in {} of them the sleeper wrote one line that does not count", taken_over,
                     asleep_writing));
}

TEST_F(TakeoverTest, WorkersOnTwoMachinesShareAListAndResumeEachOthersRuns) {
  if (shell(folder_.path(), "unshare --pid --uts --fork --mount-proc hostname node-a").code != 0) {
    GTEST_SKIP() << needs::kRoot;
  }
  write_sweep("sweep: {grid: {seed: [1, 2, 3, 4, 5, 6]}}\n");
  ASSERT_EQ(run({"sweep", "sweep.yaml", "--jobs", "2"}).code, 0);
  const std::string undisturbed = store();
  fs::remove_all(runs_);
  const ProgramResult queued = run({"sweep", "sweep.yaml", "--launcher", "manual", "--json"});
  ASSERT_EQ(queued.code, 0) << queued.err;
  const std::string work = fmt::format("exec '{}' worker --quiet --sweep '{}'", XLM_FAKE_BINARY,
                                       Json::parse(queued.out)["list"].get<std::string>());
  write_file(hold(), "");
  BackgroundProgram one(on_machine("node-a", work), folder_.path());
  BackgroundProgram two(on_machine("node-b", work), folder_.path());
  until([&] { return count_running() == 2; });
  std::map<std::string, fs::path> at_work;  // by host
  for (const fs::path& folder : run_folders()) {
    const auto present = read_live_run(folder);
    if (present.status == RunStatus::kRunning) at_work[present.history.back().host] = folder;
  }
  ASSERT_THAT(at_work, testing::ElementsAre(testing::Key("node-a"), testing::Key("node-b")));

  one.kill_group(SIGKILL);  // the machine fails
  one.wait();
  const fs::path& lost = at_work.at("node-a");
  EXPECT_EQ(read_live_run(lost).status, RunStatus::kRunning) << "other machines cannot know yet";
  let_lock_age(lost);
  EXPECT_EQ(read_live_run(lost).status, RunStatus::kStale);
  fs::remove(hold());
  const ProgramResult other = two.wait();
  EXPECT_EQ(other.code, 0) << other.err;
  expect_all_done(6);
  std::vector<std::string> told;
  for (const RunState& state : read_live_run(lost).history)
    told.push_back(state.state + state.cause + " " + state.host);
  EXPECT_THAT(told, testing::ElementsAre("queued ", "running node-a", "queuedgone ", "running node-b", "done "));
  EXPECT_EQ(store(), undisturbed);
  EXPECT_EQ(store(true), undisturbed);
}

TEST_F(TakeoverTest, ClocksThatJumpChangeNothing) {
  write_sweep("sweep: {grid: {seed: [1, 2, 3]}}\n");
  ASSERT_EQ(run({"sweep", "sweep.yaml", "--jobs", "2"}).code, 0);
  const std::string undisturbed = store();
  std::mt19937 random(13);
  const int jumps = campaign_size(4, 60);
  for (int jump = 0; jump < jumps; ++jump) {
    fs::remove_all(runs_);
    for (int part = 0; part < 3; ++part) {  // each attempt has its own clock
      const int ahead = std::uniform_int_distribution<int>(-100'000'000, 100'000'000)(random);
      order(part < 2 ? fmt::format("kill-at={}", 5 + 3 * part) : "");
      const int code = run_with(with_clock(ahead), "sweep sweep.yaml --jobs 2").code;
      EXPECT_EQ(code, part < 2 ? 1 : 0);
    }
    expect_all_done(3);
    EXPECT_EQ(store(), undisturbed);
    EXPECT_EQ(store(true), undisturbed);
  }
  report(fmt::format("clocks: {} sweeps in three parts, up to three years apart", jumps));
}

}  // namespace
}  // namespace xlm
