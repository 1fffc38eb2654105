// The program's help: help of commands, and suggestions for misspelt commands.
#include <cstdlib>
#include <regex>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "tests/cmd/results_commands_fixture.h"
#include "tests/experiments/program.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(ResultsCommands, HelpOfEveryCommandOnRunsSaysHowToNameThem) {
  for (const char* command : {"show", "stop", "rm", "export", "pack"}) {
    const std::string help = xlm(fmt::format("runs {} --help", command)).out;
    EXPECT_TRUE(
        std::regex_search(help, std::regex("beginnings?\\s+of\\s+(one|them)\\s+or\\s+of\\s+(its|their)\\s+hash")))
        << help;
  }
}

TEST_F(ResultsCommands, SubcommandsAreNamedWhenMisspelt) {
  const ProgramResult wrong = xlm("runs lss");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("did you mean 'ls'?"));
  EXPECT_EQ(xlm("runs").code, 2);
}

TEST_F(ResultsCommands, HelpShowsDotsIfSeveralValuesFollow) {
  EXPECT_THAT(xlm("runs ls --help").out, HasSubstr("--columns COLUMN,… "));
  EXPECT_THAT(xlm("runs ls --help").out, Not(HasSubstr("...")));
  EXPECT_THAT(xlm("prepare-data --help").out, HasSubstr("--from PATH ..."));
  EXPECT_THAT(xlm("prepare-data text --fro a.txt --out d").err,
              HasSubstr("unknown option --fro (did you mean '--from'?)"));
}

TEST_F(ResultsCommands, HelpIsACommandToo) {
  EXPECT_EQ(xlm("help runs ls").out, xlm("runs ls --help").out);
  EXPECT_EQ(xlm("help").out, xlm("--help").out);
  EXPECT_EQ(xlm("-V").out, xlm("--version").out);
  const ProgramResult wrong = xlm("help runs lss");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("unknown command 'runs lss' (did you mean 'ls'?)"));
  EXPECT_THAT(xlm("watch --serve").err, HasSubstr("unknown command 'watch' (did you mean 'runs watch'?)"));
  EXPECT_THAT(xlm("help worker").out, HasSubstr("--sweep FILE")) << "it is not in the list, but in docs/clusters.md";
  const ProgramResult bare = xlm("");
  EXPECT_EQ(bare.code, 2);
  EXPECT_EQ(bare.err, xlm("--help").out);
}

TEST_F(ResultsCommands, HelpExplainsTheWordsThatTheProgramPrintsAndPrintsPages) {
  EXPECT_EQ(xlm("help stale").out, "stale: its worker exited without a final record; it resumes likewise\n");
  EXPECT_EQ(xlm("help Run Folder").out, "Run Folder: runs/RUN_ID/: everything about a run, and the truth\n");
  EXPECT_THAT(xlm("help status").out, HasSubstr("| queued | submitted; no worker is running it |"));
  EXPECT_EQ(xlm("help sweeps").out, read_file(fs::path(XLM_SOURCE_DIR) / "docs/sweeps.md"));
  EXPECT_EQ(xlm("help sweeps.md").out, xlm("help sweeps").out);
  EXPECT_EQ(xlm("help sweep").out, xlm("sweep --help").out) << "commands come first";
  EXPECT_THAT(xlm("help claims").out, HasSubstr("The page claims: xlm help claims.md"));
  EXPECT_EQ(xlm("help store").out, read_file(fs::path(XLM_SOURCE_DIR) / "docs/store.md")) << "it is a word, too";
  const ProgramResult wrong = xlm("help nothing");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("unknown command, word or page 'nothing'"));
  EXPECT_THAT(wrong.err, HasSubstr("bibliography, "));
}

/// The exit codes of the program and of the glossary are the same.
TEST_F(ResultsCommands, EveryExitCodeIsInTheGlossary) {
  const auto numbers = [](const std::string& text, const std::string& before, const std::string& after) {
    const std::regex number(before + "(\\d+)" + after);
    std::set<std::string> found;
    for (std::sregex_iterator match(text.begin(), text.end(), number), end; match != end; ++match) {
      found.insert((*match)[1]);
    }
    return found;
  };
  const auto part = [](const std::string& text, const std::string& from, const std::string& to) {
    const std::size_t begin = text.find(from);
    EXPECT_NE(begin, std::string::npos) << from;
    return begin == std::string::npos ? "" : text.substr(begin, text.find(to, begin + from.size()) - begin);
  };
  const fs::path sources = XLM_SOURCE_DIR;
  const auto codes = numbers(part(read_file(sources / "base" / "error.h"), "enum ExitCode", "}"), " = ", ",");
  for (const ExitCode code : {kDone, kFailed, kUsage, kBadData, kDiverged, kOutOfResources, kStopped}) {
    EXPECT_THAT(codes, testing::Contains(std::to_string(code)));
  }
  const std::string glossary = part(read_file(sources / "docs" / "glossary.md"), "\n### Exit code\n", "\n#");
  EXPECT_EQ(numbers(glossary, "\n\\| ", " \\| "), codes);
}

TEST_F(ResultsCommands, HelpHasExamples) {
  for (const char* command :
       {"runs", "runs ls", "runs show", "runs sync", "runs sql", "runs rm", "pareto", "table", "figure", "report"}) {
    EXPECT_THAT(xlm(std::string(command) + " --help").out, HasSubstr("Example")) << command;
  }
}

}  // namespace
}  // namespace xlm
