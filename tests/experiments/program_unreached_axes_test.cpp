// Axes of a sweep that do not reach the program: a slip in the command makes the same run several times.
#include <gmock/gmock.h>

#include "tests/experiments/program_of_user_fixture.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ProgramUnreachedAxes : public ProgramOfUser {
 protected:
  ProgramUnreachedAxes() { fs::remove(folder_.path() / "code" / "train.py"); }  // it reads XLM_CONFIG

  /// What a sweep over the learning rate, the dropout and the seed says before it begins.
  std::string warnings_of(const std::string& command, const std::string& script, const std::string& program = "") {
    write_script("own.py", script);
    configure(command, program,
              "options: {lr: 0.1, dropout: 0.0}\n"
              "sweep: {grid: {options.lr: [0.1, 0.2], options.dropout: [0.0, 0.5], seed: [1, 2]}}\n");
    const ProgramResult result = run({"sweep", "run.yaml", "--dry-run"});
    EXPECT_EQ(result.code, kDone) << result.err;
    return result.err;
  }
};

constexpr const char* kOfArguments = "import sys\nprint(sys.argv)\n";
constexpr const char* kSlip = "does not seem to reach the program";

TEST_F(ProgramUnreachedAxes, AreNamedWhereOthersHavePlaceholders) {
  const std::string said = warnings_of("[python3, own.py, '{lr}']", kOfArguments);
  EXPECT_THAT(said, AllOf(HasSubstr("options.dropout does not seem"), HasSubstr("seed does not seem"),
                          HasSubstr("{dropout}"), Not(HasSubstr("options.lr does not"))));
}

TEST_F(ProgramUnreachedAxes, AreNoneWhereThereIsAWayIn) {
  EXPECT_THAT(warnings_of("[python3, own.py, '{lr}', '--d={dropout}', '{seed}']", kOfArguments), Not(HasSubstr(kSlip)));
  EXPECT_THAT(warnings_of("[python3, own.py, '{lr}', '{config}']", kOfArguments), Not(HasSubstr(kSlip)));
  EXPECT_THAT(warnings_of("[python3, own.py, '{lr}']", kOfArguments, "  environment: {D: '{dropout}', S: '{seed}'}\n"),
              Not(HasSubstr(kSlip)));
  EXPECT_THAT(warnings_of("[python3, own.py, '{lr}']", "import os\nprint(os.environ['XLM_CONFIG'])\n"),
              Not(HasSubstr(kSlip)));
  EXPECT_THAT(warnings_of("[sh, -c, 'python3 own.py {lr} $XLM_CONFIG']", kOfArguments), Not(HasSubstr(kSlip)));
  EXPECT_THAT(warnings_of("[python3, own.py, '{seed}']", kOfArguments), Not(HasSubstr(kSlip)))
      << "no option has a placeholder: it has another way, which is not known";
}

TEST_F(ProgramUnreachedAxes, OfSeedsAndFlagsAreJudgedByThemselves) {
  EXPECT_THAT(warnings_of("[python3, own.py, '{lr}', '{dropout}']", "import os\nprint(os.environ['XLM_SEED'])\n"),
              Not(HasSubstr(kSlip)));
  EXPECT_THAT(warnings_of("[python3, own.py, '{lr}']", kOfArguments, "  flags: true\n"),
              AllOf(HasSubstr("seed does not seem"), Not(HasSubstr("options.dropout does not"))));
  EXPECT_THAT(warnings_of("[python3, own.py]", kOfArguments, "  flags: true\n"), HasSubstr("seed does not seem"))
      << "flags pass the options, and no seed";
}

TEST_F(ProgramUnreachedAxes, OptionsWithOneValueAreNamedToo) {
  write_script("own.py", kOfArguments);
  configure("[python3, own.py, '{lr}', '{seed}']", "",
            "options: {lr: 0.1, dropout: 0.2}\nsweep: {grid: {seed: [1, 2]}}\n");
  EXPECT_THAT(run({"sweep", "run.yaml", "--dry-run", "options.dropout=0.9"}).err,
              HasSubstr("options.dropout does not"));
}

TEST_F(ProgramUnreachedAxes, FlagsThatAreAlwaysTrueAreNamed) {
  write_script("own.py",
               "import argparse\np = argparse.ArgumentParser()\np.add_argument('--amp', type=bool, default=False)\n");
  configure("[python3, own.py, --amp, '{amp}']", "", "options: {amp: false}\n");
  EXPECT_THAT(run({"sweep", "run.yaml", "--dry-run"}).err,
              HasSubstr("reads --amp by type=bool, which takes \"false\" for true"));
}

TEST_F(ProgramUnreachedAxes, WhatEvaluationsDifferInIsNamed) {
  write_script("own.py", kOfArguments);
  write_script("eval.py", kOfArguments);
  const auto said = [&](const std::string& command) {
    configure("[python3, own.py, '{lr}', '{seed}']", "",
              "options: {lr: 0.1, window: 128}\nsweep: {grid: {seed: [1, 2]}}\nevaluate:\n  - {command: " + command +
                  ", split: [valid, test], options.window: [64, 256]}\n");
    const ProgramResult result = run({"sweep", "run.yaml", "--dry-run"});
    EXPECT_EQ(result.code, kDone) << result.err;
    return result.err;
  };
  for (const char* code : {"", ", code: [eval.py]"}) {
    EXPECT_THAT(said(std::string("[python3, eval.py]") + code),
                AllOf(HasSubstr("differ in split, which"), HasSubstr("differ in options.window, which"),
                      Not(HasSubstr("program.command"))));
  }
  EXPECT_THAT(said("[python3, eval.py, '{split}', '{window}']"), Not(HasSubstr("their command")));
  write_script("eval.py", "import os\nprint(os.environ['XLM_SPLIT'])\n");
  EXPECT_THAT(said("[python3, eval.py, '{window}']"), Not(HasSubstr("their command")));
}

}  // namespace
}  // namespace xlm
