// Decoding ids to text that can be shown at once.
#include "datasets/tokens/decoder.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/datasets/tokens/bpe_files.h"

namespace xlm {
namespace {

using ::testing::ElementsAre;
using Unit = Vocabulary::Unit;

std::string all(StreamingDecoder& decoder, const std::vector<std::int64_t>& ids) {
  std::string text;
  for (const std::int64_t id : ids) text += decoder.take(id) + "|";
  return text + decoder.finish();
}

TEST(StreamingDecoder, NeverSplitsACharacter) {
  StreamingDecoder decoder(byte_vocabulary({"Ġth", "\xC3\xB0\xC5\x81\xC4\xBA"}));  // the last: F0 9F 98
  EXPECT_EQ(all(decoder, {'a', 0xC3, 0xA9, 256, 257, 0x80, '!'}), "a||\xC3\xA9| th||\xF0\x9F\x98\x80|!|");
}

TEST(StreamingDecoder, ShowsInvalidUtf8AsOneReplacementCharacter) {
  StreamingDecoder decoder(byte_vocabulary({}));
  EXPECT_EQ(all(decoder, {0xFF, 'a', 0xE2, 0x82, 'b'}),
            "\xEF\xBF\xBD|a|||\xEF\xBF\xBD"
            "b|");
  EXPECT_EQ(all(decoder, {'a', 0xE2, 0x82}), "a|||\xEF\xBF\xBD");
  EXPECT_EQ(all(decoder, {'c'}), "c|") << "the text before has no effect";
}

TEST(StreamingDecoder, TakesCharactersAndBytesToo) {
  StreamingDecoder characters(Vocabulary{Unit::kCharacter, {"a", "\xC3\xA9"}});
  EXPECT_EQ(all(characters, {1, 0}), "\xC3\xA9|a|");
  StreamingDecoder bytes(Vocabulary{Unit::kByte, {"a", "\xC3", "\xA9"}});
  EXPECT_EQ(all(bytes, {1, 2, 0}), "|\xC3\xA9|a|");
}

TEST(SymbolBytes, AreThoseThatGpt2sCharactersStandFor) {
  std::set<std::string> symbols;
  for (int byte = 0; byte < 256; ++byte) symbols.insert(byte_symbol(static_cast<unsigned char>(byte)));
  EXPECT_EQ(symbols.size(), 256U);
  EXPECT_EQ(byte_symbol(' '), "Ġ");
  EXPECT_EQ(byte_symbol('\n'), "Ċ");
  EXPECT_EQ(byte_symbol(0xAD), "Ń");
  EXPECT_THAT(symbol_bytes({Unit::kBpe, {"ĠcafÃ©", "<|endoftext|>", "日本"}}),
              ElementsAre(" caf\xC3\xA9", "<|endoftext|>", "日本"));
}

}  // namespace
}  // namespace xlm
