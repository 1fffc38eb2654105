// A text ends where a stop begins, for any pieces.
#include "cmd/stop_texts.h"

#include <gtest/gtest.h>

namespace xlm {
namespace {

/// The shown part of `text` if it comes in pieces of `size`.
std::string shown(const std::string& text, std::size_t size, const std::vector<std::string>& stops) {
  StopTexts filter(stops);
  std::string out;
  for (std::size_t i = 0; i < text.size() && !filter.found(); i += size) out += filter.take(text.substr(i, size));
  return out + filter.finish();
}

TEST(StopTexts, EndTheTextBeforeTheFirstThatComes) {
  for (const std::size_t size : {1U, 2U, 3U, 5U, 50U}) {
    EXPECT_EQ(shown("one. two. END three", size, {"END", "two"}), "one. ") << size;
    EXPECT_EQ(shown("aab aaab", size, {"aaab"}), "aab ") << size << ": the beginning of a stop that does not follow";
    EXPECT_EQ(shown("one EN", size, {"END"}), "one EN") << size << ": held text is shown in the end";
    EXPECT_EQ(shown("one", size, {}), "one");
    EXPECT_EQ(shown("one", size, {""}), "one");
  }
}

TEST(StopTexts, HoldBackOnlyWhatMayBecomeAStop) {
  StopTexts filter({"END"});
  EXPECT_EQ(filter.take("a E"), "a ");
  EXPECT_EQ(filter.take("x"), "Ex");
  EXPECT_FALSE(filter.found());
  EXPECT_EQ(filter.take("ENDE"), "");
  EXPECT_TRUE(filter.found());
  EXPECT_EQ(filter.take("more"), "");
}

}  // namespace
}  // namespace xlm
