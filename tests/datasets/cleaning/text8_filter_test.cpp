#include "datasets/cleaning/text8_filter.h"

#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "tests/datasets/cleaning/plain_text8.h"
#include "tests/datasets/input/archives.h"
#include "tests/growth.h"
#include "tests/real_texts.h"

namespace xlm {
namespace {

std::string filter(std::string_view xml, std::size_t piece = 1 << 20) {
  std::string clean;
  WikipediaFilter filter("test", [&](std::string_view text) { clean += text; });
  for (; !xml.empty(); xml.remove_prefix(std::min(piece, xml.size()))) filter.write(xml.substr(0, piece));
  filter.finish();
  return clean;
}

/// The clean text of an article whose (XML-encoded) wiki text is `text`.
std::string article(const std::string& text) {
  return filter("<page><title>No</title><text xml:space=\"preserve\">" + text + "</text></page> after");
}

std::string clean(std::string_view text, std::size_t piece = 1 << 20, int threads = 1) {
  std::string result;
  Text8Cleaner cleaner([&](std::string_view part) { result += part; }, threads);
  for (; !text.empty(); text.remove_prefix(std::min(piece, text.size()))) cleaner.write(text.substr(0, piece));
  cleaner.finish();
  return result;
}

TEST(WikipediaFilter, KeepsOnlyTextBetweenTextTags) {
  EXPECT_EQ(filter("<title>Title</title><text xml:space=\"preserve\">One two.</text><comment>three</comment>"),
            " one two");
  EXPECT_EQ(filter("no article here"), "");
  EXPECT_EQ(filter("<text>needs a blank after its name</text>"), "");
}

TEST(WikipediaFilter, EachArticleBeginsWithASpaceAndEndsWithoutOne) {
  EXPECT_EQ(article("  one  ") + article("\n\ntwo\n"), " one two");
}

TEST(WikipediaFilter, LowersCaseSpellsDigitsAndSqueezesTheRest) {
  EXPECT_EQ(article("In 1984, A.B. -- caf\xC3\xA9!"), " in one nine eight four a b caf");
  EXPECT_EQ(article("0123456789"), " zero one two three four five six seven eight nine");
}

TEST(WikipediaFilter, SkipsRedirects) {
  EXPECT_EQ(article("#REDIRECT [[Other]]"), "");
  EXPECT_EQ(article("#redirect [[Other]]"), "");
  EXPECT_EQ(article("text that mentions #Redirect goes too"), "");
}

TEST(WikipediaFilter, DecodesEntitiesAndDropsTags) {
  EXPECT_EQ(article("a &lt;b&gt;bold&lt;/b&gt; c"), " a bold c");
  EXPECT_EQ(article("a &amp;lt;i&amp;gt; b"), " a b") << "encoded twice";
  EXPECT_EQ(article("a&amp;nbsp;b &quot;c&quot; d"), " a b c d");
  EXPECT_EQ(article("fish & chips; salt"), " fish salt") << "the published filter takes this for an entity";
  EXPECT_EQ(article("fish & chips"), " fish chips");
}

TEST(WikipediaFilter, DropsReferences) {
  EXPECT_EQ(article("a&lt;ref name=x&gt;Book, p. 3&lt;/ref&gt; b"), " a b");
  EXPECT_EQ(article("a&lt;ref&gt;see &lt;i&gt;it&lt;/i&gt;&lt;/ref&gt; b"), " asee it b") << "not with tags inside";
}

TEST(WikipediaFilter, KeepsTheTextOfLinks) {
  EXPECT_EQ(article("[[Page]] and [[Page|anchor]]s"), " page and anchors");
  EXPECT_EQ(article("see [http://x.org/a_b the site] or [http://x.org]"), " see the site or");
  EXPECT_EQ(article("[https://x.org site]"), " https x org site") << "the published filter knows http only";
}

TEST(WikipediaFilter, KeepsCaptionsOfImages) {
  EXPECT_EQ(article("[[Image:a.jpg|thumb|left|200px|A [[fine|good]] day]]"), " a good day");
  EXPECT_EQ(article("[[Image:a.jpg|A [[fine]] | day]]"), " a fine day");
  EXPECT_EQ(article("[[image:a.jpg|RIGHT|20PX|A day]]"), " a day");
  EXPECT_EQ(article("[[Image:a.jpg]]"), " image a jpg");
}

TEST(WikipediaFilter, KeepsCategoriesAndDropsLanguageLinks) {
  EXPECT_EQ(article("[[Category:Fish|*]] [[category:Sea]]"), " fish sea");
  EXPECT_EQ(article("a [[fr:Poisson]] [[zh-min-nan:X|y]] b [[Fr:Keep]]"), " a b fr keep");
}

TEST(WikipediaFilter, DropsTemplatesAndTables) {
  EXPECT_EQ(article("a {{cite|b}} c {| border\n| cell |} d {x} e"), " a c d e");
  EXPECT_EQ(article("a {{b {{c}} d}} e"), " a d e") << "only up to the first closing braces";
  EXPECT_EQ(article("a { b"), " a b");
}

TEST(WikipediaFilter, PiecesMayEndAnywhere) {
  const std::string xml =
      "<text xml:space=\"preserve\">The [[Image:x.png|thumb|caption 7]] &amp;lt;b&amp;gt; {{t}} 42 [http://a b]</text>"
      "<text xml:space=\"preserve\">More &lt;ref&gt;gone&lt;/ref&gt; text</text>";
  const std::string whole = filter(xml);
  EXPECT_EQ(whole, " the caption seven four two b more text");
  for (std::size_t piece = 1; piece < 40; ++piece) EXPECT_EQ(filter(xml, piece), whole) << piece;
}

TEST(WikipediaFilter, ManyDigitsGrowTheTextSafely) {
  const std::string digits(100'000, '3');
  EXPECT_EQ(article(digits + "x").size(), 6 * digits.size() + 2);
}

TEST(WikipediaFilter, UnclosedMarkupTakesLinearTime) {
  const auto unclosed = [](int count) {  // markup of every rule without its end
    std::string text;
    for (int i = 0; i < count; ++i) text += "&lt;{{[[category:[[image:&amp;[[a:[http:|";
    return text;
  };
  const std::string part = unclosed(3000);
  const std::string whole = unclosed(48'000);
  EXPECT_FALSE(article(whole).empty());
  EXPECT_LT(growth([&] { article(part); }, [&] { article(whole); }), 64);
}

TEST(WikipediaFilter, RefusesWhatHasNoTags) {
  WikipediaFilter filter("blob.bin", [](std::string_view) {});
  const std::string block(std::size_t{1} << 20, 'x');
  EXPECT_THAT(
      [&] {
        for (int i = 0; i < 100; ++i) filter.write(block);
      },
      testing::ThrowsMessage<DataError>(testing::HasSubstr("blob.bin is not a Wikipedia XML dump")));
}

TEST(WikipediaFilter, GivesText8FromEnwik8OfRealTexts) {
  XLM_NEEDS_REAL_TEXT("wikipedia-en");
  const fs::path folder = real_texts() / "wikipedia-en";
  const fs::path xml = folder / "enwik8.first4150000";
  const std::string text8 = read_all(folder / "text8.first4503641.gz").at("");
  const std::string filtered = filter(read_file(xml), 10'007);
  ASSERT_GT(filtered.size(), 3'000'000U);
  EXPECT_TRUE(text8.starts_with(filtered))
      << "first difference after "
      << std::mismatch(filtered.begin(), filtered.end(), text8.begin()).first - filtered.begin();
}

TEST(Text8Cleaner, CleansPlainText) {
  EXPECT_EQ(clean("Hello, World!\nRoom 42b\n"), " hello world room four two b");
  EXPECT_EQ(clean("[[a]] &amp; <b>"), " a amp b") << "no markup rules";
  EXPECT_EQ(clean("na\xC3\xAFve"), " na ve");
  EXPECT_EQ(clean("12"), " one two");
  EXPECT_EQ(clean("?!"), "");
}

TEST(Text8Cleaner, LeavesCleanTextAlone) {
  const std::string text = " anarchism originated as a term of abuse";
  EXPECT_EQ(clean(text), text);
}

// Single opening brackets are the markup that is dropped without a space in its place.
TEST(WikipediaFilter, EqualsTheRuleOfEachByteForTextWithoutOtherMarkup) {
  std::mt19937 random(8);
  for (int round = 0; round < 500; ++round) {
    std::string text(random() % 300, '\0');
    const std::string_view bytes = round % 2 == 0 ? "abcdefghijklmnopqrstuvwxyz.[" : "aZ09 .\n[";
    for (char& byte : text) byte = bytes[random() % bytes.size()];
    std::string kept = text;
    std::erase(kept, '[');
    ASSERT_EQ(article(text), plain_text8(kept)) << text;
  }
}

TEST(Text8Cleaner, EqualsTheRuleOfEachByteForAnyBytes) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::string text(random() % 300, '\0');
    const std::string_view bytes =
        round % 3 == 0 ? "abcdefghijklmnopqrstuvwxyz." : "aZ09 .\n\xC3";  // the first: long words
    for (char& byte : text) byte = round % 2 == 0 ? static_cast<char>(random()) : bytes[random() % bytes.size()];
    for (const std::size_t piece : {1, 7, 100, 300}) ASSERT_EQ(clean(text, piece), plain_text8(text)) << round;
  }
  EXPECT_EQ(clean(std::string(100'000, '3')), plain_text8(std::string(100'000, '3')));
}

TEST(Text8Cleaner, IsTheSameWithMoreThreads) {
  std::mt19937 random(9);
  std::string text(std::size_t{1} << 20, '\0');
  for (char& byte : text) byte = "abc. \n3\xC3\xA9"[random() % 9];
  const std::string expected = plain_text8(text);
  for (const int threads : {1, 2, 5}) {
    for (const std::size_t piece : {std::size_t{30'001}, std::size_t{5'000}}) {
      EXPECT_EQ(clean(text, piece, threads), expected) << threads;
    }
  }
}

TEST(Text8Cleaner, PiecesMayEndAnywhere) {
  const std::string text = "One 22  three...4 \xE2\x82\xAC five";
  for (std::size_t piece = 1; piece < text.size(); ++piece) EXPECT_EQ(clean(text, piece), clean(text)) << piece;
}

}  // namespace
}  // namespace xlm
