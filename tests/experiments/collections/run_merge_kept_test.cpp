// What a merge must not lose: targets of links, users' files in run folders, and runs that are the same folder.
#include <sys/stat.h>

#include <functional>
#include <map>

#include <gmock/gmock.h>

#include "base/error.h"
#include "experiments/collections/run_files.h"
#include "experiments/collections/unpacking.h"
#include "experiments/runs/run_lock.h"
#include "experiments/runs/runs_in_use.h"
#include "tests/experiments/collections/run_merge_fixture.h"
#include "tests/experiments/program.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class RunMergeKeeps : public RunMergeTest {
 protected:
  RunMergeKeeps() { moving_.how = MergeHow::kMove; }

  /// A finished run with a model and a checkpoint.
  fs::path make_whole(const std::string& runs, int seed = 1) {
    const fs::path run = make_run(runs, seed);
    train(run, 10);
    add_checkpoint(run, 10);
    add_model(run, "weights");
    finish(run, 2.25);
    return run;
  }

  /// Moves a part of a run to another place and links to it.
  void put_elsewhere(const fs::path& run, const std::string& part) const {
    create_folders(place("disk"));
    fs::rename(run / part, place("disk") / part);
    fs::create_symlink(place("disk") / part, run / part);
  }

  MergedRun merge_one(const std::string& from, const std::string& to) const {
    return merge_runs(find_run_folders(place(from)), place(to), moving_).at(0);
  }

  fs::path pack_all(const fs::path& run) const {
    std::vector<PackedFile> files;
    for (const fs::path& file : run_files(run)) {
      files.push_back({run / file, (fs::path("runs") / run.filename() / file).string()});
    }
    pack(files, place("packed.tar"));
    return place("packed.tar");
  }

  MergeSettings moving_;
};

TEST_F(RunMergeKeeps, LinkedPartsAreTakenInEveryKindOfMerge) {
  const fs::path run = make_whole("a");
  write_file(run / "notes.md", "mine");
  const auto before = content("a");
  for (const char* part : {"model", "checkpoints", "notes.md"}) put_elsewhere(run, part);
  EXPECT_EQ(content("a"), before);
  merge("a", "copied");
  EXPECT_EQ(content("copied"), before);
  MergeSettings linking;
  linking.how = MergeHow::kLink;
  merge("a", "linked", linking);
  EXPECT_EQ(content("linked"), before);
  merge_archive(pack_all(run), place("unpacked"), {});
  EXPECT_EQ(content("unpacked"), before);
  EXPECT_THAT(merge("a", "moved", moving_), ElementsAre(MergeOutcome::kAdded));
  EXPECT_EQ(content("moved"), before);
  EXPECT_FALSE(fs::is_symlink(place("moved") / run.filename() / "model"));
  EXPECT_FALSE(fs::exists(run));
  EXPECT_EQ(read_file(place("disk") / "model" / "model.safetensors"), "weights") << "what a link led to stays";
}

TEST_F(RunMergeKeeps, ALinkToARunFolderIsFollowedAndOnlyTheLinkIsRemoved) {
  const fs::path run = make_whole("store");
  const auto before = content("store");
  create_folders(place("a"));
  fs::create_symlink(fs::path("../store") / run.filename(), place("a") / run.filename());
  EXPECT_THAT(merge("a", "deep/er", moving_), ElementsAre(MergeOutcome::kAdded));
  EXPECT_EQ(content("deep/er"), before);
  EXPECT_TRUE(find_run_folders(place("a")).empty());
  EXPECT_EQ(content("store"), before);
}

TEST_F(RunMergeKeeps, ARunThatIsTheSameFolderStays) {
  const fs::path run = make_whole("a");
  const auto before = content("a");
  create_folders(place("links"));
  fs::create_symlink(run, place("links") / run.filename());
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {".", "a"}, {"a", "a"}, {"a/" + run.filename().string() + "/", "a"}, {"links", "a"}, {"a", "links"}}) {
    EXPECT_EQ(merge_one(from, to).outcome, MergeOutcome::kSame) << from << " into " << to;
    EXPECT_EQ(content("a"), before) << from << " into " << to;
    EXPECT_TRUE(fs::is_symlink(place("links") / run.filename()));
  }
}

TEST_F(RunMergeKeeps, WhatHereIsALinkToThereStaysThere) {
  for (const char* part : {"model", "checkpoints/step-000000010.safetensors"}) {
    const std::string runs = std::string("of-") + *fs::path(part).begin()->string().begin();
    const fs::path there = make_whole(runs);
    copy(place(runs), place(runs + "-here"));
    const fs::path here = place(runs + "-here") / there.filename();
    fs::remove_all(here / part);
    fs::create_symlink(there / part, here / part);
    const MergedRun merged = merge_one(runs, runs + "-here");
    EXPECT_EQ(merged.outcome, MergeOutcome::kSame);
    EXPECT_THAT(merged.note, AllOf(HasSubstr("is a link to it"), HasSubstr("stays there")));
    EXPECT_EQ(model_of(here), "weights");
    EXPECT_EQ(content(runs), content(runs + "-here"));
  }
  const fs::path outer = make_whole("outer");
  const std::string inner = "outer/" + outer.filename().string() + "/runs";
  EXPECT_THAT(merge_one("outer", inner).note, HasSubstr("it contains the folder of runs"));
  EXPECT_EQ(model_of(outer), "weights");
}

TEST_F(RunMergeKeeps, FilesOfUsersAreTakenAndNeverReplaced) {
  const fs::path there = make_whole("b");
  copy(place("b"), place("a"));
  const fs::path here = place("a") / there.filename();
  evaluate(there, "valid", 2.2, {{"eval.batch", 5}});  // so that its model takes the place of the one here
  const std::vector<std::string> mine{".notes", "plots/loss.svg", "model/licence.txt", "checkpoints/first.safetensors"};
  for (const std::string& name : mine) {
    create_folders((there / name).parent_path());
    write_file(there / name, "theirs");
  }
  create_folders(here / "model" / "onnx");
  write_file(here / "model" / "onnx" / "model.onnx", "mine");
  write_file(here / ".notes", "mine");
  const MergedRun merged = merge_one("b", "a");
  EXPECT_EQ(merged.outcome, MergeOutcome::kUpdated);
  EXPECT_THAT(merged.note, HasSubstr(".notes differs from the one here: it stays there"));
  EXPECT_EQ(read_file(here / ".notes"), "mine");
  EXPECT_EQ(read_file(here / "model" / "onnx" / "model.onnx"), "mine");
  for (std::size_t i = 1; i < mine.size(); ++i) EXPECT_EQ(read_file(here / mine[i]), "theirs") << mine[i];
  EXPECT_EQ(read_file(there / ".notes"), "theirs");
  write_file(there / ".notes", "mine");
  EXPECT_THAT(merge("b", "a", moving_), ElementsAre(MergeOutcome::kSame));
  EXPECT_FALSE(fs::exists(there));
}

TEST_F(RunMergeKeeps, HiddenFilesOfUsersAreInArchivesToo) {
  const fs::path run = make_whole("a");
  create_folders(run / ".git");
  for (const char* name : {".notes", ".git/config", "model/.gitattributes", "lock.smith", "stops"}) {
    write_file(run / name, "mine");
  }
  const auto before = content("a");
  EXPECT_TRUE(before.contains(run.filename().string() + "/.git/config"));
  merge_archive(pack_all(run), place("b"), {});
  EXPECT_EQ(content("b"), before);
  write_file(run / "line\nend", "");
  EXPECT_THROW(pack_all(run), DataError);
  fs::rename(run / "line\nend", run / "caf\xE9");
  EXPECT_THROW(pack_all(run), DataError);
}

TEST_F(RunMergeKeeps, WhatCannotBeTakenIsReported) {
  struct Case {
    std::string name;
    std::string message;
    std::function<void(const fs::path& file)> make;
  };
  const std::vector<Case> cases{
      {"model", "is a link whose target is missing",
       [](const fs::path& file) { fs::create_symlink("/nowhere/model", file); }},
      {"plots", "is a link to a folder that contains it", [](const fs::path& file) { fs::create_symlink("..", file); }},
      {"again", "is a link to a folder that contains it", [](const fs::path& file) { fs::create_symlink(".", file); }},
      {"pipe", "neither a file nor a folder", [](const fs::path& file) { ::mkfifo(file.c_str(), 0600); }}};
  for (const Case& c : cases) {
    const fs::path run = make_run("a", 1);
    c.make(run / c.name);
    for (const MergeHow how : {MergeHow::kCopy, MergeHow::kMove}) {
      moving_.how = how;
      const MergedRun merged = merge_one("a", "b");
      EXPECT_EQ(merged.outcome, MergeOutcome::kDamaged) << c.name;
      EXPECT_THAT(merged.note, AllOf(HasSubstr(c.name), HasSubstr(c.message)));
    }
    EXPECT_TRUE(fs::exists(fs::symlink_status(run / c.name)));
    EXPECT_THROW(run_files(run), DataError) << "nor is it packed";
    fs::remove_all(run);
  }
}

TEST_F(RunMergeKeeps, OnlyNamesOfRunsAreTaken) {
  const fs::path run = make_run("a", 1);
  for (const char* name : {"results.db", "results.db-wal", "*", "--rf", "-", "a\nb-0123456789abcdef", "my-run",
                           "RUN-text-0123456789abcdef", "span-text-0123456789abcde", "-span-text-0123456789abcdef",
                           "\x1b[2J", "span-text-0123456789abcdef.old"}) {
    fs::rename(find_run_folders(place("a")).front(), place("a") / name);
    const MergedRun merged = merge_one("a", "b");
    EXPECT_EQ(merged.outcome, MergeOutcome::kDamaged) << name;
    EXPECT_EQ(merged.id.find_first_of("\n\x1b"), std::string::npos) << merged.id;
  }
  EXPECT_TRUE(fs::is_empty(place("b")));
  for (const char* name : {"span-text-0123456789abcdef", "eval-gpt2-pg-19-0123456789abcdef", "span-text-01234567"}) {
    fs::rename(find_run_folders(place("a")).front(), place("a") / name);
    EXPECT_THAT(merge("a", "c"), ElementsAre(MergeOutcome::kAdded)) << name;
  }
}

TEST_F(RunMergeKeeps, ASweepsRunsAreCopiedAndStay) {
  const fs::path run = make_whole("a");
  const auto before = content("a");
  {
    const RunsInUse sweep(place("a"), RunsInUse::By::kSweep);
    const RunsInUse another(place("a"), RunsInUse::By::kSweep);
    EXPECT_TRUE(another.held());
    for (const MergeOutcome outcome : {MergeOutcome::kAdded, MergeOutcome::kSame}) {
      const MergedRun merged = merge_one("a", "b");
      EXPECT_EQ(merged.outcome, outcome);
      EXPECT_THAT(merged.note, HasSubstr("a sweep is using it: it stays there"));
    }
  }
  EXPECT_EQ(content("a"), before);
  EXPECT_EQ(content("b"), before);
  EXPECT_THAT(merge("a", "b", moving_), ElementsAre(MergeOutcome::kSame));
  EXPECT_FALSE(fs::exists(run));
}

TEST_F(RunMergeKeeps, ATarOfARunWhoseWorkerDiedElsewhereIsTaken) {
  const fs::path run = make_run("a", 1);
  train(run, 3);
  const std::string lock = R"({"host": "elsewhere", "machine": "0123", "pid": 1, "started": 1})";
  write_file(run / "lock.7", lock);
  write_file(run / "stop", "");
  write_file(run / ".log.txt.0123abcd", "half");
  for (const char* command :
       {"tar czf made.tar.gz a", "tar cf made.tar.gz -C a .", "rm made.tar.gz && zip -qr made.tar.gz a"}) {
    if (shell(folder_.path(), command).code != 0) continue;  // without zip
    const std::vector<MergedRun> merged = merge_archive(place("made.tar.gz"), place("b"), {});
    ASSERT_EQ(merged.size(), 1U);
    EXPECT_EQ(merged.front().outcome, MergeOutcome::kAdded) << merged.front().note;
    const fs::path here = place("b") / run.filename();
    EXPECT_FALSE(has_live_worker(here));
    EXPECT_FALSE(fs::exists(here / "lock.7"));
    EXPECT_FALSE(fs::exists(here / "stop"));
    EXPECT_FALSE(fs::exists(here / ".log.txt.0123abcd"));
    fs::remove_all(place("b"));
  }
  EXPECT_EQ(merge_one("a", "b").outcome, MergeOutcome::kRunning) << "its lock is fresh, and its machine unknown";
}

TEST_F(RunMergeKeeps, ARunWithALinkInAnArchiveIsNotTaken) {
  const fs::path whole = make_whole("a", 1);
  const fs::path linked = make_whole("a", 2);
  put_elsewhere(linked, "model");
  ASSERT_EQ(shell(folder_.path(), "ln -s " + whole.string() + " a/latest && tar cf made.tar a").code, 0);
  std::map<std::string, MergedRun> merged;
  for (const MergedRun& run : merge_archive(place("made.tar"), place("b"), {})) merged[run.id] = run;
  ASSERT_EQ(merged.size(), 2U);
  EXPECT_EQ(merged[whole.filename().string()].outcome, MergeOutcome::kAdded);
  EXPECT_EQ(merged[linked.filename().string()].outcome, MergeOutcome::kDamaged);
  EXPECT_THAT(merged[linked.filename().string()].note, HasSubstr("model is a link in the archive"));
  ASSERT_EQ(shell(folder_.path(), "rm a/latest && tar chf made.tar a").code, 0);
  for (const MergedRun& run : merge_archive(place("made.tar"), place("b"), {})) {
    EXPECT_NE(run.outcome, MergeOutcome::kDamaged) << run.note;
  }
  EXPECT_EQ(content("b"), content("a"));
}

TEST_F(RunMergeKeeps, LeftoversOfRemovalsAreToldFromUsersFolders) {
  create_folders(place("a"));
  for (const char* name : {".span-text-0123456789abcdef.removed", ".photos.removed", ".removed", ".a.removed.txt"}) {
    create_folders(place("a") / name);
  }
  finish_removals(place("a"), is_run_name);
  EXPECT_THAT(names_in(place("a")), ElementsAre(".a.removed.txt", ".photos.removed", ".removed"));
}

TEST_F(RunMergeKeeps, AMergeStopsWhileItUnpacksAndWhileItCopies) {
  const fs::path run = make_whole("a");
  write_file(run / "checkpoints" / "step-000000011.safetensors", std::string(std::size_t{65} << 20, 'x'));
  int asked = 0;
  MergeSettings settings;
  settings.should_stop = [&] { return ++asked == 2; };
  EXPECT_EQ(merge_archive(pack_all(run), place("b"), settings).front().outcome, MergeOutcome::kUnfinished);
  EXPECT_EQ(asked, 2);
  EXPECT_TRUE(fs::is_empty(place("b")));
  asked = 0;
  EXPECT_THAT(merge("a", "b", settings), ElementsAre(MergeOutcome::kUnfinished));
  EXPECT_TRUE(fs::is_empty(place("b")));
}

}  // namespace
}  // namespace xlm
