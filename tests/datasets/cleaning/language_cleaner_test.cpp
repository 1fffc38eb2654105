#include "datasets/cleaning/language_cleaner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "tests/real_texts.h"

namespace xlm {
namespace {

using ::testing::ElementsAre;

struct Cleaned {
  std::string text;
  std::vector<std::size_t> documents;  // offsets in bytes
  std::int64_t replaced = 0;
  std::int64_t characters = 0;

  bool operator==(const Cleaned&) const = default;
};

struct Manner {
  HebrewPoints points = HebrewPoints::kRemove;
  DocumentMark mark = DocumentMark::kArticle;
  int threads = 1;
  std::size_t block = std::string::npos;
  std::int64_t limit = -1;
};

const CharacterRules& rules_of(const std::string& language, HebrewPoints points) {
  static std::map<std::pair<std::string, HebrewPoints>, CharacterRules> made;
  return made.try_emplace({language, points}, find_language(language), points).first->second;
}

Cleaned clean_all(const std::string& language, std::string_view text, const Manner& manner = {}) {
  Cleaned cleaned;
  LanguageCleaner cleaner(rules_of(language, manner.points), manner.mark, manner.threads,
                          [&](std::string_view clean, const std::vector<std::size_t>& documents) {
                            for (const std::size_t begin : documents) {
                              cleaned.documents.push_back(cleaned.text.size() + begin);
                            }
                            cleaned.text += clean;
                          });
  cleaner.set_limit(manner.limit);
  for (; !text.empty(); text.remove_prefix(std::min(manner.block, text.size()))) {
    cleaner.write(text.substr(0, manner.block));
  }
  cleaner.finish();
  cleaned.replaced = cleaner.replaced();
  cleaned.characters = cleaner.characters();
  return cleaned;
}

std::string clean(const std::string& language, std::string_view text, const Manner& manner = {}) {
  return clean_all(language, text, manner).text;
}

TEST(LanguageCleaner, MarkersBecomeLineBreaks) {
  EXPECT_EQ(clean("en", "\n_START_ARTICLE_\nAda\n_START_SECTION_\nLife\n_START_PARAGRAPH_\nBorn.She_NEWLINE_wrote."),
            "ada\nlife\nborn she\nwrote");
  EXPECT_EQ(clean("en", "\n_START_SECTION_\n_START_PARAGRAPH_\nx"), "x");  // a section without a title
  EXPECT_EQ(clean("en", "_START_ARTICLE_\nfirst line of all"), "first line of all");
}

TEST(LanguageCleaner, AMarkerInsideALineIsText) {
  EXPECT_EQ(clean("en", "a _START_ARTICLE_\nb"), "a start article\nb");
  EXPECT_EQ(clean("en", "a\n_START_ARTICLE_ b"), "a\nstart article b");
  EXPECT_EQ(clean("en", "a\n_START_ARTICLE_"), "a\nstart article");  // a limit may cut the text there
  EXPECT_EQ(clean("en", "a_NEW_LINE_b_"), "a new line b");
}

TEST(LanguageCleaner, LettersBecomeLowerCase) {
  EXPECT_EQ(clean("en", "The QUICK Fox"), "the quick fox");
  EXPECT_EQ(clean("fi", "ÄITI Öljy Åbo"), "äiti öljy åbo");
  EXPECT_EQ(clean("vi", "ĐẠI HỌC Ơn Ư"), "đại học ơn ư");
  EXPECT_EQ(clean("en", "\u0130zmir"), "i zmir");  // İ becomes i and a dot above, which is in no alphabet
}

TEST(LanguageCleaner, OtherCharactersBecomeASpace) {
  EXPECT_EQ(clean("en", "café naïve, ok?"), "caf na ve ok");
  EXPECT_EQ(clean("fi", "é-ä"), "ä");
  EXPECT_EQ(clean("vi", "fix jazz w"), "ix a");  // Vietnamese has no f, j, w, z
  EXPECT_EQ(clean("he", "שלום abc עולם"), "שלום עולם");
  EXPECT_EQ(clean("vi", "e\u0301"), "e");  // no normalisation: a letter and a mark stay two
}

TEST(LanguageCleaner, HebrewKeepsMaqafGereshAndGershayim) {
  EXPECT_EQ(clean("he", "תל־אביב צה״ל ג׳ירפה"), "תל־אביב צה״ל ג׳ירפה");
  EXPECT_EQ(clean("he", "צה\"ל ג'"), "צה ל ג");
}

TEST(LanguageCleaner, DigitsAreSpeltOut) {
  EXPECT_EQ(clean("en", "in 1984"), "in one nine eight four");
  EXPECT_EQ(clean("fi", "a07b"), "a nolla seitsemän b");
  EXPECT_EQ(clean("vi", "0123456789"), "không một hai ba bốn năm sáu bảy tám chín");
  EXPECT_EQ(clean("he", "0123456789"), "אפס אחד שנים שלשה ארבעה חמשה ששה שבעה שמונה תשעה");
}

TEST(LanguageCleaner, HebrewPointsGoOrBecomeSpaces) {
  const std::string pointed = "בְּרֵאשִׁ֖ית בָּרָ֣א";
  EXPECT_EQ(clean("he", pointed), "בראשית ברא");
  EXPECT_EQ(clean("he", pointed, {.points = HebrewPoints::kSpace}), "ב ר אש ית ב ר א");
  EXPECT_EQ(clean("he", "8", {.points = HebrewPoints::kSpace}), "ש מו נ ה");
  EXPECT_EQ(clean("en", "ab\u05B0c"), "ab c");  // elsewhere they are no letters
}

TEST(LanguageCleaner, LookAlikesBecomeAsciiLetters) {
  // By Unicode's confusables: Cyrillic, Greek, mathematical, full-width.
  EXPECT_EQ(clean("en", "\u0421\u0410\u0420 \u0391\u0392 \U0001D41A\U0001D41B \uFF41\uFF4D\uFF37"), "cap ab ab amw");
  EXPECT_EQ(clean("fi", "\u043F\u0440\u0438"), "p");
  EXPECT_EQ(clean("en", "\uFF12"), "two");
  EXPECT_EQ(clean("he", "\u0421\u0410\u0420"), "");
}

TEST(LanguageCleaner, AsciiAndLettersOfTheAlphabetStay) {
  EXPECT_EQ(clean("en", "Im rn I1|l"), "im rn i one l");  // Unicode's skeletons: lrn rn llll
  EXPECT_EQ(clean("vi", "đ Đ ơ Ơ"), "đ đ ơ ơ");
  EXPECT_EQ(clean("fi", "ÅÄÖ \u212B"), "åäö å");  // the sign of the Ångström
  for (const Language& language : languages()) {
    EXPECT_EQ(clean(std::string(language.code), language.alphabet), language.alphabet);
  }
}

TEST(LanguageCleaner, SpacesAndLineBreaksAreSingle) {
  EXPECT_EQ(clean("en", "  a \t b \r\n \n\n c. \n"), "a b\nc");
  EXPECT_EQ(clean("en", "\n \n"), "");
  EXPECT_EQ(clean("en", ""), "");
}

TEST(LanguageCleaner, InvalidUtf8IsASpaceAndCounted) {
  const Cleaned cleaned = clean_all("en",
                                    "a\xFF"
                                    "b\xC3");
  EXPECT_EQ(cleaned.text, "a b");
  EXPECT_EQ(cleaned.replaced, 2);
}

TEST(LanguageCleaner, ALimitCutsTheRawCharacters) {
  const Cleaned cleaned = clean_all("fi", "ä1 öxyz", {.limit = 4});
  EXPECT_EQ(cleaned.text, "ä yksi ö");
  EXPECT_EQ(cleaned.characters, 4);
  EXPECT_EQ(clean("fi", "äiti", {.limit = 0}), "");
}

TEST(LanguageCleaner, DocumentsBeginAtArticlesOrBlankLines) {
  const std::string articles = "\n_START_ARTICLE_\nab\n_START_PARAGRAPH_\nc\n\n_START_ARTICLE_\n7\n_START_ARTICLE_\n.";
  EXPECT_THAT(clean_all("en", articles).documents, ElementsAre(0, 5));
  EXPECT_THAT(clean_all("en", "a\nb\n\nc\n\n\n.\n\nd", {.mark = DocumentMark::kBlankLine}).documents,
              ElementsAre(0, 4, 6));
  EXPECT_THAT(clean_all("en", "\n\na\n\nb", {.mark = DocumentMark::kNone}).documents, ElementsAre(0));
}

TEST(LanguageCleaner, ALanguageThatIsNotOfferedIsAUsageError) {
  EXPECT_THROW(find_language("xx"), UsageError);
  EXPECT_THROW(find_language(""), UsageError);
}

/// Over a megabyte of text for every rule, with lines of any length.
std::string long_text() {
  const std::vector<std::string> words{
      "Word", " ",    "\n",           "\n\n", "_NEWLINE_", "\n_START_ARTICLE_\n", "1984",       "äÖ", "ươ Đ",
      "שָׁלוֹם", "\xFF", "\u0421\u0410", "ABC_", "_START",    "\u4E2D\u6587",        "\U0001D41A", ". ", "\r\n"};
  std::string text;
  std::uint64_t state = 1;
  while (text.size() < 1'300'000) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    const std::string& word = words[(state >> 33U) % words.size()];
    // A line of more than a megabyte, which must be cut without a line's end.
    const bool long_line = text.size() > 100'000 && text.size() < 1'250'000;
    if (!long_line || word.find('\n') == std::string::npos) text += word;
  }
  return text;
}

TEST(LanguageCleaner, BlocksAndThreadsChangeNothing) {
  const std::string text = long_text();
  for (const Language& language : languages()) {
    const std::string code(language.code);
    const Cleaned whole = clean_all(code, text);
    EXPECT_GT(whole.text.size(), 100'000U);
    EXPECT_EQ(clean_all(code, text, {.threads = 3}), whole) << code;
    EXPECT_EQ(clean_all(code, text, {.threads = 2, .block = 8191}), whole) << code;
  }
  const Cleaned whole = clean_all("vi", text, {.limit = 50'000});
  EXPECT_EQ(clean_all("vi", text, {.block = 1, .limit = 50'000}), whole);
}

void expect_clean(const Language& language, const std::string& text) {
  std::set<char32_t> allowed{U' ', U'\n'};
  for (std::size_t at = 0; at < language.alphabet.size();) allowed.insert(next_code_point(language.alphabet, at));
  char32_t before = U'\n';
  for (std::size_t at = 0; at < text.size();) {
    const char32_t character = next_code_point(text, at);
    ASSERT_EQ(allowed.count(character), 1U) << static_cast<std::uint32_t>(character);
    const bool blank = character == U' ' || character == U'\n';
    ASSERT_FALSE(blank && (before == U' ' || before == U'\n')) << "at byte " << at;
    before = character;
  }
  EXPECT_NE(before, U' ');
  EXPECT_NE(before, U'\n');
}

/// Checks every language's cleaner, whatever language the text is in.
void expect_clean_stays(const std::string& text) {
  for (const Language& language : languages()) {
    for (const HebrewPoints points : {HebrewPoints::kRemove, HebrewPoints::kSpace}) {
      if (points == HebrewPoints::kSpace && language.code != "he") continue;
      const std::string code(language.code);
      const std::string once = clean(code, text, {.points = points});
      expect_clean(language, once);
      EXPECT_EQ(clean(code, once, {.points = points}), once) << code;
    }
  }
}

TEST(LanguageCleaner, CleanTextHasOnlyTheAlphabetAndStaysAsItIs) { expect_clean_stays(long_text()); }

TEST(LanguageCleaner, CleanTextHasOnlyTheAlphabetAndStaysAsItIsOnRealTexts) {
  for (const char* sample : {"wiki-fi/fiwiki-sample.wiki40b-form.txt", "wiki-he/heq-wikipedia.wiki40b-form.txt",
                             "wiki-he/niqqud-genesis-wlc.txt", "wiki-vi/viwiki-sample.wiki40b-form.txt"}) {
    XLM_NEEDS_REAL_TEXT(sample);
    expect_clean_stays(read_file(real_texts() / sample));
  }
}

}  // namespace
}  // namespace xlm
