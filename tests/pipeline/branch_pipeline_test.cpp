// The real program: runs that go on from checkpoints, killed and resumed, and weights of another vocabulary.
#include <algorithm>
#include <csignal>
#include <set>

#include <gmock/gmock.h>

#include "base/error.h"
#include "base/json.h"
#include "tests/pipeline/pipeline_fixture.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;

class BranchPipeline : public Pipeline {
 protected:
  /// The run that goes on from `parent`, once its folder is there.
  fs::path child_of(const std::string& runs, const fs::path& parent) const {
    for (const auto& entry : fs::directory_iterator(folder_.path() / runs)) {
      const fs::path environment = entry.path() / "environment.json";
      const bool hidden = entry.path().filename().string().front() == '.';
      if (hidden || !fs::exists(environment)) continue;
      if (read_json(environment).value("parent", Json::object()).value("run", "") == parent.filename()) {
        return entry.path();
      }
    }
    return {};
  }
};

TEST_F(BranchPipeline, AKilledRunThatGoesOnHasTheModelOfOneThatWasSoLong) {
  ASSERT_EQ(xlm({"train", "run.yaml", "--runs", "whole", "eval.select=best"}).code, 0);
  ASSERT_EQ(xlm({"train", "run.yaml", "--runs", "parts", "eval.select=best", "train.steps=70"}).code, 0);
  const fs::path parent = run_folder("parts");
  const std::vector<std::string> longer{"train", "--continue", parent.filename(), "--runs", "parts",
                                        "--at",  "70",         "train.steps=160"};
  {
    const auto killed = start(longer);
    const auto has_saved = [&] {
      const fs::path child = child_of("parts", parent);
      return !child.empty() && read_file(child / "journal.jsonl").find("step-000000098") != std::string::npos;
    };
    for (int i = 0; i < 60'000 && !has_saved(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    ASSERT_TRUE(has_saved());
    killed->kill(SIGKILL);
    killed->wait();
  }
  const fs::path child = child_of("parts", parent);
  ASSERT_FALSE(child.empty());
  const std::string record = "\"going on from step 70 of " + parent.filename().string();
  EXPECT_THAT(read_file(child / "journal.jsonl"), HasSubstr(record));
  const ProgramResult resumed = xlm(longer);
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(sha256_file(child / "model/model.safetensors"), model_hash("whole"));
}

TEST_F(BranchPipeline, FineTuningOnOtherSymbolsKeepsTheRowsOfCommonOnes) {
  ASSERT_EQ(xlm({"train", "run.yaml", "train.steps=20"}).code, 0);
  const std::string source = run_folder("runs").filename();
  std::string text;
  for (int i = 0; i < 900; ++i) text += "Zeile " + std::to_string(i) + " über größere Dinge\n";
  write_file(folder_.path() / "other.txt", text);
  ASSERT_EQ(xlm({"prepare-data", "text", "--from", "other.txt", "--out", "other"}).code, 0);
  ASSERT_EQ(
      xlm({"train", "run.yaml", "data.path=other", "train.steps=20", "model.init_from=" + source, "--runs", "tuned"})
          .code,
      kBadData)
      << "the run is in another folder";
  const ProgramResult tuned = xlm({"train", "run.yaml", "data.path=other", "train.steps=20", "--runs", "tuned",
                                   "model.init_from=" + run_folder("runs").string()});
  ASSERT_EQ(tuned.code, 0) << tuned.err;
  const auto symbols_of = [&](const std::string& data) {
    const Json symbols = read_json(folder_.path() / data / "vocab.json").at("symbols");
    return std::set<std::string>(symbols.begin(), symbols.end());
  };
  const std::set<std::string> before = symbols_of("data");
  const std::set<std::string> now = symbols_of("other");
  const auto kept = std::count_if(now.begin(), now.end(), [&](const auto& symbol) { return before.contains(symbol); });
  ASSERT_GT(kept, 0);
  ASSERT_LT(kept, std::ssize(now));
  EXPECT_THAT(read_file(run_folder("tuned") / "journal.jsonl"),
              HasSubstr(fmt::format("{} keep their rows, {} are new, {} are dropped", kept, std::ssize(now) - kept,
                                    std::ssize(before) - kept)));
}

}  // namespace
}  // namespace xlm
