// Runs that go on from other runs: xlm train --continue, sweeps that branch, the family in the store, and what goes
// wrong.
#include <gmock/gmock.h>

#include "base/json.h"
#include "base/sha256.h"
#include "results/run_folder/journal.h"
#include "tests/experiments/program_fixture.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class ProgramBranch : public ProgramTest {
 protected:
  /// A run of ten steps that keeps its checkpoints of steps 5 and 10.
  fs::path parent(const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{"train", "run.yaml", "train.keep_every=5"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProgramResult result = run(arguments);
    EXPECT_EQ(result.code, kDone) << result.err;
    return run_folders().at(0);
  }

  /// The only run that was not there before.
  fs::path new_run(const std::set<fs::path>& before) const {
    for (const fs::path& folder : run_folders()) {
      if (!before.contains(folder)) return folder;
    }
    return {};
  }
  std::set<fs::path> all_runs() const {
    const std::vector<fs::path> folders = run_folders();
    return {folders.begin(), folders.end()};
  }

  /// Runs a command that makes one run, and returns that.
  fs::path made(const std::vector<std::string>& arguments, std::string* says = nullptr) {
    const std::set<fs::path> before = all_runs();
    const ProgramResult result = run(arguments);
    EXPECT_EQ(result.code, kDone) << result.err;
    if (says != nullptr) *says = result.err;
    return new_run(before);
  }

  static std::vector<std::string> messages_of(const fs::path& folder) {
    std::vector<std::string> texts;
    for (const Json& record : read_journal(folder / "journal.jsonl").records) {
      if (record.at("type") == "message") texts.push_back(record.at("text"));
    }
    return texts;
  }
};

TEST_F(ProgramBranch, GoesOnFromTheNewestCheckpointAndItsIdIsOfParentAndStep) {
  const fs::path from = parent();
  std::string says;
  const fs::path child = made({"train", "--continue", from.filename(), "train.steps=15"}, &says);
  EXPECT_THAT(says, HasSubstr("it goes on from step 10 of " + from.filename().string()));
  EXPECT_THAT(steps(child), ElementsAre(11, 12, 13, 14, 15));
  const xlm::Run made_run = read_live_run(child);
  EXPECT_EQ(made_run.parent, from.filename());
  EXPECT_EQ(made_run.parent_step, 10);
  EXPECT_EQ(made_run.environment.at("threads"), read_live_run(from).environment.at("threads"));
  // The same command, the step by name, and the run's own configuration find the same run.
  EXPECT_EQ(run({"train", "--continue", from.filename(), "--at", "10", "train.steps=15"}).code, kDone);
  EXPECT_EQ(run({"train", (child / "config.yaml").string()}).code, kDone);
  EXPECT_EQ(run_folders().size(), 2U);
  EXPECT_EQ(steps(child).size(), 5U) << "done already";
  const fs::path earlier = made({"train", "--continue", from.filename(), "--at", "5", "train.steps=15"});
  EXPECT_THAT(steps(earlier).front(), 6);
  EXPECT_NE(earlier, child);
  // The grandchild needs nothing of its grandparent.
  fs::remove_all(from);
  const fs::path grandchild = made({"train", "--continue", child.filename(), "train.steps=20"});
  EXPECT_THAT(steps(grandchild), ElementsAre(16, 17, 18, 19, 20));
  EXPECT_EQ(read_live_run(grandchild).parent, child.filename());
}

TEST_F(ProgramBranch, HasAnExperimentOfItsOwnAndTheLengthThatIsAskedFor) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "abc";
  make_data(data_, text);
  const fs::path from = parent({"experiment=spans"});
  const fs::path child = made({"train", "--continue", from.filename(), "train.tokens=160"});
  const xlm::Run found = read_live_run(child);
  EXPECT_EQ(found.experiment, "spans-continued");
  EXPECT_EQ(*found.param("train.steps"), 20) << "2 rows of 4 tokens";
  EXPECT_EQ(steps(child).size(), 10U);
  const fs::path named = made({"train", "--continue", from.filename(), "train.steps=12", "experiment=longer"});
  EXPECT_EQ(read_live_run(named).experiment, "longer");
}

TEST_F(ProgramBranch, ResumesAfterAKillAndWithoutItsParent) {
  const fs::path from = parent();
  order("kill-at=13");
  const std::set<fs::path> before = all_runs();
  EXPECT_NE(run({"train", "--continue", from.filename(), "train.steps=15"}).code, kDone);
  const fs::path child = new_run(before);
  EXPECT_THAT(steps(child), ElementsAre(11, 12, 13));
  order("");
  fs::remove_all(from);
  const ProgramResult gone = run({"train", "--continue", from.filename(), "train.steps=15"});
  EXPECT_EQ(gone.code, kBadData);
  EXPECT_THAT(gone.err, HasSubstr("there is no run or model folder"));
  const ProgramResult resumed = run({"train", (child / "config.yaml").string()});
  EXPECT_EQ(resumed.code, kDone) << resumed.err;
  EXPECT_THAT(steps(child), ElementsAre(11, 12, 13, 13, 14, 15)) << "from its checkpoint of step 12";
}

TEST_F(ProgramBranch, WithoutItsStartTakesItFromTheParentAgainOrSaysWhatToDo) {
  const fs::path from = parent();
  order("kill-at=11");
  const std::set<fs::path> before = all_runs();
  EXPECT_NE(run({"train", "--continue", from.filename(), "train.steps=15"}).code, kDone);
  const fs::path child = new_run(before);
  order("");
  fs::remove_all(child / "checkpoints");
  fs::rename(from, folder_.path() / "away");
  const ProgramResult refused = run({"train", (child / "config.yaml").string()});
  EXPECT_EQ(refused.code, kBadData);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("is neither in its folder nor at"), HasSubstr("xlm runs pack")));
  fs::rename(folder_.path() / "away", from);
  EXPECT_EQ(run({"train", (child / "config.yaml").string()}).code, kDone);
  EXPECT_EQ(steps(child).back(), 15);
}

TEST_F(ProgramBranch, SchedulesWithAnotherPastAreNamedAndTheWarningIsRecorded) {
  const fs::path from = parent({"optimizer.schedule=cosine", "optimizer.warmup_steps=2"});
  std::string says;
  const fs::path child = made({"train", "--continue", from.filename(), "train.steps=20"}, &says);
  EXPECT_THAT(says, HasSubstr("warning: the schedule cosine over 20 steps gives step 3 the learning rate"));
  EXPECT_THAT(messages_of(child), ElementsAre(HasSubstr("the schedule cosine over 20 steps")));
}

TEST_F(ProgramBranch, ConstantRatesAndWsdBeforeItsDecayNeedNoWarning) {
  const fs::path constant = parent({"optimizer.warmup_steps=2"});
  EXPECT_THAT(messages_of(made({"train", "--continue", constant.filename(), "train.steps=20"})), ElementsAre());
  const fs::path wsd =
      made({"train", "run.yaml", "train.keep_every=5", "optimizer.schedule=wsd", "optimizer.warmup_steps=2", "seed=2"});
  EXPECT_THAT(messages_of(made({"train", "--continue", wsd.filename(), "--at", "5", "train.steps=20"})), ElementsAre());
  std::string says;
  made({"train", "--continue", wsd.filename(), "train.steps=20"}, &says);
  EXPECT_THAT(says, HasSubstr("the schedule wsd over 20 steps gives step 9")) << "the last 2 of 10 steps decay";
}

TEST_F(ProgramBranch, OtherOptionsFromThereOnAreRecordedAndFixedOnesRefused) {
  const fs::path from = parent();
  const std::string id = from.filename();
  const fs::path child =
      made({"train", "--continue", id, "train.steps=12", "optimizer.lr=0.5", "model.dropout=0.1", "seed=7"});
  EXPECT_THAT(read_live_run(child).environment.at("parent").at("changes").dump(),
              AllOf(HasSubstr("optimizer.lr is 0.5 (before: 0.07)"), HasSubstr("model.dropout is 0.1 (before: 0.3)"),
                    HasSubstr("seed is 7 (before: 1)")));
  struct Refusal {
    std::string change;
    std::string says;
  };
  for (const auto& [change, says] : std::vector<Refusal>{
           {"model.width=16", "model.width is 16 (before: 8)"},
           {"model.span=32", "model.span is 32 (before: 16)"},
           {"optimizer.type=adam", "optimizer.type cannot change from adagrad to adam"},
           {"train.batch=4", "train.batch is not as of " + id + ", so its place in the text means nothing"},
           {"train.steps=10", "train.steps is 10, and the checkpoint of " + id + " has done 10 of them"},
           {"model.init_from=" + id, "model.init_from and continue.run both say"}}) {
    const ProgramResult refused = run({"train", "--continue", id, "train.steps=12", change});
    EXPECT_EQ(refused.code, kUsage) << change;
    EXPECT_THAT(refused.err, HasSubstr(says));
  }
  const ProgramResult no_step = run({"train", "--continue", id, "--at", "7", "train.steps=12"});
  EXPECT_EQ(no_step.code, kBadData);
  EXPECT_THAT(no_step.err, AllOf(HasSubstr("no checkpoint of step 7; it has: 5, 10"), HasSubstr("train.keep_every")));
  EXPECT_EQ(run({"train", "--continue", id, "train.steps=12", "train.batch=4", "continue.text=restart"}).code, kDone);
  EXPECT_EQ(run({"train", "--at", "5", "run.yaml"}).code, kUsage);
  EXPECT_EQ(run({"train", "--continue", "nothing", "train.steps=12"}).code, kBadData);
  EXPECT_EQ(run_folders().size(), 3U) << "what was refused left nothing";
}

/// Gives a checkpoint what the real core writes of the budget.
void write_spent(const fs::path& checkpoint, double flops, double seconds) {
  const Json state = {{"step", 10}, {"budget", {{"known", true}, {"flops", flops}, {"seconds", seconds}}}};
  const std::string header = Json{{"__metadata__", {{"state", state.dump()}}}}.dump();
  std::string length(8, '\0');
  for (std::size_t i = 0; i < length.size(); ++i) length[i] = static_cast<char>((header.size() >> (8 * i)) & 0xff);
  write_file(checkpoint, length + header);
}

TEST_F(ProgramBranch, ABudgetThatIsSpentAlreadyIsRefused) {
  const fs::path from = parent();
  const std::string id = from.filename();
  write_spent(from / "checkpoints" / "step-000000010.safetensors", 3e6, 40);
  const auto says = [&](const std::string& length) {
    const ProgramResult refused = run({"train", "--continue", id, length});
    EXPECT_EQ(refused.code, kUsage) << length;
    return refused.err;
  };
  EXPECT_THAT(says("train.flops=3e6"),
              AllOf(HasSubstr("train.flops is 3e+06, and 3e+06 of them were spent up to the checkpoint of " + id),
                    HasSubstr("give more, such as train.flops=6e+06")));
  EXPECT_THAT(says("train.seconds=39.5"), HasSubstr("train.seconds is 39.5, and 40 of them were spent"));
  EXPECT_EQ(run_folders().size(), 1U) << "what was refused left nothing";
  for (const char* more : {"train.flops=3.1e6", "train.seconds=41"}) {
    const std::string file = (from / "config.yaml").string();
    EXPECT_EQ(run({"sweep", file, "continue.run=" + id, "train.steps=0", more, "--dry-run"}).code, kDone);
  }
}

TEST_F(ProgramBranch, OfOtherDataStartsTheirTextAnewAndOtherSymbolsAreRefused) {
  const std::string id = parent().filename();
  make_data(folder_.path() / "more", "cbacbacbacba");
  const ProgramResult place = run({"train", "--continue", id, "train.steps=12", "data.path=more"});
  EXPECT_EQ(place.code, kUsage);
  EXPECT_THAT(place.err, HasSubstr("the data are not as of " + id));
  EXPECT_EQ(run({"train", "--continue", id, "train.steps=12", "data.path=more", "continue.text=restart"}).code, kDone);
  const std::string other = R"({"unit": "character", "symbols": ["a", "b", "d"]})";
  const fs::path folder = make_data(folder_.path() / "other", "abcabcabcabc");
  write_file(folder / "vocab.json", other);
  Json meta = read_json(folder / "meta.json");
  meta["outputs"]["vocab.json"] = sha256(other);
  write_file(folder / "meta.json", meta.dump());
  const ProgramResult refused =
      run({"train", "--continue", id, "train.steps=12", "data.path=other", "continue.text=restart"});
  EXPECT_EQ(refused.code, kUsage);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("have another vocabulary"), HasSubstr("model.init_from=" + id)));
}

TEST_F(ProgramBranch, OfARunningRunSaysFromWhichStepItGoesOn) {
  write_file(hold(), "");
  BackgroundProgram training = start({"train", "run.yaml", "train.keep_every=1"});
  until([&] { return fs::exists(runs_) && count_running() == 1; });
  const std::string id = run_folders().at(0).filename();
  until([&] { return fs::exists(runs_ / id / "checkpoints" / "step-000000002.safetensors"); });
  write_file(folder_.path() / "branch.yaml",
             run_config("data", "continue: {run: " + id + "}\nsweep: {grid: {optimizer.lr: [0.1, 0.2]}}\n"));
  const ProgramResult sweep = run({"sweep", "branch.yaml", "--dry-run"});
  EXPECT_EQ(sweep.code, kUsage);
  EXPECT_THAT(sweep.err, AllOf(HasSubstr("continue.at is missing, and " + id + " is running"),
                               HasSubstr("continue.at=2; it has: 1, 2")));
  const ProgramResult stopped = [&] {
    fs::remove(hold());
    return training.wait();
  }();
  EXPECT_EQ(stopped.code, kDone);
}

TEST_F(ProgramBranch, OfASweepAreRatesFromOneCheckpoint) {
  const std::string id = parent().filename();
  write_file(folder_.path() / "branch.yaml",
             run_config("data", "continue: {run: " + id +
                                    ", at: 5}\n"
                                    "sweep: {grid: {optimizer.lr: [0.1, 0.2], train.steps: [8]}}\n"));
  const ProgramResult dry = run({"sweep", "branch.yaml", "--dry-run", "--json"});
  ASSERT_EQ(dry.code, kDone) << dry.err;
  EXPECT_EQ(run_folders().size(), 1U);
  const ProgramResult done = run({"sweep", "branch.yaml"});
  ASSERT_EQ(done.code, kDone) << done.err;
  ASSERT_EQ(run_folders().size(), 3U);
  const ProgramResult again = run({"sweep", "branch.yaml"});
  EXPECT_EQ(again.code, kDone);
  EXPECT_EQ(run_folders().size(), 3U);
  const ProgramResult listed = run({"runs", "ls", "--where", "parent=" + id, "--columns", "parent_step,optimizer.lr"});
  EXPECT_THAT(listed.out, AllOf(HasSubstr("0.1"), HasSubstr("0.2"), Not(HasSubstr(id))));
  for (const fs::path& folder : run_folders()) {
    if (folder.filename() == id) continue;
    EXPECT_THAT(steps(folder), ElementsAre(6, 7, 8));
  }
  const Json shown = Json::parse(run({"runs", "show", id, "--json"}).out);
  EXPECT_EQ(shown.at("children").size(), 2U);
  EXPECT_THAT(run({"runs", "show", id}).out, HasSubstr("children"));
  const std::string child = shown.at("children").at(0);
  EXPECT_THAT(run({"runs", "show", child}).out, HasSubstr(id + " at step 5"));
}

TEST_F(ProgramBranch, OfSeedsOfOneSettingAreOneSetting) {
  const fs::path first = parent();
  const fs::path second = made({"train", "run.yaml", "train.keep_every=5", "seed=2"});
  const fs::path a = made({"train", "--continue", first.filename(), "train.steps=12"});
  const fs::path b = made({"train", "--continue", second.filename(), "train.steps=12"});
  const auto group = [&](const fs::path& folder) {
    return run({"runs", "sql", "SELECT seed_group FROM runs WHERE run_id='" + folder.filename().string() + "'",
                "--format", "csv"})
        .out;
  };
  EXPECT_EQ(group(a), group(b));
  EXPECT_NE(group(a), group(first));
}

TEST_F(ProgramBranch, StaysOneFamilyInAPack) {
  const fs::path from = parent();
  const fs::path child = made({"train", "--continue", from.filename(), "train.steps=12"});
  ASSERT_EQ(run({"runs", "pack", "--checkpoints", "--out", "runs.tar"}).code, kDone);
  const ProgramResult merged = run({"runs", "merge", "runs.tar", "--runs", "elsewhere"});
  ASSERT_EQ(merged.code, kDone) << merged.err;
  const fs::path copy = folder_.path() / "elsewhere" / child.filename();
  EXPECT_EQ(read_live_run(copy).parent, from.filename());
  EXPECT_TRUE(fs::exists(copy / "checkpoints" / "start.safetensors"));
  const ProgramResult listed =
      run({"runs", "ls", "--runs", "elsewhere", "--where", "parent=" + from.filename().string()});
  EXPECT_THAT(listed.out, HasSubstr(child.filename().string()));
}

TEST_F(ProgramBranch, BeginsFromTheWeightsOfACheckpointOfAnUnfinishedRun) {
  order("fail-at=7");
  EXPECT_NE(run({"train", "run.yaml", "train.keep_every=2"}).code, kDone);
  const std::string id = run_folders().at(0).filename();
  order("");
  const auto source_of = [](const fs::path& folder) {
    return read_json(folder / "environment.json").at("contents").at("model.init_from").get<std::string>();
  };
  const fs::path newest = made({"train", "run.yaml", "model.init_from=" + id, "model.span=8"});
  EXPECT_EQ(source_of(newest), "run:" + id + "@6");
  EXPECT_EQ(read_file(newest / "checkpoints" / "start.safetensors"), "6");
  EXPECT_EQ(read_json(newest / "checkpoints" / "start.vocab.json"), read_json(data_ / "vocab.json"));
  const fs::path named = made({"train", "run.yaml", "model.init_from=" + id + "@4", "model.span=8"});
  EXPECT_EQ(source_of(named), "run:" + id + "@4");
  const std::string file = (runs_ / id / "checkpoints" / "step-000000004.safetensors").string();
  EXPECT_EQ(run({"train", "run.yaml", "model.init_from=" + file, "model.span=8"}).code, kDone);
  EXPECT_EQ(run_folders().size(), 3U) << "the same run";
  const ProgramResult missing = run({"train", "run.yaml", "model.init_from=" + id + "@5", "model.span=8"});
  EXPECT_EQ(missing.code, kBadData);
  EXPECT_THAT(missing.err, HasSubstr("its run has those of the steps: 2, 4, 6"));
}

}  // namespace
}  // namespace xlm
