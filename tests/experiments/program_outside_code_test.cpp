// Programs whose code is not all in the frozen copy: what runs is the copy wherever that has the file, and the rest is
// named where the numbers are.
#include <gmock/gmock.h>

#include <cstdlib>
#include <regex>

#include "base/text.h"
#include "tests/experiments/program_of_user_fixture.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::Not;

/// A program that reports a factor of the module `mine.model` times its learning rate. The module lies in the folder of
/// its code, or next to it.
class OutsideCodeTest : public ProgramOfUser {
 protected:
  OutsideCodeTest() { ::unsetenv("PYTHONPATH"); }
  ~OutsideCodeTest() override { ::unsetenv("PYTHONPATH"); }

  void put(const fs::path& file, const std::string& text) const {
    create_folders(file.parent_path());
    write_file(file, text);
  }
  fs::path at(const std::string& name) const { return folder_.path() / name; }

  void configure_factor(const std::string& command, const std::string& module, const std::string& axes) {
    put(at("code/scripts/train.py"),
        "import sys, mine.model\nprint('test loss', mine.model.FACTOR * float(sys.argv[1]))\n");
    put(at(module) / "mine/model.py", "FACTOR = 1\n");
    ::setenv("PYTHONPATH", at(module).c_str(), 1);
    configure(command, "  metrics: [{lines: 'test loss (?<test.loss>\\S+)'}]\n",
              fmt::format("options: {{lr: 0.1}}\ndevice: cpu\nsweep: {{grid: {{{}}}}}\n"
                          "tables: [{{table: T, rows: options.lr, columns: [{{value: test.loss, spread: sd}}]}}]\n"
                          "claims: [{{claim: C, value: test.loss, a: {{options.lr: 0.1}}, b: {{options.lr: 0.4}}, "
                          "better: a}}]\n",
                          axes));
  }
  void edit(const std::string& module) const { put(at(module) / "mine/model.py", "FACTOR = 100\n"); }

  std::string submitted() {
    const ProgramResult result = run({"sweep", "run.yaml", "--launcher", "manual"});
    EXPECT_EQ(result.code, kDone) << result.err;
    std::smatch match;
    EXPECT_TRUE(std::regex_search(result.out, match, std::regex("\n  (.* worker --sweep .*)\n"))) << result.out;
    return match[1].str();
  }

  std::map<double, double> losses() const {
    std::map<double, double> found;
    for (const fs::path& folder : run_folders()) {
      const xlm::Run one = read_live_run(folder);
      EXPECT_EQ(one.status, RunStatus::kDone) << one.reason;
      const RunEvaluation* evaluation = main_evaluation(one, "test");
      if (evaluation != nullptr) found[one.param("options.lr")->get<double>()] = evaluation->values.at("loss");
    }
    return found;
  }

  static std::string all(const ProgramResult& result) { return result.out + result.err; }

  static constexpr const char* kTrain = "[python3, scripts/train.py, \"{lr}\"]";
};

TEST_F(OutsideCodeTest, RunsThatWaitImportTheCopyOfAnInstalledProject) {
  configure_factor(kTrain, "code/src", "options.lr: [0.1, 0.2]");
  const std::string worker = submitted();
  edit("code/src");
  EXPECT_EQ(shell(folder_.path(), worker).code, kDone);
  EXPECT_EQ(losses(), (std::map<double, double>{{0.1, 0.1}, {0.2, 0.2}}));
  EXPECT_THAT(all(run({"runs", "ls"})), Not(HasSubstr("not frozen")));
  EXPECT_FALSE(fs::exists(run_folders()[0] / "work/.xlm"));
}

TEST_F(OutsideCodeTest, AScriptThatIsNamedByItsWholePathIsThatOfTheCopy) {
  configure_factor(fmt::format("[python3, {}, \"{{lr}}\"]", at("code/scripts/train.py").string()), "code/src",
                   "options.lr: [0.1]");
  const std::string worker = submitted();
  put(at("code/scripts/train.py"), "print('test loss 7')\n");
  EXPECT_EQ(shell(folder_.path(), worker).code, kDone);
  EXPECT_EQ(losses(), (std::map<double, double>{{0.1, 0.1}}));
}

TEST_F(OutsideCodeTest, IsNamedOnEachPage) {
  configure_factor(kTrain, "lib", "options.lr: [0.1, 0.4], seed: [1, 2]");
  const ProgramResult swept = run({"sweep", "run.yaml"});
  ASSERT_EQ(swept.code, kDone) << swept.err;
  const std::string mark = "ode not frozen: mine/model.py (";
  EXPECT_THAT(all(swept), HasSubstr(mark));
  const std::string list = all(run({"runs", "ls"}));
  EXPECT_THAT(list, AllOf(HasSubstr("done, code not frozen"), HasSubstr(mark)));
  EXPECT_THAT(all(run({"runs", "ls", "--columns", "program.fingerprint"})), HasSubstr(mark));
  const std::string id = run_folders()[0].filename().string();
  EXPECT_THAT(all(run({"runs", "show", id})), HasSubstr("code not frozen  " + at("lib/mine/model.py").string()));
  EXPECT_THAT(all(run({"table", "run.yaml"})), HasSubstr(mark));
  EXPECT_THAT(all(run({"claims", "run.yaml"})), HasSubstr(mark));
  EXPECT_THAT(all(run({"compare", "options.lr=0.1", "options.lr=0.4", "--value", "test.loss"})), HasSubstr(mark));
  EXPECT_THAT(all(run({"pareto", "--x", "options.lr", "--y", "test.loss"})), HasSubstr(mark));
  put(at("figure.yaml"), "figure: F\nkind: line\nx: options.lr\ny: test.loss\n");
  ASSERT_EQ(run({"figure", "figure.yaml", "--format", "html", "--out", "figure.html"}).code, kDone);
  EXPECT_THAT(read_file(at("figure.html")), HasSubstr("C" + mark));
  ASSERT_EQ(run({"report", "run.yaml", "--out", "report.html"}).code, kDone);
  const std::string report = read_file(at("report.html"));
  EXPECT_THAT(report, HasSubstr("C" + mark));
}

TEST_F(OutsideCodeTest, AnEditOfItIsAnErrorForRunsThatWait) {
  configure_factor(kTrain, "lib", "seed: [1]");
  ASSERT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  configure_factor(kTrain, "lib", "seed: [1, 2]");
  edit("lib");
  const ProgramResult refused = run({"sweep", "run.yaml"});
  EXPECT_NE(refused.code, kDone);
  EXPECT_THAT(all(refused), AllOf(HasSubstr(at("lib/mine/model.py").string() + " was edited"), HasSubstr("--anyway")));
  EXPECT_EQ(run_folders().size(), 2U);
  put(at("lib/mine/model.py"), "FACTOR = 1\n");
  EXPECT_EQ(run({"sweep", "run.yaml"}).code, kDone) << "it is as it was";
  EXPECT_EQ(losses(), (std::map<double, double>{{0.1, 0.1}}));
}

TEST_F(OutsideCodeTest, ANumberOfBothVersionsSaysIt) {
  configure_factor(kTrain, "lib", "seed: [1]");
  ASSERT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  configure_factor(kTrain, "lib", "seed: [1, 2]");
  edit("lib");
  const ProgramResult forced = run({"sweep", "run.yaml", "--anyway"});
  EXPECT_EQ(forced.code, kDone) << forced.err;
  const std::string table = all(run({"table", "run.yaml"}));
  EXPECT_THAT(table, AllOf(HasSubstr("differ in program.not_frozen"), HasSubstr("Code not frozen: mine/model.py")));
  EXPECT_THAT(all(run({"runs", "ls", "--columns", "program.not_frozen"})), HasSubstr(" and mine/model.py ("));
}

TEST_F(OutsideCodeTest, ARunThatResumesIsNotOfTwoVersions) {
  configure_factor(kTrain, "lib", "seed: [1]");
  put(at("code/scripts/train.py"),
      "import os, sys, mine.model\nopen(os.environ['XLM_CHECKPOINTS'] + '/last', 'w').write('x')\n"
      "if not os.environ['XLM_RESUME']: sys.exit(3)\nprint('test loss', mine.model.FACTOR)\n");
  EXPECT_EQ(run({"sweep", "run.yaml"}).code, kFailed);
  edit("lib");
  EXPECT_THAT(all(run({"sweep", "run.yaml"})), HasSubstr("was edited"));
  put(at("lib/mine/model.py"), "FACTOR = 1\n");
  EXPECT_EQ(run({"sweep", "run.yaml"}).code, kDone);
}

TEST_F(OutsideCodeTest, RunsThatWereRemovedAndOtherExperimentsDoNotCount) {
  configure_factor(kTrain, "lib", "seed: [1]");
  ASSERT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  edit("lib");
  EXPECT_EQ(run({"sweep", "run.yaml", "seed=5", "experiment=other"}).code, kDone);
  ASSERT_EQ(run({"runs", "rm", "--where", "experiment!=other", "--yes"}).code, kDone);
  configure_factor(kTrain, "lib", "seed: [1, 2]");
  EXPECT_EQ(run({"sweep", "run.yaml"}).code, kDone);
}

TEST_F(OutsideCodeTest, ScriptsFromElsewhereAreNamedWithoutPython) {
  put(at("tools/train.sh"), "echo test loss 3\n");
  configure_factor(fmt::format("[bash, {}, \"{{lr}}\"]", at("tools/train.sh").string()), "lib", "options.lr: [0.1]");
  ASSERT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  EXPECT_THAT(all(run({"runs", "ls"})), HasSubstr("Code not frozen: tools/train.sh ("));
  configure_factor("[bash, ../tools/train.sh, \"{lr}\"]", "lib", "options.lr: [0.1]");
  const ProgramResult refused = run({"sweep", "run.yaml"});
  EXPECT_EQ(refused.code, kUsage);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("../tools/train.sh, which lies outside of"), HasSubstr("program.folder")));
}

TEST_F(OutsideCodeTest, APythonThatIgnoresTheEnvironmentIsNamed) {
  configure("[python3, -I, -c, \"print('test loss 1')\"]", "  metrics: [{lines: 'test loss (?<test.loss>\\S+)'}]\n");
  ASSERT_EQ(run({"train", "run.yaml"}).code, kDone);
  EXPECT_THAT(all(run({"runs", "ls"})), HasSubstr("Code not frozen: imports that were not seen"));
}

/// It replaces PYTHONPATH, by which imports are watched.
TEST_F(OutsideCodeTest, APythonBehindAShellIsNamedIfItIsNotSeen) {
  const char* metrics = "  metrics: [{lines: 'test loss (?<test.loss>\\S+)'}]\n";
  for (const bool is_python : {true, false}) {
    write_script("run.sh",
                 is_python ? "PYTHONPATH=/nowhere exec python3 -c \"print('test loss 1')\"\n" : "echo test loss 2\n");
    configure("[bash, run.sh]", metrics);
    ASSERT_EQ(run({"train", "run.yaml"}).code, kDone);
    const bool is_named = all(run({"runs", "ls"})).find("imports that were not seen") != std::string::npos;
    EXPECT_EQ(is_named, is_python);
    fs::remove_all(runs_);
  }
}

TEST_F(OutsideCodeTest, EvaluationsAreWatchedToo) {
  configure_factor(kTrain, "code/src", "seed: [1]");
  put(at("lib/measure.py"), "VALUE = 5\n");
  put(at("code/scripts/eval.py"), "import measure\nprint('test accuracy', measure.VALUE)\n");
  ::setenv("PYTHONPATH", (at("lib").string() + ":" + at("code/src").string()).c_str(), 1);
  write_file(config(), read_file(config()) +
                           "evaluate:\n  - command: [python3, scripts/eval.py]\n    code: [scripts/eval.py]\n"
                           "    metrics: [{lines: 'test accuracy (?<accuracy>\\S+)'}]\n");
  const ProgramResult swept = run({"sweep", "run.yaml"});
  EXPECT_EQ(swept.code, kDone) << swept.err;
  EXPECT_THAT(only_run().outside, Contains(Key(at("lib/measure.py").string())));
}

}  // namespace
}  // namespace xlm
