// `make help` lists every target, and pages name only targets that exist.
#include <algorithm>
#include <cstdlib>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/text.h"
#include "tests/pages.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

/// The first group of each line of the Makefile that is as `pattern` says.
std::set<std::string> lines_of_makefile(const std::regex& pattern) {
  std::set<std::string> found;
  for (const std::string& line : split(read_file(fs::path(XLM_SOURCE_DIR) / "Makefile"), '\n')) {
    std::smatch match;
    if (std::regex_match(line, match, pattern)) found.insert(match[1]);
  }
  return found;
}

std::set<std::string> targets_of_makefile() { return lines_of_makefile(std::regex("([a-z-]+):([^=].*)?")); }

TEST(Makefile, HelpListsEveryTarget) {
  const std::set<std::string> targets = targets_of_makefile();
  EXPECT_GT(targets.size(), 10U);
  EXPECT_THAT(lines_of_makefile(std::regex("([a-z-]+): .*## .+")), ::testing::ContainerEq(targets));
}

// Other programs have CUDA and TORCH in the environment, too.
TEST(Makefile, TakesFromTheEnvironmentWhatItMeansAlone) {
  const TemporaryFolder folder;
  const auto settings = [&](const std::string& environment) {
    const fs::path out = folder.path() / "out";
    const std::string command =
        fmt::format("cd '{}' && env -u MAKEFLAGS {} make --no-print-directory -n setup > '{}' 2>&1", XLM_SOURCE_DIR,
                    environment, out.string());  // `make test` hands on its own settings
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    return first_line(read_file(out));
  };
  EXPECT_EQ(settings("CUDA=/usr/local/cuda TORCH=/opt/torch"), "CUDA= TORCH= scripts/setup.sh");
  EXPECT_EQ(settings("CUDA=1 TORCH=2.15.0"), "CUDA=1 TORCH=2.15.0 scripts/setup.sh");
}

TEST(Makefile, PagesNameTargetsThatExist) {
  const std::set<std::string> targets = targets_of_makefile();
  std::vector<fs::path> pages = manual_pages();
  pages.push_back(fs::path(XLM_SOURCE_DIR) / "CONTRIBUTING.md");
  std::size_t named = 0;
  for (const fs::path& page : pages) {
    static const std::regex in_text("`make ([a-z-]+)");
    static const std::regex in_block("^(?:\\$ )?make ([a-z-]+)");
    bool block = false;
    for (const std::string& line : split(read_file(page), '\n')) {
      if (line.starts_with("```")) block = !block;
      const std::regex& command = block ? in_block : in_text;
      for (std::sregex_iterator found(line.begin(), line.end(), command), end; found != end; ++found) {
        EXPECT_TRUE(targets.contains((*found)[1])) << page << ": " << line;
        ++named;
      }
    }
  }
  EXPECT_GT(named, 50U);
}

TEST(Makefile, ThePageOfInstallingDecidesInFourRowsOfTwoCommands) {
  static const std::regex row("\\| [^|`]+ \\| `[^`]+`.*, then `[^`]+` \\(\\[.*\\]\\(.*\\)\\) \\|");
  const std::vector<std::string> lines = split(read_file(fs::path(XLM_SOURCE_DIR) / "docs/install.md"), '\n');
  const auto head = std::find(lines.begin(), lines.end(), "| you have | two commands |");
  ASSERT_NE(head, lines.end());
  const auto end = std::find(head, lines.end(), "");
  EXPECT_EQ(end - head, 2 + 4);
  for (auto line = head + 2; line < end; ++line) EXPECT_TRUE(std::regex_match(*line, row)) << *line;
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
