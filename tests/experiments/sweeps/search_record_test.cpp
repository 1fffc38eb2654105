// What a search has asked for, and the answers of the process that is asked.
#include "experiments/sweeps/search_record.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "experiments/sweeps/search_sampler.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

Search searching(const std::string& measure = "valid.bpc") {
  return *read_search(parse_yaml(
      "sweep: {search: {measure: " + measure + ", trials: 6, keys: {lr: {low: 0.001, high: 0.1}, layers: [2, 4]}}}",
      "s.yaml"));
}

SearchRecord record_of(const fs::path& runs, const std::string& measure = "valid.bpc",
                       const std::vector<std::string>& first_runs = {"a-1", "b-2"}) {
  SearchRecord record(runs);
  record.open(searching(measure), first_runs);
  return record;
}

TEST(SearchRecord, HoldsForTheSameSearchOnly) {
  const TemporaryFolder runs;
  SearchRecord record = record_of(runs.path());
  EXPECT_FALSE(record.find(5));
  record.propose(5, {0.1 + 0.2, 1});
  EXPECT_TRUE(fs::is_empty(runs.path())) << "nothing is written yet";
  EXPECT_TRUE(record.write());
  EXPECT_EQ(record_of(runs.path()).find(5), (SearchSetting{0.1 + 0.2, 1})) << "with every bit";
  EXPECT_FALSE(record_of(runs.path()).find(6));
  EXPECT_FALSE(record_of(runs.path(), "valid.loss").find(5));
  EXPECT_FALSE(record_of(runs.path(), "valid.bpc", {"a-1", "c-3"}).find(5));
}

TEST(SearchRecord, TheFirstWriterDecides) {
  const TemporaryFolder runs;
  SearchRecord one = record_of(runs.path());
  SearchRecord two = record_of(runs.path());
  one.propose(5, {0.01, 0});
  two.propose(5, {0.02, 1});
  two.propose(6, {0.03, 1});
  EXPECT_TRUE(one.write());
  EXPECT_FALSE(two.write());
  EXPECT_EQ(two.find(5), (SearchSetting{0.01, 0}));
  EXPECT_EQ(one.find(6), (SearchSetting{0.03, 1}));
  two.propose(5, {0.02, 1});
  EXPECT_TRUE(two.write()) << "what is recorded is not proposed again";
}

TEST(SearchRecord, BeforeItIsOpenedNothingIsKept) {
  const TemporaryFolder runs;
  SearchRecord record(runs.path());
  record.propose(1, {0.01, 0});
  EXPECT_TRUE(record.write());
  EXPECT_FALSE(record.find(1));
  EXPECT_TRUE(fs::is_empty(runs.path()));
}

TEST(SearchRecord, ADamagedOneIsNamed) {
  const TemporaryFolder runs;
  SearchRecord record = record_of(runs.path());
  record.propose(5, {0.01, 0});
  record.write();
  fs::path file;
  for (const auto& entry : fs::recursive_directory_iterator(runs.path())) file = entry.path();
  ASSERT_EQ(file.filename(), "trial-5.json");
  for (const char* text : {"", "{}", "[]", "{\"setting\": [0.01]}", "{\"setting\": [0.01, \"a\"]}"}) {
    write_file(file, text);
    EXPECT_THAT([&] { record.find(5); }, ThrowsMessage<DataError>(HasSubstr(file.string()))) << text;
  }
}

TEST(SearchAnswer, HasAValueForEachKeyOfEachSetting) {
  EXPECT_EQ(settings_in_answer(R"({"settings": [[0.5, 1], [2, 0.0]]})", 2, 2),
            (std::vector<SearchSetting>{{0.5, 1}, {2, 0}}));
  for (const char* answer : {"", "nonsense", "[]", "{}", R"({"settings": 3})", R"({"settings": [[0.5, 1]]})",
                             R"({"settings": [[0.5], [2, 0]]})", R"({"settings": [[0.5, null], [2, 0]]})",
                             R"({"settings": [[0.5, "a"], 1]})"}) {
    EXPECT_THROW(settings_in_answer(answer, 2, 2), Error) << answer;
  }
}

}  // namespace
}  // namespace xlm
