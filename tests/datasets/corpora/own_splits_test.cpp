// Text of one's own with training, validation and test as they are given, and tables whose rows are documents.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "datasets/dataset_folder.h"
#include "tests/datasets/corpora/shards.h"
#include "tests/datasets/preparing.h"

namespace xlm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class OwnSplits : public Preparing {
 protected:
  PrepareRequest given(std::vector<fs::path> train, std::vector<fs::path> valid, std::vector<fs::path> test) const {
    PrepareRequest wanted = request("text", {});
    wanted.given = {std::move(train), std::move(valid), std::move(test)};
    return wanted;
  }
  PrepareRequest import(const fs::path& folder) const {
    PrepareRequest wanted = request("text", {});
    find_shards(folder, wanted);
    return wanted;
  }
};

TEST_F(OwnSplits, AreTakenAsTheyAreGiven) {
  const PreparedData data = make(given({file("a.txt", "first "), file("more/b.txt", "second")},
                                       {file("valid/a.txt", "third")}, {file("t.txt", "fourth")}));
  EXPECT_EQ(text(data, "train"), "first second");
  EXPECT_EQ(text(data, "valid"), "third");
  EXPECT_EQ(text(data, "test"), "fourth");
  EXPECT_THAT(data.split("train").documents, ElementsAre(0, 6));
  EXPECT_EQ(data.meta["split"], "given");
  EXPECT_TRUE(data.meta["sources"].contains("valid/a.txt")) << data.meta["sources"];
  EXPECT_TRUE(
      prepare(given({path("a.txt"), path("more/b.txt")}, {path("valid/a.txt")}, {path("t.txt")}), {}).was_there);
}

TEST_F(OwnSplits, MayLackOneAndMayBeFolders) {
  file("train/b.txt", "b");
  file("train/a.txt", "a");
  const PreparedData data = make(given({path("train")}, {}, {file("t.txt", "c")}));
  EXPECT_EQ(text(data, "train"), "ab");
  EXPECT_FALSE(data.splits.contains("valid"));
}

TEST_F(OwnSplits, AreCleanedEachByItself) {
  PrepareRequest wanted = given({file("a", "One!"), file("b", "Two")}, {file("c", "Three")}, {});
  wanted.clean = "text8";
  EXPECT_EQ(text(make(wanted), "valid"), " three");
  wanted.language = "fi";
  wanted.out = path("fi");
  const PreparedData finnish = make(wanted);
  EXPECT_EQ(text(finnish, "train"), "one\ntwo");
  EXPECT_EQ(text(finnish, "valid"), "three") << "no line break of what came before";
}

TEST_F(OwnSplits, GoWithNothingElseThatNamesOrDividesText) {
  PrepareRequest wanted = given({file("a", "text")}, {}, {});
  wanted.from = {path("a")};
  expect_error<UsageError>(wanted, "both name files");
  wanted.from.clear();
  wanted.split = "80%,10%,10%";
  expect_error<UsageError>(wanted, "--split divides one text");
  wanted = given({path("a")}, {}, {});
  wanted.dataset = "enwik8";
  expect_error<UsageError>(wanted, "enwik8 takes no --train");
}

TEST_F(OwnSplits, RowsOfATableAreDocuments) {
  const std::vector<std::string> rows{"first", "", "sécond ", "third"};
  for (const char* kind : {"parquet", "arrow-stream", "arrow-file"}) {
    PrepareRequest wanted = request("text", {write_shard(kind, path(kind), rows)});
    wanted.out = path(std::string("out-") + kind);
    wanted.split = "100%,0%,0%";
    const PreparedData data = make(wanted);
    EXPECT_EQ(text(data, "train"), "firstsécond third") << kind;
    EXPECT_THAT(data.split("train").documents, ElementsAre(0, 5, 12)) << kind;
    wanted.column = "wikidata_id";
    wanted.out = path(std::string("ids-") + kind);
    EXPECT_EQ(text(make(wanted), "train"), "Q0Q1Q2Q3") << kind;
    wanted.column = "txt";
    wanted.out = path(std::string("none-") + kind);
    EXPECT_THAT([&] { prepare(wanted, {}); },
                ThrowsMessage<DataError>(HasSubstr("no column 'txt': it has wikidata_id, text, version_id")));
  }
}

TEST_F(OwnSplits, DamagedTablesAreRefused) {
  const std::string whole = read_file(write_shard("arrow-stream", path("whole"), {"some text", "and more"}));
  for (const std::size_t size : {whole.size() - 9, whole.size() / 2, std::size_t{12}}) {
    file("cut", whole.substr(0, size));
    expect_error<DataError>(request("text", {path("cut")}), size > 12 ? "" : "truncated or damaged");
  }
}

TEST_F(OwnSplits, OfADatasetFolderAreFoundByTheNamesOfShardsOrFolders) {
  write_shard("parquet", path("hub/data/train-00000-of-00002.parquet"), {"a"});
  write_shard("parquet", path("hub/data/train-00001-of-00002.parquet"), {"b"});
  write_shard("parquet", path("hub/data/validation-00000-of-00001.parquet"), {"c"});
  file("hub/README.md", "---\n");
  const PreparedData hub = make(import(path("hub")));
  EXPECT_EQ(text(hub, "train"), "ab");
  EXPECT_EQ(text(hub, "valid"), "c");
  write_shard("arrow-stream", path("saved/train/data-00000-of-00001.arrow"), {"d"});
  write_shard("arrow-stream", path("saved/test/data-00000-of-00001.arrow"), {"e"});
  file("saved/test/cache-1234.arrow", "no shard");
  file("saved/dataset_dict.json", "{}");
  PrepareRequest wanted = import(path("saved"));
  wanted.out = path("of-saved");
  const PreparedData saved = make(wanted);
  EXPECT_EQ(text(saved, "train"), "d");
  EXPECT_EQ(text(saved, "test"), "e");
}

TEST_F(OwnSplits, OfADatasetWithoutAnyAreShares) {
  write_shard("arrow-stream", path("one/data-00000-of-00001.arrow"), {"0123456789"});
  PrepareRequest wanted = import(path("one"));
  wanted.split = "80%,10%,10%";
  EXPECT_EQ(text(make(wanted), "test"), "9");
}

TEST_F(OwnSplits, OfADatasetFolderLoseNoShardThatNamesNone) {
  file("imdb/train-00000-of-00001.parquet", "");
  file("imdb/unsupervised-00000-of-00002.parquet", "");
  file("imdb/unsupervised-00001-of-00002.parquet", "");
  EXPECT_EQ(import(path("imdb")).from.size(), 3U) << "one text, which --split divides";
  file("imdb/test-00000-of-00001.parquet", "");
  EXPECT_THAT([&] { import(path("imdb")); },
              ThrowsMessage<DataError>(HasSubstr("unsupervised-00000-of-00002.parquet (and 1 more) of ")));
}

TEST_F(OwnSplits, OfSeveralDatasetsAreNotMixed) {
  file("hub/one/train-0.parquet", "");
  file("hub/two/train-0.parquet", "");
  EXPECT_THAT([&] { import(path("hub")); }, ThrowsMessage<DataError>(HasSubstr("several data sets: one, two")));
  file("empty/a.txt", "text");
  EXPECT_THAT([&] { import(path("empty")); }, ThrowsMessage<DataError>(HasSubstr("holds no shards")));
  EXPECT_THAT([&] { import(path("nowhere")); }, ThrowsMessage<DataError>(HasSubstr("is no folder")));
}

}  // namespace
}  // namespace xlm
