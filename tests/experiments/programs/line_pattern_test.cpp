#include "experiments/programs/line_pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/experiments/programs/recording_sink.h"
#include "tests/thrown_message.h"

namespace xlm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(LinePatternTest, MistakesAreToldWithTheirReason) {
  const std::vector<std::pair<std::string, std::string>> wrong{
      {R"(step (?<step>\d+)", "wrong: missing )"},
      {"a)(?<b>c)", "wrong: unexpected )"},
      {"ä[bc(?<d>e)", "wrong: missing ]"},
      {"äö(?<train loss>.)", "wrong: no quantity can be called 'train loss'"},
      {"(?<1>.)", "no quantity can be called '1'"},
      {"(?<a..b>.)", "no quantity can be called 'a..b'"},
      {"(?<a.>.)", "no quantity can be called 'a.'"},
      {"(?<loss", "wrong: invalid "},
      {"(?<loss>a)x**", "wrong: bad repetition operator '**'"},
      {"(?<loss>a)(?<=b)", "'\nlook-around and references"},
      {"(?<loss>a)(?!b)", "'(?!'\nlook-around"},
      {R"((?<loss>a)\1)", "wrong: invalid escape sequence '\\1'\nlook-around"},
      {"(?<loss>[z-a])", "wrong: invalid character class range 'z-a'"},
      {"(?<loss>a{2000})", "invalid repetition size '{2000}'"},
      {"*(?<loss>a)", "wrong: no argument for repetition operator '*'"},
      {"loss ([0-9]+)", "has no named group"},
      {"", "has no named group"},
      {"\xFF(?<loss>a)", "not UTF-8"},
      {"((((((a{100}){100}){100}){100}){100}))(?<loss>b)", "is wrong: "},
  };
  for (const auto& [pattern, reason] : wrong) {
    EXPECT_THAT(thrown_message<Error>([&mistake = pattern] { const LinePattern tried(mistake); }), HasSubstr(reason))
        << pattern;
  }
}

TEST(LinePatternTest, OnlyNamedGroupsHaveNames) {
  LinePattern pattern(R"((a|b)[(?<x>]\(?<x>\Q(?<y>\E(?:c)(?<train.loss-1>\d)[]](?P<_b>\d)[[:alpha:])])");
  EXPECT_THAT(pattern.names(), ElementsAre("train.loss-1", "_b"));
  std::vector<std::string_view> groups;
  ASSERT_TRUE(pattern.match("a?(<x>(?<y>c7]8)", groups));
  EXPECT_THAT(groups, ElementsAre("7", "8"));
  EXPECT_FALSE(pattern.match("a?(<x>(?<y>c7]88", groups));
}

}  // namespace
}  // namespace xlm
