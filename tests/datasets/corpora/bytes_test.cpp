// Every corpus as bytes, with its documents.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "datasets/corpora/registry.h"
#include "datasets/prepare.h"
#include "tests/datasets/preparing.h"

namespace xlm {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

class PrepareBytes : public Preparing {
 protected:
  PrepareRequest byte_request(const std::string& dataset, std::vector<fs::path> from) const {
    PrepareRequest wanted = request(dataset, std::move(from));
    wanted.unit = "byte";
    return wanted;
  }
};

TEST_F(PrepareBytes, EveryCorpusHasThem) {
  for (const Corpus& corpus : corpora()) EXPECT_THAT(corpus.units, Contains("byte")) << corpus.name;
}

TEST_F(PrepareBytes, BooksAreWholeAndKeepTheirLineEndsAndEveryByte) {
  std::string long_book;
  for (int i = 0; i < 20'000; ++i) long_book += i % 2 == 0 ? " q" : "\r\n";
  const std::string latin = "caf\xE9\r\n";
  for (int i = 0; i < 1'300; ++i) file("pg/train/" + std::to_string(10'000 + i) + ".txt", latin);
  file("pg/validation/1.txt", long_book);
  file("pg/validation/2.txt", "Äiti");
  file("pg/test/1.txt", "Tested");
  const PreparedData data = make(byte_request("pg-19", {path("pg")}));
  EXPECT_EQ(data.vocabulary.unit, Vocabulary::Unit::kByte);
  const Split& train = data.split("train");
  ASSERT_EQ(train.documents.size(), 1'300U) << "all books, not the 1,250 of a paper about byte pairs";
  EXPECT_EQ(train.documents[7], static_cast<std::int64_t>(7 * latin.size()));
  EXPECT_EQ(text(data, "train").substr(0, 2 * latin.size()), latin + latin);
  EXPECT_EQ(text(data, "valid"), long_book + "Äiti");
  EXPECT_THAT(data.split("valid").documents, ElementsAre(0, static_cast<std::int64_t>(long_book.size())));
  EXPECT_EQ(text(data, "test"), "Tested");
}

TEST_F(PrepareBytes, NumberAndLengthOfBooksAreOptions) {
  for (const char* name : {"train/1.txt", "train/2.txt", "validation/1.txt", "validation/2.txt", "test/1.txt"}) {
    file(std::string("pg/") + name, std::string("Book ") + name);
  }
  file("lists/train_files.txt", "train/2.txt\n");
  file("lists/validation_files.txt", "validation/1.txt\nvalidation/2.txt\n");
  file("lists/test_files.txt", "test/1.txt\n");
  PrepareRequest wanted = byte_request("pg-19", {path("pg")});
  wanted.lists = path("lists");
  wanted.valid_tokens = "6";
  const PreparedData data = make(wanted);
  EXPECT_EQ(text(data, "train"), "Book train/2.txt");
  EXPECT_EQ(text(data, "valid"), "Book vBook v");
  EXPECT_THAT(data.split("valid").documents, ElementsAre(0, 6));
  EXPECT_EQ(text(data, "test"), "Book test/1.txt");
}

TEST_F(PrepareBytes, WikitextByFilesAndByArticles) {
  const std::string article = " \n = Title = \n \n Some caf\xC3\xA9 . \n";
  for (const char* split : {"train", "valid", "test"}) {
    file(std::string("wikitext/wiki.") + split + ".raw", article + article);
  }
  PrepareRequest wanted = byte_request("wikitext-103", {path("wikitext")});
  const PreparedData data = make(wanted);
  EXPECT_EQ(text(data, "train"), article + article);
  EXPECT_EQ(text(data, "test"), article + article);
  EXPECT_THAT(data.split("train").documents, ElementsAre(0));
  wanted.documents = "articles";
  wanted.out = path("articles");
  const PreparedData by_article = make(wanted);
  EXPECT_EQ(text(by_article, "train"), article + article);
  // The second begins at its heading, behind the blank line.
  EXPECT_THAT(by_article.split("train").documents, ElementsAre(0, static_cast<std::int64_t>(article.size()) + 2));
}

TEST_F(PrepareBytes, CorporaOfLanguagesAreTheBytesOfTheirCleanText) {
  file("wiki/train.txt", "\n_START_ARTICLE_\nÄiti\n_START_PARAGRAPH_\nOn 1.\n_START_ARTICLE_\nIsä_NEWLINE_ei");
  file("wiki/validation.txt", "\n_START_ARTICLE_\nKoira");
  file("wiki/test.txt", "\n_START_ARTICLE_\nKissa");
  PrepareRequest wiki = byte_request("wiki40b", {path("wiki")});
  wiki.language = "fi";
  const PreparedData data = make(wiki);
  EXPECT_EQ(text(data, "train"), "äiti\non yksi\nisä\nei");
  EXPECT_THAT(data.split("train").documents, ElementsAre(0, 14)) << "in bytes: ä has two";
  EXPECT_EQ(data.split("train").tokens.size(), 21);
  EXPECT_EQ(text(data, "valid"), "koira");

  PrepareRequest pages = byte_request("cc-100", {file("fi.txt", "Äiti on\n\nIsä\n\nKoira ja\n\nKissa\n\n")});
  pages.language = "fi";
  pages.limit = "14,10,7";
  pages.out = path("pages");
  const PreparedData web = make(pages);
  EXPECT_EQ(text(web, "train").substr(0, 12), "äiti on\nis\xC3");
  EXPECT_THAT(web.split("train").documents, ElementsAre(0, 9));
}

/// The bytes of a text are its UTF-8: the same numbers as the file's, through the vocabulary.
TEST_F(PrepareBytes, Text8HasTheSameBytesAsItsFile) {
  const std::string text8 = " the quick brown fox jumps over the lazy dog";
  const PreparedData data = make(byte_request("text8", {file("text8", text8)}));
  EXPECT_EQ(text(data, "train") + text(data, "valid") + text(data, "test"), text8);
  PrepareRequest characters = request("text8", {path("text8")});
  characters.out = path("characters");
  const PreparedData other = make(characters);
  EXPECT_EQ(read_file(path("out") / "train.bin"), read_file(path("characters") / "train.bin"));
  EXPECT_NE(data.fingerprint, other.fingerprint) << "their vocabularies differ";
}

}  // namespace
}  // namespace xlm
