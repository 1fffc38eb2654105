// Merges runs of several folders: which of two copies is kept, and what other processes do to them meanwhile.
#include "experiments/collections/run_merge.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <future>
#include <utility>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/error.h"
#include "experiments/runs/live_run.h"
#include "experiments/runs/run_lock.h"
#include "experiments/runs/stop_request.h"
#include "experiments/runs/wanted_evaluations.h"
#include "tests/experiments/collections/run_merge_fixture.h"

namespace xlm {

/// Called with a path before it is renamed, to do what another process may do just then.
std::function<void(const fs::path& from)>& before_rename() {
  static std::function<void(const fs::path& from)> before;
  return before;
}

}  // namespace xlm

extern "C" int rename(const char* from, const char* to) noexcept {
  if (const std::function<void(const xlm::fs::path&)> before = xlm::before_rename()) before(from);
  return static_cast<int>(::syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to));
}

namespace xlm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(RunMergeTest, TakesWhatIsMissingAndTheSecondTimeNothing) {
  const fs::path one = make_run("a", 1);
  const fs::path two = make_run("a", 2);
  train(one, 3);
  create_folders(one / "model");
  write_file(one / "model" / "model.safetensors", "weights");
  { const RunLock lock(one); }  // leaves a released lock behind
  MergeSettings dry;
  dry.dry_run = true;
  EXPECT_THAT(merge("a", "b", dry), ElementsAre(MergeOutcome::kAdded, MergeOutcome::kAdded));
  EXPECT_FALSE(fs::exists(place("b")));
  EXPECT_THAT(merge("a", "b"), ElementsAre(MergeOutcome::kAdded, MergeOutcome::kAdded));
  EXPECT_EQ(content("a"), content("b"));
  EXPECT_FALSE(fs::exists(place("b") / one.filename() / "lock.1"));
  EXPECT_THAT(merge("a", "b"), ElementsAre(MergeOutcome::kSame, MergeOutcome::kSame));
  EXPECT_EQ(content("a"), content("b"));
}

TEST_F(RunMergeTest, TheRunThatCameFurtherIsKeptInEitherDirection) {
  const fs::path here = make_run("a", 1);
  train(here, 3);
  copy(place("a"), place("b"));
  const fs::path there = place("b") / here.filename();
  for (int step = 4; step <= 10; ++step) add(there, "metric", {{"step", step}, {"values", {{"bpc", 2.4}}}});
  finish(there, 2.25);
  create_folders(there / "model");
  write_file(there / "model" / "model.safetensors", "weights");
  copy(place("a"), place("a2"));
  copy(place("b"), place("b2"));
  EXPECT_THAT(merge("b", "a"), ElementsAre(MergeOutcome::kUpdated));
  EXPECT_EQ(content("a"), content("b"));
  EXPECT_EQ(read_live_run(here).status, RunStatus::kDone);
  EXPECT_GT(RunLock(here).token(), 1) << "tokens go on where they were";
  EXPECT_THAT(merge("a2", "b2"), ElementsAre(MergeOutcome::kSame));
  EXPECT_EQ(content("b2"), content("b"));
}

TEST_F(RunMergeTest, OfTwoCopiesThatContinuedTheFinishedOneIsKeptWithAllExperiments) {
  const fs::path here = make_run("a", 1, "mine");
  const fs::path there = make_run("b", 1, "theirs");
  train(here, 8);
  train(there, 10);
  finish(there, 2.25);
  copy(place("a"), place("a2"));
  copy(place("b"), place("b2"));
  EXPECT_THAT(merge("b", "a"), ElementsAre(MergeOutcome::kUpdated));
  EXPECT_THAT(merge("a2", "b2"), ElementsAre(MergeOutcome::kUpdated)) << "it belongs to one more experiment";
  EXPECT_EQ(journal(here), journal(place("b2") / here.filename()));
  EXPECT_EQ(read_run(here).status, RunStatus::kDone);
  EXPECT_THAT(read_run(here).experiments, ElementsAre("mine", "theirs"));
  EXPECT_THAT(merge("b", "a"), ElementsAre(MergeOutcome::kSame));
}

TEST_F(RunMergeTest, EvaluationsThatWereMadeInBothPlacesAreUnited) {
  const fs::path here = make_run("a", 1);
  train(here, 10);
  finish(here, 2.25);
  copy(place("a"), place("b"));
  const fs::path there = place("b") / here.filename();
  evaluate(here, "test", 2.1, {{"eval.batch", 3}});
  evaluate(there, "valid", 2.2, {{"eval.batch", 5}});
  evaluate(here, "valid", 2.3, {{"eval.batch", 3}});
  add(here, "costs", {{"values", {{"params", 12}}}});  // as the first evaluation may say them
  copy(place("a"), place("a2"));
  EXPECT_THAT(merge("b", "a"), ElementsAre(MergeOutcome::kUpdated));
  EXPECT_THAT(merge("a2", "b"), ElementsAre(MergeOutcome::kUpdated));
  EXPECT_EQ(journal(here), journal(there));
  EXPECT_EQ(read_run(here).evaluations.size(), 4U);
  EXPECT_EQ(read_run(here).malformed, 0);
  EXPECT_THAT(merge("b", "a"), ElementsAre(MergeOutcome::kSame));
}

TEST_F(RunMergeTest, RemarksThatWereMadeInBothPlacesAreUnited) {
  const fs::path here = make_run("a", 1);
  train(here, 10);
  finish(here, 2.25);
  copy(place("a"), place("b"));
  const fs::path there = place("b") / here.filename();
  add(here, "remark", {{"tag", "paper"}, {"given", true}}, 0);
  add(there, "remark", {{"bad", "wrong corpus"}}, 0);
  add(here, "remark", {{"bad", ""}}, 0);
  copy(place("a"), place("a2"));
  EXPECT_THAT(merge("b", "a"), ElementsAre(MergeOutcome::kUpdated));
  EXPECT_THAT(merge("a2", "b"), ElementsAre(MergeOutcome::kUpdated));
  EXPECT_EQ(journal(here), journal(there));
  EXPECT_THAT(read_run(there).tags, ElementsAre("paper"));
  EXPECT_EQ(read_run(there).bad, "") << "it was marked before it was marked as good again";
  EXPECT_THAT(merge("b", "a"), ElementsAre(MergeOutcome::kSame));
}

TEST_F(RunMergeTest, TheNewestRemarkIsThatWhichCameLastWhateverTheClocksSay) {
  const fs::path here = make_run("a", 1);
  train(here, 10);
  finish(here, 2.25);
  now_ += 86400;
  add(here, "remark", {{"note", "of a machine whose clock is ahead"}}, 0);
  now_ -= 86400;
  copy(place("a"), place("b"));
  const fs::path there = place("b") / here.filename();
  add(there, "remark", {{"note", "made later"}}, 0);
  EXPECT_THAT(merge("b", "a"), ElementsAre(MergeOutcome::kUpdated));
  EXPECT_EQ(read_run(there).note, "made later");
  EXPECT_EQ(read_run(here).note, "made later");
}

TEST_F(RunMergeTest, RemarksAreKeptWhicheverRunIsTaken) {
  const fs::path here = make_run("a", 1);
  copy(place("a"), place("b"));
  const fs::path there = place("b") / here.filename();
  train(here, 5);
  add(here, "remark", {{"note", "stopped for maintenance"}}, 0);
  train(there, 10);
  finish(there, 2.25);
  EXPECT_THAT(merge("b", "a"), ElementsAre(MergeOutcome::kUpdated));
  EXPECT_EQ(read_run(here).status, RunStatus::kDone);
  EXPECT_EQ(read_run(here).note, "stopped for maintenance");
  EXPECT_EQ(read_run(here).malformed, 0);
  EXPECT_THAT(merge("b", "a"), ElementsAre(MergeOutcome::kSame));
}

TEST_F(RunMergeTest, AConflictTouchesNeither) {
  const auto [here, there] = done_in_both(2.25, 2.26);
  const auto before = std::pair(content("a"), content("b"));
  MergeSettings moving;
  moving.how = MergeHow::kMove;
  EXPECT_THAT(merge("b", "a", moving), ElementsAre(MergeOutcome::kConflict));
  EXPECT_THAT(merge("a", "b"), ElementsAre(MergeOutcome::kConflict));
  EXPECT_EQ(std::pair(content("a"), content("b")), before);
}

TEST_F(RunMergeTest, DoneTwiceWithTheSameResultsIsNoConflict) {
  const auto [here, there] = done_in_both(2.25, 2.25);
  const auto before = content("a");
  EXPECT_THAT(merge("b", "a"), ElementsAre(MergeOutcome::kDoneTwice));
  EXPECT_EQ(content("a"), before);
  add_model(there, "weights");
  EXPECT_THAT(merge("b", "a"), ElementsAre(MergeOutcome::kDoneTwice));
  EXPECT_EQ(model_of(here), "weights");
}

TEST_F(RunMergeTest, OtherNumbersOfTrainingAreOtherResults) {
  const fs::path here = make_run("a", 1);
  copy(place("a"), place("b"));
  const fs::path there = place("b") / here.filename();
  for (const fs::path& run : {here, there}) {
    train(run, 10);
    add(run, "metric", {{"step", 7}, {"values", {{"bpc", run == here ? 2.4 : 2.41}}}});
    add(run, "metric", {{"step", 11}, {"values", {{"tokens_per_second", run == here ? 5 : 6}}}});
    if (run == there) add(run, "metric", {{"step", 12}, {"values", {{"bpc", 2.41}}}});
    finish(run, 2.25);
  }
  EXPECT_THAT(merge("b", "a"), ElementsAre(MergeOutcome::kConflict));
  add(here, "metric", {{"step", 7}, {"values", {{"bpc", 2.41}}}});
  EXPECT_THAT(merge("b", "a"), ElementsAre(MergeOutcome::kDoneTwice)) << "neither speed nor how often it is told";
}

TEST_F(RunMergeTest, EvaluationsOfARunThatWasDoneTwiceAreUnited) {
  const auto [here, there] = done_in_both(2.25, 2.25);
  evaluate(here, "test", 2.1, {{"eval.batch", 3}});
  evaluate(there, "test", 2.1, {{"eval.batch", 3}});
  evaluate(there, "test", 2.2, {{"eval.batch", 5}});
  const Json of_no_run = {{"type", "evaluation"},
                          {"time", 1e4},
                          {"step", 10},
                          {"split", "test"},
                          {"final", true},
                          {"loss", 1.0},
                          {"values", {{"bpc", 9.0}}},
                          {"settings", {{"eval.batch", 7}}}};
  std::string damaged = journal_line(of_no_run);
  damaged.replace(damaged.find("9.0"), 3, "8.0");
  AppendFile(RunPaths{there}.journal()).append(damaged);
  EXPECT_THAT(merge("b", "a"), ElementsAre(MergeOutcome::kDoneTwice));
  EXPECT_EQ(read_run(here).evaluations.size(), 3U);
  EXPECT_EQ(read_run(here).malformed, 0);
  const auto before = content("a");
  EXPECT_THAT(merge("b", "a"), ElementsAre(MergeOutcome::kDoneTwice));
  EXPECT_EQ(content("a"), before);
  evaluate(there, "test", 2.3, {{"eval.batch", 3}});
  EXPECT_THAT(merge("b", "a"), ElementsAre(MergeOutcome::kConflict)) << "one of them is another number";
}

TEST_F(RunMergeTest, RunsWithAWorkerAreLeftOut) {
  const fs::path there = make_run("b", 1);
  {
    const RunLock lock(there);
    EXPECT_THAT(merge("b", "a"), ElementsAre(MergeOutcome::kRunning));
    EXPECT_TRUE(find_run_folders(place("a")).empty());
  }
  EXPECT_THAT(merge("b", "a"), ElementsAre(MergeOutcome::kAdded));
  train(there, 3);
  const RunLock lock(place("a") / there.filename());
  EXPECT_THAT(merge("b", "a"), ElementsAre(MergeOutcome::kRunning));
}

// Evaluations, submissions and requests to stop take no lock. Here they come after all files are copied.
TEST_F(RunMergeTest, WhatIsAddedWhileItIsMergedIsKept) {
  for (const bool done : {true, false}) {
    const std::string a = done ? "a1" : "a2";
    const std::string b = done ? "b1" : "b2";
    const fs::path there = make_run(b, 1);
    train(there, 10);
    copy(place(b), place(a));
    const fs::path here = place(a) / there.filename();
    for (const fs::path& run : {here, there}) {
      if (done) finish(run, 2.25);
    }
    if (done) write_file(RunPaths{there}.journal(), journal(here));
    for (int i = 0; i < 3; ++i) {
      done ? evaluate(there, "valid", 2.2, {{"eval.batch", i}})
           : add(there, "metric", {{"step", 11 + i}, {"values", {{"bpc", 2.4}}}});
    }
    int calls = 0;
    MergeSettings settings;
    settings.should_stop = [&] {
      if (++calls != 2) return false;  // before the run, then before its files are put in place
      if (done) evaluate(here, "test", 2.1, {{"eval.batch", 7}});
      want(RunPaths{here}, {{.split = "valid", .changes = {{"eval.batch", 9}}}});
      add(here, "experiment", {{"name", "late"}});
      request_stop(here);
      return false;
    };
    EXPECT_THAT(merge(b, a, settings), ElementsAre(MergeOutcome::kUpdated));
    const xlm::Run run = read_run(here);
    EXPECT_EQ(run.step, done ? 10 : 13);
    EXPECT_EQ(run.evaluations.size(), done ? 5U : 0U);
    EXPECT_EQ(run.wanted.size(), 1U);
    EXPECT_THAT(run.experiments, ElementsAre("late", "one"));
    EXPECT_TRUE(is_stop_requested(here));
    EXPECT_THAT(merge(b, a), ElementsAre(MergeOutcome::kSame));
  }
}

/// Adds to a journal on another thread, like evaluations and submissions, before a file or folder of that name is
/// renamed. The rename waits until that is done, or until it waits itself.
class LateRecord {
 public:
  LateRecord(std::string name, fs::path run) : name_(std::move(name)), run_(std::move(run)) {
    before_rename() = [this](const fs::path& from) {
      if (from.filename() != name_) return;
      before_rename() = nullptr;
      writer_ = std::async(std::launch::async, [this] {
        Journal(RunPaths{run_}.journal()).append("experiment", {{"name", "late"}}, true);
      });
      writer_.wait_for(std::chrono::milliseconds(300));
    };
  }
  LateRecord(const LateRecord&) = delete;
  LateRecord& operator=(const LateRecord&) = delete;
  ~LateRecord() { before_rename() = nullptr; }

  /// Throws what adding threw.
  void finish() { writer_.get(); }

 private:
  std::string name_;
  fs::path run_;
  std::future<void> writer_;
};

TEST_F(RunMergeTest, WhatIsAddedJustWhenTheJournalIsReplacedIsKept) {
  const fs::path there = make_run("b", 1);
  train(there, 10);
  copy(place("b"), place("a"));
  const fs::path here = place("a") / there.filename();
  finish(there, 2.25);
  LateRecord late("journal.jsonl", here);
  EXPECT_THAT(merge("b", "a"), ElementsAre(MergeOutcome::kUpdated));
  late.finish();
  EXPECT_THAT(read_run(here).experiments, ElementsAre("late", "one"));
  EXPECT_EQ(read_run(here).status, RunStatus::kDone);
}

// A process that is too late for a run that was moved away gets an error.
TEST_F(RunMergeTest, WhatIsAddedJustWhenARunIsRemovedIsReported) {
  const fs::path there = make_run("b", 1);
  train(there, 10);
  copy(place("b"), place("a"));
  MergeSettings settings;
  settings.how = MergeHow::kMove;
  LateRecord late(there.filename().string(), there);
  EXPECT_THAT(merge("b", "a", settings), ElementsAre(MergeOutcome::kSame));
  EXPECT_FALSE(fs::exists(there));
  EXPECT_THROW(late.finish(), DataError);
}

TEST_F(RunMergeTest, AJournalThatIsWrittenToAgainAndAgainIsLeftAlone) {
  const fs::path there = make_run("b", 1);
  train(there, 10);
  finish(there, 2.25);
  copy(place("b"), place("a"));
  const fs::path here = place("a") / there.filename();
  evaluate(there, "valid", 2.2, {{"eval.batch", 5}});
  add_model(there, "weights");
  MergeSettings settings;
  settings.how = MergeHow::kMove;
  int calls = 0;
  settings.should_stop = [&] {
    evaluate(here, "test", 2.1, {{"eval.batch", ++calls}});
    return false;
  };
  const std::vector<MergedRun> merged = merge_runs(find_run_folders(place("b")), place("a"), settings);
  EXPECT_EQ(merged.front().outcome, MergeOutcome::kRunning);
  EXPECT_THAT(merged.front().note, HasSubstr("merge again"));
  EXPECT_EQ(read_run(here).evaluations.size(), static_cast<std::size_t>(calls) + 1);
  EXPECT_TRUE(fs::exists(there));
  EXPECT_FALSE(fs::exists(here / "model"));
  EXPECT_FALSE(has_live_worker(here));
}

TEST_F(RunMergeTest, AStoppedMergeLeavesTheRunAsItWas) {
  const fs::path there = make_run("b", 1);
  train(there, 10);
  copy(place("b"), place("a"));
  finish(there, 2.25);
  add_model(there, "weights");
  const auto before = content("a");
  MergeSettings settings;
  int calls = 0;
  settings.should_stop = [&] { return ++calls == 2; };
  EXPECT_THAT(merge("b", "a", settings), ElementsAre(MergeOutcome::kUnfinished));
  EXPECT_EQ(content("a"), before);
}

// The requests for a run do not depend on its course.
TEST_F(RunMergeTest, EvaluationsThatAreWantedAreKeptWhicheverRunIsTaken) {
  const fs::path here = make_run("a", 1);
  const fs::path there = make_run("b", 1);
  train(here, 8);
  train(there, 10);
  finish(there, 2.25);
  want(RunPaths{here}, {{.split = "valid", .changes = {{"eval.batch", 3}}}});
  copy(place("a"), place("a2"));
  copy(place("b"), place("b2"));
  EXPECT_THAT(merge("b", "a"), ElementsAre(MergeOutcome::kUpdated));
  EXPECT_THAT(merge("a2", "b2"), ElementsAre(MergeOutcome::kUpdated));
  EXPECT_EQ(journal(here), journal(place("b2") / here.filename()));
  EXPECT_EQ(read_run(here).wanted.size(), 1U);
  EXPECT_EQ(read_run(here).status, RunStatus::kDone);
  EXPECT_THAT(merge("a2", "a"), ElementsAre(MergeOutcome::kSame));
}

TEST_F(RunMergeTest, WhateverTheOrderTheUnionIsTheSame) {
  // Three folders: a run in only one of them, one that has come differently far in each, and one with two ends.
  for (int owner = 1; owner <= 3; ++owner) {
    const std::string runs = fmt::format("m{}", owner);
    train(make_run(runs, owner), owner);
    train(make_run(runs, 10, runs), 2 * owner);
    const fs::path done = make_run(runs, 11);
    train(done, 10);
    if (owner != 2) finish(done, 2.25 + (owner == 1 ? 0.0 : 0.5));
  }
  const auto united = [&](const std::vector<int>& order, const std::string& name) {
    for (const int owner : order) merge(fmt::format("m{}", owner), name);
    for (const int owner : order) merge(fmt::format("m{}", owner), name);
    auto all = content(name);
    std::erase_if(all, [](const auto& file) { return file.first.find("environment") != std::string::npos; });
    return all;
  };
  const auto first = united({1, 2, 3}, "u123");
  EXPECT_EQ(find_run_folders(place("u123")).size(), 5U);
  EXPECT_EQ(united({1, 3, 2}, "u132"), first);
  EXPECT_EQ(united({2, 1, 3}, "u213"), first);
}

}  // namespace
}  // namespace xlm
