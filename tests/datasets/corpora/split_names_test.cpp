#include "datasets/corpora/split_names.h"

#include <gtest/gtest.h>

namespace xlm {
namespace {

/// The split that a name means; "-" if none or two.
std::string named(const std::string& name) {
  const SourceFile source{.path = "/data/" + name, .name = name, .root = "/data", .split = {}};
  const auto found = named_split(source);
  return found ? std::vector<std::string>{"train", "valid", "test"}.at(found->split) : "-";
}

TEST(SplitNames, EveryWordForASplitIsKnownInAnyCase) {
  for (const char* word : {"train", "training", "TRAIN", "Training"}) EXPECT_EQ(split_of_word(word), 0U) << word;
  for (const char* word : {"validation", "valid", "val", "dev", "development", "Dev"}) {
    EXPECT_EQ(split_of_word(word), 1U) << word;
  }
  for (const char* word : {"test", "testing", "eval", "evaluation", "EVAL"}) EXPECT_EQ(split_of_word(word), 2U) << word;
  for (const char* word : {"trainset", "TrainData", "trainsplit"}) EXPECT_EQ(split_of_word(word), 0U) << word;
  for (const char* word : {"heldout", "holdout", "devset", "devel", "testa"})
    EXPECT_EQ(split_of_word(word), 1U) << word;
  for (const char* word : {"testset", "testb", "devtest"}) EXPECT_EQ(split_of_word(word), 2U) << word;
  for (const char* word : {"", "set", "dataset", "tests", "trainer", "valley"})
    EXPECT_FALSE(split_of_word(word)) << word;
}

TEST(SplitNames, AFileNamesItsSplitBeforeOrBehindTheNumberOfItsShard) {
  EXPECT_EQ(named("train-00000-of-00005.parquet"), "train");
  EXPECT_EQ(named("00000-of-00005-VAL.parquet"), "valid");
  EXPECT_EQ(named("wiki40b-test.tfrecord-00000-of-00032"), "test");
  EXPECT_EQ(named("data-00000-of-00005.dev.arrow"), "valid");
  EXPECT_EQ(named("books.eval.txt"), "test");
  EXPECT_EQ(named("unsupervised-00000-of-00001.parquet"), "-");
  EXPECT_EQ(named("train-dev.txt"), "-") << "two";
  EXPECT_EQ(named("d\xC3\xA9test.txt"), "-") << "a word of another language";
}

TEST(SplitNames, TheNearestFolderNamesTheSplitOfFilesThatDoNotClearlySayOne) {
  EXPECT_EQ(named("dev/fi_examples-00000-of-00001"), "valid");
  EXPECT_EQ(named("Training Set/a/1.txt"), "train");
  EXPECT_EQ(named("split_test/1.txt"), "test");
  EXPECT_EQ(named("train/a test of strength.txt"), "train");
  EXPECT_EQ(named("test/train-00000-of-00001.parquet"), "-") << "it could be either";
  EXPECT_EQ(named("testimony/1.txt"), "-");
  EXPECT_EQ(named("en-test-2019/1.txt"), "-");
}

/// The splits that names of files give together, "-" for none.
std::string splits_of(const std::vector<std::string>& files) {
  std::vector<SourceFile> sources;
  sources.reserve(files.size());
  for (const std::string& name : files) {
    sources.push_back({.path = "/data/" + name, .name = name, .size = 1, .root = "/data", .split = {}});
  }
  std::string text;
  for (const auto& found : split_names(sources).of) text += found ? std::string(1, "tve"[found->split]) : "-";
  return text;
}

TEST(SplitNames, AWordAmongOthersInAFoldersNameCountsIfThenEveryFileHasASplit) {
  EXPECT_EQ(splits_of({"training-monolingual.shuffled/news.en-00001-of-00100", "training-monolingual.shuffled/b",
                       "heldout-monolingual.shuffled/news.en.heldout-00000-of-00050"}),
            "ttv");
  EXPECT_EQ(splits_of({"wiki_train_2019/a.txt", "wiki_valid_2019/a.txt", "wiki_test_2019/a.txt"}), "tve");
  EXPECT_EQ(splits_of({"a train journey/1.txt", "a test of love/1.txt", "spring/1.txt"}), "---");
  EXPECT_EQ(splits_of({"a train journey/1.txt", "train to nowhere/1.txt"}), "--") << "all of one";
  EXPECT_EQ(splits_of({"test/train-00000-of-00001", "old train/1.txt"}), "--") << "the first could be either";
  EXPECT_EQ(splits_of({"train-and-test/1.txt", "my dev set of 2020/1.txt"}), "--") << "two words";
}

TEST(SplitNames, TheFolderThatTheUserNamedCountsAmongSeveral) {
  const SourceFile source{.path = "/data/dev/1.txt", .name = "1.txt", .root = "/data/dev/", .split = {}};
  EXPECT_FALSE(named_split(source));
  ASSERT_TRUE(named_split(source, true));
  EXPECT_EQ(named_split(source, true)->word, "dev");
  const SourceFile file{.path = "/data/dev/1.txt", .name = "1.txt", .named = true, .root = {}, .split = {}};
  EXPECT_EQ(named_split(file)->split, 1U);
}

}  // namespace
}  // namespace xlm
