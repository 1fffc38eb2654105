#include "base/utf8.h"

#include <random>

#include <gtest/gtest.h>

namespace xlm {
namespace {

struct Repaired {
  std::string text;
  std::int64_t replaced;
  bool operator==(const Repaired&) const = default;
};

void PrintTo(const Repaired& repaired, std::ostream* out) { *out << repaired.text << " with " << repaired.replaced; }

Repaired repair(std::string_view bytes, std::size_t piece = 1 << 20) {
  Utf8Repair repair;
  std::string out;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) repair.write(bytes.substr(0, piece), out);
  repair.finish(out);
  return {out, repair.replaced()};
}

constexpr const char* kR = "\xEF\xBF\xBD";  // U+FFFD
std::string r(int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += kR;
  return text;
}

TEST(Utf8Repair, KeepsValidText) {
  const std::string text = "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\xEF\xBF\xBD\xF4\x8F\xBF\xBF";
  EXPECT_EQ(repair(text), (Repaired{text, 0}));
}

// The examples of the Unicode standard, section 3.9, tables 3-8 to 3-11.
TEST(Utf8Repair, ReplacesTheLongestPieceThatCouldHaveBegunACharacter) {
  EXPECT_EQ(repair("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41"), (Repaired{r(8) + "A", 8})) << "overlong forms";
  EXPECT_EQ(repair("\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41"), (Repaired{r(8) + "A", 8})) << "surrogates";
  EXPECT_EQ(repair("\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42"), (Repaired{r(5) + "A" + r(2) + "B", 7})) << "beyond";
  EXPECT_EQ(repair("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41"), (Repaired{r(4) + "A", 4})) << "truncated";
}

TEST(Utf8Repair, TheEndOfTheTextBreaksACharacterOff) {
  EXPECT_EQ(repair("a\xE2\x82"), (Repaired{"a" + r(1), 1}));
  EXPECT_EQ(repair("\xF0\x9F\x98"), (Repaired{r(1), 1}));
}

TEST(Utf8Repair, PiecesMayEndAnywhere) {
  const std::string bytes =
      "x\xE2\x82\xAC\xC3\xC3\xA9\xE0\x80y\xF0\x9F\x98\x80\xF0\x9F\xE2\x82z\x80\xED\xA0\x80\xE1\x80\xE2\xF0\x91\x92\xF1"
      "\xBF";
  for (std::size_t piece = 1; piece < bytes.size(); ++piece) EXPECT_EQ(repair(bytes, piece), repair(bytes)) << piece;
}

TEST(Utf8, EncodesWhatItDecodes) {
  for (const char32_t code_point :
       {U'\0', U'a', U'\x7F', U'\x80', U'\x7FF', U'\x800', U'\xFFFD', U'\x10000', U'\x10FFFF'}) {
    std::string text;
    append_utf8(text, code_point);
    std::size_t position = 0;
    EXPECT_EQ(next_code_point(text, position), code_point);
    EXPECT_EQ(position, text.size());
  }
}

TEST(Utf8, EveryCodePointIsItsOwn) {
  for (char32_t code_point = 0; code_point <= kLastCodePoint; ++code_point) {
    if (code_point >= 0xD800 && code_point < 0xE000) continue;
    std::string text;
    append_utf8(text, code_point);
    std::size_t position = 0;
    ASSERT_EQ(next_code_point(text, position), decode_utf8(text).code_point);
    ASSERT_EQ(position, text.size());
    ASSERT_EQ(count_characters(text), 1);
  }
}

TEST(Utf8, CountsBytesOfAnyLength) {
  for (const std::size_t size : {0, 1, 127, 128, 129, 1000}) {
    EXPECT_EQ(count_bytes(std::string(size, 'x'), [](char byte) { return byte == 'x'; }), size);
    EXPECT_EQ(count_bytes(std::string(size, 'y'), [](char byte) { return byte == 'x'; }), 0);
  }
}

TEST(Utf8Repair, PassesOnWhatWriteAppends) {
  std::mt19937 random(5);
  const std::string_view some = "ab\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80";
  for (int round = 0; round < 3000; ++round) {
    Utf8Repair repair;
    Utf8Repair plain;
    std::string passed;
    std::string appended;
    for (int piece = 0; piece < 3; ++piece) {
      std::string bytes(random() % 20, '\0');
      for (char& byte : bytes) byte = some[random() % some.size()];
      if (round % 2 == 0) bytes = some.substr(0, random() % some.size());
      std::string scratch = "of before";
      passed += repair.write_or_pass(bytes, scratch);
      plain.write(bytes, appended);
    }
    ASSERT_EQ(passed, appended) << round;
    ASSERT_EQ(repair.replaced(), plain.replaced());
    ASSERT_EQ(repair.first_replaced(), plain.first_replaced());
  }
}

TEST(Utf8Repair, FindsABadByteAtEveryPlaceOfPlainText) {
  for (std::size_t length = 0; length < 20; ++length) {
    for (std::size_t place = 0; place <= length; ++place) {
      const std::string before(place, 'a');
      const std::string after(length - place, 'b');
      for (const auto& [bad, good] : {std::pair<std::string, std::string>{"\xFF", "\uFFFD"}, {"\xC3\xA4", "\u00E4"}}) {
        Utf8Repair repair;
        std::string out;
        repair.write(before + bad + after, out);
        repair.finish(out);
        EXPECT_EQ(out, before + good + after);
        EXPECT_EQ(repair.first_replaced(), bad == "\xFF" ? static_cast<std::int64_t>(place) : -1);
      }
    }
  }
}

}  // namespace
}  // namespace xlm
