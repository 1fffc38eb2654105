// The test of a line of tries: sealed until the line is closed.
#include <gmock/gmock.h>

#include "tests/pipeline/pipeline_fixture.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class TryClose : public Pipeline {
 protected:
  void SetUp() override {
    Pipeline::SetUp();
    const std::string model =
        "data: {path: data}\ndevice: cpu\n"
        "model: {type: adaptive-span, width: 16, heads: 2, feed_forward: 32, layers: 1, span: 32}\n";
    write_file(folder_.path() / "base.yaml", model + "train: {steps: 5, batch: 4, block: 16, threads: 1}\n");
    write_file(folder_.path() / "longer.yaml", model + "train: {steps: 40, batch: 4, block: 16, threads: 1}\n");
  }

  Json runs() { return Json::parse(xlm({"--json", "runs", "ls", "--columns", "train.steps,seed,test.loss"}).out); }
};

TEST_F(TryClose, MeasuresTheTestOfTheBestOnce) {
  EXPECT_EQ(xlm({"try", "--close", "--line", "night"}).code, 3) << "there is no such line";
  const ProgramResult tried = xlm({"try", "longer.yaml", "--against", "base.yaml", "--line", "night", "--seeds", "3"});
  ASSERT_EQ(tried.code, 0) << tried.out << tried.err;
  for (const Json& run : runs()) EXPECT_TRUE(run["test.loss"].is_null()) << run;

  const ProgramResult closed = xlm({"--json", "try", "--close", "--line", "night"});
  ASSERT_EQ(closed.code, 0) << closed.err;
  const Json outcome = Json::parse(closed.out);
  double sum = 0;
  for (const Json& run : runs()) {
    sum += (run["train.steps"] == 5 ? 1 : -1) * run["test.loss"].get<double>();
  }
  EXPECT_EQ(outcome["pairs"], 6);
  EXPECT_NEAR(outcome["gain"].get<double>(), sum / 6, 1e-9);
  EXPECT_GT(outcome["low"].get<double>(), 0);
  EXPECT_EQ(xlm({"--json", "try", "--close", "--line", "night"}).out, closed.out);
  EXPECT_THAT(xlm({"runs", "log"}).out, HasSubstr("closed: test.loss is better by"));

  const ProgramResult after = xlm({"try", "base.yaml", "train.batch=2", "--against", "longer.yaml", "--line", "night"});
  EXPECT_EQ(after.code, 2);
  EXPECT_THAT(after.err, HasSubstr("is closed"));
}

TEST_F(TryClose, NothingIsMeasuredForALineThatKeptNothing) {
  const ProgramResult tried = xlm({"try", "base.yaml", "--against", "longer.yaml", "--line", "night", "--seeds", "2"});
  ASSERT_EQ(tried.code, 10) << tried.out << tried.err;
  const ProgramResult closed = xlm({"try", "--close", "--line", "night"});
  EXPECT_EQ(closed.code, 3);
  EXPECT_THAT(closed.err, HasSubstr("no try of the line night was kept"));
  for (const Json& run : runs()) EXPECT_TRUE(run["test.loss"].is_null()) << run;
  EXPECT_THAT(xlm({"runs", "log"}).out, Not(HasSubstr("closed")));
}

}  // namespace
}  // namespace xlm
