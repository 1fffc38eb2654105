// Where boundaries stand, counted by hand.
#include "cmd/boundary_places.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace xlm {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

/// {bytes, boundaries} of the classes that occur.
std::map<std::string, std::pair<int, int>> counted(const std::vector<std::string>& groups, std::int64_t boundaries) {
  std::map<std::string, std::pair<int, int>> counts;
  for (const BoundaryPlace& place : count_boundary_places(groups, boundaries)) {
    if (place.bytes > 0) {
      counts[std::string(place.name)] = {static_cast<int>(place.bytes), static_cast<int>(place.boundaries)};
    }
  }
  return counts;
}

TEST(BoundaryPlaces, StandAtTheLastBytesOfCompleteGroups) {
  EXPECT_THAT(
      counted({"The ", "ca", "t, 3", "\nno"}, 3),
      UnorderedElementsAre(Pair("first letters of words", std::pair(3, 0)), Pair("other letters", std::pair(5, 1)),
                           Pair("spaces", std::pair(2, 1)), Pair("other signs", std::pair(1, 0)),
                           Pair("digits", std::pair(1, 1)), Pair("ends of lines", std::pair(1, 0))));
  EXPECT_EQ(counted({"The ", "ca", "t, 3", "\nno"}, 4).at("other letters").second, 2) << "the last one is complete";
}

/// A group may end within a character, and a word goes on behind one of several bytes.
TEST(BoundaryPlaces, BytesBeyondAsciiContinueWords) {
  EXPECT_THAT(
      counted({"a\xC3", "\xA9s\t", "\xC3\xA9z"}, 2),
      UnorderedElementsAre(Pair("first letters of words", std::pair(1, 0)), Pair("other letters", std::pair(2, 0)),
                           Pair("spaces", std::pair(1, 1)), Pair("bytes beyond ASCII", std::pair(4, 1))));
}

TEST(BoundaryPlaces, AreATableWithShares) {
  const BoundaryPlaces places = count_boundary_places({"ab ", "cd ", "e", "f"}, 3);
  const std::string table = boundary_places_as_text(places, 0);
  EXPECT_THAT(table, HasSubstr("at                      bytes  boundaries  of all boundaries  of these bytes"));
  EXPECT_THAT(table, HasSubstr("spaces                      2           2             66.7 %         100.0 %"));
  EXPECT_THAT(table, HasSubstr("first letters of words      3           1             33.3 %          33.3 %"));
  EXPECT_THAT(table, HasSubstr("all                         8           3            100.0 %          37.5 %"));
  EXPECT_THAT(table, Not(HasSubstr("digits")));
  EXPECT_THAT(boundary_places_as_text(count_boundary_places({"ab"}, 0), 0), HasSubstr("–"));
}

TEST(BoundaryPlaces, AreJson) {
  const Json json = boundary_places_as_json(count_boundary_places({"a "}, 1));
  ASSERT_EQ(json.size(), 7U);
  EXPECT_EQ(json.at(1), Json({{"at", "spaces"}, {"bytes", 1}, {"boundaries", 1}}));
}

}  // namespace
}  // namespace xlm
