// What users see of a sweep while it runs.
#include "experiments/sweeps/sweep_board.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <clocale>
#include <cstdlib>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/text.h"
#include "experiments/runs/submission.h"
#include "experiments/sweeps/recipe.h"
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
    std::vector<SweepRun> runs =
        plan_sweep(recipe_of(parse_yaml(run_config(data_, sweep), "sweep.yaml")), runs_, false);
    for (const SweepRun& run : runs) submit(run.planned);
    return runs;
  }

  static void log_metric(const SweepRun& run, int step, double time) {
    Journal(run.planned.paths.journal(), [time] {
      return time;
    }).append("metric", {{"step", step}, {"values", {{"bpc", 2.5}, {"average_span", 31.2}}}});
  }

  /// The output of a board that `use` uses.
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
  EXPECT_EQ(lines[0], "1 of 4 runs ended, 1 failed, 1 running, 1 elsewhere, about 54.0 s left, 2.0 s");
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
    if (width >= 40) {
      EXPECT_THAT(screen()[3], AllOf(HasSubstr("1/10"), HasSubstr("2.500"))) << "what matters stays";
    }
    EXPECT_EQ(before_end_.find("avg. span") != std::string::npos, width == 120);
  }
}

TEST_F(SweepBoardTest, SixAxesKeepHowFarARunIsItsTimeLeftAndItsLoss) {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  const auto runs = planned(
      "sweep: {grid: {model.span_type: [fixed, adaptive], model.span: [64, 128], optimizer.lr: [0.0007, 0.0005],"
      " optimizer.warmup_steps: [100, 20000], train.batch: [4, 8], seed: [1, 2], device: [cpu]}}\n");
  written(kScreen, runs, [&](SweepBoard& board) {
    board.runs_here(runs[0]);
    log_metric(runs[0], 1, 100);
    log_metric(runs[0], 2, 4000);
    now_ = 1;
    board.update();
  });
  const std::vector<std::string> lines = screen();
  EXPECT_THAT(lines[1], AllOf(HasSubstr("step"), HasSubstr("left"), HasSubstr("training"), HasSubstr("span")));
  EXPECT_THAT(lines[1], Not(HasSubstr("device"))) << "a column of one value says nothing";
  EXPECT_THAT(lines[3], AllOf(HasSubstr("fixed"), HasSubstr("2/10"), HasSubstr("8h40"), HasSubstr("2.500")));
  std::set<std::string> names;
  for (std::size_t i = 3; i + 1 < lines.size(); ++i) names.insert(split(lines[i], ' ').front());
  EXPECT_EQ(names.size(), lines.size() - 4) << "the starts of hashes tell rows apart";
}

TEST_F(SweepBoardTest, FollowsTheSizeOfItsTerminal) {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  const auto runs = planned("sweep: {grid: {seed: [1, 2, 3]}}\n");
  const int master = ::posix_openpt(O_RDWR | O_NOCTTY);
  ASSERT_TRUE(master >= 0 && ::grantpt(master) == 0 && ::unlockpt(master) == 0);
  std::FILE* out = ::fopen(::ptsname(master), "w");
  ASSERT_NE(out, nullptr);
  const auto resize = [&](unsigned short width, unsigned short height) {
    const winsize size{.ws_row = height, .ws_col = width, .ws_xpixel = 0, .ws_ypixel = 0};
    ASSERT_EQ(::ioctl(master, TIOCSWINSZ, &size), 0);
  };
  const auto seen_until = [&](const std::string& last) {  // a terminal hands out a text in parts
    std::string text;
    std::array<char, 4096> part{};
    while (text.find(last) == std::string::npos) {
      text.append(part.data(), static_cast<std::size_t>(::read(master, part.data(), part.size())));
    }
    return text;
  };
  resize(100, 30);
  {
    Terminal terminal = Terminal::of(::fileno(out));
    terminal.colour = false;
    SweepBoard board({.out = out, .terminal = terminal, .clock = [this] { return now_; }}, runs);
    now_ = 1;
    board.update();
    EXPECT_THAT(seen_until("3     waits"), Not(HasSubstr("more runs")));
    resize(15, 7);
    now_ = 2;
    board.update();
    // At 15 columns the line about all runs takes two lines, title and rule three each, and each of three rows two.
    EXPECT_THAT(seen_until("and 1 more r\r\n"), HasSubstr("\033[14A"));
  }
  std::fclose(out);
  ::close(master);
}

TEST_F(SweepBoardTest, SaysHowLongTheWholeTakesFromRunsThatAreMostAlike) {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  const auto runs = planned("sweep: {grid: {model.span: [8, 16], seed: [1, 2, 3]}}\n");
  const auto began = [](const SweepRun& run, double time) {
    Journal(run.planned.paths.journal(), [time] { return time; }).append("state", {{"state", "running"}});
  };
  const auto done = [](const SweepRun& run, double time) {
    Journal(run.planned.paths.journal(), [time] { return time; }).append("state", {{"state", "done"}});
  };
  // Ten steps each. A run of span 8 takes 2 s a step, 5 s to start and 7 s to evaluate; one of span 16 takes 20 s a
  // step.
  began(runs[0], 100);
  log_metric(runs[0], 1, 105);
  log_metric(runs[0], 10, 123);
  done(runs[0], 130);
  began(runs[3], 200);
  log_metric(runs[3], 2, 220);
  log_metric(runs[3], 5, 280);
  written(kScreen, runs, [&](SweepBoard& board) {
    now_ = 1;
    board.update();
    EXPECT_THAT(before_end_, Not(HasSubstr("left"))) << "no worker is running";
    board.ended(runs[0], RunStatus::kDone, "done");
    board.runs_here(runs[3]);
    now_ = 2;
    board.update();
  });
  // 5 steps of the running run and its end, then two runs like the first, each of 10 * 2 + 12 s, and two of
  // 10 * 20 + 12 s.
  EXPECT_THAT(screen()[0], HasSubstr("about 10 min 00 s left"));
}

TEST_F(SweepBoardTest, ABudgetLastsAsLongAsItsSpentPartLetsExpect) {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  const std::string budget = "sweep: {grid: {train.flops: [1000], train.steps: [0], seed: [1, 2, 3]}}\n";
  const auto runs = planned(budget);
  const auto spend = [&](int step, double flops, double time) {
    Journal(runs[0].planned.paths.journal(), [time] {
      return time;
    }).append("metric", {{"step", step}, {"values", {{"bpc", 2.5}, {"training_flops", flops}}}});
  };
  spend(10, 100, 50);
  spend(20, 200, 60);
  written(kScreen, runs, [&](SweepBoard& board) {
    board.runs_here(runs[0]);
    now_ = 1;
    board.update();
  });
  // A second a step, 100 steps each: 80 of the running one, and two more runs.
  EXPECT_THAT(screen()[0], HasSubstr("about 4 min 40 s left"));
  EXPECT_THAT(screen()[3], AllOf(HasSubstr("20/~100"), HasSubstr("1 min 20 s")));
  spend(100, 1000, 140);
  written(kScreen, runs, [&](SweepBoard& board) {
    board.runs_here(runs[0]);
    now_ = 2;
    board.update();
  });
  EXPECT_THAT(screen()[0], HasSubstr("about 3 min 20 s left"));
  EXPECT_THAT(screen()[3], AllOf(HasSubstr("  evaluates  "), Not(HasSubstr("0.0 s"))));
}

TEST_F(SweepBoardTest, AProgramIsExpectedToTakeAsManyStepsAsItsLikeDid) {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  write_file(folder_.path() / "p", "");
  const std::string program =
      fmt::format("program: {{command: [./p], folder: '{}', code: [p]}}\n", folder_.path().string());
  const std::string sweep = "sweep: {grid: {options.size: [1, 2], seed: [1, 2]}}\n";
  const auto runs = plan_sweep(recipe_of(parse_yaml("experiment: e\n" + program + sweep, "e.yaml")), runs_, false);
  for (const SweepRun& run : runs) submit(run.planned);
  log_metric(runs[0], 10, 100);
  log_metric(runs[0], 20, 110);
  log_metric(runs[1], 1, 111);
  log_metric(runs[1], 5, 115);
  written(kScreen, runs, [&](SweepBoard& board) {
    board.runs_here(runs[0]);
    now_ = 1;
    board.update();
    EXPECT_THAT(before_end_, Not(HasSubstr("left"))) << "no run is done";
    board.ended(runs[0], RunStatus::kDone, "done");
    board.runs_here(runs[1]);
    now_ = 2;
    board.update();
  });
  // A second a step, 20 steps each: 15 of the running one, and two more runs.
  EXPECT_THAT(screen()[0], HasSubstr("about 55.0 s left"));
  EXPECT_THAT(screen()[3], AllOf(HasSubstr(" 20 "), Not(HasSubstr("/"))));
  EXPECT_THAT(screen()[4], AllOf(HasSubstr("5/~20"), HasSubstr("15.0 s")));
}

TEST_F(SweepBoardTest, AFinalEvaluationHasNoTimeLeftThatIsZero) {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  const auto runs = planned("sweep: {grid: {train.eval_every: [5], seed: [1]}}\n");
  const auto drawn = [&] {
    written(kScreen, runs, [&](SweepBoard& board) {
      board.runs_here(runs[0]);
      now_ += 1;
      board.update();
    });
    return before_end_;
  };
  log_metric(runs[0], 1, 100);
  log_metric(runs[0], 5, 104);
  EXPECT_THAT(drawn(), AllOf(HasSubstr("evaluates valid"), HasSubstr("about 5.0 s left")));
  log_metric(runs[0], 10, 109);
  EXPECT_THAT(drawn(), AllOf(HasSubstr("evaluates"), Not(HasSubstr("left,")), Not(HasSubstr("0.0 s"))));
}

TEST_F(SweepBoardTest, RunsThatWereStoppedHaveNotEnded) {
  const auto runs = planned("sweep: {grid: {seed: [1, 2, 3]}}\n");
  const std::string text = written({}, runs, [&](SweepBoard& board) {
    board.ended(runs[0], RunStatus::kDone, "done");
    board.ended(runs[1], RunStatus::kQueued, "stopped by xlm runs stop");
    board.ended(runs[2], RunStatus::kPreempted, "preempted");
    now_ = 31;
    board.update();
  });
  EXPECT_THAT(text, HasSubstr("[1/3] " + runs[2].id() + ": preempted\n1 of 3 runs ended, 2 stopped, "));
}

TEST_F(SweepBoardTest, ShowsTheLastValidation) {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  const auto runs = planned("sweep: {grid: {seed: [1, 2]}}\n");
  const auto append = [&](const std::string& type, const Json& fields) {
    Journal(runs[0].planned.paths.journal(), [] { return 100.0; }).append(type, fields);
  };
  const auto validate = [&](double bpc, const Json& settings) {
    append("evaluation",
           {{"step", 2}, {"split", "valid"}, {"loss", 1.7}, {"values", {{"bpc", bpc}}}, {"settings", settings}});
  };
  append("state", {{"state", "running"}});
  validate(2.75, Json::object());
  validate(9.75, {{"eval.batch", 3}});
  for (const double bpc : {4.0, 3.5, 2.0}) append("metric", {{"step", 3}, {"values", {{"bpc", bpc}}}});
  const Terminal wide{.is_terminal = true, .colour = false, .width = 120, .height = 30};
  written(wide, runs, [&](SweepBoard& board) {
    board.runs_here(runs[0]);
    now_ = 1;
    board.update();
  });
  EXPECT_THAT(screen()[1], AllOf(HasSubstr("training"), HasSubstr("valid")));
  EXPECT_THAT(screen()[3], AllOf(HasSubstr("2.000 bpc"), HasSubstr("2.750 bpc")));
  append("state", {{"state", "preempted"}});
  const auto again = plan_sweep(
      recipe_of(parse_yaml(run_config(data_, "sweep: {grid: {seed: [1, 2]}}\n"), "sweep.yaml")), runs_, false);
  SweepBoard board({.out = nullptr, .terminal = {}, .clock = [this] { return now_; }}, again);
  const Json json = board.json();
  EXPECT_EQ(json["runs"][0]["step"], 3) << "how far a preempted run came";
  EXPECT_EQ(json["runs"][0]["validation"]["bpc"], 2.75);
  EXPECT_EQ(json["runs"][0]["validation_step"], 2);
  EXPECT_TRUE(json["runs"][0]["seconds_left"].is_null());
  EXPECT_TRUE(json["runs"][1]["validation"].empty());
}

TEST_F(SweepBoardTest, WhatABeginningFromNothingForgetsIsNoValidation) {
  const auto runs = planned("sweep: {grid: {seed: [1]}}\n");
  const auto append = [&](const std::string& type, const Json& fields) {
    Journal(runs[0].planned.paths.journal(), [] { return 100.0; }).append(type, fields);
  };
  append("evaluation", {{"step", 2}, {"split", "valid"}, {"loss", 1.7}, {"values", {{"bpc", 2.5}}}});
  EXPECT_FALSE(read_progress(runs[0].planned.paths.journal()).validation.is_null());
  append("state", {{"state", "running"}, {"fresh", true}});
  EXPECT_TRUE(read_progress(runs[0].planned.paths.journal()).validation.is_null());
}

TEST_F(SweepBoardTest, AsJsonItHasEveryRunWithItsNumbers) {
  const auto runs = planned("sweep: {grid: {seed: [1, 2]}}\n");
  log_metric(runs[0], 1, 100);
  log_metric(runs[0], 3, 104);
  SweepBoard board({.out = nullptr, .terminal = {}, .clock = [this] { return now_; }}, runs);
  board.runs_here(runs[0], "vm 13_2");
  const Json json = board.json();
  EXPECT_EQ(json["running"], 1);
  EXPECT_EQ(json["runs"][0]["run_id"], runs[0].id());
  EXPECT_EQ(json["runs"][0]["values"], Json({{"seed", 1}}));
  EXPECT_EQ(json["runs"][0]["worker"], "vm 13_2");
  EXPECT_EQ(json["runs"][0]["step"], 3);
  EXPECT_EQ(json["runs"][0]["seconds_left"], 14);
  EXPECT_EQ(json["runs"][0]["training"]["bpc"], 2.5);
  EXPECT_TRUE(json["runs"][1]["step"].is_null());
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

TEST_F(SweepBoardTest, TotalsAreTheSameHoweverOftenASweepIsStarted) {
  const auto first = planned("sweep: {grid: {seed: [1]}}\n");
  Journal(first[0].planned.paths.journal()).append("state", {{"state", "done"}});
  const auto runs = planned("sweep: {grid: {seed: [1, 2]}}\n");
  written(kScreen, runs, [&](SweepBoard& board) {
    now_ = 1;
    board.update();
  });
  EXPECT_THAT(screen()[0], StartsWith("1 of 2 runs ended"));
  EXPECT_THAT(screen()[3], HasSubstr("1     done"));
}

}  // namespace
}  // namespace xlm
