// Passages that splits share: found at any place, counted once, and reported when a folder is prepared.
#include "datasets/prepared/shared_passages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/datasets/preparing.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Words that never repeat a passage.
std::string words(int seed, std::size_t characters) {
  std::string text;
  auto state = static_cast<std::uint32_t>(seed) * 2654435761U + 1;
  while (text.size() < characters) {
    state = state * 1664525U + 1013904223U;
    text += state >> 28U == 0 ? ' ' : static_cast<char>('a' + (state >> 16U) % 26);
  }
  text.resize(characters);
  return text;
}

class SharedPassagesTest : public Preparing {
 protected:
  /// Prepares three texts, and returns the messages.
  std::string said(const std::string& train, const std::string& valid, const std::string& test) {
    PrepareRequest wanted = request("text", {});
    wanted.given = {{{file("a", train)}, {file("b", valid)}, {file("c", test)}}};
    wanted.force = true;
    std::string notes;
    prepare(wanted, {.note = [&](const std::string& note) { notes += note + "\n"; }});
    return notes;
  }
  std::vector<SharedPassages> found() const { return shared_passages(open_prepared(path("out"))); }
};

TEST_F(SharedPassagesTest, AreFoundAtAnyPlace) {
  const std::string shared = words(3, 1000);
  const std::string notes = said(words(1, 5037) + shared + words(2, 100'000), words(4, 2000), shared + words(5, 1000));
  EXPECT_THAT(notes, HasSubstr("50 % of test also occurs in train (5 of 10 passages of 200 characters)"));
  EXPECT_THAT(notes, HasSubstr("such as: " + shared.substr(0, 60)));
  EXPECT_THAT(notes, Not(HasSubstr("of valid")));
  const auto pairs = found();
  ASSERT_EQ(pairs.size(), 3U);
  EXPECT_EQ(pairs[0].split, "valid");
  EXPECT_EQ(pairs[0].shared, 0);
  EXPECT_EQ(pairs[1].shared, 5);
  EXPECT_EQ(pairs[1].example, 0);
  EXPECT_EQ(pairs[2].other, "valid");
  EXPECT_EQ(pairs[2].shared, 0);
}

TEST_F(SharedPassagesTest, CountOnceEvenIfRepeated) {
  const std::string shared = words(3, 400);
  said(shared + words(1, 77) + shared, words(4, 400), words(5, 200) + shared);
  EXPECT_EQ(found()[1].shared, 2);
  EXPECT_EQ(found()[1].passages, 3);
  EXPECT_EQ(found()[1].example, 200);
}

TEST_F(SharedPassagesTest, DoNotCountWithoutContent) {
  const std::string rule(4000, '-');
  EXPECT_EQ(said(words(1, 3000) + rule, words(2, 1000), rule + words(3, 1000)), "");
  EXPECT_EQ(found()[1].passages, 5);
}

TEST_F(SharedPassagesTest, AreNotReportedIfOneCharacterDiffers) {
  std::string other = words(3, 1000);
  for (std::size_t i = 100; i < other.size(); i += 200) other[i] = other[i] == 'x' ? 'y' : 'x';
  EXPECT_EQ(said(words(1, 999) + words(3, 1000), words(2, 1000), other), "");
}

TEST_F(SharedPassagesTest, CrossTheBlocksInWhichATextIsRead) {
  const std::string shared = words(3, 600);
  said(words(1, (1 << 16) - 250) + shared + words(2, 1 << 16), words(4, 400), shared);
  EXPECT_EQ(found()[1].shared, 3);
}

// Of ten passages 0, 3, 6 and 9 are sampled; the last four of the ten are shared.
TEST_F(SharedPassagesTest, OfALongSplitAreMarkedAsASample) {
  const std::string shared = words(3, 800);
  said(words(1, 3000) + shared, words(4, 400), words(5, 1200) + shared);
  const PreparedData data = open_prepared(path("out"));
  const SharedPassages sample = shared_passages(data, 4)[1];
  EXPECT_EQ(sample.every, 3);
  EXPECT_EQ(sample.passages, 4);
  EXPECT_EQ(sample.shared, 2);
  EXPECT_EQ(sample.example, 1200);
  EXPECT_EQ(shared_passages_text(sample, data.vocabulary.unit),
            "about 50 % of test also occurs in train (2 of 4 passages of 200 characters, one in 3 was searched)");
  EXPECT_EQ(shared_passages(data, 10)[1].every, 1);
  EXPECT_EQ(shared_passages(data, 9)[1].passages, 5);
}

// Few letters, so that passages repeat and overlap; the same stretches by comparing texts.
TEST_F(SharedPassagesTest, AreThoseThatComparingTextsFinds) {
  const std::string pieces = words(9, 4000);
  std::string train;
  std::string test;
  for (std::uint32_t i = 1; train.size() < 300'000; i = i * 1664525U + 1013904223U) {
    train += pieces.substr((i >> 16U) % 12 * 300, (i >> 8U) % 700);
    if (test.size() < 20'000) test += pieces.substr((i >> 20U) % 12 * 300, (i >> 9U) % 900);
  }
  said(train, words(4, 400), test);
  std::int64_t shared = 0;
  std::int64_t first = -1;
  for (std::size_t begin = 0; begin + 200 <= test.size(); begin += 200) {
    if (train.find(test.substr(begin, 200)) == std::string::npos) continue;
    if (shared++ == 0) first = static_cast<std::int64_t>(begin);
  }
  EXPECT_GT(shared, 5);
  EXPECT_EQ(found()[1].shared, shared);
  EXPECT_EQ(found()[1].example, first);
  EXPECT_EQ(shared_passages(open_prepared(path("out")), kMaxPassages, 3)[1].shared, shared);
}

TEST_F(SharedPassagesTest, OfTextsThatAreShorterThanAPassageAreNone) {
  EXPECT_EQ(said("short", "short", "short"), "");
  EXPECT_EQ(found()[1].passages, 0);
}

TEST_F(SharedPassagesTest, ShortDocumentsAreComparedWhole) {
  const auto rows = [](int from, int count, int seed) {
    std::string text;
    for (int i = 0; i < count; ++i) text += "{\"text\": \"" + words(seed + (from + i) % 400, 60) + "\"}\n";
    return text;
  };
  const auto notes_of = [&](const std::string& test) {
    PrepareRequest wanted = request("text", {});
    wanted.given = {
        {{file("a.jsonl", rows(0, 400, 1))}, {file("b.jsonl", rows(0, 40, 5000))}, {file("c.jsonl", test)}}};
    wanted.force = true;
    wanted.column = "text";
    std::string notes;
    prepare(wanted, {.note = [&](const std::string& note) { notes += note + "\n"; }});
    return notes;
  };
  EXPECT_THAT(notes_of(rows(17, 30, 1) + rows(0, 10, 9000)),
              AllOf(HasSubstr("75 % of the documents of test are short and also occur in train (30 of 40)"),
                    HasSubstr("such as: " + words(18, 40)), Not(HasSubstr("of valid"))));
  EXPECT_THAT(notes_of(rows(0, 40, 9000)), Not(HasSubstr("also occur")));
}

}  // namespace
}  // namespace xlm
