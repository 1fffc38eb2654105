// tokenizer.json of all versions, alone and with the older files, and refused files.
#include "datasets/tokens/tokenizer_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/datasets/tokens/bpe_files.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

Json added_token(const std::string& content, std::int64_t id) {
  return {{"id", id}, {"content", content}, {"special", true}, {"normalized", false}};
}

/// The small encoding as tokenizer.json.
Json small_tokenizer(bool merges_as_pairs) {
  const Bpe bpe = small_bpe();
  Json vocabulary = Json::object();
  for (const std::string& symbol : bpe.vocabulary().symbols) vocabulary[symbol] = vocabulary.size();
  Json merges = Json::array();
  for (const Json& line : bpe_golden()["merges"]) {
    const auto text = line.get<std::string>();
    const std::size_t blank = text.find(' ');
    merges.push_back(merges_as_pairs ? Json::array({text.substr(0, blank), text.substr(blank + 1)}) : line);
  }
  return {{"version", "1.0"},
          {"truncation", nullptr},
          {"padding", nullptr},
          {"added_tokens", {added_token("<|endoftext|>", vocabulary.at("<|endoftext|>").get<std::int64_t>())}},
          {"normalizer", nullptr},
          {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}}},
          {"post_processor", {{"type", "ByteLevel"}, {"add_prefix_space", true}, {"trim_offsets", false}}},
          {"decoder", {{"type", "ByteLevel"}}},
          {"model",
           {{"type", "BPE"},
            {"dropout", nullptr},
            {"unk_token", nullptr},
            {"continuing_subword_prefix", ""},
            {"end_of_word_suffix", ""},
            {"fuse_unk", false},
            {"byte_fallback", false},
            {"ignore_merges", false},
            {"vocab", std::move(vocabulary)},
            {"merges", std::move(merges)}}}};
}

class TokenizerFile : public ::testing::Test {
 protected:
  Bpe read(const Json& tokenizer) {
    write_file(folder_.path() / "tokenizer.json", tokenizer.dump());
    return read_bpe(folder_.path());
  }
  void expect_refused(const Json& tokenizer, const std::string& complaint) {
    EXPECT_THAT([&] { read(tokenizer); },
                ThrowsMessage<DataError>(AllOf(HasSubstr("tokenizer.json"), HasSubstr(complaint))));
  }
  void write_older_files() { write_small_bpe(folder_.path()); }

  TemporaryFolder folder_;
  Json tokenizer_ = small_tokenizer(true);
};

TEST_F(TokenizerFile, AloneIsTheEncoding) {
  const Bpe small = small_bpe();
  for (const bool pairs : {true, false}) {
    const Bpe bpe = read(small_tokenizer(pairs));
    EXPECT_EQ(bpe.vocabulary(), small.vocabulary());
    EXPECT_EQ(bpe.merges_text(), small.merges_text());
  }
  EXPECT_EQ(read_bpe_vocabulary(folder_.path()), small.vocabulary());
  EXPECT_TRUE(has_vocabulary(folder_.path()));
}

TEST_F(TokenizerFile, OfEarlyTokenizersNamesNoType) {
  tokenizer_["model"].erase("type");
  for (const char* key : {"byte_fallback", "ignore_merges", "fuse_unk"}) tokenizer_["model"].erase(key);
  tokenizer_["model"]["continuing_subword_prefix"] = nullptr;
  EXPECT_EQ(read(tokenizer_).vocabulary(), small_bpe().vocabulary());
}

TEST_F(TokenizerFile, AddsTokensBehindTheVocabulary) {
  const std::int64_t size = small_bpe().vocabulary().size();
  tokenizer_["added_tokens"].push_back(added_token("[PAD]", size + 1));
  tokenizer_["added_tokens"].push_back(added_token("<sep>", size));
  const Bpe bpe = read(tokenizer_);
  ASSERT_EQ(bpe.vocabulary().size(), size + 2);
  EXPECT_EQ(bpe.vocabulary().symbols.at(static_cast<std::size_t>(size)), "<sep>");
  EXPECT_EQ(bpe.vocabulary().symbols.back(), "[PAD]");
  EXPECT_EQ(bpe.merges_text(), small_bpe().merges_text());

  write_older_files();  // which lack the added tokens
  EXPECT_EQ(read_bpe(folder_.path()).vocabulary(), bpe.vocabulary());

  write_file(folder_.path() / "config.json", Json{{"vocab_size", size + 1}}.dump());
  EXPECT_EQ(read_bpe(folder_.path()).vocabulary().size(), size + 1) << "the model has no row for the other";
}

TEST_F(TokenizerFile, OfEarlierTransformersAddsTokensInASeparateFile) {
  write_older_files();
  const std::int64_t size = small_bpe().vocabulary().size();
  write_file(folder_.path() / "added_tokens.json", Json{{"<pad>", size}}.dump());
  EXPECT_EQ(read_bpe(folder_.path()).vocabulary().symbols.back(), "<pad>");
  write_file(folder_.path() / "added_tokens.json", Json{{"<pad>", size + 7}}.dump());
  EXPECT_THAT([&] { read_bpe(folder_.path()); }, ThrowsMessage<DataError>(HasSubstr("'<pad>' has the id")));
  write_file(folder_.path() / "added_tokens.json", Json{{"word", size}}.dump());
  EXPECT_THAT([&] { read_bpe(folder_.path()); }, ThrowsMessage<DataError>(HasSubstr("adds the token \"word\"")));
}

TEST_F(TokenizerFile, MustAgreeWithTheOlderFiles) {
  write_older_files();
  EXPECT_EQ(read(tokenizer_).merges_text(), small_bpe().merges_text());

  Json swapped = tokenizer_;
  std::swap(swapped["model"]["merges"][0], swapped["model"]["merges"][1]);
  expect_refused(swapped, "merges.txt differ: number 1 is");
  Json fewer = tokenizer_;
  fewer["model"]["merges"].erase(fewer["model"]["merges"].size() - 1);
  expect_refused(fewer, "merges.txt differ: number");
  Json other = tokenizer_;
  std::swap(other["model"]["vocab"]["a"], other["model"]["vocab"]["b"]);
  expect_refused(other, "vocab.json differ: number");
  fs::remove(folder_.path() / "vocab.json");
  EXPECT_NO_THROW(read(other)) << "no other file contradicts it";
}

TEST_F(TokenizerFile, OfAnotherKindIsRefusedByItsName) {
  const auto with = [&](const std::string& pointer, const Json& value) {
    Json changed = tokenizer_;
    changed[Json::json_pointer(pointer)] = value;
    return changed;
  };
  for (const char* type : {"WordPiece", "Unigram", "WordLevel"}) {
    expect_refused(with("/model/type", type), fmt::format("GPT-2's kind: a tokenizer of type \"{}\"", type));
  }
  expect_refused(with("/model", {{"vocab", {{"[UNK]", 0}}}}), "a tokenizer of type unknown");
  expect_refused(with("/normalizer", {{"type", "NFC"}}), "a normalizer of type \"NFC\"");
  expect_refused(with("/normalizer", {{"type", "Sequence"}, {"normalizers", Json::array()}}), "\"Sequence\"");
  expect_refused(with("/pre_tokenizer", {{"type", "Metaspace"}}), "a pre-tokenizer of type \"Metaspace\"");
  expect_refused(with("/pre_tokenizer", nullptr), "a pre-tokenizer of type null");
  expect_refused(with("/pre_tokenizer/use_regex", false), "'use_regex'");
  expect_refused(with("/pre_tokenizer/add_prefix_space", true), "'add_prefix_space'");
  expect_refused(with("/model/dropout", 0.1), "byte pairs with 'dropout' 0.1");
  expect_refused(with("/model/end_of_word_suffix", "</w>"), "'end_of_word_suffix' \"</w>\"");
  expect_refused(with("/model/continuing_subword_prefix", "##"), "'continuing_subword_prefix'");
  expect_refused(with("/model/byte_fallback", true), "'byte_fallback' true");
  expect_refused(with("/model/ignore_merges", true), "'ignore_merges' true");
  expect_refused(with("/added_tokens/0", added_token("word", 0)),
                 "adds the token \"word\", at which a text would be cut");
}

TEST_F(TokenizerFile, ThatIsMalformedIsExplained) {
  const auto with = [&](const std::string& pointer, const Json& value) {
    Json changed = tokenizer_;
    changed[Json::json_pointer(pointer)] = value;
    return changed;
  };
  expect_refused(Json::array(), "it is not a map");
  expect_refused(with("/model/vocab", Json::array()), "no map 'vocab'");
  expect_refused(with("/model/vocab", Json::object()), "no token");
  expect_refused(with("/model/merges", Json::object()), "no list 'merges'");
  expect_refused(with("/model/merges/1", "a b c"), "merge 2 is \"a b c\", not a pair");
  expect_refused(with("/model/merges/0", Json::array({"a"})), "merge 1 is [\"a\"], not a pair");
  expect_refused(with("/model/merges/0", Json::array({"qq", "a"})), "merges:1: the vocabulary has no token 'qq'");
  expect_refused(with("/added_tokens", 7), "'added_tokens' are no list");
  expect_refused(with("/added_tokens/0", 7), "an added token is null with the id null");
  expect_refused(with("/added_tokens/0", added_token("<|endoftext|>", 7)), "\"<|endoftext|>\" has the ids");
  write_file(folder_.path() / "tokenizer.json", "{\"model\": ");
  EXPECT_THAT([&] { read_bpe(folder_.path()); }, ThrowsMessage<DataError>(HasSubstr("not valid JSON")));
}

}  // namespace
}  // namespace xlm
