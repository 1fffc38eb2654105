// WikiText in rows of lines, as model hubs distribute it, against its publisher's files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/text.h"
#include "tests/datasets/corpora/shards.h"
#include "tests/datasets/preparing.h"
#include "tests/datasets/tokens/bpe_files.h"
#include "tests/real_texts.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

const std::string kFirst =
    " \n = First = \n \n Text of it , \n = 1 rad / s and k = \n with a formula \n \n = = Part = = \n \n x \n \n";
const std::string kSecond = " = Second one = \n \n More \n";

/// The rows that the `datasets` library makes of a file: its lines; a blank line is an empty row.
std::vector<std::string> hub_rows(const std::string& raw) {
  std::vector<std::string> rows;
  for (const std::string& line : split(raw, '\n')) rows.push_back(trim(line).empty() ? "" : line + "\n");
  rows.pop_back();  // after the last line's end
  return rows;
}

class RowsOfWikitext : public Preparing {
 protected:
  RowsOfWikitext() {
    write_small_bpe(path("bpe"));
    file("raw/wiki.train.raw", kSecond + kFirst + kSecond);
    file("raw/wiki.valid.raw", kSecond);
    file("raw/wiki.test.raw", kFirst + kSecond);
  }
  PrepareRequest bpe_request(const std::string& dataset, const std::string& from, const std::string& out) const {
    PrepareRequest wanted = request(dataset, {path(from)});
    wanted.unit = "bpe";
    wanted.bpe = path("bpe");
    wanted.shards = dataset == "text";
    wanted.out = path(out);
    return wanted;
  }
  /// Everything that losses depend on.
  static void expect_same(const PreparedData& data, const PreparedData& expected) {
    EXPECT_EQ(data.fingerprint, expected.fingerprint);
    for (const char* key : {"sizes", "words", "bytes", "word_rule", "documents", "document_words", "document_bytes"}) {
      EXPECT_EQ(data.meta[key], expected.meta[key]) << key;
    }
  }

  std::vector<std::string> train_ = hub_rows(kSecond + kFirst + kSecond);
};

TEST_F(RowsOfWikitext, BecomeTheFilesThatTheyWereMadeOf) {
  const auto cut = train_.begin() + 7;  // within an article
  write_shard("parquet", path("hub/train-00000-of-00002.parquet"), {train_.begin(), cut});
  write_shard("parquet", path("hub/train-00001-of-00002.parquet"), {cut, train_.end()});
  write_shard("parquet", path("hub/validation-00000-of-00001.parquet"), hub_rows(kSecond));
  write_shard("parquet", path("hub/test-00000-of-00001.parquet"), hub_rows(kFirst + kSecond));
  for (const char* documents : {"files", "articles"}) {
    PrepareRequest raw = bpe_request("wikitext-103", "raw", std::string("raw-") + documents);
    PrepareRequest hub = bpe_request("text", "hub", std::string("hub-") + documents);
    raw.documents = hub.documents = documents;
    expect_same(make(hub), make(raw));
    EXPECT_TRUE(prepare(hub, {}).was_there);
  }
}

TEST_F(RowsOfWikitext, AreKnownWithoutLineEndsAndSpacesToo) {
  std::vector<std::string> stripped;
  std::vector<std::string> chopped;
  for (const std::string& row : hub_rows(kFirst + kSecond)) {
    stripped.emplace_back(trim(row));
    chopped.push_back(row.substr(0, row.size() - (row.empty() ? 0 : 1)));
  }
  fs::remove(path("raw/wiki.train.raw"));
  fs::remove(path("raw/wiki.valid.raw"));
  const PreparedData raw = make(bpe_request("wikitext-103", "raw", "of-raw"));
  for (const auto& [kind, rows] : {std::pair("arrow-stream", stripped), std::pair("arrow-file:dictionary", chopped)}) {
    const std::string name = std::string("hub-") + kind;
    write_shard(kind, path(name + "/test/data-00000-of-00001.arrow"), rows);
    expect_same(make(bpe_request("text", name, name + "-out")), raw);
  }
}

TEST_F(RowsOfWikitext, AreDocumentsIfAskedFor) {
  write_shard("parquet", path("hub/test-00000-of-00001.parquet"), hub_rows(kFirst));
  PrepareRequest wanted = bpe_request("text", "hub", "out");
  wanted.documents = "rows";
  const PreparedData data = make(wanted);
  EXPECT_EQ(data.split("test").documents.size(), 6U);
  EXPECT_EQ(data.meta["word_rule"], "whitespace");
  wanted.documents = "files";
  EXPECT_THAT([&] { prepare(wanted, {}); }, ThrowsMessage<UsageError>(HasSubstr("different: rows_are, documents_are")));
}

TEST_F(RowsOfWikitext, OtherTablesKeepTheirRows) {
  write_shard("parquet", path("lines/test-0.parquet"), {"", "one line\n", "", "another\n", " = 2 = \n"});
  const PreparedData lines = make(bpe_request("text", "lines", "lines-out"));
  EXPECT_EQ(lines.split("test").documents.size(), 3U) << "lines without articles";
  write_shard("parquet", path("pages/test-0.parquet"), {"", " = Title = \n", "", "A page\nof two lines\n"});
  const PreparedData pages = make(bpe_request("text", "pages", "pages-out"));
  EXPECT_EQ(pages.split("test").documents.size(), 2U) << "not all rows are lines";
  PrepareRequest articles = bpe_request("text", "pages", "articles");
  articles.documents = "articles";
  expect_error_in<DataError>(articles, "is no table whose rows are lines of WikiText");
}

TEST_F(RowsOfWikitext, AreNotMixedWithOtherText) {
  PrepareRequest one = request("text", {file("a.txt", "text"), write_shard("parquet", path("w.parquet"), train_)});
  expect_error<DataError>(one, "w.parquet has lines of WikiText, but " + path("a.txt").string() + " does not");
  write_shard("parquet", path("hub/train-0.parquet"), train_);
  write_shard("parquet", path("hub/test-0.parquet"), {"A page\nof two lines\n"});
  expect_error_in<DataError>(bpe_request("text", "hub", "out"), "--documents rows takes every row as a document");
  write_shard("parquet", path("hub/test-0.parquet"), hub_rows(kSecond));
  std::vector<std::string> many = train_;
  for (int i = 0; i < 5000; ++i) many.emplace_back("line\n");
  many.emplace_back("two\nlines\n");
  write_shard("parquet", path("hub/train-0.parquet"), many);
  expect_error_in<DataError>(bpe_request("text", "hub", "out"), "a row has several lines");
}

TEST_F(RowsOfWikitext, GiveTheNumbersOfRealTexts) {
  XLM_NEEDS_REAL_TEXT("wikitext");
  for (const auto& [name, split] : {std::pair("valid", "validation"), std::pair("test", "test")}) {
    write_shard("parquet", path(fmt::format("hub/{}-00000-of-00001.parquet", split)),
                hub_rows(read_file(real_texts() / fmt::format("wikitext/wiki.{}.raw", name))));
  }
  PrepareRequest hub = bpe_request("text", "hub", "of-hub");
  PrepareRequest raw = request("wikitext-103", {real_texts() / "wikitext"});
  hub.bpe = raw.bpe = real_texts() / "gpt2";
  const PreparedData data = make(hub);
  expect_same(data, make(raw));
  EXPECT_EQ(data.split("test").words, 245'569);
}

}  // namespace
}  // namespace xlm
