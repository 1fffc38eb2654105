// Merges of runs of users' programs: their checkpoints and reports belong to their records.
#include <gmock/gmock.h>

#include "tests/experiments/collections/run_merge_fixture.h"

namespace xlm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ProgramRunMerge : public RunMergeTest {
 protected:
  /// A run of a program that writes the same file at each checkpoint.
  fs::path make_program_run(const std::string& runs) {
    const fs::path run = make_run(runs, 1);
    Json environment = read_json(RunPaths{run}.environment());
    environment["contents"]["program.folder"] = "0123456789abcdef";
    write_file(RunPaths{run}.environment(), environment.dump());
    return run;
  }

  void train_program(const fs::path& run, int steps) {
    train(run, steps);
    const std::string state = std::to_string(steps);
    create_folders(run / "checkpoints" / "deep");
    write_file(run / "checkpoints" / "last.pt", "weights " + state);
    write_file(run / "checkpoints" / "deep" / (state + ".pt"), state);
    write_file(run / "metrics.jsonl", "metrics " + state);
    write_file(run / "metrics.position.json", "{\"at\": " + state + "}");
    write_file(run / "output.txt", "output " + state);
    add(run, "checkpoint", {{"step", steps}, {"file", "checkpoints/last.pt"}});
  }

  static void expect_state(const fs::path& run, const std::string& state) {
    EXPECT_EQ(read_file(run / "checkpoints" / "last.pt"), "weights " + state);
    EXPECT_EQ(names_in(run / "checkpoints" / "deep"), std::vector<std::string>{state + ".pt"}) << "all of it";
    EXPECT_EQ(read_file(run / "metrics.jsonl"), "metrics " + state);
    EXPECT_EQ(read_file(run / "metrics.position.json"), "{\"at\": " + state + "}");
    EXPECT_EQ(read_file(run / "output.txt"), "output " + state);
  }

  fs::path other(const std::string& runs, const fs::path& run) const { return place(runs) / run.filename(); }
};

TEST_F(ProgramRunMerge, TheStateComesWithNewerRecordsAndStaysOtherwise) {
  const fs::path here = make_program_run("a");
  copy(place("a"), place("b"));
  const fs::path there = other("b", here);
  train_program(here, 5);
  write_file(here / "notes.md", "mine");
  train_program(there, 10);
  copy(place("a"), place("a2"));
  EXPECT_THAT(merge("b", "a"), ElementsAre(MergeOutcome::kUpdated));
  EXPECT_EQ(read_run(here).step, 10);
  expect_state(here, "10");
  EXPECT_EQ(read_file(here / "notes.md"), "mine");
  const auto before = content("b");
  EXPECT_THAT(merge("a2", "b"), ElementsAre(MergeOutcome::kUpdated)) << "the file notes.md alone";
  fs::remove(there / "notes.md");
  EXPECT_EQ(content("b"), before);
  EXPECT_THAT(merge("b", "a"), ElementsAre(MergeOutcome::kSame));
}

TEST_F(ProgramRunMerge, ARunThatIsDoneKeepsItsStateWhenEvaluationsComeBack) {
  const fs::path here = make_program_run("a");
  train_program(here, 10);
  finish(here, 2.25);
  copy(place("a"), place("b"));
  const fs::path there = other("b", here);
  fs::remove_all(there / "checkpoints");  // packed without them
  evaluate(there, "valid", 2.2, {{"eval.batch", 5}});
  EXPECT_THAT(merge("b", "a"), ElementsAre(MergeOutcome::kUpdated));
  EXPECT_EQ(read_run(here).evaluations.size(), 2U);
  expect_state(here, "10");
  EXPECT_THAT(merge("a", "b"), ElementsAre(MergeOutcome::kUpdated)) << "and completes the other";
  expect_state(there, "10");
}

TEST_F(ProgramRunMerge, OldCheckpointsDoNotStayUnderTheRecordsOfARunThatIsDone) {
  const fs::path here = make_program_run("a");
  copy(place("a"), place("b"));
  const fs::path there = other("b", here);
  train_program(here, 5);
  copy(place("a"), place("old"));
  train_program(there, 10);
  finish(there, 2.25);
  fs::rename(there / "checkpoints", place("kept"));  // packed without them
  EXPECT_THAT(merge("b", "a"), ElementsAre(MergeOutcome::kUpdated));
  EXPECT_FALSE(fs::exists(here / "checkpoints"));
  MergeSettings moving;
  moving.how = MergeHow::kMove;
  const MergedRun moved = merge_runs(find_run_folders(place("old")), place("a"), moving).at(0);
  EXPECT_THAT(moved.note, HasSubstr("its checkpoints are not here: it stays there"));
  EXPECT_FALSE(fs::exists(here / "checkpoints"));
  fs::rename(place("kept"), there / "checkpoints");
  EXPECT_THAT(merge("b", "a"), ElementsAre(MergeOutcome::kUpdated));
  expect_state(here, "10");
  EXPECT_THAT(merge("old", "a", moving), ElementsAre(MergeOutcome::kSame));
  EXPECT_FALSE(fs::exists(other("old", here)));
  expect_state(here, "10");
}

TEST_F(ProgramRunMerge, OlderCheckpointsAreWhatAnUnfinishedRunResumesWith) {
  const fs::path here = make_program_run("a");
  copy(place("a"), place("b"));
  const fs::path there = other("b", here);
  train_program(here, 5);
  train_program(there, 10);
  fs::remove_all(there / "checkpoints");
  EXPECT_THAT(merge("b", "a"), ElementsAre(MergeOutcome::kUpdated));
  EXPECT_EQ(read_file(here / "checkpoints" / "last.pt"), "weights 5");
  EXPECT_EQ(read_file(here / "metrics.jsonl"), "metrics 10");
}

TEST_F(ProgramRunMerge, CheckpointsAreNeverHardLinks) {
  const fs::path there = make_program_run("a");
  train_program(there, 5);
  write_file(there / "checkpoints" / "step-000000005.safetensors", "a program may use this name");
  add_model(there, "weights");
  MergeSettings settings;
  settings.how = MergeHow::kLink;
  merge("a", "b", settings);
  train(there, 6);
  merge("a", "b", settings);
  for (const fs::path& file : run_files(other("b", there))) {
    EXPECT_EQ(fs::hard_link_count(other("b", there) / file), 1U) << file;
  }
}

TEST_F(RunMergeTest, OfAModelsRunUsersFilesAreNoHardLinks) {
  const fs::path there = make_run("a", 1);
  train(there, 5);
  add_checkpoint(there, 5);
  write_file(there / "checkpoints" / "notes.txt", "mine");
  MergeSettings settings;
  settings.how = MergeHow::kLink;
  merge("a", "b", settings);
  const fs::path here = place("b") / there.filename() / "checkpoints";
  EXPECT_EQ(fs::hard_link_count(here / "step-000000005.safetensors"), 2U);
  EXPECT_EQ(fs::hard_link_count(here / "notes.txt"), 1U);
}

}  // namespace
}  // namespace xlm
