// What people see of a sweep while it runs.
#include "experiments/sweeps/sweep_board.h"

#include <cstdlib>

#include <gmock/gmock.h>

#include "base/text.h"
#include "experiments/runs/submission.h"
#include "results/run_folder/journal.h"
#include "tests/experiments/experiment_files.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class SweepBoardTest : public ::testing::Test {
 protected:
  SweepBoardTest() : data_(make_data(folder_.path() / "data")), runs_(folder_.path() / "runs") {}

  std::vector<SweepRun> planned(const std::string& sweep) {
    std::vector<SweepRun> runs = plan_sweep(parse_yaml(run_config(data_, sweep), "sweep.yaml"), runs_, false);
    for (const SweepRun& run : runs) submit(run.planned);
    return runs;
  }

  static void log_metric(const SweepRun& run, int step, double time) {
    Journal(run.planned.paths.journal(), [time] {
      return time;
    }).append("metric", {{"step", step}, {"values", {{"bpc", 2.5}, {"average_span", 31.2}}}});
  }

  /// What `use` makes a board write.
  std::string written(const Terminal& terminal, const std::vector<SweepRun>& runs,
                      const std::function<void(SweepBoard&)>& use) {
    char* buffer = nullptr;
    std::size_t size = 0;
    std::FILE* out = ::open_memstream(&buffer, &size);
    {
      SweepBoard board({.out = out, .terminal = terminal, .clock = [this] { return now_; }}, runs);
      use(board);
      std::fflush(out);
      before_end_ = std::string(buffer, size);
    }
    std::fclose(out);
    std::string text(buffer, size);
    std::free(buffer);
    return text;
  }

  /// The lines drawn last.
  std::vector<std::string> screen() const {
    const std::size_t begin = before_end_.rfind("\033[J");
    return split(trim(before_end_.substr(begin == std::string::npos ? 0 : begin + 3)), '\n');
  }

  TemporaryFolder folder_;
  fs::path data_;
  fs::path runs_;
  double now_ = 0;
  std::string before_end_;
};

const Terminal kScreen{.is_terminal = true, .colour = false, .width = 80, .height = 30};

TEST_F(SweepBoardTest, ShowsAllRunsAtOnceOnATerminal) {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  const auto runs = planned("sweep: {grid: {model.span: [8, 16], seed: [1, 2]}}\n");
  const std::string all = written(kScreen, runs, [&](SweepBoard& board) {
    board.runs_here(runs[0]);
    board.runs_here(runs[1]);
    now_ = 1;
    log_metric(runs[0], 1, 100);
    board.update();
    now_ = 2;
    log_metric(runs[0], 2, 103);
    board.ended(runs[1], RunStatus::kFailed, "its worker was killed by signal 9");
    board.runs_elsewhere(runs[3]);
    board.update();
  });
  const std::vector<std::string> lines = screen();
  ASSERT_EQ(lines.size(), 7U) << before_end_;
  EXPECT_EQ(lines[0], "1 of 4 runs ended, 1 failed, 1 running, waiting for 1 of another sweep, 2.0 s");
  EXPECT_THAT(lines[1], StartsWith("run       span  seed  status"));
  EXPECT_THAT(lines[3], AllOf(HasSubstr("  8     1     runs"), HasSubstr("2/"), HasSubstr("2.500"), HasSubstr("31")));
  EXPECT_THAT(lines[3], HasSubstr(" s  ")) << "the time left";
  EXPECT_THAT(lines[4], HasSubstr("failed"));
  EXPECT_THAT(lines[5], HasSubstr("waits"));
  EXPECT_THAT(lines[6], HasSubstr("not here"));
  EXPECT_TRUE(all.ends_with("\033[7A\r\033[J")) << "it takes away what it drew";
}

TEST_F(SweepBoardTest, HasAColumnForWhatOnlySomeModelsReportOnceOneHas) {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  const auto runs = planned("sweep: {grid: {seed: [1, 2]}}\n");
  const Terminal wide{.is_terminal = true, .colour = false, .width = 120, .height = 30};
  const auto shown = [&](bool reported) {
    written(wide, runs, [&](SweepBoard& board) {
      board.runs_here(runs[0]);
      if (reported) log_metric(runs[0], 1, 100);
      now_ += 1;
      board.update();
    });
    return before_end_;
  };
  EXPECT_THAT(shown(false), Not(HasSubstr("avg. span")));
  const std::string later = shown(true);
  EXPECT_THAT(later, HasSubstr("training  avg. span\n"));
  EXPECT_THAT(later, HasSubstr("2.500 bpc         31\n"));
}

TEST_F(SweepBoardTest, LeavesOutWhatIsDoneAndWhatWaitsWhereTheScreenIsLow) {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  const auto runs = planned("sweep: {grid: {seed: [1, 2, 3, 4, 5, 6, 7, 8]}}\n");
  written({.is_terminal = true, .width = 60, .height = 8}, runs, [&](SweepBoard& board) {
    board.ended(runs[0], RunStatus::kDone, "done");
    board.ended(runs[1], RunStatus::kFailed, "failed");
    board.runs_here(runs[2]);
    now_ = 1;
    board.update();
  });
  const std::vector<std::string> lines = screen();
  ASSERT_EQ(lines.size(), 7U) << before_end_;
  EXPECT_THAT(lines[3], HasSubstr("2     failed"));
  EXPECT_THAT(lines[4], HasSubstr("3     starts"));
  EXPECT_THAT(lines[5], HasSubstr("4     waits"));
  EXPECT_EQ(lines[6], "… and 5 more runs");
}

TEST_F(SweepBoardTest, LinesAreNoWiderThanTheTerminal) {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  const auto runs =
      planned("sweep: {grid: {model.span_type: [fixed, adaptive], optimizer.warmup_steps: [1, 20000]}}\n");
  for (const int width : {120, 60, 40, 20}) {
    written({.is_terminal = true, .colour = true, .width = width, .height = 20}, runs, [&](SweepBoard& board) {
      board.runs_here(runs[0]);
      log_metric(runs[0], 1, 100);
      now_ += 1;
      board.update();
    });
    for (const std::string& line : screen()) EXPECT_LT(display_width(line), static_cast<std::size_t>(width)) << line;
    EXPECT_THAT(screen()[3], width >= 60 ? HasSubstr("1/10") : HasSubstr("fixed")) << "what matters most stays";
    EXPECT_EQ(before_end_.find("avg. span") != std::string::npos, width == 120);
  }
}

TEST_F(SweepBoardTest, PipedItIsAPlainLinePerEndAndNowAndThen) {
  const auto runs = planned("sweep: {grid: {seed: [1, 2]}}\n");
  const std::string text = written({}, runs, [&](SweepBoard& board) {
    board.runs_here(runs[0]);
    board.ended(runs[0], RunStatus::kDone, "done");
    board.runs_here(runs[1]);
    log_metric(runs[1], 5, 100);
    now_ = 31;
    board.update();
  });
  EXPECT_EQ(text.find('\033'), std::string::npos);
  EXPECT_THAT(text, HasSubstr("[1/2] " + runs[0].id() + ": done\n1 of 2 runs ended, 1 running, 31.0 s; " +
                              runs[1].id() + "  step 5/"));
  EXPECT_THAT(text, HasSubstr("  2.500 bpc  span 31\n"));
}

TEST_F(SweepBoardTest, RunsThatWereDoneBeforeAreShownButNotCounted) {
  const auto first = planned("sweep: {grid: {seed: [1]}}\n");
  Journal(first[0].planned.paths.journal()).append("state", {{"state", "done"}});
  const auto runs = planned("sweep: {grid: {seed: [1, 2]}}\n");
  written(kScreen, runs, [&](SweepBoard& board) {
    now_ = 1;
    board.update();
  });
  EXPECT_THAT(screen()[0], StartsWith("0 of 1 runs ended"));
  EXPECT_THAT(screen()[3], HasSubstr("1     done"));
}

}  // namespace
}  // namespace xlm
