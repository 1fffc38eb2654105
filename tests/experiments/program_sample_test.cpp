// xlm sample by the program: where the prompt comes from, where a text ends, and what is refused.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/json.h"
#include "tests/experiments/program_fixture.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;

class SampleCommand : public ProgramTest {
 protected:
  SampleCommand() {
    run({"train", "run.yaml"});
    id_ = run_folders().front().filename().string();
  }

  /// Through a shell, in the folder of the test.
  ProgramResult sample(const std::string& more, const std::string& before = "") const {
    return shell(folder_.path(), fmt::format("{} '{}' sample {} --tokens 2 {}", before, XLM_FAKE_BINARY, id_, more));
  }

  std::string id_;
};

TEST_F(SampleCommand, TakesThePromptFromAnySource) {
  write_file(folder_.path() / "prompt.txt", "begun ");
  EXPECT_EQ(sample("--prompt 'begun '").out, "begun ab ab \n");
  EXPECT_EQ(sample("", "printf 'begun ' |").out, "begun ab ab \n");
  EXPECT_EQ(sample("", "echo 'begun ' |").out, "begun ab ab \n") << "the line end is of echo, not of the text";
  EXPECT_EQ(sample("< prompt.txt").out, "begun ab ab \n");
  EXPECT_EQ(sample("< /dev/null").out, "ab ab \n") << "no prompt at all";
  for (const char* text : {"begun \n", "begun \r\n",
                           "\xEF\xBB\xBF"
                           "begun \n"}) {
    write_file(folder_.path() / "saved.txt", text);  // as editors save it
    EXPECT_EQ(sample("< saved.txt").out, "begun ab ab \n") << text;
  }
  write_file(folder_.path() / "wide.txt", std::string("\xFF\xFE"
                                                      "b\0e\0",
                                                      6));
  EXPECT_EQ(sample("< wide.txt").code, kBadData) << "UTF-16";
  EXPECT_EQ(sample("--prompt 'Begun, 2 ' --clean text8").out, " begun two ab ab \n") << "words stay apart";
}

TEST_F(SampleCommand, RefusesSettingsThatChangeNothing) {
  for (const char* setting : {"train.precision=bfloat16", "eval.batch=2", "eval.select=best", "optimizer.lr=1"}) {
    const ProgramResult refused = sample(std::string("--prompt x ") + setting);
    EXPECT_EQ(refused.code, kUsage) << setting;
    EXPECT_THAT(refused.err, HasSubstr(": train.block, train.threads, train.tf32, device")) << setting;
    EXPECT_EQ(refused.out, "");
  }
  EXPECT_EQ(sample("--prompt x train.block=4 train.threads=1 device=cpu").code, kDone);
}

TEST_F(SampleCommand, SegmentTakesATextFromAnySource) {
  const auto segment = [&](const std::string& more, const std::string& before = "") {
    return shell(folder_.path(), fmt::format("{} '{}' segment {} {}", before, XLM_FAKE_BINARY, id_, more));
  };
  EXPECT_EQ(segment("--text 'a text'").out, "a text\n");
  EXPECT_EQ(segment("", "echo 'a text' |").out, "a text\n");
  EXPECT_EQ(segment("--file - --clean text8", "echo 'A text' |").out, " a text\n");
  EXPECT_EQ(segment("--text a --file b").code, kUsage);
  const ProgramResult none = segment("< /dev/null");
  EXPECT_EQ(none.code, kUsage);
  EXPECT_THAT(none.err, HasSubstr("or pipe it in"));
}

TEST_F(SampleCommand, EndsWhereTheModelEndsTheText) {
  EXPECT_EQ(sample("--prompt 'the end'").out, "the endab \n");
  EXPECT_EQ(Json::parse(sample("--prompt 'the end' --json").out)["text"], "ab ");
}

TEST_F(SampleCommand, DrawsSeveral) {
  const ProgramResult two = sample("--prompt x --samples 2 --seed 4");
  EXPECT_EQ(two.out, "--- 1 ---\nxab ab \n\n--- 2 ---\nxab ab \n");
  EXPECT_EQ(two.err, "seed 4 to 5\n");
  EXPECT_EQ(Json::parse(sample("--prompt x --samples 3 --temperature 0.5 --json").out).size(), 3);
}

TEST_F(SampleCommand, DrawsAsTheModelSaysAndSaysWithWhichSeed) {
  EXPECT_EQ(sample("--prompt x").err, "seed 1\n");
  EXPECT_EQ(sample("--prompt x --temperature 0").err, "") << "nothing is drawn";
  EXPECT_EQ(sample("--prompt x --quiet").err, "");
  const Json drawn = Json::parse(sample("--prompt x --json --seed 7").out);
  EXPECT_EQ(drawn["temperature"], 1);
  EXPECT_EQ(drawn["seed"], 7);
}

TEST_F(SampleCommand, ChanceAtTemperatureZeroIsAnError) {
  for (const char* option : {"--top-k 5", "--top-p 0.5", "--seed 3", "--samples 2"}) {
    const ProgramResult refused = sample(fmt::format("--prompt x --temperature 0 {}", option));
    EXPECT_EQ(refused.code, kUsage) << option;
    EXPECT_THAT(refused.err, HasSubstr("no effect at --temperature 0")) << option;
  }
  EXPECT_EQ(sample("--prompt x --top-k 5 --seed 3 --temperature 0.5").code, kDone);
}

TEST_F(SampleCommand, ATotalProbabilityIsAboveZero) {
  for (const char* share : {"0", "-0.5", "1.1", "nan"}) {
    const ProgramResult refused = sample(fmt::format("--prompt x --top-p {}", share));
    EXPECT_EQ(refused.code, kUsage) << share;
    EXPECT_THAT(refused.err, HasSubstr("--top-p takes a number above 0, and at most 1")) << share;
  }
}

}  // namespace
}  // namespace xlm
