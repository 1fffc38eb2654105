// A sealed test split: it is not measured before it is opened, once, for all runs of a sweep.
#include <gmock/gmock.h>

#include "base/text.h"
#include "tests/pipeline/pipeline_fixture.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class SealedTest : public Pipeline {
 protected:
  void SetUp() override {
    Pipeline::SetUp();
    describe("[1, 2]");
  }

  void describe(const std::string& seeds, const std::string& eval = "eval: {sealed: test}\n") {
    write_file(folder_.path() / "sweep.yaml",
               "experiment: sealed\ndata: {path: data}\ndevice: cpu\n" + eval +
                   "model: {type: adaptive-span, width: 16, heads: 2, feed_forward: 32, layers: 1, span: 32}\n"
                   "train: {steps: 5, batch: 4, block: 16, threads: 1}\nsweep: {grid: {model.layers: [1, 2], seed: " +
                   seeds +
                   "}}\nclaims:\n  - {claim: deep, value: test.bpc, a: {model.layers: 2}, b: {model.layers: 1}}\n");
  }

  void sweep() {
    const ProgramResult done = xlm({"sweep", "sweep.yaml", "--quiet"});
    ASSERT_EQ(done.code, 0) << done.err;
  }

  Json claim() {
    const ProgramResult judged = xlm({"--json", "claims", "sweep.yaml"});
    return Json::parse(judged.out).at(0);
  }

  /// Whether each journal has an evaluation of the test split.
  std::string measured() {
    std::string splits;
    for (const auto& entry : fs::directory_iterator(folder_.path() / "runs")) {
      if (!fs::exists(entry.path() / "journal.jsonl")) continue;
      bool test = false;
      for (const std::string& line : split(read_file(entry.path() / "journal.jsonl"), '\n')) {
        const bool is_evaluation = line.find("\"type\":\"evaluation\"") != std::string::npos;
        test = test || (is_evaluation && line.find("\"split\":\"test\"") != std::string::npos);
      }
      splits += test ? "test " : "none ";
    }
    return splits;
  }
};

TEST_F(SealedTest, IsMeasuredOnceWhenAllRunsAreDone) {
  const ProgramResult early = xlm({"claims", "sweep.yaml", "--open"});
  EXPECT_EQ(early.code, 3);
  EXPECT_THAT(early.err, HasSubstr("4 of 4 runs are not done"));
  sweep();
  EXPECT_THAT(measured(), Not(HasSubstr("test")));
  EXPECT_EQ(claim()["verdict"], "not tried");
  const std::string run = run_folder("runs").filename().string();
  const ProgramResult looked = xlm({"eval", run});
  EXPECT_EQ(looked.code, 2);
  EXPECT_THAT(looked.err, HasSubstr("is sealed"));
  EXPECT_EQ(xlm({"eval", run, "--split", "valid"}).code, 0);

  const ProgramResult opened = xlm({"claims", "sweep.yaml", "--open"});
  EXPECT_EQ(opened.code, 0) << opened.err;
  EXPECT_EQ(measured(), "test test test test ");
  EXPECT_THAT(claim()["registered"].get<std::string>(), HasSubstr("test opened once"));
  const std::string chain = read_file(folder_.path() / "runs/registered.jsonl");
  EXPECT_EQ(xlm({"claims", "sweep.yaml", "--open"}).code, 0);
  EXPECT_EQ(read_file(folder_.path() / "runs/registered.jsonl"), chain) << "it is open";
  EXPECT_EQ(xlm({"eval", run}).code, 0);
}

TEST_F(SealedTest, HasTheNumbersOfAnOpenOne) {
  sweep();
  ASSERT_EQ(xlm({"claims", "sweep.yaml", "--open"}).code, 0);
  const std::vector<std::string> list{"runs",     "ls",  "--columns", "model.layers,seed,test.bpc,valid.bpc",
                                      "--format", "csv", "--sort",    "seed"};
  std::vector<std::string> of_open = list;
  const std::string sealed = xlm(list).out;
  describe("[1, 2]", "");
  ASSERT_EQ(xlm({"sweep", "sweep.yaml", "--quiet", "--runs", "open"}).code, 0);
  of_open.insert(of_open.end(), {"--runs", "open"});
  EXPECT_EQ(xlm(of_open).out, sealed) << "the same runs, by the same ids";
}

TEST_F(SealedTest, RunsAfterItsOpeningAreNamed) {
  sweep();
  ASSERT_EQ(xlm({"claims", "sweep.yaml", "--open"}).code, 0);
  describe("[1, 2, 3]");
  sweep();
  ASSERT_EQ(xlm({"claims", "sweep.yaml", "--open"}).code, 0);
  EXPECT_THAT(claim()["registered"].get<std::string>(), HasSubstr("test was open before adaptive-span"));
}

TEST_F(SealedTest, RunsThatSealNothingAreNamed) {
  describe("[1]", "");
  sweep();
  describe("[1, 2]");
  sweep();
  const ProgramResult opened = xlm({"claims", "sweep.yaml", "--open", "sweep.grid.seed=[2]"});
  ASSERT_EQ(opened.code, 0) << opened.err;
  EXPECT_THAT(claim()["registered"].get<std::string>(), HasSubstr("test was not sealed in adaptive-span"));
}

TEST_F(SealedTest, AnOpeningIsThatOfItsRunsWhateverClaimsAreCalled) {
  sweep();
  ASSERT_EQ(xlm({"claims", "sweep.yaml", "--open"}).code, 0);
  std::string renamed = read_file(folder_.path() / "sweep.yaml");
  renamed.replace(renamed.find("claim: deep"), 11, "claim: deeper");
  write_file(folder_.path() / "sweep.yaml", renamed);
  EXPECT_THAT(claim()["registered"].get<std::string>(), HasSubstr("test opened once"));
  describe("[3, 4]");
  std::string other = read_file(folder_.path() / "sweep.yaml");
  other.replace(0, std::string("experiment: sealed").size(), "experiment: other");
  write_file(folder_.path() / "sweep.yaml", other);
  sweep();
  ASSERT_EQ(xlm({"claims", "sweep.yaml", "--open"}).code, 0);
  EXPECT_EQ(claim()["registered"], "test opened once") << "the test of the first sweep is not theirs";
}

TEST_F(SealedTest, EvaluationsOfASweepWaitForIt) {
  write_file(folder_.path() / "more.yaml",
             read_file(folder_.path() / "sweep.yaml") + "evaluate: {split: test, eval.batch: [2]}\n");
  ASSERT_EQ(xlm({"sweep", "more.yaml", "--quiet"}).code, 0);
  EXPECT_THAT(measured(), Not(HasSubstr("test")));
  ASSERT_EQ(xlm({"claims", "sweep.yaml", "--open"}).code, 0);
  ASSERT_EQ(xlm({"sweep", "more.yaml", "--quiet"}).code, 0);
  EXPECT_THAT(read_file(run_folder("runs") / "journal.jsonl"), HasSubstr("\"eval.batch\":2"));
}

}  // namespace
}  // namespace xlm
