// `make help` lists every target.
#include <regex>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/text.h"

namespace xlm {
namespace {

TEST(Makefile, HelpListsEveryTarget) {
  static const std::regex rule("([a-z-]+):([^=].*)?");
  static const std::regex listed("([a-z-]+): .*## .+");
  std::set<std::string> targets;
  std::set<std::string> explained;
  for (const std::string& line : split(read_file(fs::path(XLM_SOURCE_DIR) / "Makefile"), '\n')) {
    std::smatch match;
    if (std::regex_match(line, match, rule)) targets.insert(match[1]);
    if (std::regex_match(line, match, listed)) explained.insert(match[1]);
  }
  EXPECT_GT(targets.size(), 10U);
  EXPECT_THAT(explained, ::testing::ContainerEq(targets));
}

}  // namespace
}  // namespace xlm
