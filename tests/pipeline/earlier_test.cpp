// Every 0.x reads what 0.1.0 wrote (tests/earlier): the same command finds its runs, and nothing trains again.
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/json.h"
#include "tests/experiments/program.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class Earlier : public ::testing::Test {
 protected:
  Earlier() { fs::copy(XLM_SOURCE_DIR "/tests/earlier", folder_.path(), fs::copy_options::recursive); }

  ProgramResult xlm(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), XLM_BINARY);
    return BackgroundProgram(std::move(arguments), folder_.path()).wait();
  }

  /// The journals by run.
  std::map<std::string, std::string> journals() const {
    std::map<std::string, std::string> found;
    for (const auto& entry : fs::directory_iterator(folder_.path() / "runs")) {
      const fs::path journal = entry.path() / "journal.jsonl";
      if (fs::exists(journal)) found[entry.path().filename().string()] = read_file(journal);
    }
    return found;
  }

  /// What the store says of every run.
  Json store() const { return parse_json(xlm({"runs", "ls", "--all", "--json"}).out, "runs ls"); }

  TemporaryFolder folder_;
};

TEST_F(Earlier, RunsAreFoundAndNothingTrainsAgain) {
  const auto before = journals();
  ASSERT_EQ(before.size(), 12U);
  for (const char* sweep : {"spans.yaml", "program.yaml"}) {
    const ProgramResult result = xlm({"sweep", sweep});
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("4 of 4 runs done"));
  }
  for (const char* model : {"hourglass.yaml", "patches.yaml", "windows.yaml"}) {
    const ProgramResult result = xlm({"train", model});
    EXPECT_EQ(result.code, 0) << result.err;
  }
  EXPECT_TRUE(journals() == before) << "a run has gone on";
}

TEST_F(Earlier, AStoppedRunResumesFromItsCheckpoint) {
  const auto before = journals();
  EXPECT_THAT(xlm({"train", "transformer.yaml"}).err, HasSubstr("say --anyway")) << "one run, two versions";
  const ProgramResult result = xlm({"train", "transformer.yaml", "--anyway"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err + result.out, HasSubstr("resuming from step 107"));
  const auto after = journals();
  EXPECT_EQ(after.size(), before.size());
  const std::string run = "transformer-text-caa760e2afe9e8e7";
  EXPECT_THAT(after.at(run), StartsWith(before.at(run)));
}

TEST_F(Earlier, TheStoreIsReadAndMadeAgainAlike) {
  const Json before = store();
  EXPECT_EQ(before.size(), 12U);
  ASSERT_EQ(xlm({"runs", "sync", "--rebuild"}).code, 0);
  EXPECT_EQ(store(), before);
  EXPECT_THAT(xlm({"runs", "show", "hourglass"}).out, HasSubstr("a note"));
  EXPECT_EQ(xlm({"table", "spans.yaml"}).code, 0);
  EXPECT_EQ(xlm({"claims", "spans.yaml"}).code, 0);
}

TEST_F(Earlier, ModelsAndPreparedDataAreEvaluatedAsThen) {
  std::set<std::string> models;
  for (const Json& run : store()) {
    const std::string id = run.at("run_id").get<std::string>();
    if (run.at("evaluations").size() != 2 || !fs::exists(folder_.path() / "runs" / id / "model")) continue;
    const fs::path data = run.at("params").at("data.path").get<std::string>();  // where it was made
    const ProgramResult result = xlm({"eval", id, "--data", "data/" + data.filename().string(), "--json"});
    ASSERT_EQ(result.code, 0) << result.err;
    const Json& test = run.at("evaluations").at(0);
    EXPECT_NEAR(parse_json(result.out, "eval").at("loss").get<double>(), test.at("loss").get<double>(), 1e-4) << id;
    models.insert(run.at("params").at("model.type").get<std::string>());
  }
  EXPECT_EQ(models.size(), 4U);
}

}  // namespace
}  // namespace xlm
