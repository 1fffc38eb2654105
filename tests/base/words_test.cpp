// The rule of quoting: reading words and lists of them, and writing them.
#include "base/words.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "tests/growth.h"

namespace xlm {
namespace {

using ::testing::ElementsAre;

TEST(Words, InQuotesAreAlwaysText) {
  EXPECT_EQ(read_word("  plain text ").text, "plain text");
  EXPECT_FALSE(read_word("007").quoted);
  EXPECT_EQ(read_word(R"("a\"b\\c\nd, #e")").text, "a\"b\\c\nd, #e");
  EXPECT_EQ(read_word("'it''s \\n'").text, "it's \\n");
  EXPECT_EQ(read_word("' x '").text, " x ");
  EXPECT_TRUE(read_word("\"\"").quoted);
  EXPECT_EQ(read_word("it's").text, "it's");
}

TEST(Words, WithTextAfterQuotesOrWithoutClosingQuotesAreRefused) {
  for (const char* wrong : {"'a", "\"a", "\"a\\\"", "'a''", "'a' b", "\"a\"b", "\"\\q\""}) {
    EXPECT_THROW(read_word(wrong), UsageError) << wrong;
  }
}

TEST(Words, InListsAreSplitOutsideQuotesAndBrackets) {
  EXPECT_THAT(split_words("a,\"b,c\",'d,e',f", ','), ElementsAre("a", "\"b,c\"", "'d,e'", "f"));
  EXPECT_THAT(split_words("it's,rock 'n' roll", ','), ElementsAre("it's", "rock 'n' roll"));
  EXPECT_THAT(split_words("k=\"a,b\", 'c,d'", ','), ElementsAre("k=\"a,b\"", " 'c,d'"));
  EXPECT_THAT(split_words("=min(a,b),c", ',', "()"), ElementsAre("=min(a,b)", "c"));
  EXPECT_THAT(split_words("[1,[2,3]],4", ',', "[]"), ElementsAre("[1,[2,3]]", "4"));
  EXPECT_THAT(split_words("a],b", ',', "[]"), ElementsAre("a]", "b"));
  EXPECT_THAT(split_words("test.bpc@data.name='x@y'@eval.batch=1", '@'),
              ElementsAre("test.bpc", "data.name='x@y'", "eval.batch=1"));
  EXPECT_THAT(split_words("", ','), ElementsAre(""));
}

TEST(Words, SurviveARoundTrip) {
  for (const std::string text : {"plain", "a,b", "", " a", "a ", "#1", "a#b", "'x'", "\"", "a=b", "<x", "x@y", "[1",
                                 "a\nb", "\\", "tab\t", "é ñ", "{", "a'b"}) {
    const std::string word = as_word(text);
    EXPECT_EQ(read_word(word).text, text) << word;
    EXPECT_THAT(split_words("k=" + word + ",other", ','), ElementsAre("k=" + word, "other")) << word;
  }
  EXPECT_EQ(as_word("a-b_c/d.e"), "a-b_c/d.e");
}

TEST(Words, LongListsTakeTimeInProportion) {
  const auto lists = [](std::size_t words) {
    std::string text;
    for (std::size_t i = 0; i < words; ++i) text += "'a,b',[c,";
    return [text] { split_words(text, ',', "[]"); };
  };
  EXPECT_LT(growth(lists(4000), lists(64000)), 64);
}

}  // namespace
}  // namespace xlm
