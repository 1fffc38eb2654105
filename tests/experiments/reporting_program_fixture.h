// A program that reports its learning rate as a number of a name of one's choice, and a recipe that shows it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tests/experiments/program_of_user_fixture.h"

namespace xlm {

/// The number grows with the rate, and a little with the seed; a cost, `params`, rises with the rate.
class ReportingProgram : public ProgramOfUser {
 protected:
  explicit ReportingProgram(std::string quantity) : quantity_(std::move(quantity)) { write_program(); }

  /// `end` stands behind the rest of the program.
  void write_program(const std::string& end = "") {
    write_script("report.py", fmt::format(R"(import json, os
lr = json.load(open(os.environ["XLM_CONFIG"]))["options"]["lr"]
number = lr * (1 + int(os.environ["XLM_SEED"]) / 100)
with open(os.environ["XLM_METRICS"], "a") as file:
    for split in ["valid", "test"]:
        file.write(json.dumps({{"step": 10, "split": split, "{}": number, "final": True}}) + "\n")
    file.write(json.dumps({{"costs": {{"params": 1000 * lr}}}}) + "\n")
{})",
                                          quantity_, end));
  }

  /// A sweep of rates and seeds, with a table of rates and a claim that `better` is the better one of 0.1 and 0.4.
  /// `program` is added to the program's options.
  void configure_reporting(const std::string& rates, const std::string& better, const std::string& program = "",
                           const std::string& seeds = "[1, 2]", const std::string& cells = "") {
    const std::string worse = better == "0.1" ? "0.4" : "0.1";
    configure(kReport, program,
              fmt::format("options: {{lr: 0.1}}\nsweep: {{grid: {{options.lr: {0}, seed: {1}}}}}\n"
                          "tables: [{{table: T, rows: options.lr, cells: {{value: test.{2}{3}}}}}]\n"
                          "claims: [{{claim: C, value: test.{2}, a: {{options.lr: {4}}}, b: {{options.lr: {5}}}, "
                          "better: a}}]\n",
                          rates, seeds, quantity_, cells, better, worse));
  }

  /// A sweep whose rate is the best of run.yaml; `where` chooses among its runs.
  ProgramResult sweep_with_best_rate(const std::string& where = "") {
    write_file(folder_.path() / "asking.yaml",
               fmt::format("experiment: asking\nprogram: {{command: {}, folder: code, code: [\"*\"]}}\n"
                           "options: {{lr: {{best_of: run.yaml, by: test.{}{}}}}}\nsweep: {{grid: {{seed: [7]}}}}\n",
                           kReport, quantity_, where.empty() ? "" : ", where: " + where));
    return run({"sweep", "asking.yaml"});
  }

  ProgramResult pareto(const std::vector<std::string>& more = {}) {
    std::vector<std::string> words{"pareto", "--x", "params", "--y", "test." + quantity_, "--group-by", "options.lr"};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }

  static constexpr const char* kReport = "[python3, report.py]";

 private:
  std::string quantity_;
};

}  // namespace xlm
