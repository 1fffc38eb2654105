// Reading an encoding's files, and errors in them.
#include "datasets/tokens/bpe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/datasets/tokens/bpe_files.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(Bpe, KnowsItsMergesByRank) {
  const Bpe bpe(byte_vocabulary({"th", "the", "<|endoftext|>"}), merges_text({"t h", "th e"}), "v", "m");
  EXPECT_EQ(bpe.byte_token('t'), 't');
  EXPECT_EQ(bpe.rank('t', 'h'), 0U);
  EXPECT_EQ(bpe.rank(256, 'e'), 1U);
  EXPECT_EQ(bpe.merged(1), 257U);
  EXPECT_EQ(bpe.merged(0), 256U);
  EXPECT_EQ(bpe.rank('h', 't'), Bpe::kNone);
  EXPECT_EQ(bpe.merges_text(), "#version: 0.2\nt h\nth e\n");
}

TEST(Bpe, ReadsFilesOfEveryKindOfFolder) {
  const TemporaryFolder folder;
  const Bpe bpe = small_bpe();
  EXPECT_EQ(read_bpe(write_small_bpe(folder.path())).vocabulary(), bpe.vocabulary());
  write_file(folder.path() / "vocab.json", vocabulary_json(bpe.vocabulary()));  // a data or model folder's
  const Bpe again = read_bpe(folder.path());
  EXPECT_EQ(again.vocabulary(), bpe.vocabulary());
  EXPECT_EQ(again.merges_text(), bpe.merges_text());
}

TEST(Bpe, ABlankThatTransformersPutsBeforeATextIsRefused) {
  const TemporaryFolder folder;
  write_small_bpe(folder.path());
  write_file(folder.path() / "tokenizer_config.json", R"({"add_prefix_space": false})");
  EXPECT_NO_THROW(read_bpe(folder.path()));
  write_file(folder.path() / "tokenizer_config.json", R"({"add_prefix_space": true})");
  EXPECT_THAT([&] { read_bpe(folder.path()); }, ThrowsMessage<DataError>(HasSubstr("'add_prefix_space' puts a blank")));
}

TEST(Bpe, DataOfOtherMergesAreRefused) {
  const TemporaryFolder data;
  const TemporaryFolder model;
  EXPECT_NO_THROW(check_same_merges(data.path(), model.path())) << "neither says its merges";
  write_file(data.path() / "merges.txt", "#version: 0.2\nt h\n");
  EXPECT_NO_THROW(check_same_merges(data.path(), model.path()));
  write_file(model.path() / "merges.txt", "t h\r\n\r\n");
  EXPECT_NO_THROW(check_same_merges(data.path(), model.path()));
  write_file(model.path() / "merges.txt", "#version: 0.2\nt h\nth e\n");
  EXPECT_THAT([&] { check_same_merges(data.path(), model.path()); },
              testing::ThrowsMessage<DataError>(testing::HasSubstr("1 merges instead of 2")));
  fs::remove(model.path() / "merges.txt");
  const auto write_tokenizer = [&](const char* merges) {
    write_file(model.path() / "tokenizer.json",
               fmt::format(R"({{"model": {{"type": "BPE", "vocab": {{"t": 0, "h": 1, "th": 2}}, "merges": {}}},
                               "pre_tokenizer": {{"type": "ByteLevel", "add_prefix_space": false}}, "added_tokens": []}})",
                           merges));
  };
  write_tokenizer(R"(["t h"])");
  EXPECT_NO_THROW(check_same_merges(data.path(), model.path()));
  write_tokenizer(R"(["h t"])");
  EXPECT_THAT([&] { check_same_merges(data.path(), model.path()); },
              testing::ThrowsMessage<DataError>(testing::HasSubstr("1 merges instead of 1, or another order")));
}

TEST(Bpe, TakesMergesWithOtherLineEndsAndWithoutAVersion) {
  const Bpe bpe(byte_vocabulary({"th", "#v"}), "t h\r\n# v", "v", "m");
  EXPECT_EQ(bpe.merges_text(), "#version: 0.2\nt h\n# v\n");
}

TEST(Bpe, TakesMergesThatEditorsHaveSaved) {
  const Vocabulary vocabulary = byte_vocabulary({"th", "the"});
  for (const char* text :
       {"\xEF\xBB\xBF#version: 0.2\nt h\nth e\n", "\xEF\xBB\xBFt h\nth e", "#version: 0.2\n\nt h\n\n\nth e\n\n",
        "\r\n\r\nt h\r\nth e\r\n\r\n", "\xEF\xBB\xBF\r\n#version: 0.2\r\nt h\r\nth e"}) {
    EXPECT_EQ(Bpe(vocabulary, text, "v", "m").merges_text(), "#version: 0.2\nt h\nth e\n") << text;
  }
  EXPECT_EQ(parse_bpe_vocabulary("\xEF\xBB\xBF{\"a\": 0}", "v").size(), 1);
}

TEST(Bpe, RefusesMergesThatDoNotFitTheVocabulary) {
  const std::vector<std::string> tokens{"th", "the"};
  for (const auto& [merges, complaint] : std::vector<std::pair<std::string, std::string>>{
           {"#version: 0.2\nt h\nth e\nth x\n", "m.txt:4: the vocabulary has no token 'thx'"},
           {"t h\nth qq\n", "m.txt:2: the vocabulary has no token 'qq'"},
           {"t h\nthe\n", "m.txt:2: 'the' is not a pair"},
           {"t h\nt h e\n", "m.txt:2: 't h e' is not a pair"},
           {"t h\n e\n", "m.txt:2: ' e' is not a pair"},
           {"t h\n\nth e\n\nthe\n", "m.txt:5: 'the' is not a pair"},
           {"t h\nth e\nt h\n", "m.txt:3: the pair 't h' occurs twice"},
           {"t h\n", "m.txt does not fit v.json: its 1 lines make no token 'the' (id 257)"},
           {"", "make no token 'th' (id 256), nor 1 more"}}) {
    const std::string& lines = merges;
    EXPECT_THAT([&] { Bpe(byte_vocabulary(tokens), lines, "v.json", "m.txt"); },
                ThrowsMessage<DataError>(HasSubstr(complaint)))
        << merges;
  }
  Vocabulary vocabulary = byte_vocabulary({});
  vocabulary.symbols.erase(vocabulary.symbols.begin() + 0x20);
  EXPECT_THAT(
      [&] { Bpe(vocabulary, "", "v.json", "m.txt"); },
      ThrowsMessage<DataError>(HasSubstr("v.json is not a byte-level vocabulary: no token 'Ġ' for the byte 0x20")));
  EXPECT_THAT([&] { Bpe(byte_vocabulary({"\xE2\x96\x81the"}), "", "v.json", "m.txt"); },
              ThrowsMessage<DataError>(HasSubstr("make no token '\xE2\x96\x81the'")));
}

TEST(Bpe, RefusesMalformedVocabularies) {
  for (const auto& [json, complaint] : std::vector<std::pair<std::string, std::string>>{
           {"", "v.json is not valid JSON"},
           {"{\"a\": 0", "v.json is not valid JSON"},
           {"[]", "has no tokens"},
           {"{}", "has no tokens"},
           {"{\"a\": 0, \"b\": 2}", "'b' has the id 2, but ids go from 0 to 1"},
           {"{\"a\": -1}", "'a' has the id -1"},
           {"{\"a\": 0.5}", "'a' has the id 0.5"},
           {"{\"a\": \"x\"}", "'a' has the id \"x\""},
           {"{\"a\": 18446744073709551615}", "'a' has the id 18446744073709551615"},
           {"{\"a\": 0, \"b\": 0}", "'a' and 'b' have the id 0"},
           {"{\"unit\": \"character\", \"symbols\": [\"a\"]}", "its unit is character"},
           {"{\"unit\": \"bpe\", \"symbols\": []}", "empty"}}) {
    EXPECT_THAT([&text = json] { parse_bpe_vocabulary(text, "v.json"); },
                ThrowsMessage<DataError>(AllOf(HasSubstr("v.json"), HasSubstr(complaint))))
        << json;
  }
  EXPECT_THAT(parse_bpe_vocabulary("{\"unit\": 1, \"symbols\": 0}", "v").symbols, ElementsAre("symbols", "unit"))
      << "tokens like any other";
}

TEST(Bpe, SaysWhichFileIsMissing) {
  const TemporaryFolder folder;
  EXPECT_THAT([&] { read_bpe(folder.path()); }, ThrowsMessage<DataError>(HasSubstr("vocab.json\nbyte-pair encoding")));
  fs::remove(write_small_bpe(folder.path()) / "merges.txt");
  EXPECT_THAT([&] { read_bpe(folder.path()); }, ThrowsMessage<DataError>(HasSubstr("there is no")));
}

}  // namespace
}  // namespace xlm
