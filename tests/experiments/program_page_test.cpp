// docs/programs.md, typed: its files are written and its commands run, and they print what the page says.
#include <gmock/gmock.h>

#include "base/text.h"
#include "tests/experiments/program_fixture.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;

class ProgramsPage : public ProgramTest {
 protected:
  /// The blocks of a language ("" for what is printed), in order.
  static std::vector<std::string> blocks(const std::string& language) {
    std::vector<std::string> found;
    std::string block;
    bool inside = false;
    bool wanted = false;
    for (const std::string& line : split(read_file(fs::path(XLM_SOURCE_DIR) / "docs" / "programs.md"), '\n')) {
      if (line.starts_with("```")) {
        if (inside && wanted) found.push_back(block);
        wanted = !inside && line == "```" + language;
        inside = !inside;
        block.clear();
      } else if (wanted) {
        block += line + "\n";
      }
    }
    return found;
  }
};

TEST_F(ProgramsPage, GoesFromATrainingScriptToATable) {
  const std::vector<std::string> printed = blocks("");
  ASSERT_GE(printed.size(), 3U);
  create_folders(folder_.path() / "toy");
  write_file(folder_.path() / "toy" / "train.py", blocks("python").at(0));
  write_file(folder_.path() / "toy.yaml", blocks("yaml").at(0));
  const ProgramResult plan = run({"sweep", "toy.yaml", "--dry-run"});
  EXPECT_THAT(plan.out, HasSubstr("4 of 4 runs to do")) << plan.err;
  EXPECT_FALSE(fs::exists(runs_));
  const ProgramResult sweep = run({"sweep", "toy.yaml"});
  ASSERT_EQ(sweep.code, kDone) << sweep.out << sweep.err;
  const std::size_t board = printed[0].find("run  ");  // lines before it come as runs end
  EXPECT_THAT(sweep.out, HasSubstr(printed[0].substr(board)));
  EXPECT_EQ(run({"table", "toy.yaml"}).out, printed[1]);
  const ProgramResult compared = run({"compare", "options.lr=0.01", "options.lr=0.1", "--value", "valid.loss"});
  EXPECT_TRUE(compared.out.ends_with(printed[2])) << compared.out;
}

TEST_F(ProgramsPage, ItsSecondCommandIsAnEvaluation) {
  create_folders(folder_.path() / "toy");
  write_file(folder_.path() / "toy" / "train.py", blocks("python").at(0));
  write_file(folder_.path() / "toy" / "eval.py",
             "import sys\nassert sys.argv[1] == '--load' and sys.argv[3] == '--split'\n"
             "print('perplexity', 3 if sys.argv[4] == 'test' else 2)\nprint('window', sys.argv[6])\n");
  std::string file = blocks("yaml").at(0) + blocks("yaml").at(1);
  const std::size_t options = file.find("options: {lr: 0.01, steps: 20}");
  ASSERT_NE(options, std::string::npos);
  file.replace(options, std::string("options: {lr: 0.01, steps: 20}").size(), "options: {lr: 0.01, steps: 5}");
  write_file(folder_.path() / "toy.yaml", file);
  const ProgramResult sweep = run({"sweep", "toy.yaml"});
  ASSERT_EQ(sweep.code, kDone) << sweep.out << sweep.err;
  EXPECT_THAT(sweep.out, HasSubstr("16 of 16 evaluations"));
  const ProgramResult list =
      run({"runs", "ls", "--columns", "test.perplexity@options.window=512", "--where", "seed=1", "--format", "csv"});
  EXPECT_THAT(list.out, HasSubstr(",3")) << list.out << list.err;
}

}  // namespace
}  // namespace xlm
