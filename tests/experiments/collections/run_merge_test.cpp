// Runs of several folders put together.
#include "experiments/collections/run_merge.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/error.h"
#include "base/text.h"
#include "experiments/collections/run_files.h"
#include "experiments/collections/unpacking.h"
#include "experiments/runs/live_run.h"
#include "experiments/runs/run_lock.h"
#include "experiments/runs/stop_request.h"
#include "experiments/runs/submission.h"
#include "experiments/runs/wanted_evaluations.h"
#include "experiments/sweeps/sweep_plan.h"
#include "results/run_folder/journal.h"
#include "tests/experiments/experiment_files.h"
#include "tests/experiments/program.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

class RunMergeTest : public ::testing::Test {
 protected:
  RunMergeTest() : data_(make_data(folder_.path() / "data")) {}

  fs::path place(const std::string& name) const { return folder_.path() / name; }

  /// A run with that seed in a folder of runs; its state after what `records` say.
  fs::path make_run(const std::string& runs, int seed, const std::string& experiment = "one") {
    const Yaml tree =
        parse_yaml(run_config(data_, fmt::format("experiment: {}\nseed: {}\n", experiment, seed)), "run.yaml");
    const SweepRun run = plan_sweep(tree, place(runs), false).front();
    submit(run.planned);
    return run.planned.paths.folder;
  }

  void add(const fs::path& run, const std::string& type, Json fields, int token = 1) {
    ++now_;
    Journal(
        RunPaths{run}.journal(), [this] { return now_; }, token)
        .append(type, fields);
  }
  void train(const fs::path& run, int steps) {
    add(run, "state", {{"state", "running"}, {"host", "vm"}, {"pid", 1}});
    for (int step = 1; step <= steps; ++step) add(run, "metric", {{"step", step}, {"values", {{"bpc", 2.5}}}});
  }
  void finish(const fs::path& run, double bpc) {
    evaluate(run, "test", bpc, Json::object());
    add(run, "state", {{"state", "done"}});
  }
  void evaluate(const fs::path& run, const std::string& split, double bpc, const Json& settings) {
    add(run, "evaluation",
        {{"step", 10},
         {"split", split},
         {"tokens", 9},
         {"loss", 1.0},
         {"seconds", now_},
         {"final", true},
         {"values", {{"bpc", bpc}}},
         {"settings", settings}});
  }
  static void add_model(const fs::path& run, const std::string& weights) {
    create_folders(run / "model");
    write_file(run / "model" / "model.safetensors", weights);
  }
  static std::string model_of(const fs::path& run) { return read_file(run / "model" / "model.safetensors"); }
  static void add_checkpoint(const fs::path& run, int step) {
    create_folders(run / "checkpoints");
    write_file(run / "checkpoints" / fmt::format("step-{:09}.safetensors", step), fmt::format("checkpoint {}", step));
  }
  static std::vector<std::string> names_in(const fs::path& folder) {
    std::vector<std::string> names;
    if (!fs::exists(folder)) return names;
    for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }
  static void copy(const fs::path& from, const fs::path& to) { fs::copy(from, to, fs::copy_options::recursive); }

  std::vector<MergeOutcome> merge(const std::string& from, const std::string& to, MergeSettings settings = {}) {
    std::vector<MergeOutcome> outcomes;
    for (const MergedRun& run : merge_runs(find_run_folders(place(from)), place(to), settings)) {
      outcomes.push_back(run.outcome);
    }
    return outcomes;
  }

  static std::string journal(const fs::path& run) { return read_file(RunPaths{run}.journal()); }

  /// Every file of a folder of runs but locks, with its bytes.
  std::map<std::string, std::string> content(const std::string& runs) const {
    std::map<std::string, std::string> found;
    for (const fs::path& run : find_run_folders(place(runs))) {
      for (const fs::path& file : run_files(run)) found[(run.filename() / file).string()] = read_file(run / file);
    }
    return found;
  }

  TemporaryFolder folder_;
  fs::path data_;
  double now_ = 100;
};

TEST_F(RunMergeTest, TakesInWhatIsMissingAndTheSecondTimeNothing) {
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

TEST_F(RunMergeTest, ARunThatWasPackedWithoutItsModelGetsIt) {
  const fs::path there = make_run("a", 1);
  train(there, 3);
  finish(there, 2.25);
  ASSERT_THAT(merge("a", "b"), ElementsAre(MergeOutcome::kAdded));
  const fs::path here = place("b") / there.filename();
  create_folders(there / "model");
  write_file(there / "model" / "model.safetensors", "weights");
  MergeSettings dry;
  dry.dry_run = true;
  EXPECT_THAT(merge("a", "b", dry), ElementsAre(MergeOutcome::kUpdated));
  EXPECT_FALSE(fs::exists(here / "model"));
  EXPECT_THAT(merge("a", "b"), ElementsAre(MergeOutcome::kUpdated));
  EXPECT_EQ(content("a"), content("b"));
  write_file(here / "model" / "model.safetensors", "mine");
  EXPECT_THAT(merge("a", "b"), ElementsAre(MergeOutcome::kSame)) << "a model that is there stays";
  EXPECT_EQ(read_file(here / "model" / "model.safetensors"), "mine");
}

TEST_F(RunMergeTest, TheRunThatCameFartherIsKeptWhicheverWayRound) {
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

TEST_F(RunMergeTest, OfTwoThatWentOnApartTheOneThatIsDoneIsKeptAndNoExperimentIsLost) {
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

TEST_F(RunMergeTest, AConflictTouchesNeither) {
  const fs::path here = make_run("a", 1);
  copy(place("a"), place("b"));
  const fs::path there = place("b") / here.filename();
  train(here, 10);
  finish(here, 2.25);
  train(there, 10);
  finish(there, 2.26);
  const auto before = std::pair(content("a"), content("b"));
  MergeSettings moving;
  moving.how = MergeHow::kMove;
  EXPECT_THAT(merge("b", "a", moving), ElementsAre(MergeOutcome::kConflict));
  EXPECT_THAT(merge("a", "b"), ElementsAre(MergeOutcome::kConflict));
  EXPECT_EQ(std::pair(content("a"), content("b")), before);
}

TEST_F(RunMergeTest, DoneTwiceWithTheSameResultsIsNoConflict) {
  const fs::path here = make_run("a", 1);
  copy(place("a"), place("b"));
  train(here, 10);
  finish(here, 2.25);
  train(place("b") / here.filename(), 10);
  finish(place("b") / here.filename(), 2.25);
  const auto before = content("a");
  EXPECT_THAT(merge("b", "a"), ElementsAre(MergeOutcome::kDoneTwice));
  EXPECT_EQ(content("a"), before);
  add_model(place("b") / here.filename(), "weights");
  EXPECT_THAT(merge("b", "a"), ElementsAre(MergeOutcome::kDoneTwice));
  EXPECT_EQ(model_of(here), "weights");
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

TEST_F(RunMergeTest, MovedRunsAreGoneThereAndLinkedModelsAreTheSameFiles) {
  const fs::path one = make_run("b", 1);
  create_folders(one / "model");
  write_file(one / "model" / "model.safetensors", "weights");
  MergeSettings settings;
  settings.how = MergeHow::kLink;
  merge("b", "linked", settings);
  EXPECT_TRUE(fs::equivalent(one / "model" / "model.safetensors",
                             place("linked") / one.filename() / "model" / "model.safetensors"));
  EXPECT_FALSE(fs::equivalent(one / "journal.jsonl", place("linked") / one.filename() / "journal.jsonl"));
  const auto before = content("b");
  settings.how = MergeHow::kMove;
  EXPECT_THAT(merge("b", "a", settings), ElementsAre(MergeOutcome::kAdded));
  EXPECT_EQ(content("a"), before);
  EXPECT_TRUE(find_run_folders(place("b")).empty());
  EXPECT_FALSE(has_live_worker(place("a") / one.filename()));
  EXPECT_THAT(merge("linked", "a", settings), ElementsAre(MergeOutcome::kSame));
  EXPECT_TRUE(find_run_folders(place("linked")).empty());
}

// A run that was packed without models and checkpoints went on elsewhere.
TEST_F(RunMergeTest, ALongerJournalWithoutAModelLeavesTheModelAlone) {
  const fs::path here = make_run("a", 1);
  train(here, 10);
  finish(here, 2.25);
  copy(place("a"), place("b"));
  add_model(here, "weights");
  evaluate(place("b") / here.filename(), "valid", 2.3, {{"eval.batch", 3}});
  EXPECT_THAT(merge("b", "a"), ElementsAre(MergeOutcome::kUpdated));
  EXPECT_EQ(read_run(here).evaluations.size(), 2U);
  EXPECT_EQ(model_of(here), "weights");
  EXPECT_THAT(merge("a", "b"), ElementsAre(MergeOutcome::kUpdated)) << "and the other way round it gets it";
  EXPECT_EQ(content("a"), content("b"));
}

TEST_F(RunMergeTest, ALongerJournalWithoutCheckpointsLeavesCheckpointsAndTheirEnvironmentAlone) {
  const fs::path here = make_run("a", 1);
  train(here, 4);
  copy(place("a"), place("b"));
  add_checkpoint(here, 4);
  write_file(here / "checkpoints" / "best.safetensors", "best");
  write_file(here / "environment.json", R"({"device": "mine"})");
  const fs::path there = place("b") / here.filename();
  for (int step = 5; step <= 10; ++step) add(there, "metric", {{"step", step}, {"values", {{"bpc", 2.4}}}});
  write_file(there / "environment.json", R"({"device": "theirs"})");
  EXPECT_THAT(merge("b", "a"), ElementsAre(MergeOutcome::kUpdated));
  EXPECT_EQ(journal(here), journal(there));
  EXPECT_THAT(names_in(here / "checkpoints"), ElementsAre("best.safetensors", "step-000000004.safetensors"));
  EXPECT_THAT(read_file(here / "environment.json"), HasSubstr("mine")) << "what the checkpoints were made with";
  finish(there, 2.25);
  EXPECT_THAT(merge("b", "a"), ElementsAre(MergeOutcome::kUpdated));
  EXPECT_THAT(read_file(here / "environment.json"), HasSubstr("theirs")) << "what the results were made with";
  EXPECT_THAT(names_in(here / "checkpoints"), ElementsAre("best.safetensors", "step-000000004.safetensors"));
}

TEST_F(RunMergeTest, NewerCheckpointsComeAlongWhoeversJournalIsLonger) {
  const fs::path there = make_run("b", 1);
  train(there, 8);
  copy(place("b"), place("a"));
  const fs::path here = place("a") / there.filename();
  add(here, "metric", {{"step", 9}, {"values", {{"bpc", 2.4}}}});
  for (const int step : {2, 4}) add_checkpoint(here, step);
  for (const int step : {4, 6, 8}) add_checkpoint(there, step);
  write_file(here / "checkpoints" / "best.safetensors", "best of 4");
  write_file(there / "checkpoints" / "best.safetensors", "best of 8");
  write_file(here / "checkpoints" / "step-000000004.safetensors", "mine");
  const std::string before = journal(here);
  EXPECT_THAT(merge("b", "a"), ElementsAre(MergeOutcome::kUpdated));
  EXPECT_EQ(journal(here), before);
  EXPECT_THAT(names_in(here / "checkpoints"),
              ElementsAre("best.safetensors", "step-000000002.safetensors", "step-000000004.safetensors",
                          "step-000000006.safetensors", "step-000000008.safetensors"));
  EXPECT_EQ(read_file(here / "checkpoints" / "best.safetensors"), "best of 8");
  EXPECT_EQ(read_file(here / "checkpoints" / "step-000000004.safetensors"), "mine");
  const auto content_before = content("a");
  EXPECT_THAT(merge("b", "a"), ElementsAre(MergeOutcome::kSame));
  EXPECT_EQ(content("a"), content_before);
}

TEST_F(RunMergeTest, WhatIsMovedIsHereBeforeItIsGoneThere) {
  MergeSettings moving;
  moving.how = MergeHow::kMove;
  const fs::path same = make_run("b", 1);
  train(same, 4);
  const fs::path united = make_run("b", 2);
  train(united, 10);
  finish(united, 2.25);
  const fs::path shorter = make_run("b", 3, "theirs");
  copy(place("b"), place("a"));
  add_checkpoint(same, 4);
  const fs::path here = place("a");
  evaluate(united, "valid", 2.2, {{"eval.batch", 5}});
  evaluate(here / united.filename(), "valid", 2.3, {{"eval.batch", 3}});
  add_model(united, "weights");
  train(here / shorter.filename(), 3);
  train(shorter, 2);
  add(shorter, "experiment", {{"name", "another"}});
  add_checkpoint(shorter, 2);
  EXPECT_THAT(merge("b", "a", moving),
              UnorderedElementsAre(MergeOutcome::kUpdated, MergeOutcome::kUpdated, MergeOutcome::kUpdated));
  EXPECT_TRUE(find_run_folders(place("b")).empty());
  EXPECT_THAT(names_in(here / same.filename() / "checkpoints"), ElementsAre("step-000000004.safetensors"));
  EXPECT_EQ(model_of(here / united.filename()), "weights");
  EXPECT_EQ(read_run(here / united.filename()).evaluations.size(), 3U);
  EXPECT_THAT(names_in(here / shorter.filename() / "checkpoints"), ElementsAre("step-000000002.safetensors"));
  EXPECT_THAT(read_run(here / shorter.filename()).experiments, ElementsAre("another", "theirs"));
}

TEST_F(RunMergeTest, AModelWithoutWeightsIsNone) {
  const fs::path here = make_run("a", 1);
  train(here, 10);
  finish(here, 2.25);
  copy(place("a"), place("b"));
  create_folders(here / "model");
  write_file(here / "model" / "config.yaml", "");  // killed while it was written
  EXPECT_THAT(merge("a", "b"), ElementsAre(MergeOutcome::kSame));
  add_model(place("b") / here.filename(), "weights");
  EXPECT_THAT(merge("b", "a"), ElementsAre(MergeOutcome::kUpdated));
  EXPECT_EQ(model_of(here), "weights");
}

// Evaluations, submissions and requests to stop take no lock: here they come when all has been copied.
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

TEST_F(RunMergeTest, WhoStopsAMergeFindsTheRunAsItWas) {
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

// What is asked of a run does not depend on which course it took.
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
  // Three folders: a run of each alone, one that all have come differently far with, and one with two endings.
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

TEST_F(RunMergeTest, AnArchiveIsTakenInWholeOrNotAtAll) {
  const fs::path one = make_run("b", 1);
  train(one, 3);
  std::vector<PackedFile> files;
  for (const fs::path& file : run_files(one)) {
    files.push_back({one / file, (fs::path("runs") / one.filename() / file).string()});
  }
  for (const char* name : {"b.tar", "b.tar.gz", "b.tar.xz", "b.tar.zst"}) {
    const PackReport report = pack(files, place(name));
    EXPECT_EQ(report.packed, fs::file_size(place(name)));
    const std::string into = std::string("from.") + name;
    EXPECT_EQ(merge_archive(place(name), place(into), {}).front().outcome, MergeOutcome::kAdded) << name;
    EXPECT_EQ(content(into), content("b")) << name;
    EXPECT_EQ(merge_archive(place(name), place(into), {}).front().outcome, MergeOutcome::kSame);
    EXPECT_EQ(content(into), content("b"));
  }
  EXPECT_THROW(pack(files, place("b.zip")), UsageError);
  EXPECT_FALSE(fs::exists(place("b.zip")));
  EXPECT_EQ(shell(folder_.path(), "mkdir out && tar xf b.tar -C out && cd out && sha256sum -c --quiet SHA256SUMS").code,
            0);

  const std::string damage =
      "echo >>out/runs/" + one.filename().string() + "/config.yaml && tar cf damaged.tar -C out .";
  ASSERT_EQ(shell(folder_.path(), damage).code, 0);
  try {
    merge_archive(place("damaged.tar"), place("c"), {});
    FAIL() << "the file does not fit its checksum";
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("damaged.tar: runs/"), HasSubstr("not what its checksum says")));
  }
  EXPECT_TRUE(fs::is_empty(place("c")));
  ASSERT_EQ(shell(folder_.path(), "tar cf plain.tar b").code, 0);  // as anybody would make one
  EXPECT_EQ(merge_archive(place("plain.tar"), place("c"), {}).front().outcome, MergeOutcome::kAdded);
  EXPECT_EQ(content("c"), content("b"));
}

}  // namespace
}  // namespace xlm
