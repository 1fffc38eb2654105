// The program in a temporary folder with made runs.
#pragma once

#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "tests/experiments/program.h"
#include "tests/results/run_maker.h"

namespace xlm {

class ResultsCommands : public ::testing::Test {
 protected:
  /// Runs xlm in the temporary folder; the shell splits `arguments`.
  ProgramResult xlm(const std::string& arguments) const {
    return shell(temporary_.path(), fmt::format("'{}' {}", XLM_BINARY, arguments));
  }

  /// The same without any program on the PATH.
  ProgramResult without_programs(const std::string& arguments) const {
    return shell(temporary_.path(), fmt::format("PATH=/nowhere '{}' {}", XLM_BINARY, arguments));
  }

  Json json(const std::string& arguments) const {
    const ProgramResult outcome = xlm(arguments + " --json");
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return Json::parse(outcome.out);
  }

  void make_sweep() { maker_.make_sweep({"fixed", "adaptive"}, {64, 256}, {1, 2}); }

  void write(const std::string& name, const std::string& text) const { write_file(temporary_.path() / name, text); }

  TemporaryFolder temporary_;
  RunMaker maker_{temporary_.path() / "runs"};
};

}  // namespace xlm
