// Text, wikitext-103 and pg-19 as token files of byte-pair encoding.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/sha256.h"
#include "datasets/prepare.h"
#include "datasets/tokens/bpe_encoder.h"
#include "datasets/tokens/decoder.h"
#include "tests/datasets/preparing.h"
#include "tests/datasets/tokens/bpe_files.h"
#include "tests/real_texts.h"

namespace xlm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class PrepareBpe : public Preparing {
 protected:
  PrepareBpe() { write_small_bpe(path("bpe")); }

  PrepareRequest request(const std::string& dataset, std::vector<fs::path> from) const {
    PrepareRequest wanted = Preparing::request(dataset, std::move(from));
    wanted.bpe = path("bpe");
    return wanted;
  }
  PrepareRequest text_request(std::vector<fs::path> from) const {
    PrepareRequest wanted = request("text", std::move(from));
    wanted.unit = "bpe";
    return wanted;
  }
  static std::vector<std::uint32_t> ids(const PreparedData& data, const std::string& split) {
    const TokenFile& tokens = data.split(split).tokens;
    std::vector<std::uint32_t> all;
    for (std::int64_t i = 0; i < tokens.size(); ++i) all.push_back(static_cast<std::uint32_t>(tokens.at(i)));
    return all;
  }
  static std::string text(const PreparedData& data, const std::string& split) {
    const std::vector<std::string> bytes = symbol_bytes(data.vocabulary);
    std::string text;
    for (const std::uint32_t id : ids(data, split)) text += bytes[id];
    return text;
  }
  static std::vector<std::uint32_t> encoded(const std::string& text) {
    const Bpe bpe = small_bpe();
    BpeEncoder encoder(bpe);
    std::vector<std::uint32_t> tokens;
    encoder.write(text, tokens);
    encoder.finish(tokens);
    return tokens;
  }
};

TEST_F(PrepareBpe, TextKeepsEveryByteDocumentByDocument) {
  file("d/a.txt", "Some words, caf\xE9\n");
  file("d/b.txt", " and more of them");
  PrepareRequest wanted = text_request({path("d")});
  wanted.split = "100%,0%,0%";
  wanted.keep_text = true;
  const PreparedData data = make(wanted);
  std::vector<std::uint32_t> expected = encoded("Some words, caf\xE9\n");
  const auto first = static_cast<std::int64_t>(expected.size());
  for (const std::uint32_t id : encoded(" and more of them")) expected.push_back(id);
  EXPECT_EQ(ids(data, "train"), expected);
  EXPECT_EQ(read_file(path("out/train.txt")), "Some words, caf\xE9\n and more of them");
  const Split& split = data.split("train");
  EXPECT_THAT(split.documents, ElementsAre(0, first));
  EXPECT_THAT(split.document_words, ElementsAre(3, 4));
  EXPECT_THAT(split.document_bytes, ElementsAre(17, 17));
  EXPECT_EQ(split.words, 7);
  EXPECT_EQ(split.bytes, 34);
  EXPECT_EQ(data.vocabulary, small_bpe().vocabulary());
  EXPECT_EQ(data.vocabulary.id_bytes(), 2);
  EXPECT_EQ(data.meta["replaced_characters"], 0);
}

TEST_F(PrepareBpe, ASplitIsCutBetweenTokens) {
  const std::string text = "One document that goes on and on, until it has been cut into three.";
  PrepareRequest wanted = text_request({file("a", text)});
  wanted.split = "8,3,5";
  const PreparedData data = make(wanted);
  const std::vector<std::uint32_t> all = encoded(text);
  EXPECT_EQ(ids(data, "valid"), std::vector<std::uint32_t>(all.begin() + 8, all.begin() + 11));
  EXPECT_EQ(text.find(PrepareBpe::text(data, "train") + PrepareBpe::text(data, "valid")), 0U);
  EXPECT_EQ(data.split("test").bytes, static_cast<std::int64_t>(PrepareBpe::text(data, "test").size()));
}

TEST_F(PrepareBpe, TheFolderCanEncodeMoreText) {
  const PreparedData data = make(text_request({file("a", "some text that is long enough for three splits")}));
  EXPECT_EQ(read_bpe(path("out")).merges_text(), read_file(path("bpe/merges.txt")));
  EXPECT_EQ(data.meta["outputs"]["merges.txt"], sha256_file(path("out/merges.txt")));
  EXPECT_TRUE(prepare(text_request({path("a")}), {}).was_there);
  PrepareRequest again = text_request({path("a")});
  again.bpe = path("out");
  again.out = path("again");
  EXPECT_EQ(make(again).fingerprint, data.fingerprint);
  write_file(path("out/merges.txt"), "t h\n");
  EXPECT_THAT([&] { prepare(text_request({path("a")}), {}); }, ThrowsMessage<DataError>(HasSubstr("merges.txt")));
}

TEST_F(PrepareBpe, LongTextsCrossBuffersUnchanged) {
  std::string long_text;
  for (int i = 0; long_text.size() < 1'500'000; ++i) {
    long_text += i % 3 == 0 ? " the" : i % 7 == 0 ? "\r\n" : i % 5 == 0 ? "\xF0\x9F\x98\x80" : " pride";
  }
  PrepareRequest wanted = text_request({file("a", long_text)});
  wanted.split = "100%,0%,0%";
  std::string expected = long_text;  // with Unix line ends
  expected.erase(std::remove(expected.begin(), expected.end(), '\r'), expected.end());
  EXPECT_EQ(ids(make(wanted), "train"), encoded(expected));
}

// Blocks of one document, several documents of a block, a text without blanks, a word that is longer than a block.
TEST_F(PrepareBpe, ThreadsDoNotChangeTheResult) {
  std::string long_text;
  for (int i = 0; long_text.size() < 900'000; ++i) long_text += i % 3 == 0 ? " the" : i % 7 == 0 ? "\r\n" : " pride";
  std::vector<fs::path> files{file("d/a", long_text), file("d/b", "short"), file("d/c", " of"),
                              file("d/d", std::string(700'000, 'e') + " the")};
  std::string without_blanks;
  for (int i = 0; without_blanks.size() < 600'000; ++i) without_blanks += "the," + std::to_string(i);
  files.push_back(file("d/e", without_blanks));
  PrepareRequest wanted = text_request(files);
  wanted.keep_text = true;
  wanted.name = "mine";
  wanted.threads = 1;
  const PreparedData one = make(wanted);
  wanted.threads = 3;
  wanted.out = path("three");
  const PreparedData three = make(wanted);
  EXPECT_EQ(three.meta, one.meta);
  for (const char* split : {"train", "valid", "test"}) EXPECT_EQ(ids(three, split), ids(one, split)) << split;
  std::vector<std::uint32_t> expected;
  for (const fs::path& name : files) {
    std::string text = read_file(name);
    text.erase(std::remove(text.begin(), text.end(), '\r'), text.end());
    for (const std::uint32_t token : encoded(text)) expected.push_back(token);
  }
  std::vector<std::uint32_t> all;
  for (const char* split : {"train", "valid", "test"}) {
    for (const std::uint32_t token : ids(one, split)) all.push_back(token);
  }
  EXPECT_EQ(all, expected);
}

TEST_F(PrepareBpe, WikitextCountsWordsAndLineEnds) {
  file("raw/wiki.test.raw", " \n = Title = \n \n Two words \n");
  file("raw/wiki.valid.raw", "a b\n");
  file("raw/README", "not text");
  std::string notes;
  const PrepareRequest wanted = request("wikitext-103", {path("raw")});
  prepare(wanted, {.note = [&](const std::string& note) { notes += note; }});
  const PreparedData data = open_prepared(path("out"), true);
  EXPECT_EQ(data.splits.size(), 2U) << "there is no training text";
  EXPECT_THAT(notes, HasSubstr("no train.bin"));
  EXPECT_EQ(text(data, "test"), " \n = Title = \n \n Two words \n");
  EXPECT_EQ(ids(data, "valid"), encoded("a b\n"));
  EXPECT_EQ(data.split("test").words, 5 + 4);
  EXPECT_EQ(data.split("valid").words, 3);
  EXPECT_THAT(data.split("test").documents, ElementsAre(0));
  EXPECT_EQ(data.meta["sources"].size(), 2U);
  EXPECT_EQ(data.meta["word_rule"], "whitespace and line ends");
  EXPECT_EQ(data.meta["split"], "own");
}

TEST_F(PrepareBpe, ArticlesOfWikitextAreDocumentsIfAskedFor) {
  const std::string first =
      " \n = First = \n \n Text, \n = 1 rad / s and k = \n with a formula \n \n = = Part = = \n \n x \n \n";
  const std::string second = " = Second one = \n \n More \n";
  file("raw/wiki.test.raw", first + second + " \n = Not a title = \n");
  PrepareRequest wanted = request("wikitext-103", {path("raw")});
  wanted.documents = "articles";
  const PreparedData data = make(wanted);
  EXPECT_EQ(text(data, "test"), read_file(path("raw/wiki.test.raw"))) << "no byte is lost";
  const Split& test = data.split("test");
  EXPECT_THAT(test.documents, ElementsAre(0, encoded(first).size()));
  EXPECT_THAT(test.document_bytes, ElementsAre(first.size(), second.size() + 20));
  wanted.documents = "files";
  EXPECT_THAT([&] { prepare(wanted, {}); }, ThrowsMessage<UsageError>(HasSubstr("different: documents_are")));
  wanted.documents = "pages";
  EXPECT_THAT([&] { prepare(wanted, {}); }, ThrowsMessage<UsageError>(HasSubstr("files or articles")));
}

TEST_F(PrepareBpe, AHeadingOfWikitextMayBeCutByABlock) {
  const std::string begin((std::size_t{1} << 20) - 10, 'x');
  file("raw/wiki.test.raw", begin + "\n\n = A title = \n\nText\n");
  PrepareRequest wanted = request("wikitext-103", {path("raw")});
  wanted.documents = "articles";
  EXPECT_EQ(make(wanted).split("test").document_bytes[0], static_cast<std::int64_t>(begin.size()) + 2);
}

TEST_F(PrepareBpe, NumberAndLengthOfBooksAreOptions) {
  for (const char* name : {"train/1.txt", "train/2.txt", "train/3.txt"}) file(std::string("pg/") + name, "A book\n");
  std::string book;
  for (int i = 0; i < 16'000; ++i) book += i % 2 == 0 ? " q" : "\n";
  file("pg/validation/1.txt", book);
  PrepareRequest wanted = request("pg-19", {path("pg")});
  wanted.books = "2";
  wanted.valid_tokens = "10";
  const PreparedData few = make(wanted);
  EXPECT_EQ(few.split("train").documents.size(), 2U);
  EXPECT_EQ(few.split("valid").tokens.size(), 10);
  wanted.out = path("all");
  wanted.books = "all";
  wanted.valid_tokens = "all";
  const PreparedData all = make(wanted);
  EXPECT_EQ(all.split("train").documents.size(), 3U);
  EXPECT_EQ(all.split("valid").tokens.size(), static_cast<std::int64_t>(encoded(book).size()));
  wanted.books = "0";
  EXPECT_THAT([&] { prepare(wanted, {}); }, ThrowsMessage<UsageError>(HasSubstr("at least 1, or all")));
  PrepareRequest text = text_request({path("pg/train/1.txt")});
  text.books = "2";
  EXPECT_THAT([&] { prepare(text, {}); }, ThrowsMessage<UsageError>(HasSubstr("text takes no --books")));
}

TEST_F(PrepareBpe, WikitextComesOutOfItsArchiveInAnyOrder) {
  make_archive(path("w.zip"), "zip", "",
               {{"w/wiki.test.raw", "the test"}, {"w/LICENSE", "no"}, {"w/wiki.train.raw", "trained on"}});
  const PreparedData data = make(request("wikitext-103", {path("w.zip")}));
  EXPECT_EQ(text(data, "train"), "trained on");
  EXPECT_EQ(text(data, "test"), "the test");
}

TEST_F(PrepareBpe, WikitextRefusesWhatItIsNot) {
  file("raw/wiki.test.tokens", "<unk>");
  expect_error<DataError>(request("wikitext-103", {path("raw")}), "has none of wiki.train.raw");
  expect_error<DataError>(request("wikitext-103", {path("raw/wiki.test.tokens")}), "has none of wiki.train.raw");
  file("two/a/wiki.test.raw", "one");
  file("two/b/wiki.test.raw", "two");
  expect_error<DataError>(request("wikitext-103", {path("two")}), "two parts that are 'test'");
}

TEST_F(PrepareBpe, BooksAreDocumentsWithUnixLineEnds) {
  file("pg/train/9.txt", "\r\n\r\nThe first\r\nbook \r*** ");
  file("pg/train/10.txt", "Another.\r\n");
  file("pg/test/1.txt", "Tested");
  file("pg/metadata.csv", "1,2");
  const PreparedData data = make(request("pg-19", {path("pg")}));
  EXPECT_EQ(text(data, "train"), "Another.\n\n\nThe first\nbook \n*** ") << "10.txt comes before 9.txt";
  const Split& train = data.split("train");
  EXPECT_THAT(train.documents, ElementsAre(0, encoded("Another.\n").size()));
  EXPECT_THAT(train.document_words, ElementsAre(1, 4));
  EXPECT_EQ(train.words, 5);
  EXPECT_EQ(text(data, "test"), "Tested");
  EXPECT_EQ(data.meta["sources"].size(), 3U);
}

TEST_F(PrepareBpe, LineEndsAreCleanedAcrossBlocks) {
  const std::string begin((std::size_t{1} << 20) - 1, 'x');  // the first block ends after the carriage return
  file("pg/test/1.txt", begin + "\r\nend\r");
  EXPECT_EQ(text(make(request("pg-19", {path("pg")})), "test"), begin + "\nend\n");
}

TEST_F(PrepareBpe, BooksAreFoundUnderAnyNameOfTheirSplit) {
  file("disk/1.txt", "one\n");
  file("pg/Val/2.txt", "two\n");
  fs::create_directory_symlink("../disk", path("pg/training"));
  file("pg/metadata.tsv", "1,2");
  const PreparedData data = make(request("pg-19", {path("pg")}));
  EXPECT_EQ(text(data, "train") + text(data, "valid"), "one\ntwo\n");
  file("pg/validation/2.txt", "another");
  PrepareRequest again = request("pg-19", {path("pg")});
  again.out = path("again");
  EXPECT_THAT([&] { prepare(again, {}); },
              ThrowsMessage<DataError>(HasSubstr("books of validation are in two folders: Val and validation")));
  fs::rename(path("pg/validation"), path("pg/others"));
  EXPECT_THAT([&] { prepare(again, {}); },
              ThrowsMessage<DataError>(HasSubstr("others/2.txt is in no folder of a split")));
}

TEST_F(PrepareBpe, OmittedPartsOfBooksAreCounted) {
  for (const char* name : {"train/1.txt", "train/2.txt", "train/3.txt", "train/3.pdf", "test/1.txt"}) {
    file(std::string("pg/") + name, "A book\n");
  }
  PrepareRequest wanted = request("pg-19", {path("pg")});
  wanted.books = "1";
  std::string notes;
  prepare(wanted, {.note = [&](const std::string& note) { notes += note + "\n"; }});
  EXPECT_THAT(notes, HasSubstr("passed over: files that are no books: 1 (train/3.pdf); books beyond --books and "
                               "--lists: 2 (train/2.txt, train/3.txt)\n"));
}

TEST_F(PrepareBpe, OfValidationBooksTheFirst15000TokensAreKept) {
  std::string book;
  for (int i = 0; i < 20'000; ++i) book += i % 2 == 0 ? " q" : "\n";
  file("pg/validation/1.txt", book);
  file("pg/validation/2.txt", "A short one.");
  file("pg/test/1.txt", book);
  const PreparedData data = make(request("pg-19", {path("pg")}));
  std::vector<std::uint32_t> expected = encoded(book);
  EXPECT_EQ(ids(data, "test"), expected);
  expected.resize(15'000);
  for (const std::uint32_t id : encoded("A short one.")) expected.push_back(id);
  EXPECT_EQ(ids(data, "valid"), expected);
  EXPECT_THAT(data.split("valid").documents, ElementsAre(0, 15'000));
  EXPECT_EQ(data.split("valid").document_words[1], 3);
}

TEST_F(PrepareBpe, OfTrainingBooksTheFirst1250AreRead) {
  for (int i = 0; i < 1'260; ++i) file("pg/train/" + std::to_string(10'000 + i) + ".txt", std::to_string(i) + "\n");
  const PreparedData data = make(request("pg-19", {path("pg")}));
  EXPECT_EQ(data.split("train").documents.size(), 1'250U);
  EXPECT_THAT(text(data, "train"), testing::EndsWith("\n1249\n"));
  EXPECT_EQ(data.meta["sources"].size(), 1'250U);
}

TEST_F(PrepareBpe, ListsSayWhichBooksBelong) {
  for (const char* name : {"train/1.txt", "train/2.txt", "validation/3.txt", "test/4.txt", "test/5.txt"}) {
    file(std::string("pg/") + name, std::string("Book ") + name + "\n");
  }
  file("lists/train_files.txt", "train/2.txt\n");
  file("lists/validation_files.txt", "validation/3.txt\n");
  file("lists/test_files.txt", "test/5.txt\r\ntest/4.txt");
  PrepareRequest wanted = request("pg-19", {path("pg")});
  wanted.lists = path("lists");
  const PreparedData data = make(wanted);
  EXPECT_EQ(text(data, "train"), "Book train/2.txt\n");
  EXPECT_EQ(text(data, "test"), "Book test/4.txt\nBook test/5.txt\n");

  wanted.out = path("other");
  fs::remove(path("pg/test/5.txt"));
  EXPECT_THAT([&] { prepare(wanted, {}); },
              ThrowsMessage<DataError>(HasSubstr("a listed book is missing: test/5.txt (lists: ")));
  fs::remove(path("pg/test/4.txt"));
  EXPECT_THAT([&] { prepare(wanted, {}); },
              ThrowsMessage<DataError>(HasSubstr("a listed book is missing: test/4.txt, and 1 more")));
  file("lists/test_files.txt", "test/4.txt\ntrain/4.txt\n");
  EXPECT_THAT([&] { prepare(wanted, {}); },
              ThrowsMessage<DataError>(HasSubstr("test_files.txt:2: 'train/4.txt' is not a book of test/")));
  fs::remove(path("lists/train_files.txt"));
  EXPECT_THAT([&] { prepare(wanted, {}); }, ThrowsMessage<DataError>(HasSubstr("train_files.txt")));
}

TEST_F(PrepareBpe, EmptyBooksAreErrors) {
  file("pg/train/1.txt", "A book");
  file("pg/train/2.txt", "");
  expect_error<DataError>(request("pg-19", {path("pg")}), "train/2.txt is empty");
  file("pg/train/2.txt", "\r\n \r\n");
  expect_error<DataError>(request("pg-19", {path("pg")}), "train/2.txt is empty");
  expect_error<DataError>(request("pg-19", {path("pg/train")}), "there are no books");
}

TEST_F(PrepareBpe, WrongUsageIsRefused) {
  const fs::path good = file("a", "some text");
  PrepareRequest wanted = text_request({good});
  wanted.bpe.clear();
  expect_error<UsageError>(wanted, "text in BPE needs an encoding");
  expect_error<UsageError>(request("text", {good}), "--bpe needs --unit bpe");
  wanted = text_request({good});
  wanted.lists = path("lists");
  expect_error<UsageError>(wanted, "takes no --lists");
  wanted = request("wikitext-103", {good});
  wanted.split = "80%,10%,10%";
  expect_error<UsageError>(wanted, "takes no --split");
  wanted = request("pg-19", {good});
  wanted.unit = "character";
  expect_error<UsageError>(wanted, "pg-19 cannot be prepared with --unit character");
  wanted = text_request({good});
  wanted.bpe = path("nowhere");
  expect_error<DataError>(wanted, "nowhere/vocab.json");
  file("bpe/merges.txt", "t h\nx\n");
  expect_error<DataError>(text_request({good}), "merges.txt:2: 'x' is not a pair");
}

// Words: docs/corpora.md#wikitext-103. Tokens by tiktoken 0.14.0.
TEST_F(PrepareBpe, PreparesWikitextOfRealTexts) {
  XLM_NEEDS_REAL_TEXT("wikitext");
  PrepareRequest wanted = request("wikitext-103", {real_texts() / "wikitext"});
  wanted.bpe = real_texts() / "gpt2";
  const PreparedData data = make(wanted);
  EXPECT_EQ(data.split("test").words, 245'569);
  EXPECT_EQ(data.split("valid").words, 217'646);
  EXPECT_EQ(data.split("test").tokens.size(), 286'221);
  EXPECT_EQ(data.split("valid").tokens.size(), 249'887);
  EXPECT_EQ(data.split("test").bytes, 1'290'590);
}

// Tokens by tiktoken 0.14.0, of the books with "\n" for "\r\n"; words by Python's split().
TEST_F(PrepareBpe, PreparesBooksOfRealTexts) {
  XLM_NEEDS_REAL_TEXT("gutenberg");
  for (const char* part : {"train", "validation", "test"}) {
    create_folders(path("pg") / part);
    for (const auto& book : fs::directory_iterator(real_texts() / "gutenberg" / part)) {
      const fs::path name = fs::path(part) / book.path().filename();
      if (part != std::string("train") || name == "train/10006.txt") {
        fs::create_symlink(fs::absolute(book.path()), path("pg") / name);
      }
    }
  }
  PrepareRequest wanted = request("pg-19", {path("pg")});
  wanted.bpe = real_texts() / "gpt2";
  const PreparedData data = make(wanted);
  EXPECT_EQ(data.split("test").tokens.size(), 182'030);
  EXPECT_THAT(data.split("test").document_words, ElementsAre(4'543, 26'350, 14'144, 22'011, 47'306));
  EXPECT_THAT(data.split("valid").documents, ElementsAre(0, 13'210, 28'210));
  EXPECT_EQ(data.split("train").words, 13'280);
  wanted.lists = real_texts() / "pg19";
  wanted.force = true;
  EXPECT_THAT([&] { prepare(wanted, {}); },
              ThrowsMessage<DataError>(HasSubstr("a listed book is missing: train/10.txt, and 1248 more")));
}

}  // namespace
}  // namespace xlm
