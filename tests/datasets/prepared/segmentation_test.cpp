#include "datasets/prepared/segmentation.h"

#include <array>
#include <cstring>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sentencepiece_processor.h>

#include "base/error.h"
#include "base/sha256.h"
#include "datasets/prepare.h"
#include "datasets/tokens/unigram.h"
#include "tests/datasets/input/archives.h"
#include "tests/datasets/preparing.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

/// One field of a protobuf message: a length and the bytes.
std::string length_delimited(int field, const std::string& content) {
  return std::string{static_cast<char>(field << 3 | 2), static_cast<char>(content.size())} + content;
}

std::string piece(const std::string& text, float score, char type) {
  std::string number(sizeof(score), '\0');
  std::memcpy(number.data(), &score, sizeof(score));
  return length_delimited(1, length_delimited(1, text) + static_cast<char>(2 << 3 | 5) + number + '\x18' + type);
}

/// A SentencePiece model written by hand: whole syllables cost less than their letters.
std::string hand_made_model() {
  std::string model = piece("<unk>", 0, 2);
  for (const char* syllable : {"▁the", "▁un", "▁friend", "friend", "ly", "▁"}) model += piece(syllable, -1, 1);
  for (const char letter : std::string("thefrindlyu")) model += piece(std::string(1, letter), -10, 1);
  return model;
}

class Segmentation : public ::testing::Test {
 protected:
  fs::path path(const std::string& name) const { return folder_.path() / name; }

  fs::path model_file() const { return write_quickly(path("syllables.model"), hand_made_model()); }

  /// `text` prepared as one training split.
  PreparedData prepared(const std::string& text, std::vector<std::int64_t> train = {}) const {
    const fs::path file = write_quickly(path("text.txt"), text);
    const PrepareRequest request{
        .dataset = "text", .from = {file}, .out = path("data"), .split = "100%,0%,0%", .train_unigram = train};
    prepare(request, {});
    return open_prepared(path("data"), true);
  }

  /// Flags of the training text as digits.
  static std::string flags(const PreparedData& data, const std::string& tokenizer) {
    const auto opened = open_segmentation(data, "train", tokenizer);
    const std::int64_t size = data.split("train").tokens.size();
    const auto values = std::make_unique<bool[]>(static_cast<std::size_t>(size));
    opened->copy(0, size, values.get());
    std::string text;
    for (std::int64_t i = 0; i < size; ++i) text += values[static_cast<std::size_t>(i)] ? '1' : '0';
    return text;
  }

  TemporaryFolder folder_;
};

constexpr const char* kText = "the friendly  unfriendly the\nun ";
// One piece; two pieces; an empty word; three. A line break is a separate piece, and "un" after it begins no word.
const std::string kFlags =
    "0001"
    "000001001"
    "1"
    "01000001001"
    "001"
    "1"
    "101";

TEST_F(Segmentation, MarksTheEndOfEveryPieceButAWordsLastAndEverySpace) {
  EXPECT_EQ(std::string(kText).size(), kFlags.size());
  EXPECT_EQ(flags(prepared(kText), model_file().string()), kFlags);
}

/// Without a mark before the whole text, "the" at its beginning is not "▁the" within it.
TEST_F(Segmentation, AWordIsCutAsSentencePieceCutsTheWholeText) {
  const std::string model = hand_made_model() + length_delimited(3, std::string("\x18\0", 2));  // no dummy prefix
  const std::string text = "the friendly the un the";
  EXPECT_EQ(flags(prepared(text), write_quickly(path("bare.model"), model).string()), "11010000010010001001000");
  sentencepiece::SentencePieceProcessor whole;
  ASSERT_TRUE(whole.LoadFromSerializedProto(model).ok());
  EXPECT_THAT(whole.EncodeAsPieces(text), ElementsAre("t", "h", "e", "▁friend", "ly", "▁the", "▁un", "▁the"));
}

TEST_F(Segmentation, IsStoredOnceAndReadBack) {
  const PreparedData data = prepared(kText);
  const std::string fingerprint = data.fingerprint;
  EXPECT_TRUE(add_segmentation(data, model_file(), {}));
  EXPECT_FALSE(add_segmentation(data, model_file(), {}));
  EXPECT_THAT(segmentation_names(data.path), ElementsAre("syllables"));
  EXPECT_EQ(read_file(data.path / "segmentations/syllables/train.bits").size(), (std::string(kText).size() + 7) / 8);
  EXPECT_EQ(flags(data, "syllables"), kFlags);
  EXPECT_EQ(open_prepared(data.path, true).fingerprint, fingerprint) << "the data are the same with and without one";

  // The stored segmentation is found by name, and by the file of its tokenizer.
  const fs::path folder = data.path / "segmentations/syllables";
  write_quickly(folder / "train.bits", std::string(4, '\xFF'));
  EXPECT_THAT([&] { flags(data, "syllables"); }, ThrowsMessage<DataError>(HasSubstr("train.bits is damaged")));
  Json meta = read_json(folder / "meta.json");
  meta["outputs"]["train.bits"] = sha256_file(folder / "train.bits");
  write_quickly(folder / "meta.json", meta.dump());
  EXPECT_EQ(flags(data, "syllables"), std::string(32, '1'));
  EXPECT_EQ(flags(data, model_file().string()), std::string(32, '1'));
}

TEST_F(Segmentation, PreparingAgainAddsAnother) {
  std::string text;
  for (int i = 0; i < 50; ++i) text += "low lower lowest new newer newest wide wider widest ";
  prepared(text, {20});
  const PreparedData data = prepared(text, {20, 22});
  EXPECT_THAT(segmentation_names(data.path), ElementsAre("unigram-20", "unigram-22"));
  const std::string some = flags(data, "unigram-20");
  EXPECT_EQ(some.size(), text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool space = text[i] == ' ';
    const bool last_of_word = i + 1 < text.size() && text[i + 1] == ' ';
    EXPECT_TRUE(space ? some[i] == '1' : !last_of_word || some[i] == '0') << i;
  }
}

TEST_F(Segmentation, TheSameTextGivesTheSameBytes) {
  std::string text;
  for (int i = 0; i < 50; ++i) text += "low lower lowest new newer newest wide wider widest ";
  const PreparedData data = prepared(text, {21});
  const fs::path first = path("first");
  fs::rename(data.path, first);
  prepared(text, {21});
  for (const char* file : {"tokenizer.model", "train.bits", "meta.json"}) {
    EXPECT_EQ(sha256_file(first / "segmentations/unigram-21" / file),
              sha256_file(path("data") / "segmentations/unigram-21" / file))
        << file;
  }
}

TEST_F(Segmentation, LineBreaksAreNotLearnt) {
  std::string lines;
  for (int i = 0; i < 50; ++i) lines += "low lower\nlowest\tnew\n";
  const PreparedData data = prepared(lines, {14});
  EXPECT_THAT(read_file(data.path / "segmentations/unigram-14/tokenizer.model"),
              ::testing::Not(AllOf(HasSubstr("\n"), HasSubstr("\t"))));
}

/// The pieces of a tokenizer of `count` pieces trained on lines.
std::vector<std::string> trained_pieces(std::vector<std::string> lines, std::int64_t count) {
  std::size_t next = 0;
  const auto next_line = [&](std::string& line) {
    if (next == lines.size()) return false;
    line = lines[next++];
    return true;
  };
  sentencepiece::SentencePieceProcessor processor;
  EXPECT_TRUE(processor.LoadFromSerializedProto(train_unigram(next_line, count, {})).ok());
  std::vector<std::string> pieces;
  for (int id = 0; id < processor.GetPieceSize(); ++id) pieces.push_back(processor.IdToPiece(id));
  return pieces;
}

/// Words with every pair of a beginning and an end around a shared middle, which becomes a piece if it may.
std::vector<std::string> pairs(const std::vector<std::string>& begins, const std::string& shared,
                               const std::vector<std::string>& ends) {
  std::vector<std::string> lines;
  for (const std::string& begin : begins) {
    for (const std::string& end : ends) lines.push_back(fmt::format(fmt::runtime(shared), begin, end));
  }
  return lines;
}

TEST_F(Segmentation, PiecesAreOfOneKindOfLettersOrOfOneDigit) {
  const std::vector<std::string> pieces =
      trained_pieces(pairs({"a", "b", "d", "e"}, "{0}qrs\u0436\u0437\u0438{1} {0}1999 in fact {0} \u0436\u0437\u0438",
                           {"\u0430", "\u0431", "\u0432", "\u0433"}),
                     30);
  EXPECT_THAT(pieces, Contains(HasSubstr("\u0436\u0437\u0438")));
  EXPECT_THAT(pieces, Contains("9"));
  for (const std::string& piece : pieces) {
    if (piece.find("\u0437") != std::string::npos) {
      EXPECT_EQ(piece.find_first_of("abdeqrs"), std::string::npos) << piece;
    }
    if (piece.find('9') != std::string::npos) {
      EXPECT_EQ(piece, "9");
    }
  }
}

TEST_F(Segmentation, PiecesAreOfOneWord) {
  const std::vector<std::string> letters{"a", "b", "c", "d", "e", "f", "g", "h"};
  for (const std::string& piece : trained_pieces(pairs(letters, "{0}xyz{1} in fact {1}{0}", letters), 26)) {
    EXPECT_EQ(piece.find("▁", 1), std::string::npos) << piece;
  }
}

TEST_F(Segmentation, PiecesHaveUpToSixteenCharacters) {
  const std::vector<std::string> pieces =
      trained_pieces(pairs({"a", "b", "c", "d"}, "{0}klmnopqrstuvwxyzABCDEF{1}", {"e", "f", "g", "h"}), 35);
  EXPECT_THAT(pieces, Contains("qrstuvwxyzABCDEF"));
  for (const std::string& piece : pieces) EXPECT_LE(piece.size(), 16U) << piece;
}

TEST_F(Segmentation, EveryCharacterIsCoveredEvenIfRareOrInALongLine) {
  std::vector<std::string> lines(1000, "some words again and again");
  std::string line;
  while (line.size() < 6000) line += "longer ";  // SentencePiece skips lines of more than 4,192 bytes by default
  lines.push_back(line + "\u00df \ufb01ne");     // a ligature, which normalisation would split
  const std::vector<std::string> pieces = trained_pieces(lines, 20);
  EXPECT_THAT(pieces, Contains("\u00df"));
  EXPECT_THAT(pieces, Contains("\ufb01"));
}

TEST_F(Segmentation, ForceDropsTheSegmentationsOfTheOldText) {
  add_segmentation(prepared(kText), model_file(), {});
  write_quickly(path("text.txt"), "the other");
  prepare({.dataset = "text", .from = {path("text.txt")}, .out = path("data"), .split = "100%,0%,0%", .force = true},
          {});
  EXPECT_THAT(segmentation_names(path("data")), IsEmpty());
}

template <class Failure>
void expect_complaint(const std::function<void()>& action, const std::string& complaint) {
  EXPECT_THAT(action, ThrowsMessage<Failure>(HasSubstr(complaint)));
}

// Threads have stretches of 65,536 characters and more.
TEST_F(Segmentation, DoNotDependOnThreads) {
  std::string text(100, ' ');  // SentencePiece leaves blanks before a text out
  for (std::uint32_t i = 0; text.size() < 400'000; ++i) {
    const std::uint32_t bits = i * 2654435761U;
    for (std::uint32_t part = 0; part <= (bits >> 28U) % 5; ++part) {
      text += std::array{"the", "un", "friend", "ly", "h", ""}.at((bits >> (3 * part)) % 6);
    }
    text += (bits >> 20U) % 50 == 0 ? '\n' : ' ';
  }
  text += std::string(70'000, 'h') + " the";
  const PreparedData data = prepared(text);
  add_segmentation(data, model_file(), {}, 3);
  const std::string bits = read_file(data.path / "segmentations/syllables/train.bits");
  fs::remove_all(data.path / "segmentations");
  add_segmentation(data, model_file(), {});
  EXPECT_TRUE(read_file(data.path / "segmentations/syllables/train.bits") == bits) << "by one thread";
}

TEST_F(Segmentation, WordsOfAMillionCharactersAreRefused) {
  const PreparedData data = prepared("the " + std::string(1'200'000, 'h'));
  expect_complaint<DataError>([&] { add_segmentation(data, model_file(), {}); },
                              "has a word of more than a million characters");
}

TEST_F(Segmentation, TokenizersThatCannotBeUsed) {
  const PreparedData data = prepared(kText);
  expect_complaint<DataError>([&] { open_segmentation(data, "train", "nothing"); }, "'nothing' is neither a file");
  add_segmentation(data, model_file(), {});
  expect_complaint<DataError>([&] { open_segmentation(data, "train", "sylables"); }, "did you mean 'syllables'");
  write_quickly(path("torn.model"), hand_made_model().substr(0, 30));
  expect_complaint<DataError>([&] { open_segmentation(data, "train", path("torn.model").string()); },
                              "is not a SentencePiece model");
  write_quickly(path("empty.model"), "");
  expect_complaint<DataError>([&] { add_segmentation(data, path("empty.model"), {}); }, "is not a SentencePiece model");
  write_quickly(path("few.model"), piece("<unk>", 0, 2) + piece("t", -1, 1));
  expect_complaint<DataError>([&] { add_segmentation(data, path("few.model"), {}); }, "no piece has 'h' (U+0068)");
  EXPECT_FALSE(fs::exists(data.path / "segmentations/few"));
}

TEST_F(Segmentation, AnotherTokenizerOfTheSameNameIsNotTaken) {
  const PreparedData data = prepared(kText);
  add_segmentation(data, model_file(), {});
  create_folders(path("other"));
  const fs::path other = write_quickly(path("other/syllables.model"), hand_made_model() + piece("▁fr", -1, 1));
  expect_complaint<UsageError>([&] { add_segmentation(data, other, {}); },
                               "exists already, made with another tokenizer");
}

TEST_F(Segmentation, DamagedOnesAreNamed) {
  const PreparedData data = prepared(kText);
  add_segmentation(data, model_file(), {});
  const fs::path folder = data.path / "segmentations/syllables";
  const std::string meta = read_file(folder / "meta.json");
  write_quickly(folder / "train.bits", "x");
  expect_complaint<DataError>([&] { open_segmentation(data, "train", "syllables"); }, "train.bits is missing or has");
  write_quickly(folder / "train.bits", "1234");
  write_quickly(folder / "meta.json", "{}");
  expect_complaint<DataError>([&] { open_segmentation(data, "train", "syllables"); }, "made for other data");
  write_quickly(folder / "meta.json", "{");
  expect_complaint<DataError>([&] { open_segmentation(data, "train", "syllables"); }, "meta.json");
  Json changed = Json::parse(meta);
  changed["outputs"] = 7;
  write_quickly(folder / "meta.json", changed.dump());
  expect_complaint<DataError>([&] { open_segmentation(data, "train", "syllables"); }, "no object 'outputs'");
}

TEST_F(Segmentation, TextsWithoutWordsAreRefused) {
  const PreparedData data = prepared("nospaceshere");
  expect_complaint<UsageError>([&] { train_segmentation(data, 20, {}); }, "has no space");
}

TEST_F(Segmentation, BytesAreRefused) {
  const fs::path file = write_quickly(path("bytes.txt"), kText);
  prepare({.dataset = "text", .from = {file}, .out = path("bytes"), .unit = "byte", .split = "100%,0%,0%"}, {});
  expect_complaint<UsageError>([&] { train_segmentation(open_prepared(path("bytes")), 20, {}); },
                               "prepare the text again with --unit character");
}

TEST_F(Segmentation, AVocabularyThatTheTextCannotFillIsRefused) {
  expect_complaint<UsageError>([&] { prepared(kText, {5000}); }, "5000 pieces cannot be trained on this text");
  EXPECT_THAT(segmentation_names(path("data")), IsEmpty());
  expect_complaint<UsageError>([&] { prepared(kText, {4}); }, "4 pieces cannot be trained on this text");
}

}  // namespace
}  // namespace xlm
