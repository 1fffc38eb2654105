// xlm try with a program: verdicts, lines, budgets.
#include <map>

#include <gmock/gmock.h>

#include "base/text.h"
#include "base/yaml.h"
#include "tests/experiments/tried_program.h"
#include "tests/pages.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

using ProgramTry = TriedProgram;

TEST_F(ProgramTry, AGainIsConfirmedOnFreshSeedsOfBothSides) {
  write_tried("change.yaml", "{gain: 0.1}");
  const ProgramResult result = try_change({"change.yaml", "--against", "base.yaml"});
  ASSERT_EQ(result.code, 0) << result.out << result.err;
  EXPECT_LE(result.out.size(), 1'000U);
  const Json outcome = Json::parse(result.out);
  EXPECT_EQ(outcome["verdict"], "keep");
  EXPECT_EQ(outcome["level"], 0.025);
  EXPECT_EQ(outcome["differ_in"], "options.gain");
  EXPECT_EQ(outcome["cost"]["runs"], 20) << "five pairs of the screen and five fresh ones";
  std::map<double, double> loss_of_base;
  std::map<double, double> loss_of_change;
  for (const fs::path& folder : run_folders()) {
    const xlm::Run run = read_live_run(folder);
    const double seed = run.param("seed")->get<double>();
    if (seed <= 5) continue;
    (option_of(folder) == "0" ? loss_of_base : loss_of_change)[seed] = main_evaluation(run, "valid")->values.at("loss");
  }
  ASSERT_EQ(loss_of_base.size(), 5U);
  double sum = 0;
  for (const auto& [seed, loss] : loss_of_base) sum += loss - loss_of_change.at(seed);
  EXPECT_NEAR(outcome["gain"].get<double>(), sum / 5, 1e-12);
  EXPECT_LT(outcome["low"].get<double>(), outcome["gain"].get<double>());
  EXPECT_GT(outcome["low"].get<double>(), 0.01);
  const ProgramResult again = try_change({"change.yaml", "--against", "base.yaml"});
  Json repeated = Json::parse(again.out);
  EXPECT_EQ(repeated.value("repeated", false), true) << "its cost is not paid twice";
  repeated.erase("repeated");
  EXPECT_EQ(repeated, Json::parse(result.out)) << "the same try is not judged twice";
  EXPECT_EQ(run_folders().size(), 20U);
}

TEST_F(ProgramTry, ALoserStopsAfterOnePairIfTheNoiseIsKnown) {
  write_tried("change.yaml", "{gain: -0.2}");
  const ProgramResult result = try_change({"change.yaml", "--against", "base.yaml", "--noise", "5"});
  EXPECT_EQ(result.code, 10) << result.out << result.err;
  EXPECT_EQ(runs_of("-0.2"), 1U);
  EXPECT_EQ(runs_of("0"), 5U);
  const Json outcome = Json::parse(result.out);
  EXPECT_EQ(outcome["verdict"], "discard");
  EXPECT_LT(outcome["gain"].get<double>(), -0.1);
  EXPECT_FALSE(outcome.contains("level"));
}

TEST_F(ProgramTry, AChangeThatFailsIsBroken) {
  write_tried("change.yaml", "{gain: 0.1, fails_with: 7}");
  const ProgramResult result = try_change({"change.yaml", "--against", "base.yaml"});
  EXPECT_EQ(result.code, 12) << result.out << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("broken"), HasSubstr("failed"), HasSubstr("no such layer")));
}

TEST_F(ProgramTry, ABaseThatFailsIsNoVerdict) {
  write_tried("change.yaml", "{gain: 0.1}");
  write_tried("bad.yaml", "{gain: 0, fails_with: 1}");
  const ProgramResult result = try_change({"change.yaml", "--against", "bad.yaml"});
  EXPECT_EQ(result.code, 1) << result.out;
  EXPECT_THAT(result.err, AllOf(HasSubstr("failed"), HasSubstr("log.txt")));
}

TEST_F(ProgramTry, SidesMustDifferInTheChangeAlone) {
  const ProgramResult same = try_change({"base.yaml", "--against", "base.yaml"});
  EXPECT_EQ(same.code, 2);
  EXPECT_THAT(same.err, AllOf(HasSubstr("changes nothing"), Not(HasSubstr("describes a sweep"))));
  write_tried("swept.yaml", "{gain: 0}", "sweep: {grid: {options.gain: [0, 1]}}\n");
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"swept.yaml"}, {"swept.yaml", "--against", "base.yaml"}}) {
    const ProgramResult swept = try_change(words);
    EXPECT_EQ(swept.code, 2);
    EXPECT_THAT(swept.err, HasSubstr("swept.yaml describes a sweep"));
  }
  write_file(folder_.path() / "text.txt", "other");
  write_tried("change.yaml", "{gain: 0.1}", "data: {path: text.txt}\n");
  const ProgramResult other = try_change({"change.yaml", "--against", "base.yaml"});
  EXPECT_EQ(other.code, 2);
  EXPECT_THAT(other.err, HasSubstr("differ in options.gain, and in data too"));
}

TEST_F(ProgramTry, ALineGoesOnFromItsBestThoughTheCodeIsEditedInPlace) {
  write_code("0.1");
  write_tried("change.yaml", "{gain: 0.0}");
  write_code("0");
  EXPECT_EQ(try_change({"base.yaml", "train.threads=1", "--against", "base.yaml"}).code, 2);
  ASSERT_EQ(run({"train", "base.yaml", "-q"}).code, 0);
  const std::string base = run_folders().front().filename().string();
  write_code("0.1");
  const ProgramResult kept = try_change({"base.yaml", "--against", base, "--line", "night", "--note", "a bonus"});
  ASSERT_EQ(kept.code, 0) << kept.out << kept.err;
  EXPECT_THAT(kept.out, HasSubstr("code (train.py)"));
  write_code("-0.1");
  const ProgramResult lost = try_change({"base.yaml", "--line", "night"});
  EXPECT_EQ(lost.code, 10) << lost.out << lost.err;
  const ProgramResult log = run({"runs", "log", "--line", "night"});
  EXPECT_THAT(log.out, AllOf(HasSubstr("night: 2 tries, 1 kept"), HasSubstr("against " + base), HasSubstr("  1 keep"),
                             HasSubstr("a bonus"), HasSubstr("  2 discard")));
  const Json json = Json::parse(run({"runs", "log", "--line", "night", "--json"}).out);
  EXPECT_EQ(json["best"], json["tries"][0]["question"]["change"]);
  EXPECT_EQ(json["tries"][1]["question"]["base"], json["best"]);
}

TEST_F(ProgramTry, CodeThatIsEditedDuringATryIsNotOfIt) {
  ASSERT_EQ(run({"train", "base.yaml", "-q"}).code, 0);
  const std::string base = run_folders().front().filename().string();
  write_code("0.1");
  const fs::path script = folder_.path() / "code" / "train.py";
  write_file(script, read_file(script) + "open('" + script.string() + "', 'w').write('raise SystemExit(1)')\n");
  const ProgramResult kept = try_change({"base.yaml", "--against", base});
  EXPECT_EQ(kept.code, 0) << kept.out << kept.err;
  EXPECT_EQ(read_file(script), "raise SystemExit(1)");
  EXPECT_EQ(Json::parse(kept.out)["cost"]["runs"], 19);
}

TEST_F(ProgramTry, AnOpenTryGoesOnAgainstTheBestOfItsTime) {
  write_tried("one.yaml", "{gain: 0.1}");
  write_tried("two.yaml", "{gain: 0.12}");
  ASSERT_EQ(run({"train", "base.yaml", "-q"}).code, 0);
  const std::string base = run_folders().front().filename().string();
  const auto on_line = [&](const std::string& file, const std::string& spend) {
    return try_change({file, "--line", "night", "--spend", spend});
  };
  ASSERT_EQ(try_change({"one.yaml", "--line", "night", "--against", base, "--spend", "5runs"}).code, 11);
  ASSERT_EQ(try_change({"two.yaml", "--line", "night", "--against", base, "--spend", "40runs"}).code, 0);
  const ProgramResult went_on = on_line("one.yaml", "40runs");
  EXPECT_EQ(went_on.code, 0) << went_on.out << went_on.err;
  const Json outcome = Json::parse(went_on.out);
  EXPECT_EQ(outcome["try"], 1);
  EXPECT_EQ(outcome["is_best"], false);
  EXPECT_GT(outcome["gain"].get<double>(), 0.05) << "against the base, not against the other gain";
}

TEST_F(ProgramTry, AKillIsNoVerdictUntilItComesAgainAndAgain) {
  write_tried("change.yaml", "{gain: 0.1}");
  write_tried("always.yaml", "{gain: 0.11}");
  const fs::path marker = folder_.path() / "was-killed";
  const fs::path script = folder_.path() / "code" / "train.py";
  write_file(script,
             "import json, os, sys\ngain = json.load(open(os.environ['XLM_CONFIG']))['options']['gain']\n"
             "if gain == 0.11 or gain == 0.1 and not os.path.exists('" +
                 marker.string() +
                 "'):\n"
                 "    open('" +
                 marker.string() + "', 'w').close()\n    os.kill(os.getppid(), 9)\n    sys.exit(3)\n" +
                 read_file(script));
  EXPECT_EQ(try_change({"change.yaml", "--against", "base.yaml"}).code, 0) << "it goes on after one kill";
  const ProgramResult always = try_change({"always.yaml", "--against", "base.yaml"});
  EXPECT_EQ(always.code, 12) << always.err;
  EXPECT_THAT(always.out, HasSubstr("3 times in a row"));
}

TEST_F(ProgramTry, ACorrectedDirectionHoldsForRunsThatExist) {
  std::string script = kTriedScript;
  script.replace(script.find("BONUS"), 5, "0");
  script.replace(script.find("\"loss\": 3 -"), 11, "\"score\": 3 +");
  write_file(folder_.path() / "code" / "train.py", script);
  const auto describe = [&](const std::string& of_base, const std::string& of_change) {
    write_tried("base.yaml", "{gain: 0}", "  better: {score: " + of_base + "}\n");
    write_tried("change.yaml", "{gain: 0.1}", "  better: {score: " + of_change + "}\n");
  };
  const auto tried = [&](const std::string& seeds) {
    return run({"try", "change.yaml", "--against", "base.yaml", "--value", "valid.score", "--seeds", seeds, "--json"});
  };
  describe("lower", "lower");
  EXPECT_EQ(tried("4").code, 10);
  describe("higher", "higher");
  const ProgramResult corrected = tried("5");
  EXPECT_EQ(corrected.code, 0) << corrected.out << corrected.err;
  describe("higher", "lower");
  const ProgramResult apart = tried("6");
  EXPECT_EQ(apart.code, 2) << apart.out;
  EXPECT_THAT(apart.err, HasSubstr("one side declares"));
}

TEST_F(ProgramTry, SeedsThatChangeNothingAreSaid) {
  std::string script = kTriedScript;
  script.replace(script.find("BONUS"), 5, "0");
  script.replace(script.find(" + common + own"), 15, "");
  write_file(folder_.path() / "code" / "train.py", script);
  write_tried("change.yaml", "{gain: 0.1234567}");
  const ProgramResult result = try_change({"change.yaml", "--against", "base.yaml"});
  EXPECT_EQ(result.code, 11) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("the same number with all seeds"));
  EXPECT_EQ(run_folders().size(), 4U);
  write_tried("few.yaml", "{gain: 0.1}");
  EXPECT_THAT(try_change({"few.yaml", "--against", "base.yaml"}).out, HasSubstr("the same number with all seeds"));
  EXPECT_EQ(runs_of("0.1"), 5U) << "of few digits, two may be equal by chance";
}

TEST_F(ProgramTry, AMistakeInTheCommandIsNoTry) {
  write_tried("change.yaml", "{gain: 0.1}");
  ASSERT_EQ(run({"train", "base.yaml", "-q"}).code, 0);
  const std::vector<std::string> words{"try", "change.yaml", "--against", "base.yaml", "--line", "night"};
  for (const std::vector<std::string>& wrong : std::vector<std::vector<std::string>>{
           {"--value", "valid.los"}, {"--value", "valid.loss", "--spend", "20minutes"}}) {
    std::vector<std::string> command = words;
    command.insert(command.end(), wrong.begin(), wrong.end());
    EXPECT_EQ(run(command).code, 2);
  }
  EXPECT_NE(run({"runs", "log", "--line", "night"}).code, 0) << "no line has begun";
}

TEST_F(ProgramTry, AChangeWithoutAnyEffectIsDiscardedAfterTwoPairs) {
  ASSERT_EQ(run({"train", "base.yaml", "-q"}).code, 0);
  const std::string base = run_folders().front().filename().string();
  write_file(folder_.path() / "code" / "train.py", read_file(folder_.path() / "code" / "train.py") + "# a comment\n");
  const ProgramResult result = try_change({"base.yaml", "--against", base});
  EXPECT_EQ(result.code, 10) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("the change makes no difference"));
  EXPECT_EQ(run_folders().size(), 4U);
}

TEST_F(ProgramTry, ABudgetOfRunsEndsATryAndALargerOneGoesOn) {
  write_tried("change.yaml", "{gain: 0.1}");
  const ProgramResult spent = try_change({"change.yaml", "--against", "base.yaml", "--spend", "5runs"});
  EXPECT_EQ(spent.code, 11) << spent.out << spent.err;
  EXPECT_THAT(spent.out, HasSubstr("--spend 5runs has no room for 2 more runs"));
  EXPECT_EQ(run_folders().size(), 4U) << "two pairs; a third does not fit";
  EXPECT_EQ(try_change({"change.yaml", "--against", "base.yaml", "--spend", "20runs"}).code, 0);
}

TEST_F(ProgramTry, ABudgetThatNoRunReportsIsRefused) {
  write_tried("change.yaml", "{gain: 0.1}");
  const ProgramResult result = try_change({"change.yaml", "--against", "base.yaml", "--spend", "1flops"});
  EXPECT_EQ(result.code, 2) << result.out;
  EXPECT_THAT(result.err, HasSubstr("the budget 1flops bounds nothing"));
  EXPECT_EQ(run_folders().size(), 2U);
}

TEST_F(ProgramTry, RunsThatWereRemovedHaveHadTheirCost) {
  write_tried("change.yaml", "{gain: -0.2}");
  ASSERT_EQ(try_change({"change.yaml", "--against", "base.yaml", "--line", "night", "--noise", "5"}).code, 10);
  ASSERT_EQ(run({"runs", "rm", "--where", "options.gain=-0.2", "--yes"}).code, 0);
  write_tried("other.yaml", "{gain: -0.3}");
  const ProgramResult spent =
      try_change({"other.yaml", "--line", "night", "--against", "base.yaml", "--spend-line", "6runs"});
  EXPECT_THAT(spent.out, HasSubstr("--spend-line 6runs has no room for 1 more run")) << spent.err;
}

TEST_F(ProgramTry, ABrokenChangeIsAskedAboutAgainWhereTheUserSaysSo) {
  write_tried("change.yaml", "{gain: -0.2}");
  const fs::path mounted = folder_.path() / "mounted";
  const fs::path script = folder_.path() / "code" / "train.py";
  write_file(script,
             "import json, os\nif json.load(open(os.environ['XLM_CONFIG']))['options']['gain'] != 0:\n    open('" +
                 mounted.string() + "')\n" + read_file(script));
  const std::vector<std::string> words{"change.yaml", "--against", "base.yaml", "--noise", "5"};
  EXPECT_EQ(try_change(words).code, 12);
  write_file(mounted, "");
  EXPECT_EQ(try_change(words).code, 12) << "the same answer";
  std::vector<std::string> again = words;
  again.insert(again.end(), {"--retry", "--all"});
  const ProgramResult result = try_change(again);
  EXPECT_EQ(result.code, 10) << result.out << result.err;
  EXPECT_EQ(Json::parse(result.out)["runs"].size(), 6U) << result.out;
}

TEST_F(ProgramTry, SaysThatItsRunsShowInTheTablesOfTheirExperiment) {
  write_tried("change.yaml", "{gain: 0.1}");
  ASSERT_EQ(run({"train", "base.yaml", "-q"}).code, 0);
  EXPECT_THAT(try_change({"change.yaml", "--against", "base.yaml"}).err, HasSubstr("belong to the experiment tries"));
}

TEST_F(ProgramTry, ABudgetOfOneRunMakesNone) {
  write_tried("change.yaml", "{gain: 0.1}");
  const ProgramResult spent = try_change({"change.yaml", "--against", "base.yaml", "--spend", "1runs"});
  EXPECT_THAT(spent.out, HasSubstr("--spend 1runs has no room for 2 more runs"));
  for (const fs::path& folder : run_folders()) EXPECT_FALSE(read_live_run(folder).started);
}

TEST_F(ProgramTry, ALineOutlivesABaseThatFails) {
  write_tried("change.yaml", "{gain: 0.1}");
  write_tried("bad.yaml", "{gain: 0, fails_with: 1}");
  EXPECT_EQ(try_change({"change.yaml", "--against", "bad.yaml", "--line", "night"}).code, 1);
  const ProgramResult kept = try_change({"change.yaml", "--against", "base.yaml", "--line", "night"});
  EXPECT_EQ(kept.code, 0) << kept.err;
  EXPECT_THAT(kept.out, HasSubstr("\"is_best\":true"));
  write_tried("better.yaml", "{gain: 0.2}");
  EXPECT_EQ(try_change({"better.yaml", "--line", "night"}).code, 0) << "the next is against it";
}

TEST_F(ProgramTry, ALineChoosesByOneValue) {
  write_tried("change.yaml", "{gain: 0.1}");
  EXPECT_EQ(try_change({"change.yaml", "--against", "base.yaml", "--line", "night"}).code, 0);
  write_tried("other.yaml", "{gain: 0.2}");
  const ProgramResult other = run({"try", "other.yaml", "--line", "night", "--value", "train.loss"});
  EXPECT_EQ(other.code, kUsage) << other.out;
  EXPECT_THAT(other.err, HasSubstr("the line night chooses by valid.loss, and not by train.loss"));
}

TEST_F(ProgramTry, ALineDoesNotChooseByATestAndIsNotClosedWithoutOne) {
  write_tried("change.yaml", "{gain: 0.1}");
  for (const char* value : {"test.loss", "=1*test.loss"}) {
    const ProgramResult refused =
        run({"try", "change.yaml", "--against", "base.yaml", "--line", "night", "--value", value});
    EXPECT_EQ(refused.code, kUsage) << value;
    EXPECT_THAT(refused.err, HasSubstr("does not choose by a test")) << value;
  }
  ASSERT_EQ(try_change({"change.yaml", "--against", "base.yaml", "--line", "night"}).code, 0);
  EXPECT_NE(run({"try", "--close", "--line", "night"}).code, kDone) << "its program measures no test";
  EXPECT_EQ(run({"try", "--close", "--line", "night", "--value", "valid.loss"}).code, kUsage);
  write_tried("better.yaml", "{gain: 0.2}");
  EXPECT_EQ(try_change({"better.yaml", "--line", "night"}).code, 0) << "the line is still open";
}

TEST_F(ProgramTry, AnotherQuestionAboutTheBestIsNoRepeatedAnswer) {
  write_tried("change.yaml", "{gain: 0.1}");
  ASSERT_EQ(try_change({"change.yaml", "--against", "base.yaml", "--line", "night"}).code, 0);
  EXPECT_EQ(try_change({"change.yaml", "--line", "night"}).code, 0) << "as it was answered";
  const ProgramResult other = try_change({"change.yaml", "--line", "night", "--seeds", "9"});
  EXPECT_EQ(other.code, kUsage) << other.out;
  EXPECT_THAT(other.err, HasSubstr("is the best of the line night already"));
}

TEST_F(ProgramTry, TriesAtOnceOnOneLineSpendTheirOwnLevels) {
  write_tried("one.yaml", "{gain: 0.1}");
  write_tried("two.yaml", "{gain: 0.12}");
  const std::vector<std::string> options{"--against", "base.yaml",  "--line", "night",
                                         "--value",   "valid.loss", "--json"};
  std::vector<std::string> first{"try", "one.yaml"};
  std::vector<std::string> second{"try", "two.yaml"};
  for (auto* arguments : {&first, &second}) arguments->insert(arguments->end(), options.begin(), options.end());
  BackgroundProgram one = start(first);
  BackgroundProgram two = start(second);
  EXPECT_EQ(one.wait().code, 0);
  EXPECT_EQ(two.wait().code, 0);
  const Json line = Json::parse(run({"runs", "log", "--line", "night", "--json"}).out);
  ASSERT_EQ(line["tries"].size(), 2U);
  std::size_t best = 0;
  for (const Json& tried : line["tries"]) {
    EXPECT_EQ(tried["outcome"]["verdict"], "keep");
    best += tried["is_best_then"].get<bool>() ? 1 : 0;
  }
  EXPECT_EQ(best, 1U) << "the other was tried against an older best";
}

TEST_F(ProgramTry, ThePageForAgentsRuns) {
  write_tried("change.yaml", "{gain: 0.1}");
  write_tried("next.yaml", "{gain: 0.3}");
  const std::string page = read_file(fs::path(XLM_SOURCE_DIR) / "docs" / "agents.md");
  const std::size_t begin = page.find("```sh\n") + 6;
  const std::string commands = page.substr(begin, page.find("```", begin) - begin);
  const fs::path script = folder_.path() / "page.sh";
  write_file(script, fmt::format("set -e\nxlm() {{ '{}' \"$@\"; }}\n{}", XLM_FAKE_BINARY, commands));
  const ProgramResult result = BackgroundProgram({"/bin/sh", script.string()}, folder_.path()).wait();
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr(R"("verdict":"keep")"), HasSubstr("night: 2 tries, 2 kept")));
  EXPECT_EQ(run({"help", "agents"}).out, page);
  const std::string skill = run({"try", "--print-skill"}).out;
  EXPECT_TRUE(skill.starts_with("---\nname: xlm-try\n") && skill.ends_with(page));
  const Yaml head = parse_yaml(skill.substr(4, skill.find("\n---\n") - 4), "head");
  EXPECT_THAT(head.find("description")->scalar, HasSubstr("a gain: keep, discard"));
}

TEST_F(ProgramTry, AChangeOfCodeIsShownByDiff) {
  ASSERT_EQ(run({"train", "base.yaml"}).code, 0);
  write_code("0.5");
  ASSERT_EQ(run({"train", "base.yaml"}).code, 0);
  const std::vector<fs::path> both = run_folders();
  ASSERT_EQ(both.size(), 2U);
  const Json diff =
      Json::parse(run({"--json", "runs", "diff", both[0].filename().string(), both[1].filename().string()}).out);
  const std::string code = diff["code"].get<std::string>();
  EXPECT_THAT(code, AllOf(HasSubstr("--- a/train.py\n+++ b/train.py\n@@ "), HasSubstr("- 0.5 +"), HasSubstr("- 0 +")));
  EXPECT_THAT(code, ::testing::Not(HasSubstr(runs_.string()))) << "paths are those of the program";
}

TEST_F(ProgramTry, LinesGoWithTheirRuns) {
  write_tried("change.yaml", "{gain: 0.1}");
  ASSERT_EQ(try_change({"change.yaml", "--against", "base.yaml", "--line", "night", "--seeds", "3"}).code, 0);
  const std::string log = run({"runs", "log"}).out;
  const std::string other = (folder_.path() / "other").string();
  const auto merge = [&](const std::string& source) { return run({"runs", "merge", source, "--runs", other}); };
  const std::string archive = (folder_.path() / "all.tar.zst").string();
  ASSERT_EQ(run({"runs", "pack", "--where", "experiment=tries", "--out", archive}).code, 0);
  EXPECT_THAT(merge(archive).out, HasSubstr("line night: added"));
  EXPECT_EQ(run({"runs", "log", "--runs", other}).out, log);
  EXPECT_THAT(merge(archive).out, ::testing::Not(HasSubstr("line night"))) << "nothing is new";

  const fs::path journal = fs::path("lines/night/journal.jsonl");
  const std::string before = read_file(runs_ / journal);
  const std::string further = before + R"({"type":"try","time":1,"question":{"change":"a","base":"b"}})" + "\n";
  write_file(runs_ / journal, further);
  EXPECT_THAT(merge(runs_.string()).out, HasSubstr("line night: it has gone on there"));
  EXPECT_EQ(read_file(fs::path(other) / journal), further);
  write_file(runs_ / journal, before + R"({"type":"try","time":2,"question":{"change":"c","base":"b"}})" + "\n");
  const ProgramResult conflict = merge(runs_.string());
  EXPECT_EQ(conflict.code, 1);
  EXPECT_THAT(conflict.out, HasSubstr("line night: it went on in both places, and the one here stays"));
  EXPECT_EQ(read_file(fs::path(other) / journal), further);
}

TEST_F(ProgramTry, TheBestOfALineIsNotRemoved) {
  write_tried("change.yaml", "{gain: 0.1}");
  ASSERT_EQ(try_change({"change.yaml", "--against", "base.yaml", "--line", "night", "--seeds", "3"}).code, 0);
  const std::size_t runs = run_folders().size();
  const ProgramResult removed = run({"runs", "rm", "--where", "experiment=tries", "--yes"});
  EXPECT_EQ(removed.code, 1);
  EXPECT_THAT(removed.err, AllOf(HasSubstr("is the best of the line night"), HasSubstr("lines/night")));
  EXPECT_EQ(run_folders().size(), runs);
}

}  // namespace
}  // namespace xlm
