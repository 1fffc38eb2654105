// xlm sweep --check of a user's program: which names it may report.
#include <gmock/gmock.h>

#include "experiments/configuration/reported_names.h"
#include "tests/experiments/program_of_user_fixture.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class ProgramCheck : public ProgramOfUser {
 protected:
  void configure_checked(const std::string& program, const std::string& table) {
    configure("[python3, train.py]", program,
              "options: {lr: 0.1}\nsweep: {grid: {options.lr: [0.1, 0.2]}}\ntables: [{table: T, rows: options.lr, " +
                  table + "}]\n");
  }
  ProgramResult check() { return run({"sweep", "run.yaml", "--check"}); }
};

constexpr const char* kPattern = "  metrics: [{lines: 'ppl (?<test.ppl>\\S+)'}]\n";

TEST_F(ProgramCheck, KnowsWhatPatternsDeclareAndNothingElse) {
  configure_checked(kPattern, "cells: {value: test.ppl}");
  ProgramResult result = check();
  EXPECT_EQ(result.code, kDone) << result.out << result.err;
  configure_checked(kPattern, "cells: {value: test.pppl}");
  result = check();
  EXPECT_EQ(result.code, kUsage);
  EXPECT_THAT(result.out + result.err, HasSubstr("did you mean 'test.ppl'?"));
  configure_checked(std::string(kPattern) + "  better: {accuracy: higher}\n",
                    "cells: {value: test.accuracy, best: true}");
  EXPECT_EQ(check().code, kDone) << "it is declared";
}

TEST_F(ProgramCheck, ANameOfAPatternIsOfTheSplitThatItSays) {
  const char* both = "  metrics: [{lines: 'train (?<train.loss>\\S+) val (?<val.loss>\\S+)'}]\n";
  configure_checked(both, "columns: [{value: train.loss}, {value: valid.loss}]");
  ProgramResult result = check();
  EXPECT_EQ(result.code, kDone) << result.out << result.err;
  configure_checked(both, "columns: [{value: valid.loss}, {value: test.loss}]");
  result = check();
  EXPECT_EQ(result.code, kUsage);
  EXPECT_THAT(result.out + result.err, HasSubstr("the column 'test loss' is filled by no run"));
}

TEST_F(ProgramCheck, TakesAnyNameOfAProgramThatDeclaresNone) {
  configure_checked("", "cells: {value: '=100 * test.accuracy'}");
  ProgramResult result = check();
  EXPECT_EQ(result.code, kDone) << result.out << result.err;
  configure_checked("", "columns: [{value: gpu_memory}, {value: valid.f1.macro}]");
  result = check();
  EXPECT_EQ(result.code, kDone) << result.out << result.err;
  configure_checked("", "cells: {value: test.accuracy, best: true}");
  EXPECT_EQ(check().code, kUsage) << "nothing says which way it is better";
}

TEST_F(ProgramCheck, TakesTheNamesOfAFitAsThoseOfATable) {
  const auto configure_fit = [&](const std::string& program, const std::string& columns) {
    configure("[python3, train.py]", program,
              "options: {lr: 0.1}\nsweep: {grid: {options.lr: [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]}}\nfits: [{fit: F, law: "
              "size-and-data, " +
                  columns + "}]\n");
  };
  configure_fit("", "loss: test.nats, n: weights, d: sentences");
  ProgramResult result = check();
  EXPECT_EQ(result.code, kDone) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("1 fit"));
  configure_fit("  metrics: [{lines: '(?<test.nats>\\S+) (?<costs.weights>\\S+)'}]\n",
                "loss: test.nats, n: weights, d: sentences");
  result = check();
  EXPECT_EQ(result.code, kUsage) << "the patterns have no sentences";
  EXPECT_THAT(result.out + result.err, HasSubstr("sentences"));
}

TEST_F(ProgramCheck, KnowsWhatRunsOfTheStoreHave) {
  const std::string report =
      "import json, os\nwith open(os.environ['XLM_METRICS'], 'a') as file:\n"
      "    file.write(json.dumps({'split': 'test', 'step': 1, 'score': 2.0, 'final': True}) + '\\n')\n"
      "print('ppl 3')\n";
  write_script("train.py", report);
  configure_checked(kPattern, "cells: {value: test.score}");
  EXPECT_EQ(check().code, kUsage) << "the patterns have another name";
  ASSERT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  const ProgramResult result = check();
  EXPECT_EQ(result.code, kDone) << result.out << result.err;
}

TEST(ReportedNamesTest, AreThoseOfPatternsNamesAndSecondCommands) {
  const ReportedNames names = reported_names(
      parse_yaml("program:\n  metrics:\n    - {lines: 'a (?<step>.) (?<loss>.) (?<valid.ppl>.) (?<costs.hours>.)'}\n"
                 "    - {csv: log.csv, names: {it: step, acc: test.accuracy}}\n"
                 "evaluate: [{command: [a], metrics: [{lines: '(?<bleu>.)'}]}, {split: valid}]\n",
                 "run.yaml"));
  EXPECT_THAT(names.evaluations, UnorderedElementsAre("loss", "ppl", "accuracy", "bleu"));
  EXPECT_THAT(names.costs, UnorderedElementsAre("hours"));
  EXPECT_THAT(names.series, UnorderedElementsAre("loss", "bleu"));
  EXPECT_FALSE(names.may_be_others);
  EXPECT_THAT(reported_names(parse_yaml("program: {metrics: [{csv: a.csv, names: {it: step, acc: accuracy}}]}\n"
                                        "evaluate: {command: [a], metrics: [{lines: '(?<bleu>.)'}]}",
                                        "r"))
                  .evaluations,
              UnorderedElementsAre("accuracy", "bleu"));
  EXPECT_TRUE(reported_names(parse_yaml("program: {command: [a]}", "r")).may_be_others);
  EXPECT_TRUE(reported_names(parse_yaml("program: {metrics: [{csv: log.csv}]}", "r")).may_be_others);
  const ReportedNames of_model = reported_names(parse_yaml("model: {type: adaptive-span}", "r"));
  EXPECT_FALSE(of_model.may_be_others);
  EXPECT_THAT(of_model.evaluations, IsEmpty());
}

}  // namespace
}  // namespace xlm
