// `make help` lists every target.
#include <cstdlib>
#include <regex>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/text.h"
#include "tests/temporary_folder.h"

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

/// What `make ARGUMENTS` would run.
std::string recipe_of(const std::string& arguments) {
  const TemporaryFolder folder;
  const fs::path said = folder.path() / "said";
  const std::string command =
      "make -C '" XLM_SOURCE_DIR "' --no-print-directory -n " + arguments + " >'" + said.string() + "' 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0);
  return read_file(said);
}

TEST(Makefile, TargetsRunTheirPresetsPrograms) {
  EXPECT_THAT(recipe_of("demo"), ::testing::HasSubstr("scripts/demo.sh build/release/bin/xlm"));
  EXPECT_THAT(recipe_of("demo PRESET=dev"), ::testing::HasSubstr("scripts/demo.sh build/dev/bin/xlm"));
}

TEST(Makefile, EveryTestIsInOneOfTwoPartsAndCiRunsBoth) {
  EXPECT_THAT(recipe_of("test"), ::testing::HasSubstr("--label-exclude slow"));
  EXPECT_THAT(recipe_of("test-slow"), ::testing::HasSubstr("--label-regex slow"));
  EXPECT_THAT(recipe_of("test-all"), ::testing::AllOf(::testing::HasSubstr("--label-exclude slow"),
                                                      ::testing::HasSubstr("--label-regex slow")));
  EXPECT_THAT(read_file(fs::path(XLM_SOURCE_DIR) / ".ci/run"),
              ::testing::AllOf(::testing::HasSubstr(" make test WERROR=ON"), ::testing::HasSubstr(" make test-slow ")));
}

}  // namespace
}  // namespace xlm
