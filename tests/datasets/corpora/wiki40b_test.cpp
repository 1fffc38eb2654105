// wiki40b and cc-100, from the distributed files to a prepared folder.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/sha256.h"
#include "datasets/prepare.h"
#include "datasets/prepared/prepared.h"
#include "tests/datasets/corpora/shards.h"
#include "tests/datasets/preparing.h"

namespace xlm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class LanguageCorpora : public Preparing {
 protected:
  PrepareRequest request(const std::string& dataset, std::vector<fs::path> from) const {
    PrepareRequest wanted = Preparing::request(dataset, std::move(from));
    wanted.language = "fi";
    return wanted;
  }
};

const std::vector<std::string> kArticles{"\n_START_ARTICLE_\nÄiti\n_START_PARAGRAPH_\nOn 1.",
                                         "\n_START_ARTICLE_\nIsä_NEWLINE_ei", "\n_START_ARTICLE_\nKoira"};
constexpr const char* kClean = "äiti\non yksi\nisä\nei\nkoira";

TEST_F(LanguageCorpora, ShardsBecomeAPreparedFolder) {
  write_shard("parquet", path("raw/train/fi_examples-00000-of-00002"), {kArticles[0], kArticles[1]});
  write_shard("parquet", path("raw/train/fi_examples-00001-of-00002"), {kArticles[2]});
  write_shard("parquet", path("raw/train/he_examples-00000-of-00001"), {"\n_START_ARTICLE_\nאב"});
  write_shard("parquet", path("raw/dev/fi_examples-00000-of-00001"), {"\n_START_ARTICLE_\nXyz"});
  write_shard("parquet", path("raw/test/fi_examples-00000-of-00001"), {"\n_START_ARTICLE_\n\u4E2D"});
  const PreparedData data = make(request("wiki40b", {path("raw")}));
  EXPECT_EQ(text(data, "train"), kClean);
  EXPECT_THAT(data.split("train").documents, ElementsAre(0, 13, 20));
  EXPECT_EQ(data.split("train").words, 6);
  EXPECT_EQ(text(data, "valid"), "xyz");
  EXPECT_EQ(data.splits.count("test"), 0U);  // the limit leaves nothing of it
  EXPECT_EQ(data.language, "fi");
  EXPECT_EQ(data.meta["limit"], "400000000,2000000,10000000");
  EXPECT_EQ(data.meta["sources"].size(), 4U);
}

TEST_F(LanguageCorpora, DamageOfAShardIsAnError) {
  const std::string good = read_file(write_shard("parquet", path("good"), kArticles));
  expect_error<DataError>(request("wiki40b", {file("train-cut", good.substr(0, good.size() - 3))}),
                          "train-cut is truncated");
  std::string bad = good;
  bad[good.find("Koira")] = 'X';
  expect_error<DataError>(request("wiki40b", {file("train-bad", bad)}), "train-bad is");
}

TEST_F(LanguageCorpora, LimitsCutTheJoinedArticles) {
  PrepareRequest cut = request("wiki40b", {write_shard("parquet", path("fi/train-00000-of-00001.parquet"), kArticles)});
  cut.limit = "76,1,1";  // 45 characters of the first article, a line break, 30 of the second
  EXPECT_EQ(text(make(cut), "train"), "äiti\non yksi\nisä\ne");
}

TEST_F(LanguageCorpora, Wiki40bTakesPlainText) {
  std::string joined;
  for (const std::string& article : kArticles) joined += (joined.empty() ? "" : "\n") + article;
  file("raw/train.txt", joined);
  make_archive(path("raw/validation.txt.xz"), "raw", "xz", {{"x", joined}});
  file("raw/test.txt", joined);
  const PreparedData data = make(request("wiki40b", {path("raw")}));
  for (const char* split : {"train", "valid", "test"}) {
    EXPECT_EQ(text(data, split), kClean);
    EXPECT_THAT(data.split(split).documents, ElementsAre(0, 13, 20));
  }
}

TEST_F(LanguageCorpora, Wiki40bRefusesOtherFiles) {
  expect_error<DataError>(request("wiki40b", {file("train.txt", "just text")}), "train.txt is not wiki40b");
  expect_error<DataError>(request("wiki40b", {file("shard.txt", kArticles[0])}), "the name gives no split");
  expect_error<DataError>(request("wiki40b", {file("he_examples-train", kArticles[0])}),
                          "no named file has the language 'fi'");
  write_shard("parquet", path("other/train.parquet"), {"no article"});
  expect_error<DataError>(request("wiki40b", {path("other")}), "is not wiki40b");
  expect_error<DataError>(request("wiki40b", {file("train.parquet", "PAR1 and no more")}),
                          "train.parquet is truncated");
  PrepareRequest small =
      request("wiki40b", {write_shard("parquet", path("x/train.parquet"), {std::string(9999, 'a')})});
  small.max_unpacked = 1000;
  expect_error<DataError>(small, "raise --max-unpacked");
}

/// The text with line ends of another system.
std::string with_line_ends(std::string text, const std::string& line_end) {
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += line_end.size()) {
    text.replace(at, 1, line_end);
  }
  return text;
}

TEST_F(LanguageCorpora, LineEndsOfAnySystemAreLineEnds) {
  std::string joined;
  for (const std::string& article : kArticles) joined += (joined.empty() ? "" : "\n") + article;
  std::string pages;
  for (int i = 0; i < 40; ++i) pages += fmt::format("Sivu {}.\nToinen rivi\n\n", i % 10);
  for (const char* line_end : {"\n", "\r\n", "\r"}) {
    file("raw/train.txt", with_line_ends(joined, line_end));
    PrepareRequest wiki = request("wiki40b", {path("raw")});
    wiki.force = true;
    const PreparedData data = make(wiki);
    EXPECT_EQ(text(data, "train"), kClean);
    EXPECT_THAT(data.split("train").documents, ElementsAre(0, 13, 20));
    PrepareRequest cc = request("cc-100", {file("fi.txt", with_line_ends(pages, line_end))});
    cc.limit = "441,210,189";
    cc.force = true;
    EXPECT_EQ(make(cc).split("train").documents.size(), 21U);
  }
  write_shard("parquet", path("rows/train-0.parquet"),
              {with_line_ends(kArticles[0], "\r\n"), kArticles[1], kArticles[2]});
  PrepareRequest rows = request("wiki40b", {path("rows")});
  rows.force = true;
  EXPECT_EQ(text(make(rows), "train"), kClean);
}

TEST_F(LanguageCorpora, Wiki40bKnowsNamesOfSplitsAndReportsOtherLanguages) {
  file("raw/training/fi_1", kArticles[0]);
  file("raw/Development/fi_1", kArticles[1]);
  file("raw/fi_00000-of-00001-eval", kArticles[2]);
  file("raw/training/he_1", kArticles[2]);
  std::string notes;
  prepare(request("wiki40b", {path("raw")}), {.note = [&](const std::string& note) { notes += note; }});
  const PreparedData data = open_prepared(path("out"), true);
  EXPECT_EQ(text(data, "valid"), "isä\nei");
  EXPECT_EQ(text(data, "test"), "koira");
  EXPECT_THAT(notes, HasSubstr("passed over: files of other languages: 1 (training/he_1)"));
}

TEST_F(LanguageCorpora, OptionsMustFit) {
  const fs::path source = file("train.txt", kArticles[0]);
  PrepareRequest wrong = request("wiki40b", {source});
  wrong.language.reset();
  expect_error<UsageError>(wrong, "needs --lang\nchoose one of: en, fi, he, vi");
  wrong.language = "sv";
  expect_error<UsageError>(wrong, "--lang sv is not available");
  wrong = request("wiki40b", {source});
  wrong.limit = "1,2";
  expect_error<UsageError>(wrong, "--limit 1,2: give three counts");
  wrong.limit = "0,0,0";
  expect_error<UsageError>(wrong, "--limit");
  wrong = request("wiki40b", {source});
  wrong.hebrew_points = "space";
  expect_error<UsageError>(wrong, "needs --lang he");
  wrong = request("wiki40b", {source});
  wrong.split = "80%,10%,10%";
  expect_error<UsageError>(wrong, "takes no --split");
  wrong = request("text8", {source});
  expect_error<UsageError>(wrong, "takes no --lang");
  wrong = request("text", {source});
  expect_error<UsageError>(wrong, "without --clean text8");
  wrong = request("wiki40b", {source});
  wrong.vocabulary = "none";
  expect_error<UsageError>(wrong, "use all or train");
}

TEST_F(LanguageCorpora, Cc100SplitsOneText) {
  std::string pages;
  for (int i = 0; i < 100; ++i) pages += fmt::format("Sivu äö {}.\nToinen rivi\n\n", i % 10);  // 24 characters each
  make_archive(path("fi.txt.xz"), "raw", "xz", {{"x", pages}});
  PrepareRequest wanted = request("cc-100", {path("fi.txt.xz")});
  wanted.limit = "1200,240,480";
  const PreparedData data = make(wanted);
  EXPECT_EQ(text(data, "valid").substr(0, 38), "sivu äö nolla\ntoinen rivi\nsivu äö ");
  EXPECT_EQ(data.split("train").documents.size(), 50U);
  EXPECT_EQ(data.split("valid").documents.size(), 10U);
  EXPECT_EQ(data.split("test").documents.size(), 20U);
  EXPECT_EQ(data.split("valid").words, 10 * 5);
  fs::remove_all(wanted.out);
  wanted.limit.reset();
  expect_error<UsageError>(wanted, "the text has 2400 characters, but --limit asks for 404000000");
}

TEST_F(LanguageCorpora, Cc100RefusesOtherFiles) {
  const std::string text(100'000, 'a');
  make_archive(path("fi.txt.xz"), "raw", "xz", {{"x", text}});
  const std::string packed = read_file(path("fi.txt.xz"));
  PrepareRequest wanted = request("cc-100", {file("cut.txt.xz", packed.substr(0, packed.size() - 20))});
  wanted.limit = "1000000,0,0";
  expect_error<DataError>(wanted, "cut.txt.xz is truncated or corrupt");
  wanted.from = {file("wiki.txt", kArticles[0])};
  expect_error<DataError>(wanted, "is not cc-100");
}

TEST_F(LanguageCorpora, TextCanBeCleanedForALanguage) {
  PrepareRequest own = request("text", {file("a.txt", "Äiti 1.\n\nIsä"), file("b.txt", "Koira")});
  own.clean = "text8";
  own.split = "100%,0%,0%";
  const PreparedData data = make(own);
  EXPECT_EQ(text(data, "train"), "äiti yksi\nisä\nkoira");
  EXPECT_EQ(data.split("train").documents.size(), 2U);
}

TEST_F(LanguageCorpora, VocabularyOfTrainingAlone) {
  PrepareRequest own{.dataset = "text", .from = {file("a.txt", "abcabcxyzabxb")}, .out = path("out"), .split = "6,4,3"};
  own.vocabulary = "train";
  const PreparedData data = make(own);
  EXPECT_THAT(data.vocabulary.symbols, ElementsAre("a", "b", "c", "\uFFFD"));
  EXPECT_EQ(text(data, "valid"), "\uFFFD\uFFFD\uFFFDa");
  EXPECT_EQ(text(data, "test"), "b\uFFFDb");
  EXPECT_EQ(data.meta["unknown_characters"]["train"], 0);
  EXPECT_EQ(data.meta["unknown_characters"]["valid"], 3);
  EXPECT_EQ(data.meta["unknown_characters"]["test"], 1);
  own.vocabulary = "all";
  own.force = true;
  EXPECT_EQ(make(own).vocabulary.size(), 6);
}

TEST_F(LanguageCorpora, StrictRefusesInvalidUtf8) {
  PrepareRequest own{.dataset = "text", .from = {file("a.txt", "good\n\xC3(bad")}, .out = path("out")};
  own.strict = true;
  expect_error<DataError>(own, "a.txt: invalid UTF-8 at byte 5");
  PrepareRequest wiki = request("wiki40b", {file("train.txt", kArticles[0] + "\xFF")});
  wiki.strict = true;
  expect_error<DataError>(wiki, "train.txt: invalid UTF-8 at byte 46");
  wiki.strict = false;
  EXPECT_EQ(make(wiki).meta["replaced_characters"], 1);
}

/// Text in wiki40b's form with work for several threads: numbers, capitals, letters of the language, and articles of
/// different lengths.
std::string many_articles(const std::string& sentence) {
  std::string text;
  for (int article = 1; article <= 15'000; ++article) {
    text += fmt::format("\n_START_ARTICLE_\nTitle {}\n_START_SECTION_\n{}\n_START_PARAGRAPH_\n", article, sentence);
    for (int i = 0; i < article % 7; ++i) text += fmt::format("{} {}{}.", sentence, i * article, "_NEWLINE_");
  }
  return text;
}

TEST_F(LanguageCorpora, ThreadsChangeNoByte) {
  for (const auto& [language, sentence] :
       std::map<std::string, std::string>{{"fi", "Äiti söi 12 omenaa, isä"},
                                          {"he", "\u05d0\u05d1\u05d0 7 \u05d9\u05dc\u05d3"},
                                          {"vi", "Người ta đi 3 ngày"}}) {
    const std::string raw = many_articles(sentence);
    ASSERT_GT(raw.size(), std::size_t{2} << 20);  // threads are given pieces of a mebibyte
    file("raw/train.txt", raw);
    file("raw/validation.txt", raw.substr(0, raw.find("\n_START_ARTICLE_", raw.size() / 3)));
    std::map<int, Json> outputs;
    for (const int threads : {1, 4}) {
      PrepareRequest wanted = request("wiki40b", {path("raw")});
      wanted.language = language;
      wanted.threads = threads;
      wanted.out = path(fmt::format("{}-{}", language, threads));
      outputs[threads] = make(wanted).meta;
    }
    EXPECT_GT(outputs[1]["sizes"]["train"], 1'000'000) << language;
    EXPECT_EQ(outputs[1], outputs[4]) << language;
  }
}

}  // namespace
}  // namespace xlm
