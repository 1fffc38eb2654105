// Encoding in any blocks, against tokens of other programs (tests/golden/README.md says which).
#include "datasets/tokens/bpe_encoder.h"

#include <algorithm>
#include <bit>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/sha256.h"
#include "datasets/tokens/bpe_pieces.h"
#include "tests/datasets/tokens/bpe_files.h"
#include "tests/growth.h"
#include "tests/real_texts.h"

namespace xlm {
namespace {

using ::testing::ElementsAre;

using Tokens = std::vector<std::uint32_t>;

std::string from_hex(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

Tokens encode(BpeEncoder& encoder, std::string_view text, std::size_t block) {
  Tokens tokens;
  for (; !text.empty(); text.remove_prefix(std::min(block, text.size()))) encoder.write(text.substr(0, block), tokens);
  encoder.finish(tokens);
  return tokens;
}

Tokens encode(const Bpe& bpe, std::string_view text) {
  BpeEncoder encoder(bpe);
  return encode(encoder, text, text.size() + 1);
}

std::string decode(const std::vector<std::string>& bytes, const Tokens& tokens) {
  std::string text;
  for (const std::uint32_t token : tokens) text += bytes[token];
  return text;
}

/// Every case of the golden file, whole and in blocks of every size, with one encoder for all.
void expect_golden(const Bpe& bpe, const char* key) {
  BpeEncoder encoder(bpe);
  const std::vector<std::string> bytes = symbol_bytes(bpe.vocabulary());
  for (const Json& example : bpe_golden()["cases"]) {
    const std::string text = from_hex(example["bytes"].get<std::string>());
    const Tokens expected = example[key].get<Tokens>();
    EXPECT_EQ(decode(bytes, expected), text);
    for (std::size_t block = 1; block <= text.size() + 1; ++block) {
      ASSERT_EQ(encode(encoder, text, block), expected) << text << " in blocks of " << block;
    }
  }
}

TEST(BpeEncoder, GivesTheReferencesTokens) { expect_golden(small_bpe(), "small"); }

TEST(BpeEncoder, GivesTheReferencesTokensWithGpt2sFilesOfRealTexts) {
  XLM_NEEDS_REAL_TEXT("gpt2");
  const fs::path folder = real_texts() / "gpt2";
  const Bpe bpe = read_bpe(folder);
  EXPECT_EQ(bpe.vocabulary().size(), 50257);
  EXPECT_EQ(bpe.merges_text(), read_file(folder / "merges.txt"));
  expect_golden(bpe, "gpt2");
}

// Counts and hashes (of the ids as u32, little-endian) by tiktoken 0.14.0's encode_ordinary; tests/golden/bpe.py
// --count gives the same.
TEST(BpeEncoder, GivesTheReferencesTokensOnRealTexts) {
  XLM_NEEDS_REAL_TEXT("gpt2");
  const Bpe bpe = read_bpe(real_texts() / "gpt2");
  BpeEncoder encoder(bpe);
  for (const auto& [file, count, hash] : std::vector<std::tuple<const char*, std::size_t, const char*>>{
           {"wikitext/wiki.valid.raw", 249887, "9d686772d5e1c25ffb7c3325dc8146939712030d4aa91e4083f729d74dad5670"},
           {"gutenberg/train/1342.txt", 180523, "5c463d5b92bc7b814719150b97248042d4c204526525a27da7304387f5629ec5"},
           {"wiki-he/niqqud-genesis-wlc.txt", 279824,
            "54f80cea62b216e8eb59439da35d638667ab7000ddb1d63992a83f4527279807"}}) {
    const Tokens tokens = encode(encoder, read_file(real_texts() / file), 10'007);
    EXPECT_EQ(tokens.size(), count) << file;
    EXPECT_EQ(sha256({reinterpret_cast<const char*>(tokens.data()), tokens.size() * sizeof(tokens[0])}), hash) << file;
  }
}

TEST(BpeEncoder, AppliesTheEarliestMergeFirstAndOfEqualOnesTheLeftmost) {
  const Bpe bpe(byte_vocabulary({"bc", "ab", "aa"}), merges_text({"b c", "a b", "a a"}), "v", "m");
  EXPECT_THAT(encode(bpe, "abc"), ElementsAre('a', 256));
  EXPECT_THAT(encode(bpe, "abab"), ElementsAre(257, 257));
  EXPECT_THAT(encode(bpe, "aaa"), ElementsAre(258, 'a'));
  EXPECT_THAT(encode(bpe, "aaab"), ElementsAre(258, 257));
}

TEST(BpeEncoder, LongPiecesInSmallBlocksAreEncodedAsWholeOnes) {
  const Bpe bpe = small_bpe();
  const std::string text(200'000, 'e');
  EXPECT_EQ(decode(symbol_bytes(bpe.vocabulary()), encode(bpe, text)), text);
  BpeEncoder encoder(bpe);
  EXPECT_EQ(encode(encoder, text, 3), encode(bpe, text));
}

TEST(BpeEncoder, LongPiecesTakeTimeInProportionToTheirLength) {
  const Bpe bpe = small_bpe();
  BpeEncoder encoder(bpe);
  const std::string text(160'000, 'e');
  const std::string_view part = std::string_view(text).substr(0, text.size() / 16);
  EXPECT_LT(growth([&] { encode(encoder, part, part.size()); }, [&] { encode(encoder, text, text.size()); }), 64);
  EXPECT_LT(growth([&] { encode(encoder, part, 100); }, [&] { encode(encoder, text, 100); }), 64);
}

TEST(BpeEncoder, APieceHasABound) {
  const Bpe bpe = small_bpe();
  const std::string text((std::size_t{1} << 27) + 1, 'e');
  Tokens tokens;
  EXPECT_THAT([&] { BpeEncoder(bpe).write(text, tokens); },
              ::testing::ThrowsMessage<DataError>(::testing::HasSubstr("more than 134217728 bytes have no place")));
  EXPECT_THAT(tokens, ::testing::IsEmpty());
}

/// Bytes of which words, numbers, contractions, blanks and broken characters are made.
std::string text_of_any_kind(std::mt19937& random, std::size_t size) {
  constexpr std::string_view kBytes = "aZbq  09.,'sll\n\t\xC3\xA4\xC2\xA0\xE2\x82\xAC";
  std::string text;
  for (bool word = true; text.size() < size; word = !word) {
    if (word && random() % 2 == 0) text += " " + std::string(random() % 20, 'e');
    for (std::size_t i = random() % 8; i > 0; --i) text += kBytes[random() % kBytes.size()];
  }
  return text;
}

/// Where first_piece begins pieces in the bytes 1 to 62 of a text.
std::uint64_t beginnings_one_by_one(std::string_view text) {
  std::uint64_t all = 0;
  for (std::size_t place = 0; const std::size_t bytes = first_piece(text.substr(place), false);) {
    place += bytes;
    if (place > 62) break;
    all |= std::uint64_t{1} << place;
  }
  return all;
}

TEST(BpePieces, OfAStretchBeginWhereEachOneDoes) {
  std::mt19937 random(3);
  std::int64_t found = 0;
  for (int round = 0; round < 50'000; ++round) {
    const std::string text = text_of_any_kind(random, 200);
    const std::uint64_t beginnings = piece_beginnings(text.data());
    const std::uint64_t all = beginnings_one_by_one(text);
    ASSERT_EQ(beginnings, beginnings == 0 ? 0 : all & ~std::uint64_t{0} >> std::countl_zero(beginnings)) << text;
    const bool is_ascii = std::ranges::all_of(text, [](char byte) { return byte >= 0; });
    if (is_ascii) {
      ASSERT_EQ(beginnings, all) << text;
    }
    found += std::popcount(beginnings);
  }
  EXPECT_GT(found, 50'000 * 5);
}

TEST(BpePieces, OfAStretchBeginAtAnyPairOfBytes) {
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      const std::string text = "x " + std::string{static_cast<char>(first), static_cast<char>(second)} +
                               "'ll 's'd'es, 12\n\n  e" + std::string(100, 'x');
      const std::uint64_t beginnings = piece_beginnings(text.data());
      ASSERT_EQ(beginnings,
                beginnings == 0 ? 0 : beginnings_one_by_one(text) & ~std::uint64_t{0} >> std::countl_zero(beginnings))
          << first << ' ' << second;
    }
  }
}

TEST(BpePieces, EncodedApartAreEncodedAsInOne) {
  const Bpe bpe = small_bpe();
  BpeEncoder whole(bpe);
  BpeEncoder cached(bpe, 64);
  std::mt19937 random(4);
  for (int round = 0; round < 300; ++round) {
    const std::string text = text_of_any_kind(random, random() % 500);
    Tokens tokens;
    for (std::string_view rest = text; const std::size_t bytes = first_piece(rest, true); rest.remove_prefix(bytes)) {
      BpeEncoder single(bpe, 64);  // has seen nothing
      single.write(rest.substr(0, bytes), tokens);
      single.finish(tokens);
    }
    ASSERT_EQ(encode(whole, text, text.size() + 1), tokens) << text;
    ASSERT_EQ(encode(cached, text, 1 + random() % 40), tokens) << text;
    const std::size_t settled = settled_bytes(text);
    Tokens parts = encode(cached, text.substr(0, settled), text.size() + 1);
    for (const std::uint32_t token : encode(whole, text.substr(settled), text.size() + 1)) parts.push_back(token);
    ASSERT_EQ(parts, tokens) << text;
  }
}

TEST(BpePieces, WaitForWhatCouldChangeThem) {
  for (const std::string_view begun :
       {"", "a", " ", "'", "'s", "'x", " a", "12", "!?", "\n", "  ", "a\xC3", " \xE2\x82"}) {
    EXPECT_EQ(first_piece(begun, false), 0U) << begun;
    EXPECT_EQ(first_piece(begun, true) == 0, begun.empty()) << begun;
  }
  EXPECT_EQ(first_piece("word ", false), 4U);
  EXPECT_EQ(first_piece("'s ", false), 2U);
  EXPECT_EQ(first_piece("'ll", false), 3U);
  EXPECT_EQ(first_piece("   x", false), 2U);
  EXPECT_EQ(first_piece("\nx", false), 1U);
  EXPECT_EQ(first_piece("a\xC3(", false), 1U) << "invalid UTF-8 is no letter";
}

}  // namespace
}  // namespace xlm
