// The files of merged runs besides their journals: models and checkpoints, copied, moved or in an archive.
#include <gmock/gmock.h>

#include "base/error.h"
#include "experiments/collections/run_files.h"
#include "experiments/collections/unpacking.h"
#include "experiments/runs/run_lock.h"
#include "tests/experiments/collections/run_merge_fixture.h"
#include "tests/experiments/program.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using ::testing::UnorderedElementsAre;

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

// A run that was packed without models and checkpoints resumed elsewhere.
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

TEST_F(RunMergeTest, NewerCheckpointsAreTakenWhicheverJournalIsLonger) {
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

TEST_F(RunMergeTest, AnArchiveIsMergedWholeOrNotAtAll) {
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
  EXPECT_THAT(
      [&] { merge_archive(place("damaged.tar"), place("c"), {}); },
      ThrowsMessage<DataError>(AllOf(HasSubstr("damaged.tar: runs/"), HasSubstr("does not match its checksum"))))
      << "the file does not fit its checksum";
  EXPECT_TRUE(fs::is_empty(place("c")));
  ASSERT_EQ(shell(folder_.path(), "tar cf plain.tar b").code, 0);  // as anybody would make one
  EXPECT_EQ(merge_archive(place("plain.tar"), place("c"), {}).front().outcome, MergeOutcome::kAdded);
  EXPECT_EQ(content("c"), content("b"));
}

}  // namespace
}  // namespace xlm
