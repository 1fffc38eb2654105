// xlm runs, pareto, table and figure as a user or a script meets them: output, messages and exit codes.
#include <cstdlib>
#include <fstream>
#include <regex>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "base/text.h"
#include "tests/experiments/program.h"
#include "tests/results/figures/gnuplot_installed.h"
#include "tests/results/run_maker.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class ResultsCommands : public ::testing::Test {
 protected:
  /// Runs xlm in the temporary folder; `arguments` go through the shell.
  ProgramResult xlm(const std::string& arguments) const {
    return shell(temporary_.path(), fmt::format("'{}' {}", XLM_BINARY, arguments));
  }

  /// The same where no program is on the PATH.
  ProgramResult without_gnuplot(const std::string& arguments) const {
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

TEST_F(ResultsCommands, WithoutRunsSayWhatToDo) {
  fs::remove_all(temporary_.path() / "runs");
  const ProgramResult list = xlm("runs ls");
  EXPECT_EQ(list.code, 0);
  EXPECT_THAT(list.err, HasSubstr("xlm train"));
  EXPECT_EQ(json("runs ls"), Json::array());
  EXPECT_EQ(xlm("pareto --x params --y test.bpc").code, 3);
  EXPECT_EQ(xlm("runs sync").code, 3);
  EXPECT_EQ(xlm("runs sql 'SELECT * FROM runs'").code, 0);
  EXPECT_EQ(xlm("runs ls --runs nowhere").code, 3);
  EXPECT_FALSE(fs::exists(temporary_.path() / "runs")) << "looking makes nothing";
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
  EXPECT_EQ(first("--sort test.bpc --reverse"), "adaptive-span-text8-00000002") << "1.956, and nothing comes last";
  EXPECT_EQ(json("runs ls --sort test.bpc --reverse")[8]["run_id"], "unfinished");
  EXPECT_EQ(json("runs ls --sort test.bpc --columns test.bpc")[8],
            (Json{{"run_id", "unfinished"}, {"test.bpc", nullptr}}));
  EXPECT_EQ(first("--reverse"), "unfinished") << "the oldest";
  EXPECT_EQ(json("runs ls --sort test.bpc --limit 2").size(), 2);
  EXPECT_EQ(xlm("runs ls --sort test.bcp").code, 2);
}

TEST_F(ResultsCommands, ListsShowTimesAsTimes) {
  maker_.make({.id = "a", .time = 1700000000});
  EXPECT_THAT(xlm("runs ls --columns created,params,test.tokens").out, HasSubstr("  2023-11-1"));
  EXPECT_THAT(xlm("runs ls --columns created --format csv").out, HasSubstr("\na,2023-11-14T22:13:20Z\n"));
}

TEST_F(ResultsCommands, EvaluationsOfOtherModelsAreListedApart) {
  make_sweep();
  maker_.make({.id = "eval-gpt2-1"});
  write_file(RunPaths{maker_.folder("eval-gpt2-1")}.environment(), R"({"model_sha256": "abc", "dataset": "text8"})");
  EXPECT_THAT(xlm("runs ls").out, HasSubstr("\n\nModels that were only measured here\n"));
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
  const ProgramResult beside = xlm("runs ls");
  EXPECT_THAT(beside.out, HasSubstr("41.2500 word ppl"));
  EXPECT_THAT(beside.out, HasSubstr("1.6640 bpc"));
  const ProgramResult csv = xlm("runs ls --format csv --limit 1 --where run_id=gpt2-wiki-1");
  EXPECT_THAT(csv.out, HasSubstr("run,experiment,status,step,valid.word_perplexity,test.word_perplexity,created"));
  EXPECT_THAT(xlm("runs ls --format csv").out,
              HasSubstr("step,valid.bpc,test.bpc,valid.word_perplexity,test.word_perplexity,created"));
  EXPECT_THAT(xlm("runs ls --where model.span=64").out, HasSubstr("valid bpc  test bpc")) << "as before, of one kind";
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
  EXPECT_EQ(details["spans"], details["grids"]["spans"]);
  write("f.yaml", "figure: Gates\nkind: heatmap\ngrid: gate_shares\n");
  const ProgramResult wrong = xlm("figure f.yaml --format html");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("did you mean 'gate_share'?); there is: gate_share, spans"));
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

TEST_F(ResultsCommands, AFigureAloneWithNothingToShowIsAnError) {
  make_sweep();
  write("f.yaml", "figure: \"Memory: peak\"\nx: model.span\ny: peak_memory\n");
  const ProgramResult outcome = xlm("figure f.yaml --format html");
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.err,
              HasSubstr("the figure 'Memory: peak' has nothing to show: none of 8 runs has both model.span "
                        "and peak_memory\n"));
  EXPECT_THAT(outcome.err, HasSubstr("`xlm runs ls` lists the runs, `xlm sweep` makes them"));
  EXPECT_EQ(xlm("report f.yaml").code, 0);
  EXPECT_THAT(read_file(temporary_.path() / "report.html"),
              HasSubstr("Nothing to show: none of 8 runs has both model.span and peak_memory. "));
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
  EXPECT_THAT(xlm("runs show adaptive-span").err, HasSubstr("may be 8 runs"));
  const ProgramResult wrong = xlm("runs show adaptive-span-text8-0000000x");
  EXPECT_THAT(wrong.err, HasSubstr("did you mean"));
  for (const char* command : {"runs show", "runs rm --yes", "sample --prompt a", "eval"}) {
    EXPECT_EQ(xlm(fmt::format("{} adaptive-span-text8-0000000x", command)).code, 3) << command;
    EXPECT_EQ(xlm(fmt::format("{} adaptive-span-text8-", command)).code, 2) << command << ": which of them?";
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
  const ProgramResult nobody = xlm("runs rm --yes");
  EXPECT_EQ(nobody.code, 2);
  EXPECT_THAT(nobody.err, HasSubstr("which runs are to be deleted?"));
  EXPECT_EQ(xlm("runs rm --where model.span=65 --yes").code, 3);
  const ProgramResult asked = xlm("runs rm --where model.span=64 --where seed=1 adaptive-span-text8-00000008");
  EXPECT_EQ(asked.code, 2);
  EXPECT_THAT(asked.err, HasSubstr("the folders of 3 runs for good"));
  EXPECT_EQ(json("runs ls").size(), 8) << "nobody said --yes";
  EXPECT_EQ(json("runs rm --where model.span=64 --where seed=1 00000008 --yes")["removed"].size(), 3);
  EXPECT_EQ(json("runs ls").size(), 5);
  EXPECT_EQ(json("runs ls --where model.span=64 --where seed=1").size(), 0);
}

TEST_F(ResultsCommands, FilesThatWouldTakeEachOthersPlaceAreNotPacked) {
  make_sweep();
  for (const char* folder : {"a", "b"}) create_folders(temporary_.path() / folder);
  write("a/notes.txt", "one");
  write("b/notes.txt", "two");
  const ProgramResult refused = xlm("runs pack --add a/notes.txt --add b/notes.txt --out x.tar");
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--add a/notes.txt and --add b/notes.txt: both would be 'notes.txt'"));
  write("SHA256SUMS", "none");
  EXPECT_THAT(xlm("runs pack --add SHA256SUMS --out x.tar").err, HasSubstr("has a 'SHA256SUMS' of its own"));
  EXPECT_FALSE(fs::exists(temporary_.path() / "x.tar"));
  EXPECT_EQ(xlm("runs pack --add a/notes.txt --out x.tar").code, 0);
}

TEST_F(ResultsCommands, HelpSaysHowRunsAreNamedWhereverTheyAre) {
  for (const char* command : {"show", "stop", "rm", "export", "pack"}) {
    const std::string help = xlm(fmt::format("runs {} --help", command)).out;
    EXPECT_TRUE(
        std::regex_search(help, std::regex("beginnings?\\s+of\\s+(one|them)\\s+or\\s+of\\s+(its|their)\\s+hash")))
        << help;
  }
}

TEST_F(ResultsCommands, SubcommandsAreNamedWhenMisspelt) {
  const ProgramResult wrong = xlm("runs lss");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("did you mean 'ls'?"));
  EXPECT_EQ(xlm("runs").code, 2);
}

TEST_F(ResultsCommands, ParetoIsAsDocumented) {
  make_sweep();
  const Json front = json("pareto --x flops_per_token --y test.bpc --group-by model.span,model.span_type");
  for (const char* field : {"x", "y", "front", "dominated", "hypervolume", "reference"})
    EXPECT_TRUE(front.contains(field));
  EXPECT_EQ(front["front"].size(), 2);
  EXPECT_EQ(json("pareto --x flops_per_token --y test.bpc --maximize y --reference 3e8,1")["reference"][0], 3e8);
  EXPECT_THAT(xlm("pareto --x flops_per_token --y test.bpc").out, HasSubstr("Hypervolume"));
  EXPECT_EQ(xlm("pareto --x flops_per_token").code, 2);
  EXPECT_EQ(xlm("pareto --x flops --y test.bpc").code, 2);
  EXPECT_THAT(xlm("pareto --x params --y test.bpc --where model.span=65").err,
              HasSubstr("no run has model.span=65; the nearest there is: 64, beside 256"));
  EXPECT_EQ(xlm("pareto --x params --y test.bpc --reference 1").code, 2);
  EXPECT_EQ(xlm("pareto --x params --y test.bpc --maximize z").code, 2);
  EXPECT_EQ(xlm("pareto --x peak_memory --y test.bpc").code, 3);
}

TEST_F(ResultsCommands, ParetoComparesNoCorpora) {
  make_sweep();
  maker_.make({.id = "easy", .bpc = 0.1, .flops = 1});
  write_file(RunPaths{maker_.folder("easy")}.environment(),
             Json{{"dataset", "easy"}, {"language", ""}, {"fingerprint", "beef"}}.dump());
  const std::string command = "pareto --x flops_per_token --y test.bpc";
  const Json both = json(command);
  ASSERT_EQ(both["fronts"].size(), 2);
  EXPECT_EQ(both["fronts"][0]["corpus"], "easy");
  EXPECT_THAT(xlm(command).out, HasSubstr("text8: 2 on the front (●), 6 dominated; hypervolume "));
  EXPECT_THAT(xlm(command).err, HasSubstr("--where data.name=NAME (or data.fingerprint) chooses one"));
  const Json one = json(command + " --where data.name=text8");
  EXPECT_EQ(one["front"], both["fronts"][1]["front"]);
}

TEST_F(ResultsCommands, ParetoCountsTheRunsThatLackAColumn) {
  make_sweep();
  const std::string command = "pareto --x flops_per_token --y test.bpc";
  EXPECT_THAT(xlm(command).out, Not(HasSubstr("without all of these columns")));
  maker_.make({.id = "first", .state = "running"});
  EXPECT_THAT(xlm(command).out, HasSubstr(", 1 run without all of these columns."));
  maker_.make({.id = "second", .state = "failed"});
  EXPECT_THAT(xlm(command).out, HasSubstr(", 2 runs without all of these columns."));
}

constexpr const char* kRecipe =
    "experiment: spans\ndata: {path: data}\nmodel: {type: adaptive-span}\ntrain: {steps: 1}\n"
    "sweep: {grid: {seed: [1, 2]}}\nprofiles:\n  smoke: {experiment: spans-smoke}\n"
    "tables:\n  - {table: First, rows: model.span_type, columns: model.span, cells: {value: test.bpc}}\n"
    "figures:\n  - {figure: One, x: model.span, y: test.bpc, series: model.span_type}\n"
    "  - {figure: Two, x: model.span, y: peak_memory}\n";

TEST_F(ResultsCommands, TableShowsTheRecipesOwnExperiment) {
  make_sweep();
  maker_.make({.id = "other", .experiment = "elsewhere", .type = "dynamic"});
  write("recipe.yaml", kRecipe);
  const ProgramResult table = xlm("table recipe.yaml");
  EXPECT_EQ(table.code, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("1.659"));
  EXPECT_THAT(table.out, Not(HasSubstr("dynamic")));
  EXPECT_THAT(xlm("table recipe.yaml --experiment elsewhere").out, HasSubstr("dynamic"));
  EXPECT_THAT(xlm("table recipe.yaml --profile smoke").err, HasSubstr("spans-smoke"));
  EXPECT_EQ(xlm("table --where seed=1 recipe.yaml").code, 0) << "a condition does not swallow the file";
  EXPECT_EQ(xlm("table recipe.yaml --profile smok").code, 2);
  EXPECT_EQ(xlm("table recipe.yaml --name second").code, 2);
  EXPECT_EQ(json("table recipe.yaml")[0]["table"], "First");
  EXPECT_EQ(xlm("table recipe.yaml --out table.md").code, 0);
  EXPECT_THAT(read_file(temporary_.path() / "table.md"), HasSubstr("| adaptive"));
}

TEST_F(ResultsCommands, ATableWithNothingToShowDoesNotHideTheOthers) {
  make_sweep();
  write("t.yaml",
        "experiment: not-yet\ntables:\n  - {table: First, rows: model.span_type, cells: {value: test.bpc}}\n"
        "  - {table: Second, rows: [{label: ours}], cells: {value: test.bpc}, printed: {ours: {test.bpc: 1.08}}}\n");
  const ProgramResult outcome = xlm("table t.yaml");
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.out, HasSubstr("– [1.08]"));
  EXPECT_THAT(outcome.err, HasSubstr("'First' has nothing to show"));
}

TEST_F(ResultsCommands, TableRefusesWhatItDoesNotKnow) {
  make_sweep();
  write("t.yaml", "table: T\nrows: model.span_type\ncell: {value: test.bpc}\n");
  const ProgramResult wrong = xlm("table t.yaml");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("t.yaml:3: unknown key 'cell' (did you mean 'cells'?)"));
  EXPECT_EQ(xlm("table missing.yaml").code, 2);
  EXPECT_EQ(xlm("table").code, 2);
}

TEST_F(ResultsCommands, MistakesInADescriptionAreReportedWithItsPlace) {
  make_sweep();
  write("t.yaml", "tables:\n  - {table: A, rows: model.span_type, cells: {value: test.bcp}}\n");
  write("f.yaml", "figures:\n  - {figure: A, x: model.spann, y: test.bpc}\n");
  EXPECT_THAT(xlm("table t.yaml").err, HasSubstr("t.yaml:2: no run in the store has a column 'test.bcp'"));
  EXPECT_THAT(xlm("figure f.yaml").err, HasSubstr("f.yaml:2: no run in the store has a column 'model.spann'"));
  EXPECT_THAT(xlm("table t.yaml --where sede=1").err, Not(HasSubstr("t.yaml"))) << "it is not the file's mistake";
}

TEST_F(ResultsCommands, FilesAreWhatTheirNameSays) {
  make_sweep();
  write("t.yaml", "tables:\n  - {table: A, rows: model.span_type, cells: {value: test.bpc}}\n");
  for (const char* command : {"table t.yaml", "pareto --x params --y test.bpc"}) {
    const ProgramResult refused = xlm(fmt::format("{} --out x.pdf", command));
    EXPECT_EQ(refused.code, 2);
    EXPECT_THAT(refused.err, HasSubstr("nothing is written as '.pdf' here"));
    EXPECT_THAT(refused.err, HasSubstr("latex (.tex)"));
    EXPECT_FALSE(fs::exists(temporary_.path() / "x.pdf"));
    EXPECT_THAT(xlm(fmt::format("{} --out x.csv --format latex", command)).err, HasSubstr("contradict each other"));
    EXPECT_EQ(xlm(fmt::format("{} --out new/deep/x.tex", command)).code, 0) << "its folder is made";
    EXPECT_THAT(read_file(temporary_.path() / "new/deep/x.tex"), HasSubstr("\\begin{table}"));
    EXPECT_EQ(xlm(fmt::format("{} --out x.results --format csv", command)).code, 0) << "any name, where one says what";
  }
}

TEST_F(ResultsCommands, ReportsAreWrittenAsPagesAlone) {
  make_sweep();
  write("recipe.yaml", kRecipe);
  for (const char* name : {"x.pdf", "x.csv"}) {
    const ProgramResult refused = xlm(fmt::format("report recipe.yaml --out {}", name));
    EXPECT_EQ(refused.code, 2);
    EXPECT_THAT(refused.err, HasSubstr(fmt::format("--out {}: a report is an HTML page\nwrite it to x.html", name)));
    EXPECT_FALSE(fs::exists(temporary_.path() / name));
  }
  for (const char* name : {"x.html", "x.htm", "x"}) {
    EXPECT_EQ(xlm(fmt::format("report recipe.yaml --out {}", name)).code, 0) << name;
  }
}

TEST_F(ResultsCommands, WhatMakesMissingRunsNamesDataThatAreThere) {
  const std::string recipe = kRecipe;
  const auto with_data = [&](const std::string& path) {
    write("recipe.yaml", std::string(recipe).replace(recipe.find("path: data"), 10, "path: " + path));
  };
  const auto hint = [&] { return xlm("table recipe.yaml --profile smoke").err; };
  with_data("nowhere");
  EXPECT_THAT(hint(), HasSubstr("`xlm sweep recipe.yaml --profile smoke data.path=DIR` makes them"));
  make_sweep();
  EXPECT_THAT(hint(), HasSubstr(" data.path=DIR`")) << "theirs are gone";
  fs::create_directories(temporary_.path() / "data/text8");
  EXPECT_THAT(hint(), HasSubstr(" data.path=data/text8`"));
  EXPECT_THAT(xlm("table recipe.yaml --experiment mine").err,
              HasSubstr("sweep recipe.yaml experiment=mine data.path="));
  fs::rename(temporary_.path() / "recipe.yaml", temporary_.path() / "my recipe.yaml");
  EXPECT_THAT(xlm("table 'my recipe.yaml' --experiment 'my own'").err,
              HasSubstr("`xlm sweep 'my recipe.yaml' 'experiment=my own' data.path=data/text8`"));
  with_data("data/text8");
  EXPECT_THAT(hint(), HasSubstr("`xlm sweep recipe.yaml --profile smoke` makes them"));
}

TEST_F(ResultsCommands, FigureSaysWhereItWasWritten) {
  if (!gnuplot_is_installed()) GTEST_SKIP() << "gnuplot is not installed";
  make_sweep();
  write("recipe.yaml", kRecipe);
  const ProgramResult one = xlm("figure recipe.yaml --name one");
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_EQ(one.out, "one.svg\n");
  EXPECT_THAT(read_file(temporary_.path() / "one.svg"), HasSubstr("</svg>"));
  EXPECT_EQ(json("figure recipe.yaml --name one --out fine.png")[0]["file"], "fine.png");
  const ProgramResult both = xlm("figure recipe.yaml --out pictures --format pdf");
  EXPECT_EQ(both.code, 3) << "the second has nothing to show";
  EXPECT_THAT(both.err, HasSubstr("'Two' has nothing to show"));
  EXPECT_TRUE(fs::exists(temporary_.path() / "pictures" / "one.pdf"));
  EXPECT_EQ(xlm("figure recipe.yaml --out both.svg").code, 2);
  EXPECT_EQ(xlm("figure recipe.yaml --name one --out one.gif").code, 2);
}

TEST_F(ResultsCommands, FiguresAreWrittenInSeveralFormatsAtOnce) {
  if (!gnuplot_is_installed()) GTEST_SKIP() << "gnuplot is not installed";
  make_sweep();
  write("recipe.yaml", kRecipe);
  EXPECT_EQ(xlm("figure recipe.yaml --name one --format svg,html --out f/").out, "f/one.svg\nf/one.html\n");
  EXPECT_EQ(json("figure recipe.yaml --name one --format all --out all/").size(), 4);
  for (const char* file : {"one.svg", "one.pdf", "one.png", "one.html"}) {
    EXPECT_TRUE(fs::exists(temporary_.path() / "all" / file)) << file;
  }
  const ProgramResult two = xlm("figure recipe.yaml --name one --format svg,pdf --out one.svg");
  EXPECT_EQ(two.code, 2);
  EXPECT_THAT(two.err, HasSubstr("name a folder for several formats"));
  EXPECT_THAT(xlm("figure recipe.yaml --name one --format pgn").err, HasSubstr("did you mean 'png'?"));
}

TEST_F(ResultsCommands, PagesNeedNoGnuplot) {
  make_sweep();
  write("recipe.yaml", kRecipe);
  const ProgramResult figure = without_gnuplot("figure recipe.yaml --name one --format html");
  const ProgramResult table = without_gnuplot("table recipe.yaml --out table.html");
  EXPECT_EQ(figure.code, 0) << figure.err;
  EXPECT_EQ(figure.out, "one.html\n");
  EXPECT_THAT(read_file(temporary_.path() / "one.html"), HasSubstr("adaptive-span-text8-00000008"));
  EXPECT_EQ(table.code, 0) << table.err;
  EXPECT_THAT(read_file(temporary_.path() / "table.html"), HasSubstr("<h1>First</h1>"));
  EXPECT_EQ(xlm("figure recipe.yaml --out pages/ --format html").code, 3) << "the second has nothing to show";
  EXPECT_TRUE(fs::exists(temporary_.path() / "pages" / "one.html"));
}

TEST_F(ResultsCommands, ReportHoldsAllOfARecipe) {
  make_sweep();
  write("recipe.yaml", kRecipe);
  const ProgramResult report = xlm("report recipe.yaml");
  EXPECT_EQ(report.code, 0) << report.err;
  EXPECT_EQ(report.out, "report.html\n");
  const std::string page = read_file(temporary_.path() / "report.html");
  for (const char* text :
       {"<h3>First</h3>", "<h3>One</h3>", "<h3>Two</h3>", "Nothing to show: none of 8 runs has both",
        "<code>xlm sweep recipe.yaml --check</code>", "8 runs: 8 done", "adaptive-span-text8-00000008"}) {
    EXPECT_THAT(page, HasSubstr(text));
  }
  const Json summary = json("report recipe.yaml --where seed=1 --out other.html");
  EXPECT_EQ(summary["file"], "other.html");
  EXPECT_EQ(summary["tables"], 1);
  EXPECT_EQ(summary["figures"], 2) << "the one that has nothing to show is a figure too";
  EXPECT_EQ(summary["nothing_to_show"], 1);
  EXPECT_EQ(summary["printed"]["values"], 0);
  EXPECT_EQ(summary["printed"]["agrees"], 0);
  EXPECT_THAT(read_file(temporary_.path() / "other.html"), HasSubstr("4 runs: 4 done"));
}

TEST_F(ResultsCommands, ReportsSayHowManyRunsOfASweepAreDone) {
  make_sweep();
  write("recipe.yaml",
        "experiment: spans\nmodel: {type: adaptive-span}\nsweep: {grid: {model.span: [64, 256, 999], "
        "model.span_type: [fixed, adaptive]}}\ntable: First\nrows: [{label: far, where: {model.span: 999}}]\n"
        "columns: [{value: test.bpc}]\n");
  const Json summary = json("report recipe.yaml");
  EXPECT_EQ(summary["tables"], 1);
  EXPECT_EQ(summary["nothing_to_show"], 1) << "a table without a number";
  EXPECT_THAT(read_file(temporary_.path() / "report.html"),
              HasSubstr("4 of 6 runs of the sweep are done. Runs of this recipe are made with: <code>xlm sweep"));
  write("wrong.yaml",
        "experiment: spans\nsweep: {gird: {seed: [1]}}\ntable: First\nrows: model.span\n"
        "cells: {value: test.bpc}\n");
  EXPECT_EQ(xlm("report wrong.yaml").code, 0) << "runs that are there are shown, whoever made them";
}

TEST_F(ResultsCommands, LookingIntoAFolderWithoutRunsLeavesNothingThere) {
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
  EXPECT_EQ(json("runs show f40")["run_id"], "f40-span-text8-0000000100000002") << "the beginning of an id goes first";
  for (const char* command : {"runs show", "eval"}) {
    const ProgramResult either = xlm(fmt::format("{} f408d6", command));
    EXPECT_EQ(either.code, 2) << either.err;
    EXPECT_THAT(either.err, HasSubstr("adaptive-span-text8-f408d66da1b2c3d4, gpt2-text8-f408d6000a1b2c3d"));
    EXPECT_EQ(xlm(fmt::format("{} 08d66d", command)).code, 3) << "no beginning";
  }
}

TEST_F(ResultsCommands, AMistypedRunIsSuggestedAndAnotherOneIsNot) {
  make_sweep();
  EXPECT_THAT(xlm("runs show adaptive-span-text8-0000000x").err,
              HasSubstr("did you mean 'adaptive-span-text8-00000001'"));
  EXPECT_THAT(xlm("runs rm adaptive-span-text8-1234abcd --yes").err, Not(HasSubstr("did you mean")));
}

TEST_F(ResultsCommands, HelpSaysDotsWhereSeveralValuesFollow) {
  EXPECT_THAT(xlm("runs ls --help").out, HasSubstr("--columns COLUMN,… "));
  EXPECT_THAT(xlm("runs ls --help").out, Not(HasSubstr("...")));
  EXPECT_THAT(xlm("prepare-data --help").out, HasSubstr("--from PATH ..."));
  EXPECT_THAT(xlm("prepare-data text --fro a.txt --out d").err,
              HasSubstr("unknown option --fro (did you mean '--from'?)"));
}

TEST_F(ResultsCommands, ReportTakesFoldersOfRecipes) {
  make_sweep();
  create_folders(temporary_.path() / "recipes" / "inner");
  write("recipes/b.yaml", kRecipe);
  write("recipes/inner/a.yaml", "table: Alone\nrows: model.span_type\ncells: {value: test.bpc}\n");
  write("recipes/no-exhibits.yaml", "experiment: x\nmodel: {type: adaptive-span}\n");
  const Json summary = json("report recipes recipes/b.yaml");
  EXPECT_EQ(summary["recipes"], 2) << "each once, and none without tables or figures";
  const std::string page = read_file(temporary_.path() / "report.html");
  EXPECT_THAT(page, HasSubstr("<nav>"));
  EXPECT_THAT(page, HasSubstr("<h3>Alone</h3>"));
  const ProgramResult later = xlm("report recipes/b.yaml --profile smoke --runs runs");
  EXPECT_EQ(later.code, 0) << "a report may be of nothing yet";
  EXPECT_THAT(later.err, HasSubstr("`xlm sweep recipes/b.yaml --profile smoke data.path=DIR` makes them"));
  EXPECT_THAT(read_file(temporary_.path() / "report.html"), HasSubstr("There are no runs yet."));
}

TEST_F(ResultsCommands, RunsOfAProfileAreFoundWhereItWasForgotten) {
  maker_.make({.id = "one", .experiment = "spans-smoke"});
  write("recipe.yaml", kRecipe);
  for (const std::string command : {"table", "figure", "report"}) {
    EXPECT_THAT(xlm(command + " recipe.yaml").err,
                HasSubstr("no run of the experiment 'spans' is in runs yet, but there are some of 'spans-smoke'\n"
                          "add --profile smoke"))
        << command;
  }
  EXPECT_THAT(xlm("table recipe.yaml --profile smoke").err, Not(HasSubstr("--profile")));
}

TEST_F(ResultsCommands, ReportRefusesWhatItDoesNotKnow) {
  make_sweep();
  write("wrong.yaml", "table: T\nrows: model.span_type\ncells: {value: test.bcp}\n");
  const ProgramResult wrong = xlm("report wrong.yaml");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("wrong.yaml:1: no run in the store has a column 'test.bcp'"));
  EXPECT_FALSE(fs::exists(temporary_.path() / "report.html"));
  EXPECT_THAT(xlm("report wrong.yaml --where model.spam=1").err, Not(HasSubstr("wrong.yaml:1"))) << "not its fault";
  write("plain.yaml", "experiment: x\ntables: []\n");
  EXPECT_THAT(xlm("report plain.yaml").err, HasSubstr("describes no table and no figure"));
  create_folders(temporary_.path() / "none");
  EXPECT_EQ(xlm("report none").code, 2);
  EXPECT_EQ(xlm("report missing.yaml").code, 2);
  EXPECT_EQ(xlm("report").code, 2);
}

TEST_F(ResultsCommands, FigureWithoutGnuplotSaysSo) {
  make_sweep();
  write("recipe.yaml", kRecipe);
  const ProgramResult outcome = without_gnuplot("figure recipe.yaml --name one");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("apt-get install gnuplot-nox"));
}

TEST_F(ResultsCommands, WarnOfMalformedRunsAndGoOn) {
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

TEST_F(ResultsCommands, HelpIsACommandToo) {
  EXPECT_EQ(xlm("help runs ls").out, xlm("runs ls --help").out);
  EXPECT_EQ(xlm("help").out, xlm("--help").out);
  EXPECT_EQ(xlm("-V").out, xlm("--version").out);
  const ProgramResult wrong = xlm("help runs lss");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("unknown command 'runs lss' (did you mean 'ls'?)"));
  EXPECT_THAT(xlm("help worker").out, HasSubstr("--sweep FILE")) << "not in the list, but docs/clusters.md names it";
  const ProgramResult bare = xlm("");
  EXPECT_EQ(bare.code, 2);
  EXPECT_EQ(bare.err, xlm("--help").out);
}

TEST_F(ResultsCommands, ThePageForManHasEveryCommandAndOption) {
  const std::string page = xlm("help --man").out;
  for (const char* part :
       {".TH XLM 1", ".SS runs ls\n", "\\-\\-sort COLUMN", ".SS eval\\-overlap\n", ".SH EXIT STATUS", ".B 75\n"}) {
    EXPECT_THAT(page, HasSubstr(part));
  }
  EXPECT_THAT(page, Not(HasSubstr(".SS worker")));
  for (const std::string& line : split(page, '\n')) {
    if (line.empty() || line.front() != '.') continue;
    const std::string request = split(line, ' ').front();
    EXPECT_THAT((std::set<std::string>{".TH", ".SH", ".SS", ".TP", ".B", ".PP", ".nf", ".fi"}),
                testing::Contains(request));
  }
  if (std::system("command -v man >/dev/null 2>&1") != 0) return;
  write("xlm.1", page);
  const ProgramResult shown = shell(temporary_.path(), "man --warnings -l -Tutf8 ./xlm.1 2>&1 >/dev/null");
  EXPECT_EQ(shown.out + shown.err, "") << "groff has nothing to say";
}

TEST_F(ResultsCommands, HelpHasExamples) {
  for (const char* command :
       {"runs", "runs ls", "runs show", "runs sync", "runs sql", "runs rm", "pareto", "table", "figure", "report"}) {
    EXPECT_THAT(xlm(std::string(command) + " --help").out, HasSubstr("Example")) << command;
  }
}

}  // namespace
}  // namespace xlm
