// The program with unexpected names and files.
#include <gmock/gmock.h>

#include "base/json.h"
#include "base/yaml.h"
#include "tests/experiments/program_fixture.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(ProgramTest, WarningsCannotChangeTheScreen) {
  run({"train", "run.yaml"});
  const fs::path evil = runs_ / "\x1b[2Jevil";
  fs::copy(run_folders().front(), evil, fs::copy_options::recursive);
  std::ofstream(evil / "journal.jsonl", std::ios::app) << "no record\n";
  EXPECT_THAT(run({"runs", "sync"}).err,
              AllOf(HasSubstr("\\x1b[2Jevil"), HasSubstr("malformed"), Not(HasSubstr("\x1b"))));
  EXPECT_THAT(run({"runs", "ls", "--where", "status=\x1b[2J"}).err,
              AllOf(HasSubstr("\\x1b[2J"), Not(HasSubstr("\x1b"))));
}

TEST_F(ProgramTest, AnEnvironmentThatIsNoObjectIsNamed) {
  order("pace=1");
  run({"train", "run.yaml"});
  const fs::path environment = run_folders().front() / "environment.json";
  write_file(environment, "[]");
  EXPECT_THAT(run({"runs", "show", run_folders().front().filename().string()}).err,
              HasSubstr("environment.json is not a JSON object"));
  EXPECT_EQ(run({"train", "run.yaml"}).code, kDone) << "it is given it again, as where it is missing";
  EXPECT_TRUE(read_json(environment).is_object());
}

TEST_F(ProgramTest, ADeeplyNestedConfigurationOfTransformersIsAnError) {
  run({"train", "run.yaml"});
  const std::string nested = std::string(100000, '[') + std::string(100000, ']');
  write_file(run_folders().front() / "model" / "config.json", "{\"a\": " + nested + "}");
  write_sweep("evaluate: [{split: valid, eval.batch: 3}]\n");
  const ProgramResult swept = run({"sweep", "sweep.yaml"});
  EXPECT_THAT(swept.out + swept.err, AllOf(HasSubstr("too deeply"), Not(HasSubstr("signal"))));
}

TEST_F(ProgramTest, ConfigurationsComeThroughPipesAndAreReadOnce) {
  write_sweep("sweep: {grid: {seed: [1, 2]}}\ntables: [{table: T, rows: seed, cells: {value: test.bpc}}]\n");
  const auto piped = [&](const std::string& file, const std::string& arguments) {
    return shell(folder_.path(), "cat " + file + " | '" XLM_FAKE_BINARY "' " + arguments);
  };
  const ProgramResult trained = piped("run.yaml", "train /dev/stdin seed=7");
  EXPECT_EQ(trained.code, kDone) << trained.err;
  const ProgramResult swept = piped("sweep.yaml", "sweep - experiment=named");
  EXPECT_EQ(swept.code, kDone) << swept.err;
  EXPECT_THAT(swept.out, Not(HasSubstr("next:"))) << "a pipe cannot be named again";
  expect_all_done(3);
  EXPECT_THAT(run({"runs", "ls", "--columns", "experiment,seed", "--format", "csv"}).out,
              AllOf(HasSubstr("pipe,7"), HasSubstr("named,1"), HasSubstr("named,2")));
  EXPECT_EQ(piped("sweep.yaml", "runs watch /dev/stdin --once").code, kDone);
  EXPECT_EQ(piped("sweep.yaml", "sweep /dev/fd/0 --dry-run").code, kDone);
  for (const char* command : {"table", "report"}) {
    const ProgramResult shown = piped("sweep.yaml", std::string(command) + " /dev/stdin --experiment named");
    EXPECT_EQ(shown.code, kDone) << command << shown.err;
  }
  write_file(folder_.path() / "site.yaml", "setup: [echo site]\n");
  EXPECT_EQ(piped("site.yaml", "sweep sweep.yaml --launcher manual --site /dev/stdin --dry-run").code, kDone);
  EXPECT_THAT(piped("data/train.bin", "train /dev/stdin").err, HasSubstr("/dev/stdin"));
  EXPECT_THAT(run({"train", "data"}).err, HasSubstr("cannot read data: Is a directory"));
}

TEST_F(ProgramTest, NamesWithSignsComeThroughTheCommandLine) {
  EXPECT_EQ(run({"train", "run.yaml", "experiment='spans,v2 #3'"}).code, kDone);
  EXPECT_EQ(run({"train", "run.yaml", "seed=2", "experiment=\" =\\\"x\\\" \""}).code, kDone);
  const ProgramResult lost = run({"train", "run.yaml", "seed=3", "experiment=spans #3"});
  EXPECT_EQ(lost.code, kUsage);
  EXPECT_THAT(lost.err, HasSubstr("put the value in quotes: \"spans #3\""));
  const std::string csv = run({"runs", "ls", "--columns", "experiment", "--format", "csv"}).out;
  EXPECT_THAT(csv, AllOf(HasSubstr("\"spans,v2 #3\""), HasSubstr("\" =\"\"x\"\" \"")));
  EXPECT_THAT(run({"runs", "ls", "--where", "experiment=' =\"x\" '", "--columns", "seed", "--format", "csv"}).out,
              HasSubstr(",2\n"));
}

TEST_F(ProgramTest, AFolderWhosePathIsNoUtf8CannotStandInAConfiguration) {
  const fs::path folder = folder_.path() / "caf\xE9";
  create_folders(folder);
  make_data(folder / "data");
  fs::copy(config(), folder / "run.yaml");
  const ProgramResult result = shell(folder, "'" XLM_FAKE_BINARY "' train run.yaml");
  EXPECT_EQ(result.code, kUsage);
  EXPECT_THAT(result.err, HasSubstr("the path is not UTF-8, and config.yaml cannot name it"));
  fs::create_directory_symlink(folder, folder_.path() / "link");
  EXPECT_EQ(run({"train", "run.yaml", "data.path=" + (folder_.path() / "link" / "data").string()}).code, kDone);
}

}  // namespace
}  // namespace xlm
