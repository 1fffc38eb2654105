// Claims that are written down before their runs: what an honest study gets, and what names each kind of tampering.
#include <gmock/gmock.h>

#include "tests/experiments/program_of_user_fixture.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class RegisteredClaims : public ProgramOfUser {
 protected:
  RegisteredClaims() {
    write_program("");
    describe("margin: 0.1");
  }

  void write_program(const std::string& more) {
    write_script("train.py",
                 more +
                     "import json, os, sys\nloss = 3 + float(sys.argv[1]) + 0.001 * int(os.environ['XLM_SEED']) ** 2\n"
                     "with open(os.environ['XLM_METRICS'], 'a') as file:\n"
                     "    file.write(json.dumps({'step': 1, 'split': 'test', 'bpc': loss, 'final': True}) + '\\n')\n");
  }

  void describe(const std::string& claim, const std::string& seeds = "[1, 2, 3]") {
    configure(
        "[python3, train.py, '{lr}']", "",
        fmt::format(
            "options: {{lr: 0.5}}\nsweep: {{grid: {{options.lr: [0.25, 0.5], seed: {}}}}}\n"
            "claims:\n  - {{claim: less, value: test.bpc, a: {{options.lr: 0.25}}, b: {{options.lr: 0.5}}, {}}}\n",
            seeds, claim));
  }

  /// Registers what the file claims; the line that proves it.
  std::string registered(std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"claims", "run.yaml", "--register"});
    const ProgramResult made = run(more);
    EXPECT_EQ(made.code, kDone) << made.err;
    EXPECT_THAT(made.out, StartsWith("xlm claims "));
    return made.out.substr(0, made.out.find('\n'));
  }

  void sweep(std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"sweep", "run.yaml"});
    const ProgramResult done = run(more);
    ASSERT_EQ(done.code, kDone) << done.out << done.err;
  }

  /// The second word of the claim's verdict.
  std::string word(std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"--json", "claims", "run.yaml"});
    const ProgramResult judged = run(more);
    EXPECT_EQ(judged.code, kDone) << judged.err;
    const Json claims = Json::parse(judged.out);
    return claims.at(0)["registered"].is_string() ? claims.at(0)["registered"].get<std::string>() : "";
  }

  fs::path chain() const { return runs_ / "registered.jsonl"; }
  std::string one_run() const { return run_folders().front().filename().string(); }
};

TEST_F(RegisteredClaims, AnHonestStudyIsRegistered) {
  const std::string line = registered();
  registered();  // which may be that of another file
  sweep();
  EXPECT_EQ(word(), "registered");
  EXPECT_EQ(word({"--verify", line}), "registered");
  const ProgramResult part = run({"claims", "run.yaml", "--verify", line.substr(0, line.size() - 30)});
  EXPECT_EQ(part.code, kUsage);
  EXPECT_THAT(part.err, AllOf(HasSubstr("a part of a hash proves nothing"), HasSubstr("all 64 digits")));
  const ProgramResult text = run({"claims", "run.yaml"});
  EXPECT_THAT(text.out,
              AllOf(HasSubstr("confirmed  less (registered)"), HasSubstr("Records of these claims: 1 registered.")));
  registered();  // once more, which takes nothing back
  EXPECT_EQ(word(), "registered");
}

TEST_F(RegisteredClaims, AnArchiveSaysTheSameElsewhere) {
  const std::string line = registered();
  sweep();
  ASSERT_EQ(run({"runs", "pack", "--out", "a.tar.zst"}).code, kDone);
  const ProgramResult merged = run({"--runs", "elsewhere", "runs", "merge", "a.tar.zst"});
  ASSERT_EQ(merged.code, kDone) << merged.err;
  EXPECT_EQ(word({"--runs", "elsewhere", "--verify", line}), "registered");
}

TEST_F(RegisteredClaims, OthersHaveNoSecondWord) {
  sweep();
  EXPECT_EQ(word(), "");
  const ProgramResult line = run({"claims", "run.yaml", "--verify", "xlm claims 3fa9"});
  EXPECT_EQ(line.code, kBadData);
  EXPECT_THAT(line.err, HasSubstr("has the hash 3fa9"));
  EXPECT_EQ(run({"claims", "run.yaml", "seed=1"}).code, kUsage);
}

TEST_F(RegisteredClaims, LateOnesAreNamed) {
  sweep();
  registered();
  EXPECT_THAT(word(), AllOf(StartsWith("registered late: "), HasSubstr("began without the record")));
}

TEST_F(RegisteredClaims, FoldersInWhichTheSameWasRegisteredAreMerged) {
  for (const auto& [folder, lr] : {std::pair("alice", "[0.25]"), std::pair("bob", "[0.5]")}) {
    ASSERT_EQ(run({"--runs", folder, "claims", "run.yaml", "--register"}).code, kDone);
    ASSERT_EQ(run({"--runs", folder, "sweep", "run.yaml", fmt::format("sweep.grid.options.lr={}", lr)}).code, kDone);
  }
  for (const auto& [first, second] : {std::pair("alice", "bob"), std::pair("bob", "alice")}) {
    const std::string joined = fmt::format("{}-first", first);
    for (const char* folder : {first, second}) {
      ASSERT_EQ(run({"--runs", joined, "runs", "merge", folder}).code, kDone) << folder;
    }
    EXPECT_EQ(word({"--runs", joined}), "registered") << joined;
  }
}

TEST_F(RegisteredClaims, APlanThatGrewIsLate) {
  registered();
  sweep();
  describe("margin: 0.1", "[1, 2, 3, 4]");
  registered();
  sweep();
  EXPECT_THAT(word(), HasSubstr("was not planned"));
}

TEST_F(RegisteredClaims, TheOrderOfKeysIsNoChange) {
  describe("better: a, margin: 0.1");
  registered();
  sweep();
  describe("margin: 0.1, better: a");
  EXPECT_EQ(word(), "registered");
}

TEST_F(RegisteredClaims, SaySoInEveryForm) {
  registered();
  sweep();
  describe("margin: 0.2");
  for (const char* format : {"text", "markdown", "latex", "csv", "json", "html"}) {
    EXPECT_THAT(run({"claims", "run.yaml", "--format", format}).out, HasSubstr("changed since: margin")) << format;
  }
}

TEST_F(RegisteredClaims, APlanWaitsForTheFirstSeedsOfItsSweep) {
  describe("seeds: 3, margin: 0.1", "[1, 2, 3, 4, 5, 6]");
  sweep({"sweep.grid.seed=[4,5,6]"});
  const ProgramResult early = run({"claims", "run.yaml"});
  EXPECT_EQ(early.code, kBadData);
  EXPECT_THAT(early.out, HasSubstr("the first seeds of the plan have no number yet (1, 2 and 3)"));
  sweep({"sweep.grid.seed=[1,2]"});
  EXPECT_THAT(run({"claims", "run.yaml"}).out, HasSubstr("a look at 2 of 3 planned seeds decides nothing"));
  sweep();
  EXPECT_THAT(run({"claims", "run.yaml"}).out, AllOf(HasSubstr("confirmed"), HasSubstr("pairs of 3 seeds")));
}

TEST_F(RegisteredClaims, AnotherMarginOrDirectionIsNamed) {
  const std::string line = registered();
  sweep();
  describe("margin: 0.2");
  EXPECT_EQ(word(), "changed since: margin");
  describe("margin: 0.1, better: b");
  EXPECT_EQ(word(), "changed since: better");
  registered();  // a new record does not hide it
  EXPECT_THAT(word(), StartsWith("registered late"));
  EXPECT_EQ(word({"--verify", line}), "changed since: better");
}

TEST_F(RegisteredClaims, ADroppedSeedIsNamed) {
  registered();
  sweep();
  EXPECT_THAT(word({"--where", "seed=1,2"}), HasSubstr("changed since: seeds (a condition leaves "));
  const std::string run_id = one_run();
  ASSERT_EQ(run({"runs", "mark", run_id, "--bad", "odd"}).code, kDone);
  EXPECT_EQ(word(), "changed since: seeds (" + run_id + " is marked as bad)");
  ASSERT_EQ(run({"runs", "mark", run_id, "--good"}).code, kDone);
  EXPECT_EQ(word(), "registered");
  ASSERT_EQ(run({"runs", "rm", run_id, "--yes"}).code, kDone);
  EXPECT_EQ(word(), "changed since: seeds (" + run_id + " is not there)");
}

TEST_F(RegisteredClaims, AnAddedSeedIsNamed) {
  registered();
  sweep();
  describe("margin: 0.1", "[1, 2, 3, 4]");
  sweep();
  EXPECT_THAT(word(), AllOf(StartsWith("changed since: runs ("), HasSubstr("was not planned")));
}

TEST_F(RegisteredClaims, OtherCodeIsNamed) {
  registered();
  write_program("print('edited')\n");
  sweep();
  EXPECT_THAT(word(), StartsWith("changed since: code (of "));
}

TEST_F(RegisteredClaims, OtherDataAreNamed) {
  make_data(folder_.path() / "other", "abcabcabcabc");
  write_file(config(),
             run_config("data",
                        "sweep: {grid: {model.span: [8, 16], seed: [1, 2]}}\n"
                        "claims:\n  - {claim: more, value: test.bpc, a: {model.span: 16}, b: {model.span: 8}}\n"));
  registered();
  sweep({"data.path=other"});
  EXPECT_THAT(word(), StartsWith("changed since: data (of "));
}

TEST_F(RegisteredClaims, AChangedRecordIsNamed) {
  const std::string line = registered();
  sweep();
  std::string record = read_file(chain());
  const std::size_t time = record.find("\"time\":") + 7;
  record[time] = record[time] == '1' ? '2' : '1';
  write_file(chain(), record);
  EXPECT_THAT(word(), HasSubstr("changed since: the chain of records"));
  EXPECT_EQ(run({"claims", "run.yaml", "--verify", line}).code, kBadData);
}

}  // namespace
}  // namespace xlm
