// A user's text with given training, validation and test splits, and tables whose rows are documents.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
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
    PrepareRequest wanted = request("text", {folder});
    wanted.shards = true;
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
  EXPECT_EQ(text(finnish, "valid"), "three") << "without a line break from the split before";
}

TEST_F(OwnSplits, CannotBeCombinedWithOtherWaysToSplit) {
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
  wanted.out = path("divided");
  wanted.split = "1,1,0";
  const PreparedData divided = make(wanted);
  EXPECT_EQ(text(divided, "train") + text(divided, "valid"), "de");
}

TEST_F(OwnSplits, OfADatasetWithoutAnyAreShares) {
  write_shard("arrow-stream", path("one/data-00000-of-00001.arrow"), {"0123456789"});
  PrepareRequest wanted = import(path("one"));
  wanted.split = "80%,10%,10%";
  EXPECT_EQ(text(make(wanted), "test"), "9");
}

TEST_F(OwnSplits, OfADatasetFolderLoseNoShardThatNamesNone) {
  write_shard("parquet", path("imdb/train-00000-of-00001.parquet"), {"train"});
  write_shard("parquet", path("imdb/unsupervised-00000-of-00002.parquet"), {"more"});
  write_shard("parquet", path("imdb/unsupervised-00001-of-00002.parquet"), {"most"});
  expect_error<DataError>(import(path("imdb")),
                          "unsupervised-00000-of-00002.parquet (and 1 more): the name gives no split");
  file("imdb/test-00000-of-00001.parquet", "");
  expect_error<DataError>(import(path("imdb")), "--split 90%,5%,5%");
  fs::remove(path("imdb/test-00000-of-00001.parquet"));
  PrepareRequest whole = import(path("imdb"));
  whole.split = "100%,0%,0%";
  EXPECT_EQ(text(make(whole), "train"), "trainmoremost");
}

TEST_F(OwnSplits, OfADatasetFolderHaveAnyOfTheirNames) {
  write_shard("parquet", path("hub/data/00000-of-00001-Training.parquet"), {"a"});
  write_shard("parquet", path("hub/data/my-VAL-00000-of-00001.parquet"), {"b"});
  write_shard("parquet", path("hub/data/eval-00000-of-00001-0a1b2c.parquet"), {"c"});
  const PreparedData data = make(import(path("hub")));
  EXPECT_EQ(text(data, "train") + text(data, "valid") + text(data, "test"), "abc");
  EXPECT_TRUE(data.meta["sources"].contains("valid/my-VAL-00000-of-00001.parquet")) << data.meta["sources"];
  write_shard("parquet", path("hub/data/dev-00000-of-00001.parquet"), {"d"});
  PrepareRequest two = import(path("hub"));
  two.out = path("two");
  expect_error_in<DataError>(two, "two names mean valid: dev, val");
}

TEST_F(OwnSplits, OfAFolderOfTextAreNamedByItsFiles) {
  for (const char* part : {"Train", "validation", "test"}) {
    file(std::string("d/") + part + "/a training of tests.txt", part);
    file(std::string("d/") + part + "/b.txt", ".");
  }
  file("d/README.md", "about them");
  std::vector<std::string> notes;
  prepare(request("text", {path("d")}), {.note = [&](const std::string& note) { notes.push_back(note); }});
  const PreparedData data = open_prepared(path("out"), true);
  EXPECT_EQ(text(data, "train"), "Train.");
  EXPECT_EQ(text(data, "valid"), "validation.");
  EXPECT_EQ(text(data, "test"), "test.");
  EXPECT_EQ(data.meta["split"], "given");
  EXPECT_THAT(notes, testing::Contains(HasSubstr("2 of train, 2 of valid, 2 of test")));
  EXPECT_EQ(notes.back(), "passed over: metadata: 1 (README.md)");
  PrepareRequest whole = request("text", {path("d")});
  whole.split = "100%,0%,0%";
  whole.out = path("whole");
  EXPECT_EQ(text(make(whole), "train"), "Train.test.validation.");
  PrepareRequest roots = request("text", {path("d/validation"), path("d/Train")});
  roots.out = path("roots");
  EXPECT_EQ(text(make(roots), "train"), "Train.");
}

TEST_F(OwnSplits, OfFilesOfTextAreNamedByThem) {
  const fs::path train = file("ptb.train.txt", "a");
  const fs::path valid = file("ptb.valid.txt", "b");
  const PreparedData data = make(request("text", {valid, train}));
  EXPECT_EQ(text(data, "train"), "a");
  EXPECT_EQ(text(data, "valid"), "b");
  file("d/train.txt", "a");
  file("d/val.txt", "b");
  for (const char* mark : {"d/_SUCCESS", "d/_metadata", "d/part.crc"}) file(mark, "");
  PrepareRequest marked = request("text", {path("d")});
  marked.out = path("marked");
  EXPECT_EQ(text(make(marked), "valid"), "b") << "empty files are of no split";
  file("d/extra.txt", "c");
  PrepareRequest mixed = request("text", {path("d")});
  mixed.out = path("mixed");
  expect_error_in<DataError>(
      mixed, "extra.txt: the name gives no split, or two, but other names give one\nname the files of each");
  file("d/test/train-00000-of-00001.txt", "of one by its name, and of the other by its folder");
  fs::remove(path("d/extra.txt"));
  expect_error_in<DataError>(mixed, "test/train-00000-of-00001.txt: the name gives no split, or two");
}

TEST_F(OwnSplits, OfOneNameAloneAreNoSplits) {
  file("d/test.txt", "0123456789");
  file("d/more.txt", "0123456789");
  std::vector<std::string> notes;
  prepare(request("text", {path("d")}), {.note = [&](const std::string& note) { notes.push_back(note); }});
  EXPECT_EQ(open_prepared(path("out"), true).split("train").tokens.size(), 18);
  EXPECT_THAT(notes, testing::Contains(HasSubstr("some names give a split")));
}

TEST_F(OwnSplits, OfSeveralSetsAreSaid) {
  for (const char* name : {"train", "validation_matched", "validation_mismatched"}) {
    file(std::string("d/") + name + "-00000-of-00001.txt", name);
  }
  std::vector<std::string> notes;
  prepare(request("text", {path("d")}), {.note = [&](const std::string& note) { notes.push_back(note); }});
  EXPECT_THAT(notes, testing::Contains(HasSubstr("2 of valid (those of validation_matched, validation_mismatched)")));
}

TEST_F(OwnSplits, OfAnArchiveAreNotJoined) {
  make_archive(path("x.zip"), "zip", "", {{"d/train/1.txt", "a"}, {"d/valid/1.txt", "b"}});
  expect_error<DataError>(request("text", {path("x.zip")}), "x.zip: d/valid/1.txt belong to two splits");
  PrepareRequest whole = request("text", {path("x.zip")});
  whole.split = "100%,0%,0%";
  EXPECT_EQ(text(make(whole), "train"), "ab");
}

TEST_F(OwnSplits, LineEndsOfAnySystemAreLineEnds) {
  const std::string block((std::size_t{1} << 20) - 1, 'x');  // the first block ends after the carriage return
  file("windows", block + "\r\ntwo\r\n\r\nthree\r\n");
  file("mac", block + "\rtwo\r\rthree\r");
  file("unix", block + "\ntwo\n\nthree\n");
  for (const char* name : {"windows", "mac", "unix"}) {
    PrepareRequest wanted = request("text", {path(name)});
    wanted.split = "100%,0%,0%";
    wanted.out = path(std::string("out-") + name);
    EXPECT_EQ(text(make(wanted), "train"), read_file(path("unix"))) << name;
    wanted.unit = "byte";
    wanted.out = path(std::string("bytes-") + name);
    EXPECT_EQ(text(make(wanted), "train"), read_file(path("unix"))) << name;
    wanted.line_ends = "keep";
    expect_error<UsageError>(wanted, "different: line_ends");
    for (const char* unit : {"byte", "character"}) {
      wanted.unit = unit;
      wanted.out = path(fmt::format("kept-{}-{}", unit, name));
      EXPECT_EQ(text(make(wanted), "train"), read_file(path(name))) << name;
    }
    wanted.line_ends.reset();
    expect_error<UsageError>(wanted, "different: line_ends");
  }
  PrepareRequest bytes = request("text", {path("windows"), path("mac")});
  bytes.unit = "byte";
  bytes.out = path("bytes");
  std::vector<std::string> notes;
  prepare(bytes, {.note = [&](const std::string& note) { notes.push_back(note); }});
  EXPECT_EQ(std::count_if(notes.begin(), notes.end(),
                          [](const auto& note) { return note.find("--line-ends") != std::string::npos; }),
            1);
  PrepareRequest wrong = request("text", {path("unix")});
  wrong.line_ends = "dos";
  expect_error<UsageError>(wrong, "use unix or keep");
  wrong.dataset = "enwik8";
  expect_error<UsageError>(wrong, "enwik8 takes no --line-ends");
  PrepareRequest rows = request("text", {write_shard("parquet", path("rows.parquet"), {"a\r\nb\r", "\nc"})});
  rows.split = "100%,0%,0%";
  EXPECT_EQ(text(make(rows), "train"), "a\nb\n\nc");
}

TEST_F(OwnSplits, AFolderOfBeforeLineEndsKeptThoseOfBytes) {
  PrepareRequest wanted = request("text", {file("windows", "one\r\ntwo\r\n")});
  wanted.unit = "byte";
  wanted.line_ends = "keep";
  prepare(wanted, {});
  Json meta = read_json(path("out/meta.json"));
  meta.erase("line_ends");
  meta.erase("name");
  write_file(path("out/meta.json"), meta.dump());
  EXPECT_TRUE(prepare(wanted, {}).was_there);
  wanted.line_ends.reset();
  EXPECT_TRUE(prepare(wanted, {}).was_there) << "the same command as before";
  wanted.line_ends = "unix";
  EXPECT_THAT([&] { prepare(wanted, {}); }, ThrowsMessage<UsageError>(HasSubstr("different: line_ends")));
}

class TextColumns : public OwnSplits, public ::testing::WithParamInterface<const char*> {};

TEST_P(TextColumns, AreReadFromEveryStorageType) {
  const std::vector<std::string> rows{"first", "", "sécond, which is longer than what a view holds itself ", "first"};
  for (const char* type : {"large", "view", "dictionary", "large-dictionary"}) {
    if (GetParam() == std::string("parquet") && type == std::string("view")) continue;  // which has plain strings
    const std::string kind = std::string(GetParam()) + ":" + type;
    PrepareRequest wanted = request("text", {write_shard(kind, path(kind), rows)});
    wanted.out = path("out-" + kind);
    wanted.split = "100%,0%,0%";
    std::string notes;
    prepare(wanted, {.note = [&](const std::string& note) { notes += note; }});
    const PreparedData data = open_prepared(wanted.out, true);
    EXPECT_EQ(text(data, "train"), rows[0] + rows[2] + rows[3]) << kind;
    EXPECT_EQ(data.split("train").documents.size(), 3U) << kind;
    EXPECT_THAT(notes, HasSubstr("rows without text: 1 (")) << kind;
    wanted.max_unpacked = 60;
    wanted.out = path("bounded-" + kind);
    expect_error_in<DataError>(wanted, "raise --max-unpacked");
  }
}

TEST_P(TextColumns, OfNullsAreRowsWithoutText) {
  const std::string kind = GetParam();
  PrepareRequest wanted =
      request("text", {write_shard(kind + ":null", path("a"), {"", ""}), write_shard(kind, path("b"), {"text"})});
  wanted.split = "100%,0%,0%";
  std::string notes;
  prepare(wanted, {.note = [&](const std::string& note) { notes += note; }});
  EXPECT_EQ(text(open_prepared(wanted.out, true), "train"), "text");
  EXPECT_THAT(notes, HasSubstr("rows without text: 2 ("));
}

TEST_P(TextColumns, OfListsAndStructsAreRefused) {
  const std::string kind = GetParam();
  expect_error<DataError>(request("text", {write_shard(kind + ":list", path("l"), {"a", "b"})}),
                          "each row of the column 'text' is a list (list<");
  expect_error<DataError>(request("text", {write_shard(kind + ":struct", path("s"), {"a", "b"})}),
                          "the column 'text' has the type struct<part: string>, not text");
}

INSTANTIATE_TEST_SUITE_P(Kinds, TextColumns, ::testing::Values("parquet", "arrow-file", "arrow-stream"));

TEST_F(OwnSplits, OfSeveralDatasetsAreNotMixed) {
  file("hub/one/train-0.parquet", "");
  file("hub/two/train-0.parquet", "");
  expect_error<DataError>(import(path("hub")), "several data sets: one, two");
  file("empty/a.txt", "text");
  expect_error<DataError>(import(path("empty")), "has no shards");
  expect_error<DataError>(import(path("nowhere")), "is not a folder");
}

}  // namespace
}  // namespace xlm
