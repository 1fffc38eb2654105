#include "datasets/prepared/prepared.h"

#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/sha256.h"
#include "datasets/prepare.h"
#include "datasets/prepared/verified_files.h"
#include "tests/datasets/preparing.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using Unit = Vocabulary::Unit;

TEST(VocabularyFile, ReadsWhatItWrites) {
  std::vector<std::string> many;
  for (int i = 0; i < 300; ++i) many.push_back("token" + std::to_string(i));
  for (const Vocabulary& vocabulary :
       {Vocabulary{Unit::kCharacter, {"\n", " ", "a", "\xC3\xA9", "\xF0\x9F\x98\x80"}},
        Vocabulary{Unit::kByte, {std::string(1, '\0'), "a", "\xFF"}}, Vocabulary{Unit::kBpe, many}}) {
    EXPECT_EQ(parse_vocabulary(vocabulary_json(vocabulary), "test"), vocabulary);
  }
  EXPECT_EQ(vocabulary_json({Unit::kByte, {"a", "\xFF"}}), "{\"unit\":\"byte\",\"symbols\":[97,255]}\n");
}

TEST(VocabularyFile, SizeDecidesTheWidthOfIds) {
  Vocabulary vocabulary{Unit::kBpe, std::vector<std::string>(256)};
  EXPECT_EQ(vocabulary.id_bytes(), 1);
  vocabulary.symbols.resize(257);
  EXPECT_EQ(vocabulary.id_bytes(), 2);
  vocabulary.symbols.resize(65536);
  EXPECT_EQ(vocabulary.id_bytes(), 2);
  vocabulary.symbols.resize(65537);
  EXPECT_EQ(vocabulary.id_bytes(), 4);
}

TEST(VocabularyFile, RefusesMalformedOnes) {
  for (const auto& [text, complaint] : std::vector<std::pair<std::string, std::string>>{
           {"", "not valid JSON"},
           {"[]", "no text 'unit'"},
           {"{\"unit\": 3, \"symbols\": [\"a\"]}", "no text 'unit'"},
           {"{\"unit\": \"character\"}", "no list 'symbols'"},
           {"{\"unit\": \"character\", \"symbols\": {}}", "no list 'symbols'"},
           {"{\"unit\": \"word\", \"symbols\": [\"a\"]}", "unit 'word'"},
           {"{\"unit\": \"character\", \"symbols\": []}", "empty"},
           {"{\"unit\": \"character\", \"symbols\": [\"a\", \"ab\"]}", "symbol 1 is \"ab\", not one character"},
           {"{\"unit\": \"character\", \"symbols\": [\"\"]}", "not one character"},
           {"{\"unit\": \"character\", \"symbols\": [1]}", "not a string"},
           {"{\"unit\": \"character\", \"symbols\": [\"a\", \"b\", \"a\"]}", "'a' (U+0061) occurs twice"},
           {"{\"unit\": \"byte\", \"symbols\": [256]}", "not a number from 0 to 255"},
           {"{\"unit\": \"byte\", \"symbols\": [-1]}", "not a number from 0 to 255"},
           {"{\"unit\": \"byte\", \"symbols\": [\"a\"]}", "not a number from 0 to 255"},
           {"{\"unit\": \"byte\", \"symbols\": [7, 7]}", "byte 7 occurs twice"}}) {
    EXPECT_THAT([&json = text] { parse_vocabulary(json, "v.json"); },
                ThrowsMessage<DataError>(AllOf(HasSubstr("v.json"), HasSubstr(complaint))))
        << text;
  }
}

TEST(TokenFile, ReadsLittleEndianIdsOfEveryWidth) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "x.bin";
  write_file(path, std::string("\x01\x02\x03\xFF\x00\x00\x00\x80", 8));
  EXPECT_EQ(TokenFile(path, 1).size(), 8);
  EXPECT_EQ(TokenFile(path, 1).at(3), 255);
  EXPECT_EQ(TokenFile(path, 2).size(), 4);
  EXPECT_EQ(TokenFile(path, 2).at(0), 0x0201);
  EXPECT_EQ(TokenFile(path, 4).at(1), 0x80000000);
  std::vector<std::int64_t> ids(2);
  TokenFile(path, 2).copy(1, 2, ids.data());
  EXPECT_THAT(ids, ElementsAre(0xFF03, 0));
  EXPECT_EQ(TokenFile(path, 1, 256).at(3), 255);
  EXPECT_THAT([&] { TokenFile(path, 1, 255).at(3); },
              ThrowsMessage<DataError>(HasSubstr("token 3 has the id 255, but there are 255 symbols")));
  write_file(path, "abc");
  EXPECT_THAT([&] { TokenFile(path, 2); },
              ThrowsMessage<DataError>(HasSubstr("3 bytes are not a multiple of 2-byte ids")));
  EXPECT_THROW(TokenFile(folder.path() / "nowhere", 1), DataError);
}

TEST(Reencoding, IsBySymbol) {
  const Vocabulary data{Unit::kCharacter, {"a", "c"}};
  EXPECT_THAT(reencoding(data, {Unit::kCharacter, {"c", "b", "a"}}), ElementsAre(2, 0));
  EXPECT_TRUE(reencoding(data, data).empty());
}

TEST(Reencoding, NamesTheFirstUnknownSymbol) {
  const Vocabulary model{Unit::kCharacter, {"a", "b"}};
  EXPECT_THAT(
      [&] {
        reencoding({Unit::kCharacter, {"a", "\xC3\xA9", "z"}}, model);
      },
      ThrowsMessage<DataError>(HasSubstr("the symbol '\xC3\xA9' (U+00E9), which the model does not know")));
  EXPECT_THAT(
      [&] {
        reencoding({Unit::kCharacter, {"\n"}}, model);
      },
      ThrowsMessage<DataError>(HasSubstr("symbol U+000A")));
  EXPECT_THAT(
      [&] {
        reencoding({Unit::kByte, {"a", "c"}}, {Unit::kByte, {"a"}});
      },
      ThrowsMessage<DataError>(HasSubstr("byte 99")));
  EXPECT_THAT(
      [&] {
        reencoding({Unit::kByte, {"a"}}, model);
      },
      ThrowsMessage<DataError>(HasSubstr("the data consists of bytes, but the model uses characters")));
}

class PreparedFolder : public ::testing::Test {
 protected:
  PreparedFolder() {
    write_file(folder_.path() / "text.txt", "the quick brown fox jumps over the lazy dog, again and again\n");
    prepare(
        {.dataset = "text", .from = {folder_.path() / "text.txt"}, .out = out(), .name = "fox", .split = "40,10,10"},
        {});
  }
  fs::path out() const { return folder_.path() / "out"; }
  void change_meta(const std::function<void(Json&)>& change) const {
    Json meta = read_json(out() / "meta.json");
    change(meta);
    write_file(out() / "meta.json", meta.dump());
  }
  void expect_error(const std::string& complaint, bool verify = false) const {
    EXPECT_THAT([&] { open_prepared(out(), verify); }, ThrowsMessage<DataError>(HasSubstr(complaint)));
  }

  TemporaryFolder folder_;
};

TEST_F(PreparedFolder, Opens) {
  const PreparedData data = open_prepared(out(), true);
  EXPECT_EQ(data.dataset, "fox");
  EXPECT_EQ(data.split("train").tokens.size(), 40);
  EXPECT_EQ(data.vocabulary.symbols[static_cast<std::size_t>(data.split("train").tokens.at(0))], "t");
  const PreparedSummary summary = summarize_prepared(out());
  EXPECT_EQ(summary.dataset, "fox");
  EXPECT_EQ(summary.fingerprint, data.fingerprint);
  EXPECT_EQ(summary.symbols, data.vocabulary.size());
  EXPECT_EQ(summary.train_tokens, 40);
}

/// Losses by document, word or byte depend on these even if the tokens are the same.
TEST_F(PreparedFolder, FingerprintCoversOnlyWhatNumbersDependOn) {
  std::set<std::string> fingerprints{summarize_prepared(out()).fingerprint};
  const Json meta = read_json(out() / "meta.json");
  const auto fingerprint_with = [&](const std::string& key, const Json& value) {
    change_meta([&](Json& changed) { changed[key] = value; });
    const std::string fingerprint = summarize_prepared(out()).fingerprint;
    write_file(out() / "meta.json", meta.dump());
    return fingerprint;
  };
  const Json counts = {{"train", 40}, {"valid", 10}, {"test", 9}};
  const Json lists = {{"train", {0, 20}}, {"valid", {0}}, {"test", {0}}};
  for (const char* key : {"sizes", "words", "bytes"}) fingerprints.insert(fingerprint_with(key, counts));
  for (const char* key : {"documents", "document_words", "document_bytes"}) {
    fingerprints.insert(fingerprint_with(key, lists));
  }
  for (const char* file : {"train.bin", "valid.bin", "test.bin", "vocab.json"}) {
    Json outputs = meta["outputs"];
    outputs[file] = sha256("other");
    fingerprints.insert(fingerprint_with("outputs", outputs));
  }
  EXPECT_EQ(fingerprints.size(), 11U) << "one for the folder, and one for each change";
  for (const auto& [key, value] : meta.items()) {
    const std::set<std::string> counted{"sizes", "words", "bytes", "documents", "outputs"};
    if (!counted.contains(key) && value.is_string()) {
      EXPECT_EQ(fingerprint_with(key, "other"), summarize_prepared(out()).fingerprint) << key;
    }
  }
}

TEST_F(PreparedFolder, MetaHasALineForEachKeyAndNoneThatCouldNotBeRead) {
  const Json meta = open_prepared(out()).meta;
  const std::string text = read_file(out() / "meta.json");
  EXPECT_EQ(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')), meta.size() + 2);
  EXPECT_THAT(text, HasSubstr("\n \"documents\": {\"train\":[0],\"valid\":[0],\"test\":[0]}\n}\n"));
  EXPECT_EQ(prepared_meta_text(meta, text.size()), text);
  EXPECT_THAT([&] { prepared_meta_text(meta, text.size() - 1); },
              ThrowsMessage<DataError>(HasSubstr("too many documents")));
}

TEST_F(PreparedFolder, AMissingFolderOrSplitIsNamed) {
  EXPECT_THAT([&] { open_prepared(folder_.path() / "nowhere"); },
              ThrowsMessage<DataError>(HasSubstr("there is no prepared data folder")));
  EXPECT_THAT([&] { open_prepared(folder_.path()); }, ThrowsMessage<DataError>(HasSubstr("it has no meta.json")));
  EXPECT_THAT([&] { open_prepared(out()).split("vaild"); },
              ThrowsMessage<DataError>(AllOf(HasSubstr("no split 'vaild' (did you mean 'valid'?)"),
                                             HasSubstr("it has: test, train, valid"))));
}

TEST_F(PreparedFolder, DamageIsNoticed) {
  fs::resize_file(out() / "train.bin", 39);
  expect_error("it has 39 tokens, but meta.json says 40");
  fs::remove(out() / "train.bin");
  expect_error("train.bin");
}

TEST_F(PreparedFolder, ChangedContentIsNoticed) {
  std::string content = read_file(out() / "valid.bin");
  content[3] ^= 1;
  write_file(out() / "valid.bin", content);
  expect_error("valid.bin is damaged");
  expect_error("valid.bin is damaged", true);
  write_file(out() / "vocab.json", "{\"unit\": \"character\", \"symbols\": [\"a\"]}");
  expect_error("vocab.json is damaged");
}

TEST_F(PreparedFolder, FilesAreHashedOnceAndWhenTheyChanged) {
  open_prepared(out());
  const fs::path record = out() / VerifiedFiles::kFile;
  Json known = read_json(record);
  EXPECT_EQ(known.size(), 4) << "three splits and the vocabulary";
  // A verified hash is not computed again: the record is believed …
  VerifiedFiles verified(out());
  EXPECT_FALSE(verified.has_hash("valid.bin", "another hash"));
  known["valid.bin"]["sha256"] = "another hash";
  write_file(record, known.dump());
  EXPECT_TRUE(VerifiedFiles(out()).has_hash("valid.bin", "another hash"));
  EXPECT_FALSE(VerifiedFiles(out()).has_hash("valid.bin", "another hash", /*again=*/true));
  // … until the file changes, even if it gets its old time of modification back.
  const fs::file_time_type before = fs::last_write_time(out() / "valid.bin");
  std::string content = read_file(out() / "valid.bin");
  write_file(out() / "valid.bin", content);
  fs::last_write_time(out() / "valid.bin", before);
  EXPECT_FALSE(VerifiedFiles(out()).has_hash("valid.bin", "another hash"));
  open_prepared(out());
  write_file(record, "no JSON");
  EXPECT_NO_THROW(open_prepared(out()));
  EXPECT_EQ(read_json(record).size(), 4) << "the record is written again";
}

TEST_F(PreparedFolder, MalformedMetaIsNamed) {
  write_file(out() / "meta.json", "{\"dataset\": ");
  expect_error("meta.json is not valid JSON");
  write_file(out() / "meta.json", "[]");
  expect_error("meta.json is malformed");
}

TEST_F(PreparedFolder, WrongFieldsOfMetaAreNamed) {
  const std::string good = read_file(out() / "meta.json");
  const std::vector<std::pair<std::function<void(Json&)>, std::string>> changes{
      {[](Json& meta) { meta.erase("name"), meta.erase("dataset"); }, "no text 'dataset'"},
      {[](Json& meta) { meta["language"] = 3; }, "no text 'language'"},
      {[](Json& meta) { meta.erase("sizes"); }, "no object 'sizes'"},
      {[](Json& meta) { meta["sizes"] = Json::object(); }, "no split in 'sizes'"},
      {[](Json& meta) { meta["sizes"]["train"] = "40"; }, "'sizes.train' has \"40\""},
      {[](Json& meta) { meta["sizes"]["train"] = -40; }, "'sizes.train' has -40"},
      {[](Json& meta) { meta["sizes"]["train"] = 18446744073709551615ULL; }, "'sizes.train' has"},
      {[](Json& meta) { meta["sizes"]["../x"] = 1; }, "unknown split '../x'"},
      {[](Json& meta) { meta["words"] = 1; }, "'words' is not an object"},
      {[](Json& meta) { meta["documents"] = 1; }, "'documents' is not an object"},
      {[](Json& meta) { meta["documents"]["train"] = 1; }, "documents.train is not a list"},
      {[](Json& meta) {
         meta["documents"]["train"] = {0, 5, 5};
       },
       "must rise"},
      {[](Json& meta) { meta["documents"]["train"] = {1}; }, "must rise"},
      {[](Json& meta) {
         meta["documents"]["train"] = {0, 40};
       },
       "stay below 40"},
      {[](Json& meta) { meta["replaced_characters"] = "7"; }, "'replaced_characters' has \"7\""},
      {[](Json& meta) { meta.erase("outputs"); }, "no object 'outputs'"},
      {[](Json& meta) { meta["outputs"]["vocab.json"] = 1; }, "no sha256 of vocab.json"}};
  for (const auto& [change, complaint] : changes) {
    write_file(out() / "meta.json", good);
    change_meta(change);
    expect_error(complaint);
  }
}

}  // namespace
}  // namespace xlm
