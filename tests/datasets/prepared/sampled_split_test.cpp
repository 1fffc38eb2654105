// A text of many documents is divided by a fixed sample of them.
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "datasets/prepared/clean_text.h"
#include "datasets/prepared/inspection.h"
#include "datasets/tokens/decoder.h"
#include "tests/datasets/preparing.h"
#include "tests/datasets/tokens/bpe_files.h"

namespace xlm {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class SampledSplit : public Preparing {
 protected:
  /// JSON lines: document i says its number in letters, some of them not ASCII.
  PrepareRequest rows(int count) const {
    std::string lines;
    for (int i = 0; i < count; ++i) lines += fmt::format("{{\"text\": \"{}\"}}\n", document(i));
    PrepareRequest wanted = request("text", {file("rows.jsonl", lines)});
    wanted.column = "text";
    return wanted;
  }
  static std::string document(int number) {
    std::string text = "doc";
    for (const char digit : std::to_string(number)) text += std::string(" ") + static_cast<char>('a' + digit - '0');
    return text + " café" + std::string(static_cast<std::size_t>(number % 7), 'x') + ".";
  }
  /// The documents of each split, decoded.
  static std::map<std::string, std::vector<std::string>> documents(const PreparedData& data) {
    std::map<std::string, std::vector<std::string>> found;
    for (const auto& [name, split] : data.splits) {
      const std::vector<std::int64_t>& begins = data.split(name).documents;
      for (std::size_t i = 0; i < begins.size(); ++i) {
        const std::int64_t end = i + 1 < begins.size() ? begins[i + 1] : split.tokens.size();
        found[name].push_back(decode(data.vocabulary, split, begins[i], end));
      }
    }
    return found;
  }
  std::vector<std::string> notes_of(const PrepareRequest& wanted) const {
    std::vector<std::string> notes;
    prepare(wanted, {.note = [&](const std::string& note) { notes.push_back(note); }});
    return notes;
  }
};

TEST_F(SampledSplit, HasTheSameDocumentsWhateverATokenIs) {
  std::vector<std::map<std::string, std::vector<std::string>>> found;
  for (const char* unit : {"character", "byte", "bpe"}) {
    PrepareRequest wanted = rows(60);
    wanted.unit = unit;
    wanted.out = path(unit);
    if (*wanted.unit == "bpe") wanted.bpe = write_small_bpe(path("encoding"));
    found.push_back(documents(make(wanted)));
  }
  EXPECT_EQ(found[0], found[1]);
  EXPECT_EQ(found[0], found[2]);
  EXPECT_EQ(found[0]["train"].size(), 54U);
  EXPECT_EQ(found[0]["valid"].size(), 3U);
  EXPECT_EQ(found[0]["test"].size(), 3U);
  std::vector<int> numbers;
  std::set<std::string> all;
  for (const auto& [name, texts] : found[0]) {
    int last = -1;
    for (const std::string& text : texts) {
      all.insert(text);
      int number = last + 1;
      while (number < 60 && document(number) != text) ++number;
      ASSERT_LT(number, 60) << text << " is out of order in " << name;
      last = number;
      if (name == "valid") numbers.push_back(number);
    }
  }
  EXPECT_EQ(all.size(), 60U);
  EXPECT_LT(numbers.front(), 50) << "not the end of the text";
}

TEST_F(SampledSplit, SaysWhatItReached) {
  EXPECT_THAT(notes_of(rows(60)),
              Contains(HasSubstr("of 60 documents 3 are validation and 3 are test, a fixed sample: ")));
  EXPECT_EQ(open_prepared(path("out")).meta["split_by"], "document");
}

TEST_F(SampledSplit, IsThatOfThePositionWhereDocumentsAreFew) {
  EXPECT_THAT(notes_of(rows(19)), Contains(HasSubstr("validation and test are the end of the text, as 19 documents")));
  EXPECT_FALSE(open_prepared(path("out")).meta.contains("split_by"));
  PrepareRequest two = rows(2);
  two.out = path("two");
  two.split_by = "document";
  EXPECT_THAT([&] { prepare(two, {}); }, ::testing::ThrowsMessage<UsageError>(HasSubstr("2 documents are too few")));
  PrepareRequest three = rows(3);
  three.out = path("three");
  three.split_by = "document";
  EXPECT_EQ(documents(make(three))["test"].size(), 1U);
}

TEST_F(SampledSplit, ByPositionIsTheEndOfTheText) {
  PrepareRequest wanted = rows(60);
  wanted.split_by = "position";
  const PreparedData data = make(wanted);
  std::string whole;
  for (int i = 0; i < 60; ++i) whole += document(i);
  EXPECT_EQ(text(data, "train") + text(data, "valid") + text(data, "test"), whole);
  EXPECT_THAT(notes_of(wanted), IsEmpty());
}

TEST_F(SampledSplit, AnEarlierFolderIsFound) {
  PrepareRequest wanted = rows(60);
  wanted.split_by = "position";
  make(wanted);
  wanted.split_by.reset();
  EXPECT_TRUE(prepare(wanted, {}).was_there) << "the same command as before";
  wanted.split_by = "document";
  EXPECT_THAT([&] { prepare(wanted, {}); }, ::testing::ThrowsMessage<UsageError>(HasSubstr("different: split_by")));
}

TEST_F(SampledSplit, KeepsTheTextOfEachSplit) {
  PrepareRequest wanted = rows(60);
  wanted.keep_text = true;
  const PreparedData data = make(wanted);
  for (const char* split : {"train", "valid", "test"})
    EXPECT_EQ(read_file(path("out") / (std::string(split) + ".txt")), text(data, split));
}

TEST_F(SampledSplit, ThatCannotBeIsWrongUsage) {
  PrepareRequest wanted = rows(60);
  const auto refused = [&](const char* why) {
    EXPECT_THAT([&] { check_request(wanted); }, ::testing::ThrowsMessage<UsageError>(HasSubstr(why)));
  };
  wanted.split_by = "size";
  refused("--split-by is document or position, not 'size'");
  wanted.split_by = "document";
  wanted.split = "100,10,10";
  refused("needs shares");
  wanted.split.reset();
  wanted.vocabulary = "train";
  refused("the characters of all splits");
}

TEST(SampledParts, AreADivisionInTheOrderOfTheText) {
  const std::vector<SplitPart> parts = sampled_parts({0, 10, 20, 30, 40}, 50, {3, 1, 1});
  SplitSizes tokens{};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    tokens.at(parts[i].split) += parts[i].tokens;
    if (i == 0) continue;
    EXPECT_NE(parts[i].split, parts[i - 1].split);
  }
  EXPECT_THAT(tokens, ElementsAre(30, 10, 10));
}

}  // namespace
}  // namespace xlm
