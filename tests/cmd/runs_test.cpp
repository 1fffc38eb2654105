// xlm runs: output, messages and exit codes.
#include <algorithm>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "tests/cmd/results_commands_fixture.h"
#include "tests/experiments/program.h"
#include "tests/results/run_maker.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(ResultsCommands, WithoutRunsAdviseWhatToDo) {
  fs::remove_all(temporary_.path() / "runs");
  const ProgramResult list = xlm("runs ls");
  EXPECT_EQ(list.code, 0);
  EXPECT_THAT(list.err, HasSubstr("xlm train"));
  EXPECT_EQ(json("runs ls"), Json::array());
  EXPECT_EQ(xlm("pareto --x params --y test.bpc").code, 3);
  EXPECT_EQ(xlm("runs sync").code, 3);
  EXPECT_EQ(xlm("runs sql 'SELECT * FROM runs'").code, 0);
  EXPECT_EQ(xlm("runs ls --runs nowhere").code, 3);
  for (const char* file : {"/dev/null", "a.txt"}) {
    write_file(temporary_.path() / "a.txt", "no folder");
    EXPECT_THAT(xlm(fmt::format("runs ls --runs {}", file)).err, HasSubstr(fmt::format("{} is not a folder", file)));
  }
  EXPECT_FALSE(fs::exists(temporary_.path() / "runs")) << "reading writes nothing";
}

TEST_F(ResultsCommands, ListIsSyncedNewestFirstAndFiltered) {
  make_sweep();
  const Json all = json("runs ls");
  ASSERT_EQ(all.size(), 8);
  EXPECT_EQ(all[0]["run_id"], "adaptive-span-text8-00000008");
  EXPECT_EQ(json("runs ls --limit 3").size(), 3);
  const Json some = json("runs ls --where model.span=64 --where seed=1");
  ASSERT_EQ(some.size(), 2);
  EXPECT_EQ(some[0]["status"], "done");
  EXPECT_EQ(some[0]["experiment"], "spans");
  const ProgramResult csv = xlm("runs ls --columns model.span,test.bpc --format csv --limit 1");
  EXPECT_EQ(csv.out, "run,model.span,test.bpc\nadaptive-span-text8-00000008,256,1.664\n");
  EXPECT_THAT(xlm("runs ls --columns valid.bpc,test.loss --format markdown --limit 1").out,
              HasSubstr("| adaptive-span-text8-00000008 |    1.5640 |    1.1533 |\n"));
  EXPECT_EQ(xlm("runs ls --columns run_id --format csv --limit 1").out, "run\nadaptive-span-text8-00000008\n");
  EXPECT_THAT(xlm("runs ls --columns test.bpc@data.name=letters").err, HasSubstr("data.name=letters"));
  EXPECT_EQ(json("runs ls --columns model.span,model.span_type,flops_per_token --limit 1"),
            Json::parse(R"([{"run_id": "adaptive-span-text8-00000008", "model.span": 256, "model.span_type": "adaptive",
                             "flops_per_token": 256e6}])"));
  const ProgramResult formula = xlm("runs ls --columns 'run_id,=min(test.bpc,(1+1))' --format csv --limit 1");
  EXPECT_EQ(std::count(formula.out.begin(), formula.out.end(), ','), 3) << formula.out << formula.err;
  EXPECT_THAT(xlm("runs ls").out, HasSubstr("test bpc"));
  EXPECT_THAT(xlm("runs ls").out, Not(HasSubstr("\033")));
  EXPECT_EQ(json("runs ls --where 'model.span >= 100, seed = 2' --limit 9").size(), 2);
  EXPECT_EQ(xlm("runs ls --where model.spam=64").code, 2);
  EXPECT_EQ(xlm("runs ls --where nonsense").code, 2);
  EXPECT_THAT(xlm("runs ls --columns run").err, HasSubstr("did you mean 'run_id'"));
  EXPECT_EQ(xlm("runs ls --limit -1").code, 2);
}

TEST_F(ResultsCommands, ListsAreSortedByAnyColumn) {
  make_sweep();
  maker_.make({.id = "unfinished", .state = "running", .time = 1});
  const auto first = [&](const std::string& more) { return json("runs ls " + more)[0]["run_id"]; };
  EXPECT_EQ(first("--sort test.bpc"), "adaptive-span-text8-00000007");
  EXPECT_EQ(first("--sort test.bpc --reverse"), "adaptive-span-text8-00000002")
      << "1.956, and missing values come last";
  EXPECT_EQ(json("runs ls --sort test.bpc --reverse")[8]["run_id"], "unfinished");
  EXPECT_EQ(json("runs ls --sort test.bpc --columns test.bpc")[8],
            (Json{{"run_id", "unfinished"}, {"test.bpc", nullptr}}));
  EXPECT_EQ(first("--reverse"), "unfinished") << "the oldest";
  EXPECT_EQ(json("runs ls --sort test.bpc --limit 2").size(), 2);
  EXPECT_EQ(xlm("runs ls --sort test.bcp").code, 2);
}

TEST_F(ResultsCommands, ListsShowTimesAsTimes) {
  maker_.make({.id = "a", .time = 1700000000.25});
  EXPECT_THAT(xlm("runs ls --columns created,params,test.tokens").out, HasSubstr("  2023-11-1"));
  EXPECT_THAT(xlm("runs ls --columns created --format csv").out, HasSubstr("\na,2023-11-14T22:13:20.250000Z\n"));
}

TEST_F(ResultsCommands, EvaluationsOfOtherModelsAreListedSeparately) {
  make_sweep();
  maker_.make({.id = "eval-gpt2-1"});
  write_file(RunPaths{maker_.folder("eval-gpt2-1")}.environment(), R"({"model_sha256": "abc", "dataset": "text8"})");
  EXPECT_THAT(xlm("runs ls").out, HasSubstr("\n\nModels that were only evaluated here\n"));
}

/// A finished run on a text of byte pairs.
void make_run_of_byte_pairs(RunMaker& maker) {
  const MadeRun run{.id = "gpt2-wiki-1", .state = "running", .time = 90000};
  maker.make(run);
  Journal journal = maker.journal(run);
  journal.append("evaluation", {{"step", 100},
                                {"split", "test"},
                                {"tokens", 1000},
                                {"loss", 3.0},
                                {"seconds", 1.5},
                                {"final", true},
                                {"values", {{"token_perplexity", 20.0}, {"word_perplexity", 41.25}}}});
  journal.append("state", {{"state", "done"}});
}

TEST_F(ResultsCommands, EveryRunOfAListHasItsHeadline) {
  make_run_of_byte_pairs(maker_);
  const ProgramResult alone = xlm("runs ls");
  EXPECT_THAT(alone.out, HasSubstr("test word perplexity"));
  EXPECT_THAT(alone.out, HasSubstr("  41.2500  "));
  make_sweep();
  const ProgramResult mixed = xlm("runs ls");
  EXPECT_THAT(mixed.out, HasSubstr("41.2500 word ppl"));
  EXPECT_THAT(mixed.out, HasSubstr("1.6640 bpc"));
  const ProgramResult csv = xlm("runs ls --format csv --limit 1 --where run_id=gpt2-wiki-1");
  EXPECT_THAT(csv.out, HasSubstr("run,experiment,status,step,valid.word_perplexity,test.word_perplexity,created"));
  EXPECT_THAT(xlm("runs ls --format csv").out,
              HasSubstr("step,valid.bpc,test.bpc,valid.word_perplexity,test.word_perplexity,created"));
  EXPECT_THAT(xlm("runs ls --where model.span=64").out, HasSubstr("valid bpc  test bpc"))
      << "two columns for runs of one kind";
}

TEST_F(ResultsCommands, GridsOfAnyNameAreShown) {
  const MadeRun run{.id = "gates"};
  maker_.make(run);
  maker_.journal(run).append("grid", {{"step", 100}, {"name", "gate_share"}, {"rows", {{0.5, nullptr}, {2, 3}}}});
  const ProgramResult shown = xlm("runs show gates");
  EXPECT_THAT(shown.out, HasSubstr("\nGrid: gate share\n  row  1   0.5    –\n  row  2     2    3\n"));
  EXPECT_THAT(shown.out, HasSubstr("\nSpans per head\n  layer  1    32   40\n"));
  const Json details = json("runs show gates");
  EXPECT_EQ(details["grids"]["gate_share"], Json::parse("[[0.5, null], [2.0, 3.0]]"));
  write("f.yaml", "figure: Gates\nkind: heatmap\ngrid: gate_shares\n");
  const ProgramResult wrong = xlm("figure f.yaml --format html");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("did you mean 'gate_share'?); there are: gate_share, spans"));
  EXPECT_THAT(xlm("report f.yaml").err, HasSubstr("f.yaml:1: the figure 'Gates' asks for the grid"));
}

TEST_F(ResultsCommands, GridsThatAreWiderThanTheTerminalAreDescribed) {
  const MadeRun run{.id = "wide"};
  maker_.make(run);
  const std::vector<double> row(25, 0.123);
  maker_.journal(run).append("grid", {{"step", 100}, {"name", "attention"}, {"rows", {row, row}}});
  const ProgramResult shown = xlm("runs show wide");
  EXPECT_THAT(shown.out, HasSubstr("\nAttention by head and distance\n  2 rows (head) of 25 columns (distance "));
  EXPECT_THAT(shown.out, Not(HasSubstr("0.123")));
}

TEST_F(ResultsCommands, DeadRunsAreStale) {
  maker_.make({.id = "adaptive-span-text8-dead", .state = "running"});
  EXPECT_EQ(json("runs ls")[0]["status"], "stale");
}

TEST_F(ResultsCommands, ShowTakesAPrefixOrAFolder) {
  make_sweep();
  const ProgramResult shown = xlm("runs show adaptive-span-text8-00000003");
  EXPECT_EQ(shown.code, 0);
  EXPECT_THAT(shown.out, HasSubstr("model.span"));
  EXPECT_THAT(shown.out, HasSubstr("Spans per head"));
  EXPECT_EQ(json("runs show runs/adaptive-span-text8-00000003/")["run_id"], "adaptive-span-text8-00000003");
  EXPECT_THAT(xlm("runs show adaptive-span").err, HasSubstr("matches 8 runs"));
  const ProgramResult wrong = xlm("runs show adaptive-span-text8-0000000x");
  EXPECT_THAT(wrong.err, HasSubstr("did you mean"));
  for (const char* command : {"runs show", "runs rm --yes", "sample --prompt a", "eval"}) {
    EXPECT_EQ(xlm(fmt::format("{} adaptive-span-text8-0000000x", command)).code, 3) << command;
    EXPECT_EQ(xlm(fmt::format("{} adaptive-span-text8-", command)).code, 2) << command << ": it is ambiguous";
  }
}

TEST_F(ResultsCommands, SyncRebuildsACorruptStore) {
  make_sweep();
  EXPECT_EQ(json("runs sync")["added"], 8);
  write("runs/results.db", std::string(3000, '?'));
  const ProgramResult corrupt = xlm("runs ls");
  EXPECT_EQ(corrupt.code, 3);
  EXPECT_THAT(corrupt.err, HasSubstr("xlm runs sync --rebuild"));
  EXPECT_EQ(json("runs sync --rebuild")["runs"], 8);
  EXPECT_EQ(json("runs ls").size(), 8);
}

TEST_F(ResultsCommands, SqlReadsOnly) {
  make_sweep();
  EXPECT_EQ(json("runs sql 'SELECT count(*) AS n FROM runs'")[0]["n"], 8);
  EXPECT_THAT(xlm("runs sql 'SELECT seed_group, runs FROM seeds'").out, HasSubstr("4 rows"));
  EXPECT_EQ(xlm("runs sql 'DELETE FROM runs'").code, 2);
  for (const char* other : {"ATTACH \"x.db\" AS x", "PRAGMA writable_schema=1", "VACUUM INTO \"x.db\""}) {
    EXPECT_THAT(xlm(fmt::format("runs sql '{}'", other)).err, HasSubstr("only reads")) << other;
  }
  EXPECT_EQ(xlm("runs sql 'SELECT wrong FROM runs'").code, 2);
  EXPECT_EQ(json("runs ls").size(), 8);
}

TEST_F(ResultsCommands, RemoveAsksFirst) {
  make_sweep();
  const ProgramResult refused = xlm("runs rm adaptive-span-text8-00000001");
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--yes"));
  EXPECT_EQ(json("runs ls").size(), 8);
  EXPECT_EQ(xlm("runs rm adaptive-span-text8-00000001 --yes").code, 0);
  EXPECT_EQ(json("runs ls").size(), 7);
  EXPECT_FALSE(fs::exists(maker_.folder("adaptive-span-text8-00000001")));
}

TEST_F(ResultsCommands, RemoveTakesConditions) {
  make_sweep();
  const ProgramResult unnamed = xlm("runs rm --yes");
  EXPECT_EQ(unnamed.code, 2);
  EXPECT_THAT(unnamed.err, HasSubstr("which runs to delete?"));
  EXPECT_EQ(xlm("runs rm --where model.span=65 --yes").code, 3);
  const ProgramResult asked = xlm("runs rm --where model.span=64 --where seed=1 adaptive-span-text8-00000008");
  EXPECT_EQ(asked.code, 2);
  EXPECT_THAT(asked.err, HasSubstr("would delete the folders of 3 runs"));
  EXPECT_EQ(json("runs ls").size(), 8) << "without --yes";
  EXPECT_EQ(json("runs rm --where model.span=64 --where seed=1 00000008 --yes")["removed"].size(), 3);
  EXPECT_EQ(json("runs ls").size(), 5);
  EXPECT_EQ(json("runs ls --where model.span=64 --where seed=1").size(), 0);
}

TEST_F(ResultsCommands, APathOutOfTheFolderOfRunsIsRefused) {
  make_sweep();
  const std::string id = "adaptive-span-text8-00000001";
  create_folders(temporary_.path() / "node2");
  fs::copy(temporary_.path() / "runs", temporary_.path() / "node2" / "runs", fs::copy_options::recursive);
  const std::vector<std::string> commands{"runs rm --yes", "runs show", "runs stop", "runs pack --out x.tar",
                                          "runs export --format csv --out x"};
  for (const std::string& command : commands) {
    for (const char* path : {"node2/runs/", "/nonexistent/", "./", "node2/../", "runs/adaptive-span-text8-00000002/"}) {
      const ProgramResult refused = xlm(command + " " + path + id);
      EXPECT_EQ(refused.code, 2) << command << " " << path << refused.err;
      EXPECT_THAT(refused.err, HasSubstr("is not a run in runs\nname a run there by its id"));
    }
    EXPECT_EQ(xlm(command + " runs/").code, 2);
    EXPECT_EQ(xlm(command + " runs/" + id + "/..").code, 2);
    EXPECT_EQ(xlm(command + " runs/adaptive-span-text8-0000000").code, 2) << "a path needs the whole id";
  }
  for (const char* path : {"runs/", "./runs/", "node2/../runs/"}) {
    EXPECT_EQ(json("runs show " + std::string(path) + id)["run_id"], id) << path;
  }
  EXPECT_EQ(xlm("runs rm --yes --runs node2/runs node2/runs/" + id + "/").code, 0);
  EXPECT_FALSE(fs::exists(temporary_.path() / "node2" / "runs" / id));
  EXPECT_TRUE(fs::exists(maker_.folder(id)));
}

TEST_F(ResultsCommands, HiddenFilesArePackedAndUnpacked) {
  make_sweep();
  write(".gitignore", "x");
  write("runs/adaptive-span-text8-00000001/.notes", "mine");
  ASSERT_EQ(xlm("runs pack adaptive-span-text8-00000001 --add .gitignore --out x.tar.zst").code, 0);
  const ProgramResult merged = xlm("runs merge x.tar.zst --runs other");
  EXPECT_EQ(merged.code, 0) << merged.err;
  EXPECT_EQ(read_file(temporary_.path() / "other" / "adaptive-span-text8-00000001" / ".notes"), "mine");
}

TEST_F(ResultsCommands, NamesThatNoRunHasAreNeitherPackedNorUnpacked) {
  make_sweep();
  const std::string id = "adaptive-span-text8-00000001";
  create_folders(temporary_.path() / "other");
  for (const char* name : {"results.db", "my-run", "-rf"}) {
    fs::copy(maker_.folder(id), temporary_.path() / "other" / name, fs::copy_options::recursive);
  }
  ASSERT_EQ(shell(temporary_.path(), "tar cf other.tar other").code, 0);
  for (const char* source : {"other", "other.tar"}) {
    const ProgramResult merged = xlm(std::string("runs merge ") + source + " --runs here");
    EXPECT_EQ(merged.code, 1);
    EXPECT_THAT(merged.out, HasSubstr("\"results.db\": it is not named like a run"));
    EXPECT_FALSE(fs::exists(temporary_.path() / "here" / "results.db"));
    EXPECT_EQ(xlm("runs ls --runs here").code, 0);
  }
  fs::rename(maker_.folder(id), maker_.folder("my-run"));
  EXPECT_THAT(xlm("runs pack my-run --out x.tar").err, HasSubstr("cannot import a run with this name"));
}

TEST_F(ResultsCommands, FilesThatWouldOverwriteEachOtherAreNotPacked) {
  make_sweep();
  for (const char* folder : {"a", "b"}) create_folders(temporary_.path() / folder);
  write("a/notes.txt", "one");
  write("b/notes.txt", "two");
  const ProgramResult refused = xlm("runs pack --add a/notes.txt --add b/notes.txt --out x.tar");
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--add a/notes.txt and --add b/notes.txt: both would be 'notes.txt'"));
  write("SHA256SUMS", "none");
  EXPECT_THAT(xlm("runs pack --add SHA256SUMS --out x.tar").err, HasSubstr("already contains a 'SHA256SUMS'"));
  EXPECT_FALSE(fs::exists(temporary_.path() / "x.tar"));
  EXPECT_EQ(xlm("runs pack --add a/notes.txt --out x.tar").code, 0);
}

TEST_F(ResultsCommands, ReadingAFolderWithoutRunsWritesNothing) {
  create_folders(temporary_.path() / "data");
  write("data/text.txt", "no runs");
  EXPECT_THAT(xlm("runs ls --runs data").err, HasSubstr("there are no runs in data yet"));
  EXPECT_FALSE(fs::exists(temporary_.path() / "data" / "results.db"));
}

TEST_F(ResultsCommands, TheBeginningOfTheHashIsANameToo) {
  for (const char* id :
       {"adaptive-span-text8-f408d66da1b2c3d4", "gpt2-text8-f408d6000a1b2c3d", "f40-span-text8-0000000100000002"}) {
    maker_.make({.id = id});
  }
  for (const char* name : {"f408d66d", "f408d66da1b2c3d4", "f408d66"}) {
    EXPECT_EQ(json(fmt::format("runs show {}", name))["run_id"], "adaptive-span-text8-f408d66da1b2c3d4") << name;
    EXPECT_THAT(xlm(fmt::format("eval {}", name)).err, HasSubstr("model of adaptive-span-text8-f408d66da1b2c3d4"));
  }
  EXPECT_EQ(json("runs show f40-")["run_id"], "f40-span-text8-0000000100000002");
  EXPECT_EQ(json("runs show f40")["run_id"], "f40-span-text8-0000000100000002")
      << "the beginning of an id has priority";
  for (const char* command : {"runs show", "eval"}) {
    const ProgramResult either = xlm(fmt::format("{} f408d6", command));
    EXPECT_EQ(either.code, 2) << either.err;
    EXPECT_THAT(either.err, HasSubstr("adaptive-span-text8-f408d66da1b2c3d4, gpt2-text8-f408d6000a1b2c3d"));
    EXPECT_EQ(xlm(fmt::format("{} 08d66d", command)).code, 3) << "not the beginning of the hash";
  }
}

TEST_F(ResultsCommands, AMistypedRunIsSuggestedAndAnotherOneIsNot) {
  make_sweep();
  EXPECT_THAT(xlm("runs show adaptive-span-text8-0000000x").err,
              HasSubstr("did you mean 'adaptive-span-text8-00000001'"));
  EXPECT_THAT(xlm("runs rm adaptive-span-text8-1234abcd --yes").err, Not(HasSubstr("did you mean")));
}

TEST_F(ResultsCommands, JsonOfAListHasTheColumnsOfTheTextUnlessAllIsAskedFor) {
  make_sweep();
  const Json listed = json("runs ls --limit 1").at(0);
  for (const char* key : {"run_id", "experiment", "status", "step", "valid.bpc", "test.bpc", "created"}) {
    EXPECT_TRUE(listed.contains(key)) << key;
  }
  EXPECT_FALSE(listed.contains("params"));
  EXPECT_LT(listed.dump().size(), 400);
  const Json all = json("runs ls --all --limit 1").at(0);
  EXPECT_EQ(all["params"]["model.span"], 256);
  EXPECT_GT(all["evaluations"].size(), 0);
}

TEST_F(ResultsCommands, WarnAboutMalformedRunsAndContinue) {
  make_sweep();
  maker_.make({.id = "broken"});
  write("runs/broken/config.yaml", "model: [\n");
  std::ofstream(RunPaths{maker_.folder("adaptive-span-text8-00000001")}.journal(), std::ios::app) << "not a record\n";
  const ProgramResult list = xlm("runs ls --json");
  EXPECT_EQ(list.code, 0);
  EXPECT_EQ(Json::parse(list.out).size(), 8);
  EXPECT_THAT(list.err, HasSubstr("broken/config.yaml"));
  EXPECT_THAT(list.err, HasSubstr("1 malformed line is left out"));
}

TEST_F(ResultsCommands, CostsAreAddedUp) {
  make_sweep();
  for (const auto& [id, flops] :
       {std::pair{"adaptive-span-text8-00000001", 2e9}, {"adaptive-span-text8-00000002", 3e9}}) {
    maker_.journal({.id = id})
        .append("costs", {{"values", {{"training_flops", flops}, {"energy", 50.0}, {"energy_gpu", 700.0}}}});
  }
  const Json costs = json("runs cost");
  ASSERT_EQ(costs["runs"].size(), 8);
  EXPECT_EQ(costs["all"]["training_flops"], 5e9);
  EXPECT_EQ(costs["all"]["energy"], 100);
  EXPECT_EQ(costs["all"]["energy_gpu"], 1400);
  EXPECT_EQ(costs["all"]["gpu_hours"], nullptr);
  EXPECT_EQ(json("runs cost --where seed=1 --where model.span=64")["runs"].size(), 2);
  const std::string text = xlm("runs cost").out;
  EXPECT_THAT(text, HasSubstr("8 runs"));
  EXPECT_THAT(text, HasSubstr("5.00G"));
  EXPECT_THAT(text, Not(HasSubstr("GPU hours"))) << "no run has them";
  EXPECT_THAT(xlm("runs cost --format csv").out,
              HasSubstr("run,status,processor_hours,gpu_hours,training_flops,evaluation_flops,energy,energy_gpu\n"));
  EXPECT_EQ(xlm("runs cost --format xml").code, 2);
  maker_.journal({.id = "adaptive-span-text8-00000002"})
      .append("costs", {{"values", {{"training_flops", 3e9}, {"inherited_flops", 1e9}}}});
  EXPECT_EQ(json("runs cost")["all"]["training_flops"], 4e9) << "another run has paid for the rest";
}

}  // namespace
}  // namespace xlm
