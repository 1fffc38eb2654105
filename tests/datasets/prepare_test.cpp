#include "datasets/prepare.h"

#include <sys/resource.h>
#include <csignal>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/sha256.h"
#include "datasets/prepared/prepared.h"
#include "tests/datasets/preparing.h"
#include "tests/real_texts.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class Prepare : public Preparing {};

std::map<std::string, std::string> files_of(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::directory_iterator(folder))
    files[entry.path().filename().string()] = read_file(entry.path());
  return files;
}

constexpr const char* kDump =
    "<mediawiki>\n<page><title>A</title><text xml:space=\"preserve\">The [[fox|quick fox]] of "
    "1984.</text></page>\n</mediawiki>";

TEST_F(Prepare, Text8IsTakenAsItIs) {
  const std::string text8 = " the quick brown fox jumps over the lazy dog";
  const PreparedData data = make(request("text8", {file("text8", text8)}));
  EXPECT_EQ(text(data, "train") + text(data, "valid") + text(data, "test"), text8);
  EXPECT_EQ(data.split("valid").tokens.size(), 2);
  EXPECT_EQ(data.language, "en");
  EXPECT_EQ(data.meta["cleaning"], "text8");
  EXPECT_EQ(data.vocabulary.size(), 27);
  EXPECT_EQ(data.vocabulary.symbols.front(), " ");
}

TEST_F(Prepare, Text8ComesOutOfItsArchive) {
  const PreparedData data =
      make(request("text8", {make_archive(path("text8.zip"), "zip", "", {{"text8", " some words here and there"}})}));
  EXPECT_EQ(text(data, "train") + text(data, "valid") + text(data, "test"), " some words here and there");
  EXPECT_EQ(data.meta["sources"]["text8.zip"], sha256_file(path("text8.zip")));
}

TEST_F(Prepare, Text8FiltersADump) {
  make_archive(path("dump.xml.bz2"), "raw", "bzip2", {{"x", kDump}});
  EXPECT_EQ(text(make(request("text8", {path("dump.xml.bz2")})), "train"), " the quick fox of one nine eight fo");
}

TEST_F(Prepare, Text8MayEndWithALineEnd) {
  EXPECT_EQ(text(make(request("text8", {file("text8", "a b\r\n")})), "train"), "a b");
}

TEST_F(Prepare, Text8RefusesOtherText) {
  expect_error<DataError>(request("text8", {file("x", "plain text, not clean")}), "byte 0x2C at offset 10");
  expect_error<DataError>(request("text8", {file("x", "two\nlines")}), "byte 0x0A at offset 3");
  expect_error<DataError>(request("text8", {file("x", std::string(1'500'000, 'a') + "\n\n")}), "at offset 1500000");
  expect_error<DataError>(request("text8", {file("x", "<p>no dump</p>")}), "neither text8");
  expect_error<DataError>(request("text8", {file("x", "<html>no dump</html>")}), "x is a web page");
  expect_error<DataError>(request("text8", {file("x", "<mediawiki><page></page></mediawiki>")}), "no article text");
  make_archive(path("two.zip"), "zip", "", {{"a", "a"}, {"b", "b"}});
  expect_error<DataError>(request("text8", {path("two.zip")}), "holds more than one file");
}

TEST_F(Prepare, ACorpusOfOneFileMayBeNamedByItsFolder) {
  file("raw/text8", " in a folder");
  EXPECT_EQ(make(request("text8", {path("raw")})).split("train").tokens.size(), 12);
  file("raw/text8.zip", "x");
  PrepareRequest other = request("text8", {path("raw")});
  other.out = path("other");
  EXPECT_THAT([&] { prepare(other, {}); }, ThrowsMessage<UsageError>(HasSubstr("the folder has 2: text8, text8.zip")));
}

TEST_F(Prepare, Enwik8KeepsEveryByte) {
  std::string bytes;
  for (int i = 0; i < 600; ++i) bytes += static_cast<char>((i * 7) % 256);
  const PreparedData data = make(request("enwik8", {file("enwik8", bytes)}));
  EXPECT_EQ(data.vocabulary.unit, Vocabulary::Unit::kByte);
  EXPECT_EQ(data.vocabulary.size(), 256);
  EXPECT_EQ(data.vocabulary.symbols[200], "\xC8");
  EXPECT_EQ(text(data, "train") + text(data, "valid") + text(data, "test"), bytes);
}

TEST_F(Prepare, TextTakesFoldersFileByFileAsDocuments) {
  file("d/b.txt", "second\n");
  file("d/a.txt", "first\n");
  file("d/c.md", "no");
  PrepareRequest wanted = request("text", {path("d")});
  wanted.glob = "*.txt";
  wanted.split = "8,0,5";
  const PreparedData data = make(wanted);
  EXPECT_EQ(text(data, "train"), "first\nse");
  EXPECT_EQ(text(data, "test"), "cond\n");
  EXPECT_THAT(data.split("train").documents, ElementsAre(0, 6));
  EXPECT_THAT(data.split("test").documents, ElementsAre(0));
  EXPECT_EQ(data.splits.count("valid"), 0U) << "an empty split is left out";
  EXPECT_FALSE(fs::exists(path("out/valid.bin")));
}

TEST_F(Prepare, TextIsCleanedLikeText8WhenAsked) {
  PrepareRequest wanted = request("text", {file("a", "One, 2!"), file("b", "Three\n")});
  wanted.clean = "text8";
  wanted.split = "14,0,0";
  const PreparedData data = make(wanted);
  EXPECT_EQ(text(data, "train"), " one two three");
  EXPECT_THAT(data.split("train").documents, ElementsAre(0, 8));
  EXPECT_EQ(data.split("train").words, 3);
}

TEST_F(Prepare, CountsWordsAndBytes) {
  PrepareRequest wanted = request("text", {file("a",
                                                "ein  gro\xC3\x9F"
                                                "es\tWort"),
                                           file("b", "und noch\n")});
  wanted.split = "100%,0%,0%";
  const PreparedData data = make(wanted);
  const Split& split = data.split("train");
  EXPECT_EQ(split.tokens.size(), 25);
  EXPECT_EQ(split.bytes, 26);
  EXPECT_EQ(split.words, 5) << "a document's end ends a word";
}

TEST_F(Prepare, AWordThatASplitCutsCountsInBoth) {
  for (const char* unit : {"character", "byte"}) {
    PrepareRequest wanted = request("text", {file("a", "one two three")});
    wanted.unit = unit;
    wanted.split = "5,5,3";  // "one t", "wo th", "ree"
    wanted.force = true;
    const PreparedData data = make(wanted);
    EXPECT_EQ(data.split("train").words, 2) << unit;
    EXPECT_EQ(data.split("valid").words, 2) << unit;
    EXPECT_EQ(data.split("test").words, 1) << unit;
  }
}

TEST_F(Prepare, AWordThatABufferCutsCountsOnce) {
  for (const char* unit : {"character", "byte"}) {
    PrepareRequest wanted = request("text", {file("a", std::string(5'000'000, 'x') + " y")});
    wanted.unit = unit;
    wanted.split = "100%,0%,0%";
    wanted.force = true;
    EXPECT_EQ(make(wanted).split("train").words, 2) << unit;
  }
}

TEST_F(Prepare, InvalidUtf8IsReplacedInCharactersAndKeptInBytes) {
  const std::string bytes = "caf\xE9 \xFF\xC3\xA9 end of text";
  PrepareRequest wanted = request("text", {file("a", bytes)});
  wanted.split = "100%,0%,0%";
  std::string note;
  const PrepareResult result = prepare(wanted, {.note = [&](const std::string& text) { note += text; }});
  EXPECT_EQ(result.replaced, 2);
  EXPECT_THAT(note, HasSubstr("2 pieces of invalid UTF-8"));
  EXPECT_EQ(text(open_prepared(path("out")), "train"), "caf\xEF\xBF\xBD \xEF\xBF\xBD\xC3\xA9 end of text");
  EXPECT_EQ(open_prepared(path("out")).meta["replaced_characters"], 2);
  wanted.strict = true;
  EXPECT_THROW(prepare(wanted, {}), DataError) << "the existing folder has replacements";
  wanted.force = true;
  EXPECT_THROW(prepare(wanted, {}), DataError) << "the text is still what it was";
  EXPECT_EQ(open_prepared(path("out")).meta["replaced_characters"], 2) << "the existing folder stays";
  wanted.strict = false;
  wanted.unit = "byte";
  EXPECT_EQ(text(make(wanted), "train"), bytes);
}

TEST_F(Prepare, AnyVocabularySizeFits) {
  std::string many;
  for (char32_t c = 0x100; c < 0x100 + 400; ++c) {
    const auto code = static_cast<unsigned>(c);
    many += static_cast<char>(0xC0U | code >> 6U);
    many += static_cast<char>(0x80U | (code & 0x3FU));
  }
  PrepareRequest wanted = request("text", {file("a", many)});
  wanted.split = "300,50,50";
  const PreparedData data = make(wanted);
  EXPECT_EQ(data.vocabulary.id_bytes(), 2);
  EXPECT_EQ(fs::file_size(path("out/train.bin")), 600U);
  EXPECT_EQ(text(data, "train") + text(data, "valid") + text(data, "test"), many);
}

TEST_F(Prepare, LongTextsCrossBuffersUnchanged) {
  std::string long_text;
  for (int i = 0; long_text.size() < 3'300'000; ++i)
    long_text += i % 3 == 0 ? "\xE2\x82\xAC" : i % 7 == 0 ? "\xF0\x9F\x98\x80" : "x";
  PrepareRequest wanted = request("text", {file("a", long_text)});
  wanted.keep_text = true;
  make(wanted);
  EXPECT_EQ(read_file(path("out/train.txt")) + read_file(path("out/valid.txt")) + read_file(path("out/test.txt")),
            long_text);
}

TEST_F(Prepare, MetaHasTheDocumentedKeys) {
  const PreparedData data = make(request("text8", {file("text8", " a short text of clean words only")}));
  for (const char* key :
       {"dataset", "language", "cleaning", "sizes", "words", "bytes", "documents", "sources", "outputs", "xlm"}) {
    EXPECT_TRUE(data.meta.contains(key)) << key;
  }
  for (const auto& [name, hash] : data.meta["outputs"].items())
    EXPECT_EQ(hash, sha256_file(path("out") / name)) << name;
  EXPECT_EQ(data.meta["outputs"].size(), 4U);
  EXPECT_THAT(read_file(path("out/meta.json")), testing::Not(HasSubstr(folder_.path().string())));
}

TEST_F(Prepare, PreparingTwiceGivesTheSameBytes) {
  PrepareRequest wanted = request("text", {file("d/a.txt", "some text\n"), file("d/b.txt", "and more \xFF of it\n")});
  wanted.keep_text = true;
  wanted.name = "mine";
  prepare(wanted, {});
  auto first = files_of(path("out"));
  wanted.out = path("elsewhere/again");
  prepare(wanted, {});
  auto again = files_of(path("elsewhere/again"));
  EXPECT_EQ(first.erase(".verified.json") + again.erase(".verified.json"), 2U) << "has times of files";
  EXPECT_EQ(again, first);
  EXPECT_EQ(first.size(), 8U);
}

TEST_F(Prepare, TheFingerprintIsOfTheDataAlone) {
  const std::string content = "some text that is the same in both";
  PrepareRequest wanted = request("text", {file("a", content)});
  const std::string first = make(wanted).fingerprint;
  wanted = request("text", {file("b", content)});
  wanted.keep_text = true;
  wanted.out = path("other");
  EXPECT_EQ(make(wanted).fingerprint, first);
  wanted.split = "80%,10%,10%";
  wanted.force = true;
  EXPECT_NE(make(wanted).fingerprint, first);
}

TEST_F(Prepare, TheSameRequestIsDoneOnce) {
  const PrepareRequest wanted = request("text", {file("a", "some text that is long enough")});
  EXPECT_FALSE(prepare(wanted, {}).was_there);
  const auto made = fs::last_write_time(path("out/train.bin"));
  EXPECT_TRUE(prepare(wanted, {}).was_there);
  EXPECT_EQ(fs::last_write_time(path("out/train.bin")), made);
}

TEST_F(Prepare, AnotherRequestNeedsForce) {
  PrepareRequest wanted = request("text", {file("a", "some text that is long enough")});
  prepare(wanted, {});
  wanted.split = "80%,10%,10%";
  EXPECT_THAT([&] { prepare(wanted, {}); },
              ThrowsMessage<UsageError>(AllOf(HasSubstr("different: split"), HasSubstr("--force"))));
  file("a", "changed text that is long enough");
  EXPECT_THAT([&] { prepare(wanted, {}); }, ThrowsMessage<UsageError>(HasSubstr("different: split, sources")));
  wanted.force = true;
  EXPECT_FALSE(prepare(wanted, {}).was_there);
  EXPECT_EQ(open_prepared(path("out")).split("valid").tokens.size(), 3);
  EXPECT_FALSE(fs::exists(path(".out.preparing")));
}

TEST_F(Prepare, ADamagedFolderIsReported) {
  PrepareRequest wanted = request("text", {file("a", "some text that is long enough")});
  prepare(wanted, {});
  write_file(path("out/train.bin"), "short");
  EXPECT_THAT([&] { prepare(wanted, {}); }, ThrowsMessage<DataError>(HasSubstr("--force makes")));
  wanted.force = true;
  EXPECT_NO_THROW(prepare(wanted, {}));
  EXPECT_NO_THROW(open_prepared(path("out"), true));
}

TEST_F(Prepare, ForceNeverRemovesOtherFiles) {
  PrepareRequest wanted = request("text", {file("a", "some text that is long enough")});
  wanted.force = true;
  file("out/notes.txt", "mine");
  EXPECT_THAT([&] { prepare(wanted, {}); }, ThrowsMessage<UsageError>(HasSubstr("is not a prepared data folder")));
  fs::remove(path("out/notes.txt"));
  prepare(wanted, {});
  file("out/notes.txt", "mine");
  wanted.split = "80%,10%,10%";
  EXPECT_THAT([&] { prepare(wanted, {}); }, ThrowsMessage<UsageError>(HasSubstr("also has notes.txt")));
  EXPECT_EQ(read_file(path("out/notes.txt")), "mine");
}

TEST_F(Prepare, WrongUsageIsRefused) {
  const fs::path good = file("a", "some text");
  expect_error<UsageError>(request("text9", {good}), "unknown dataset 'text9' (did you mean 'text8'?)");
  PrepareRequest wanted = request("text8", {good});
  wanted.unit = "bpe";
  expect_error<UsageError>(wanted, "text8 cannot be prepared with --unit bpe");
  wanted = request("text", {good});
  wanted.clean = "txt8";
  expect_error<UsageError>(wanted, "did you mean 'text8'?");
  wanted = request("enwik8", {good});
  wanted.glob = "*";
  expect_error<UsageError>(wanted, "takes no --glob");
  wanted = request("text", {good});
  wanted.split = "1,2";
  expect_error<UsageError>(wanted, "2 parts instead of three");
  wanted.split = "5,5,5";
  expect_error<UsageError>(wanted, "longer than the text, which has 9 tokens");
  wanted.out = "";
  expect_error<UsageError>(wanted, "--out is empty");
  wanted.out = path("out");
  file("out", "a file");
  wanted.split = "90%,5%,5%";
  EXPECT_THAT([&] { prepare(wanted, {}); }, ThrowsMessage<UsageError>(HasSubstr("is a file")));
}

TEST_F(Prepare, BadDataIsRefused) {
  expect_error<DataError>(request("text", {path("nowhere")}), "nowhere");
  expect_error<DataError>(request("text", {file("a", "")}), "a is empty");
  expect_error<DataError>(request("enwik8", {file("a", "")}), "a is empty");
  PrepareRequest wanted = request("text", {file("a", "?!\n")});
  wanted.clean = "text8";
  expect_error<DataError>(wanted, "the corpus is empty");
  make_archive(path("b.gz"), "raw", "gzip", {{"x", "some text that is packed"}});
  fs::resize_file(path("b.gz"), fs::file_size(path("b.gz")) - 1);
  expect_error<DataError>(request("text", {path("b.gz")}), "truncated or corrupt");
  make_archive(path("c.tar"), "ustar", "", {{"../../x", "evil"}});
  expect_error<DataError>(request("text", {path("c.tar")}), "leads outside");
  wanted = request("text", {file("d", "text")});
  wanted.out = file("file", "x") / "out";
  expect_error<DataError>(wanted, "file");
}

TEST_F(Prepare, StoppingLeavesNothing) {
  const PrepareRequest wanted = request("text", {file("a", std::string(5'000'000, 'x'))});
  for (const std::string stage : {"checking", "reading", "encoding"}) {
    const auto stop = [&](const std::string& now, std::uint64_t, std::uint64_t) {
      if (now == stage) throw Error("stop");
    };
    EXPECT_THAT([&] { prepare(wanted, {.progress = stop}); }, ThrowsMessage<Error>("stop"));
    EXPECT_THAT(files_of(folder_.path()).size(), 1U) << stage;
  }
}

TEST_F(Prepare, AFullDiskLeavesNothing) {
  const PrepareRequest wanted = request("text", {file("a", std::string(3'000'000, 'x'))});
  const auto in_a_small_space = [&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1'000'000, 1'000'000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    try {
      prepare(wanted, {});
    } catch (const ResourceError& error) {
      std::fprintf(stderr, "%s\n", error.what());
      std::_Exit(error.code());
    }
    std::_Exit(0);
  };
  EXPECT_EXIT(in_a_small_space(), testing::ExitedWithCode(kOutOfResources), "cannot write");
  EXPECT_EQ(files_of(folder_.path()).size(), 1U);
}

TEST_F(Prepare, ASecondProcessIsRefused) {
  PrepareRequest wanted = request("text", {file("a", std::string(5'000'000, 'x'))});
  bool tried = false;
  const auto meanwhile = [&](const std::string& stage, std::uint64_t, std::uint64_t) {
    if (stage != "encoding" || std::exchange(tried, true)) return;
    EXPECT_THAT([&] { prepare(wanted, {}); }, ThrowsMessage<UsageError>(HasSubstr("another process is preparing")));
  };
  prepare(wanted, {.progress = meanwhile});
  EXPECT_TRUE(tried);
  EXPECT_NO_THROW(open_prepared(path("out"), true));
}

TEST_F(Prepare, PreparesText8OfRealTexts) {
  XLM_NEEDS_REAL_TEXT("wikipedia-en/text8.first4503641.gz");
  const fs::path gz = real_texts() / "wikipedia-en/text8.first4503641.gz";
  PrepareRequest wanted = request("text8", {gz});
  wanted.split = "4000000,200000,200000";
  wanted.keep_text = true;
  const PreparedData data = make(wanted);
  EXPECT_EQ(data.split("train").tokens.size(), 4'000'000);
  EXPECT_EQ(data.vocabulary.size(), 27);
  const std::string original = read_all(gz).at("");
  EXPECT_EQ(read_file(path("out/train.txt")) + read_file(path("out/valid.txt")) + read_file(path("out/test.txt")),
            original.substr(0, 4'400'000));
}

}  // namespace
}  // namespace xlm
