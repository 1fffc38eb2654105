// Files that are not text: read with the right option, or refused with the name of their format.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "datasets/prepare.h"
#include "tests/datasets/corpora/shards.h"
#include "tests/datasets/preparing.h"
#include "tests/real_texts.h"

namespace xlm {
namespace {

using namespace std::string_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kPointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 134\n";
constexpr const char* kLines = "{\"id\": 1, \"text\": \"one\\n\"}\n\n{\"text\": null}\r\n{\"text\": \"zw\\u00f6lf\"}";

class OtherFiles : public Preparing {
 protected:
  PrepareRequest whole(const std::string& dataset, std::vector<fs::path> from) const {
    PrepareRequest wanted = request(dataset, std::move(from));
    if (dataset == "text") wanted.split = "100%,0%,0%";
    return wanted;
  }
  /// In every unit and cleaning of text.
  void expect_refused(const fs::path& from, const std::string& complaint) const {
    for (const char* unit : {"character", "byte"}) {
      for (const char* clean : {"none", "text8"}) {
        PrepareRequest wanted = whole("text", {from});
        wanted.unit = unit;
        wanted.clean = clean;
        wanted.force = true;
        expect_error<DataError>(wanted, complaint);
      }
    }
  }
  /// The column `text` of a file, into a separate folder.
  PrepareRequest wanted_column(const std::string& name, const std::string& content) {
    PrepareRequest wanted = whole("text", {file(name, content)});
    wanted.column = "text";
    wanted.out = path(fmt::format("made/{}", ++made_));
    return wanted;
  }
  std::string notes(const PrepareRequest& wanted) const {
    std::string all;
    prepare(wanted, {.note = [&](const std::string& note) { all += note + "\n"; }});
    return all;
  }

  int made_ = 0;
};

TEST_F(OtherFiles, PointersAreRefusedEvenNextToARealShard) {
  expect_refused(file("a.txt", kPointer), "a.txt is a git-LFS pointer");
  expect_error<DataError>(whole("enwik8", {file("enwik8", kPointer)}), "git lfs pull");
  expect_error<DataError>(whole("text8", {file("text8.zip", kPointer)}),
                          "text8.zip is not a zip file, though its name says so: it is a git-LFS");
  make_archive(path("main.zip"), "zip", "", {{"a.txt", "a text"}, {"b.txt", kPointer}});
  expect_refused(path("main.zip"), "b.txt is a git-LFS pointer");
  write_shard("parquet", path("hub/train-00000-of-00002.parquet"), {"a text that is there"});
  file("hub/train-00001-of-00002.parquet", kPointer);
  PrepareRequest import = whole("text", {path("hub")});
  import.shards = true;
  expect_error<DataError>(import, "train-00001-of-00002.parquet is a git-LFS pointer");
}

TEST_F(OtherFiles, TablesAreReadOnlyAsTheyLie) {
  const fs::path shard = write_shard("parquet", path("a.parquet"), {"one", "two"});
  EXPECT_EQ(text(make(whole("text", {shard})), "train"), "onetwo");
  fs::remove_all(path("out"));
  const std::string table = read_file(shard);
  make_archive(path("shards.zip"), "zip", "", {{"a.parquet", table}});
  make_archive(path("shards.tar.gz"), "ustar", "gzip", {{"a.parquet", table}});
  make_archive(path("a.parquet.gz"), "raw", "gzip", {{"x", table}});
  const std::string arrow = read_file(write_shard("arrow-stream", path("b.arrow"), {"one"}));
  make_archive(path("b.arrow.zst"), "raw", "zstd", {{"x", arrow}});
  for (const char* name : {"shards.zip", "shards.tar.gz", "a.parquet.gz", "b.arrow.zst"}) {
    expect_refused(path(name), "tables inside archives cannot be read\nunpack it first");
  }
  PrepareRequest wiki = request("wiki40b", {path("train.arrow")});
  fs::rename(path("b.arrow"), path("train.arrow"));
  wiki.language = "en";
  expect_error<DataError>(wiki, "train.arrow is an Arrow table\nxlm prepare-data text reads it");
}

TEST_F(OtherFiles, ATablesNameNeedsATablesContent) {
  expect_refused(file("a.parquet", "some text"), "a.parquet is plain text, but is called .parquet");
  expect_refused(file("b.parquet", "<!DOCTYPE html><html>"), "b.parquet is a web page");
  expect_refused(file("c.arrow", "id,text\n1,one\n"), "c.arrow is plain text");
  EXPECT_EQ(text(make(whole("text", {write_shard("parquet", path("d.txt"), {"one"})})), "train"), "one");
}

TEST_F(OtherFiles, JsonLinesAreReadByAColumn) {
  expect_refused(file("a.jsonl", kLines), "a.jsonl is a file of JSON lines\nxlm prepare-data text --column NAME");
  make_archive(path("a.jsonl.gz"), "raw", "gzip", {{"x", kLines}});
  make_archive(path("a.zip"), "zip", "", {{"train.jsonl", kLines}});
  for (const char* name : {"a.jsonl", "a.jsonl.gz", "a.zip"}) {
    PrepareRequest wanted = whole("text", {path(name)});
    wanted.column = "text";
    wanted.out = path("made/"s + name);
    const PreparedData data = make(wanted);
    EXPECT_EQ(text(data, "train"), "one\nzwölf");
    EXPECT_THAT(data.split("train").documents, ElementsAre(0, 4));
  }
  PrepareRequest wanted = whole("text", {path("a.jsonl")});
  wanted.column = "content";
  expect_error<DataError>(wanted, "a.jsonl:1 has no field 'content': it has id, text\nname another with --column");
  wanted.column = "id";
  expect_error<DataError>(wanted, "a.jsonl:1: the field 'id' holds 1, not text");
  wanted.column = "text";
  wanted.from = {file("b.jsonl", "{\"text\": \"one\"}\n{\"text\": \"tw\n")};
  expect_error<DataError>(wanted, "b.jsonl:2 is not valid JSON");
  wanted.from = {file("c.jsonl", "{\"text\": \"one\"}\n[\"two\"]\n")};
  expect_error<DataError>(wanted, "c.jsonl:2 is not a JSON object, but array");
  wanted.from = {file("e.csv", "content,number\none,1\n")};
  expect_error<DataError>(wanted,
                          "e.csv has no column 'text': its first line is content,number\nname another with --column");
  wanted.from = {file("e.txt", "content,number\none,1\n")};
  expect_error<DataError>(wanted,
                          "e.txt is neither a table nor JSON lines: it has no column 'text'\nleave --column out");
  wanted.from = {file("d.json", "[{\"text\": \"one\"},\n{\"text\": \"two\"}]")};
  expect_error<DataError>(wanted, "d.json is a JSON document\nconvert it to JSON lines");
}

TEST_F(OtherFiles, JsonLinesMayBeLongerThanABlock) {
  std::string lines;
  std::string texts;
  for (int i = 0; i < 40; ++i) {
    const std::string one(static_cast<std::size_t>(90'000 + i), static_cast<char>('a' + i % 26));
    lines += fmt::format("{{\"text\": \"{}\"}}\n", one);
    texts += one;
  }
  PrepareRequest wanted = whole("text", {file("a.jsonl", lines)});
  wanted.column = "text";
  const PreparedData data = make(wanted);
  EXPECT_EQ(text(data, "train"), texts);
  EXPECT_EQ(data.split("train").documents.size(), 40U);
}

TEST_F(OtherFiles, AsTextTakesThemAsTheyAre) {
  const std::string page = "<html><p>A page</p></html>";
  for (const std::string& content : {kLines + ""s, page, "[{\"a\": 1}]"s, "b'one'"s}) {
    PrepareRequest wanted = whole("text", {file("a.txt", content)});
    wanted.force = true;
    expect_error<DataError>(wanted, "a.txt is ");
    wanted.as_text = true;
    const PreparedData data = make(wanted);
    std::string lines = content;
    std::erase(lines, '\r');
    EXPECT_EQ(text(data, "train"), lines);
    EXPECT_EQ(data.meta["as_text"], true);
    fs::remove_all(path("out"));
  }
  PrepareRequest wanted = whole("text", {file("a.txt", kLines)});
  wanted.as_text = true;
  make(wanted);
  wanted.as_text = false;
  wanted.column = "text";
  EXPECT_THROW(prepare(wanted, {}), UsageError) << "the same file with other options";
}

TEST_F(OtherFiles, PagesInPlaceOfDownloadsAreRefused) {
  const std::string page = "<!DOCTYPE html>\n<html><head><title>404</title></head></html>\n";
  expect_refused(file("book.txt", page), "book.txt is a web page\na download may have failed");
  make_archive(path("book.txt.gz"), "raw", "gzip", {{"x", page}});
  expect_refused(path("book.txt.gz"), "is a web page");
  expect_error<DataError>(whole("enwik8", {file("enwik8", page)}), "enwik8 is a web page");
  PrepareRequest asked = whole("text", {file("page.html", page)});
  EXPECT_EQ(text(make(asked), "train"), page);
}

TEST_F(OtherFiles, NullsOfJsonLinesAreCounted) {
  PrepareRequest wanted = whole("text", {file("a.jsonl", kLines)});
  wanted.column = "text";
  EXPECT_THAT(notes(wanted), HasSubstr("rows without text: 1 (a.jsonl)"));
}

TEST_F(OtherFiles, OtherEncodingsThanUtf8AreRefused) {
  const std::string utf16 = "\xFF\xFE\xC4\0i\0t\0i\0\r\0\n\0"s;
  const std::string marked = "\xEF\xBB\xBFÄiti\n";
  EXPECT_EQ(text(make(whole("text", {file("a.txt", marked)})), "train"), "Äiti\n");
  fs::remove_all(path("out"));
  expect_error<DataError>(whole("text", {file("a.txt", utf16)}), "a.txt is UTF-16\nconvert it");
  for (const auto& [bytes, note] :
       {std::pair(utf16, "a.txt is UTF-16"), std::pair(marked, "begins with a byte-order mark")}) {
    PrepareRequest kept = whole("text", {file("a.txt", bytes)});
    kept.unit = "byte";
    EXPECT_THAT(notes(kept), HasSubstr(note));
    EXPECT_EQ(text(open_prepared(path("out")), "train"), bytes);
    fs::remove_all(path("out"));
  }
  PrepareRequest wanted = whole("text", {file("a.txt", utf16.substr(2))});
  expect_error<DataError>(wanted, "a.txt is UTF-16 (little-endian) without a byte-order mark");
  wanted.from = {file("b.txt", "\xC4iti p\xF6yd\xE4ll\xE4 on kyn\xE4\n")};
  expect_error<DataError>(wanted, "b.txt is not UTF-8, and declares no other encoding\nconvert it");
  wanted.clean = "text8";
  expect_error<DataError>(wanted, "b.txt is not UTF-8");
  wanted.clean.reset();
  wanted.unit = "byte";
  EXPECT_THAT(notes(wanted), HasSubstr("b.txt is not UTF-8"));
}

TEST_F(OtherFiles, ZerosAreNoText) {
  expect_refused(file("a.txt", std::string(5000, '\0')), "a.txt is not text: it consists of zero bytes");
  PrepareRequest wanted = whole("text", {file("b.txt", std::string(100'000, 'x') + std::string(5000, '\0'))});
  expect_error<DataError>(wanted, "b.txt is not a whole text: 5000 of its 105000 bytes are zero");
  wanted.from = {file("c.txt", std::string(100'000, 'x') + '\0' + "y")};
  EXPECT_EQ(make(wanted).vocabulary.size(), 3) << "one of them may be in a text";
}

TEST_F(OtherFiles, RowsThatAreThePrintedFormOfBytesAreRefused) {
  const std::vector<std::string> printed{"b'\\n_START_ARTICLE_\\n\\xc3\\x84iti'", "b\"\\n_START_ARTICLE_\\nit's\""};
  PrepareRequest wiki = request("wiki40b", {write_shard("parquet", path("train.parquet"), printed)});
  wiki.language = "fi";
  expect_error<DataError>(wiki, "train.parquet: the rows are the printed form of bytes");
  expect_error<DataError>(whole("text", {path("train.parquet")}), "the rows are the printed form of bytes");
  std::vector<std::string> rows(50, "a row");
  rows[20] = "b'printed'";
  expect_error<DataError>(whole("text", {write_shard("parquet", path("b.parquet"), rows)}), "b'printed'");
  rows.resize(200, "another row");
  EXPECT_NO_THROW(make(whole("text", {write_shard("parquet", path("c.parquet"), rows)})));
}

TEST_F(OtherFiles, CleaningReportsWhatItDrops) {
  const auto clean = [&](const std::string& content, const std::optional<std::string>& language) {
    PrepareRequest wanted = whole("text", {file(content.substr(0, 4), content)});
    wanted.clean = "text8";
    wanted.language = language;
    wanted.force = true;
    return wanted;
  };
  const std::string english = "He said: “It’s 5 o’clock – the café is closed!” — and so it was, at #5 (or 6?) …\n";
  for (const std::optional<std::string>& language : {std::optional<std::string>(), {"en"}}) {
    EXPECT_EQ(notes(clean(english + english + english, language)).find("cleaning removed"), std::string::npos);
    const PrepareRequest finnish = clean("Äiti söi pöydällä.\nIsä näki tämän.\n", language);
    EXPECT_THAT(notes(finnish), HasSubstr("cleaning removed 33 % of the letters and digits"));
    EXPECT_THAT(notes(clean("English and Привет мир\n", language)), HasSubstr("such as: English and Привет мир"));
    fs::remove_all(path("out"));
    PrepareRequest strict = finnish;
    strict.strict = true;
    expect_error<DataError>(strict, "cleaning would remove 33 %");
    prepare(finnish, {});
    strict.force = false;
    EXPECT_THAT([&] { prepare(strict, {}); },
                ::testing::ThrowsMessage<DataError>(HasSubstr("--strict --force reads the text again")));
    fs::remove_all(path("out"));
  }
}

TEST_F(OtherFiles, CleaningOfOrdinaryTextIsSilentOfRealTexts) {
  for (const auto& [name, language] :
       std::vector<std::pair<std::string, std::string>>{{"wiki-he/heq-wikipedia.wiki40b-form.txt", "he"},
                                                        {"wiki-fi/fiwiki-sample.wiki40b-form.txt", "fi"},
                                                        {"wiki-vi/viwiki-sample.wiki40b-form.txt", "vi"},
                                                        {"wikitext/wiki.test.raw", "en"},
                                                        {"wikitext/wiki.test.raw", ""},
                                                        {"wikipedia-en/enwik8.first4150000", ""}}) {
    XLM_NEEDS_REAL_TEXT(name);
    PrepareRequest wanted = whole("text", {real_texts() / name});
    wanted.clean = "text8";
    if (!language.empty()) wanted.language = language;
    wanted.strict = true;
    wanted.force = true;
    if (name == "wikipedia-en/enwik8.first4150000") wanted.strict = false;  // it is cut inside a character
    EXPECT_EQ(notes(wanted).find("cleaning removed"), std::string::npos) << name;
  }
  XLM_NEEDS_REAL_TEXT("wiki-fi");
  PrepareRequest wanted = whole("text", {real_texts() / "wiki-fi/fiwiki-sample.wiki40b-form.txt"});
  wanted.clean = "text8";
  wanted.force = true;
  EXPECT_THAT(notes(wanted), HasSubstr("cleaning removed 3.7 %"));
}

/// NaN, a lone surrogate and a torn line are no JSON, also in the first row, by which files are recognised.
TEST_F(OtherFiles, RowsThatCannotBeReadAreNamedOrLeftOutAndCounted) {
  const std::string good = R"({"text": "one "})";
  for (const std::string bad : {R"({"text": "half \ud83d", "n": 1})", R"({"score": NaN, "text": "two"})",
                                R"({"text": 3})", R"({"text": "torn)", R"({"other": "two"})"}) {
    for (const std::string& lines : {bad + "\n" + good + "\n" + good + "\n", good + "\n" + good + "\n" + bad}) {
      PrepareRequest wanted = whole("text", {file("a.jsonl", lines)});
      wanted.column = "text";
      expect_error<DataError>(wanted, lines.starts_with(bad) ? "a.jsonl:1" : "a.jsonl:3");
      expect_error<DataError>(wanted, "--skip-bad-rows leaves such rows out");
      wanted.skip_bad_rows = true;
      EXPECT_THAT(notes(wanted), HasSubstr("passed over: rows that cannot be read: 1 (a.jsonl)"));
      EXPECT_EQ(text(open_prepared(wanted.out), "train"), "one one ");
      fs::remove_all(wanted.out);
    }
  }
  PrepareRequest wanted = whole("text", {file("b.jsonl", "{\"a\": \"b\"}\n{\"a\": \"c\"}\n")});
  wanted.column = "text";
  wanted.skip_bad_rows = true;
  expect_error<DataError>(wanted, "b.jsonl:1 has no field 'text'");
}

TEST_F(OtherFiles, ColumnsOfCsvAndTsvAreRead) {
  const auto rows = [&](const std::string& name, const std::string& content) {
    PrepareRequest wanted = whole("text", {file(name, content)});
    wanted.column = "review";
    wanted.force = true;
    return text(make(wanted), "train");
  };
  EXPECT_EQ(rows("a.csv", "id,review,stars\r\n0,\"He said \"\"well\"\",\r\nthen left.\",1\r\n1,plain,2\r\n"),
            "He said \"well\",\nthen left.plain");
  EXPECT_EQ(rows("a.tsv", "id\treview\n0\tone, and \"two\"\n1\tthree"), "one, and \"two\"three");
  EXPECT_EQ(rows("semicolons.txt", "\xEF\xBB\xBFreview;id\na;1\nb;2\n"), "ab");
  PrepareRequest wanted = whole("text", {file("b.csv", "id,review\n1,one\n2,two,three\n3,four\n")});
  wanted.column = "review";
  wanted.force = true;
  expect_error_in<DataError>({.dataset = "text", .from = wanted.from, .out = path("other"), .column = "review"},
                             "b.csv:3 has 3 cells, and the first line has 2 names");
  wanted.skip_bad_rows = true;
  EXPECT_EQ(text(make(wanted), "train"), "onefour");
  expect_error_in<DataError>(
      {.dataset = "text", .from = {file("c.csv", "review\n\"open\n")}, .out = path("other"), .column = "review"},
      "c.csv:2: a quote is not closed");
  wanted.from = {file("d.csv", "id,review\n1,one\n2,\"two\n3,three\n4,four\n")};
  wanted.out = path("rest");
  expect_error_in<DataError>(wanted, "d.csv:3: a quote is not closed, so that 2 lines behind it would be one cell");
}

TEST_F(OtherFiles, QuotesThatAreSignsOfTheTextAreTold) {
  constexpr const char* kSign = ": text follows a closing quote\nif quotes are signs of the text there";
  expect_error<DataError>(wanted_column("a.tsv", "text\tlabel\n\"Second\tx\nThird \"one\"\ty\n"), "a.tsv:2"s + kSign);
  expect_error<DataError>(wanted_column("b.csv", "text,label\nFirst,x\n\"Well\" he said,y\n"), "b.csv:3"s + kSign);
  PrepareRequest skipping = wanted_column("b.csv", "text,label\nFirst,x\n\"Well\" he said,y\nlast,z\n");
  skipping.skip_bad_rows = true;
  EXPECT_EQ(text(make(skipping), "train"), "Firstlast");
  const std::string_view joined = "rows of the table";
  EXPECT_THAT(notes(wanted_column("c.tsv", "id\ttext\n1\t\"Single\n2\tplain\n3\tSingle\"\n4\t\"pair\"\n")),
              HasSubstr("c.tsv:2: a cell in quotes holds whole rows of the table (1 cell); if quotes are signs"));
  EXPECT_THAT(notes(wanted_column("d.tsv", "id\ttext\n1\t\"two\nlines\"\n")), Not(HasSubstr(joined)));
  EXPECT_THAT(notes(wanted_column("e.csv", "id,text\n1,\"Hello, world\nGood, bye\"\n")), Not(HasSubstr(joined)))
      << "prose";
  expect_error<DataError>(wanted_column("f.csv", "text,id,text\none,1,two\n"), "f.csv:1 has two columns 'text'");
}

TEST_F(OtherFiles, JsonThatIsNotInLinesNamesTheWayOut) {
  const std::string lines = "{\"text\": \"one\"}\n{\"text\": \"two\"}\n";
  for (const std::string comment : {"// by hand\n", "# by hand\n", "by hand\n", "/* by hand */\n"}) {
    expect_error<DataError>(wanted_column("a.jsonl", comment + lines), "a.jsonl:1 is not valid JSON");
    PrepareRequest skipping = wanted_column("a.jsonl", comment + lines);
    skipping.skip_bad_rows = true;
    EXPECT_EQ(text(make(skipping), "train"), "onetwo");
  }
  expect_error<DataError>(wanted_column("b.jsonl", "only words\n"), "b.jsonl is plain text, but is called .jsonl");
  expect_error<DataError>(wanted_column("c.json", "[\n{\"text\": \"one\"}\n]\n"), "such as with jq -c '.[]';");
  expect_error<DataError>(wanted_column("d.json", "{\n\"text\": \"one\"\n}\n{\n}\n"), "such as with jq -c .;");
  expect_error<DataError>(wanted_column("e.jsonl", "{\"text\": \"one\"}{\"text\": \"two\"}\n{}\n"),
                          "such as with jq -c .;");
  expect_error<DataError>(wanted_column("f.jsonl", "{\"text\": \"one\"},\n{\"text\": \"two\"},\n"),
                          "with sed 's/},$/}/'");
}

TEST_F(OtherFiles, MarkupWithoutColumnsNamesTheWayOut) {
  for (const auto& [content, complaint] : std::vector<std::pair<std::string, std::string>>{
           {"WARC/1.0\r\nWARC-Type: conversion\r\n\r\na text\n", "a web archive (WARC, WET), which has no columns"},
           {"<mediawiki xmlns=\"x\">\n<page>\n", "a dump of MediaWiki, which has no columns\nextract its text first"},
           {"<doc id=\"1\" title=\"A\">\nA\n</doc>\n", "such as with wikiextractor --json"}}) {
    PrepareRequest wanted = whole("text", {file("dump.txt", content)});
    wanted.out = path(fmt::format("made/{}", ++made_));
    EXPECT_THAT(notes(wanted), HasSubstr("its marks are read as text, too"));
    wanted.column = "text";
    wanted.out = path("out");
    expect_error<DataError>(wanted, complaint);
  }
}

}  // namespace
}  // namespace xlm
