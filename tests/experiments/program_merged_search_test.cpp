// The record of a search goes where its runs are merged and packed to.
#include <gmock/gmock.h>

#include "tests/experiments/program_fixture.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST_F(ProgramTest, TheRecordOfASearchIsMergedAndPackedWithItsRuns) {
  write_sweep("sweep: {grid: {seed: [1]}}\n");
  ASSERT_EQ(run({"sweep", "sweep.yaml"}).code, kDone);
  const fs::path record = fs::path(".searches") / "0123456789abcdef" / "trial-3.json";
  create_folders((runs_ / record).parent_path());
  write_file(runs_ / record, "{\"setting\": [0.5]}\n");
  const ProgramResult merged = run({"--runs", "other", "runs", "merge", "runs"});
  EXPECT_EQ(merged.code, kDone) << merged.err;
  EXPECT_THAT(merged.out, HasSubstr("search 0123456789abcdef: 1 trial added\n1 run: 1 added"));
  EXPECT_EQ(read_json(folder_.path() / "other" / record), read_json(runs_ / record));
  ASSERT_EQ(run({"runs", "pack", "--out", "packed.tar"}).code, kDone);
  write_file(folder_.path() / "other" / record, "{\"setting\": [0.25]}\n");
  const ProgramResult differs = run({"--runs", "other", "runs", "merge", "packed.tar"});
  EXPECT_EQ(differs.code, kFailed);
  EXPECT_THAT(differs.out, AllOf(HasSubstr("trial 3: another setting was asked for there, and that here counts"),
                                 HasSubstr("1 run: 1 same")));
  EXPECT_EQ(read_json(folder_.path() / "other" / record), Json({{"setting", {0.25}}}));
  const ProgramResult json = run({"--runs", "third", "runs", "merge", "packed.tar", "--json"});
  EXPECT_EQ(json.code, kDone) << json.err;
  EXPECT_EQ(Json::parse(json.out).at(1).at("search"), "0123456789abcdef");
  EXPECT_TRUE(fs::exists(folder_.path() / "third" / record));
}

}  // namespace
}  // namespace xlm
