// The records of searches, merged with the runs.
#include "experiments/collections/search_merge.h"

#include <gmock/gmock.h>

#include "tests/experiments/collections/run_merge_fixture.h"

namespace xlm {
namespace {

using ::testing::StartsWith;

class SearchMergeTest : public RunMergeTest {
 protected:
  fs::path record(const std::string& runs, const std::string& search, int trial) const {
    return place(runs) / ".searches" / search / fmt::format("trial-{}.json", trial);
  }
  void propose(const std::string& runs, const std::string& search, int trial, const std::string& setting) const {
    create_folders(record(runs, search, trial).parent_path());
    write_file(record(runs, search, trial), "{\"setting\": " + setting + "}\n");
  }

  std::vector<MergedRecord> merge_next_to_runs(MergeSettings settings = {}) const {
    std::vector<MergedRecord> records;
    settings.record = [&](const MergedRecord& record) { records.push_back(record); };
    merge_runs(find_run_folders(place("b")), place("a"), settings);
    return records;
  }
};

TEST_F(SearchMergeTest, IsAUnionThatKeepsWhatIsHere) {
  make_run("a", 1);
  make_run("b", 2);
  propose("a", "0123", 1, "[0.5, 1]");
  propose("a", "0123", 2, "[0.25, 2]");
  propose("b", "0123", 1, "[5e-1,1]");
  propose("b", "0123", 2, "[0.75, 2]");
  propose("b", "0123", 3, "[0.125, 1]");
  propose("b", "4567", 1, "[3]");
  write_file(place("b") / ".searches" / "0123" / "notes.txt", "no record");
  write_file(record("b", "4567", 2), "{\"setting\": [3");
  MergeSettings dry;
  dry.dry_run = true;
  EXPECT_EQ(merge_next_to_runs(dry).size(), 2U);
  EXPECT_FALSE(fs::exists(record("a", "0123", 3)));
  const std::vector<MergedRecord> merged = merge_next_to_runs();
  ASSERT_EQ(merged.size(), 2U);
  EXPECT_EQ(merged[0].kind, "search");
  EXPECT_EQ(merged[0].name, "0123");
  EXPECT_THAT(merged[0].note, StartsWith("1 trial added; trial 2: another setting")) << "5e-1 is 0.5";
  EXPECT_EQ(merged[1].note, "1 trial added; " + record("b", "4567", 2).string() + " is damaged");
  EXPECT_TRUE(merged[0].is_conflict && merged[1].is_conflict);
  EXPECT_EQ(read_json(record("a", "0123", 3)), Json({{"setting", {0.125, 1}}}));
  EXPECT_EQ(read_json(record("a", "0123", 2)), Json({{"setting", {0.25, 2}}}));
  EXPECT_EQ(names_in(place("a") / ".searches" / "0123").size(), 3U);
  EXPECT_EQ(names_in(place("a") / ".searches" / "4567").size(), 1U);
  fs::remove(record("b", "4567", 2));
  fs::remove(record("b", "0123", 2));
  EXPECT_TRUE(merge_next_to_runs().empty()) << "nothing is new";
}

TEST_F(SearchMergeTest, AFolderWithoutSearchesHasNone) {
  make_run("b", 1);
  EXPECT_TRUE(merge_next_to_runs().empty());
  EXPECT_FALSE(fs::exists(place("a") / ".searches"));
  propose("a", "0123", 1, "[1]");
  EXPECT_TRUE(merge_searches(place("a"), place("a"), false).empty()) << "with itself";
}

}  // namespace
}  // namespace xlm
