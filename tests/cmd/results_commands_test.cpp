// xlm pareto, table, figure and report: output, messages and exit codes.
#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "tests/cmd/results_commands_fixture.h"
#include "tests/experiments/program.h"
#include "tests/needs.h"
#include "tests/readers.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(ResultsCommands, AFigureAloneWithNothingToShowIsAnError) {
  make_sweep();
  write("f.yaml", "figure: \"Memory: peak\"\nx: model.span\ny: peak_memory\n");
  const ProgramResult outcome = xlm("figure f.yaml --format html");
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.err,
              HasSubstr("the figure 'Memory: peak' has nothing to show: none of 8 runs has both model.span "
                        "and peak_memory\n"));
  EXPECT_THAT(outcome.err, HasSubstr("to list the runs: xlm runs ls; to make them: xlm sweep"));
  EXPECT_EQ(xlm("report f.yaml").code, 0);
  EXPECT_THAT(read_file(temporary_.path() / "report.html"),
              HasSubstr("Nothing to show: none of 8 runs has both model.span and peak_memory. "));
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
              HasSubstr("no run has model.span=65; the nearest there is: 64, besides 256"));
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
  EXPECT_THAT(xlm(command).out, HasSubstr("text8: 2 on the front (●), 6 dominated. Hypervolume "));
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
  EXPECT_EQ(xlm("table --where seed=1 recipe.yaml").code, 0) << "the file is not part of the condition";
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
  EXPECT_THAT(xlm("table t.yaml --where sede=1").err, Not(HasSubstr("t.yaml"))) << "the mistake is not in the file";
}

TEST_F(ResultsCommands, FilesHaveTheFormatOfTheirName) {
  make_sweep();
  write("t.yaml", "tables:\n  - {table: A, rows: model.span_type, cells: {value: test.bpc}}\n");
  for (const char* command : {"table t.yaml", "pareto --x params --y test.bpc"}) {
    const ProgramResult refused = xlm(fmt::format("{} --out x.pdf", command));
    EXPECT_EQ(refused.code, 2);
    EXPECT_THAT(refused.err, HasSubstr("no format has the ending '.pdf'"));
    EXPECT_THAT(refused.err, HasSubstr("latex (.tex)"));
    EXPECT_FALSE(fs::exists(temporary_.path() / "x.pdf"));
    EXPECT_THAT(xlm(fmt::format("{} --out x.csv --format latex", command)).err, HasSubstr("contradict each other"));
    EXPECT_EQ(xlm(fmt::format("{} --out new/deep/x.tex", command)).code, 0) << "its folder is made";
    EXPECT_THAT(read_file(temporary_.path() / "new/deep/x.tex"), HasSubstr("\\begin{table"));
    EXPECT_EQ(xlm(fmt::format("{} --out x.results --format csv", command)).code, 0) << "any name, with --format";
  }
}

TEST_F(ResultsCommands, CsvHoldsOneTable) {
  make_sweep();
  write("t.yaml",
        "tables:\n  - {table: A, rows: model.span_type, cells: {value: test.bpc}}\n"
        "  - {table: Of spans, name: spans, rows: model.span, cells: {value: test.bpc}}\n");
  const ProgramResult refused = xlm("table t.yaml --format csv");
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("CSV holds one table\nchoose it with --name: a, spans"));
  EXPECT_THAT(xlm("table t.yaml --format csv --name spans").out, HasSubstr("test.bpc"));
}

TEST_F(ResultsCommands, AFigureThatIsNotLegibleKeepsNoneOfTheOthers) {
  make_sweep();
  write("f.yaml",
        "figures:\n  - {figure: small, x: model.span, y: test.bpc, width: 0.8}\n"
        "  - {figure: large, x: model.span, y: test.bpc}\n");
  if (!readers_are_installed()) GTEST_SKIP() << needs::kReaders;
  ::setenv("PYTHONPATH", XLM_READERS, 1);
  const ProgramResult drawn = xlm("figure f.yaml");
  EXPECT_EQ(drawn.code, 3);
  EXPECT_THAT(drawn.err, HasSubstr("the figure 'small' is not legible"));
  EXPECT_EQ(drawn.out, "large.svg\n");
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

TEST_F(ResultsCommands, TheHintForMissingRunsNamesExistingData) {
  const std::string recipe = kRecipe;
  const auto with_data = [&](const std::string& path) {
    write("recipe.yaml", std::string(recipe).replace(recipe.find("path: data"), 10, "path: " + path));
  };
  const auto hint = [&] { return xlm("table recipe.yaml --profile smoke").err; };
  with_data("nowhere");
  EXPECT_THAT(hint(), HasSubstr("`xlm sweep recipe.yaml --profile smoke data.path=DIR` makes them"));
  make_sweep();
  EXPECT_THAT(hint(), HasSubstr(" data.path=DIR`")) << "the runs' data are missing";
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

TEST_F(ResultsCommands, FigureNamesItsFile) {
  if (!readers_are_installed()) GTEST_SKIP() << needs::kReaders;
  ::setenv("PYTHONPATH", XLM_READERS, 1);
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
  if (!readers_are_installed()) GTEST_SKIP() << needs::kReaders;
  ::setenv("PYTHONPATH", XLM_READERS, 1);
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

TEST_F(ResultsCommands, PagesNeedNoPython) {
  make_sweep();
  write("recipe.yaml", kRecipe);
  const ProgramResult figure = without_programs("figure recipe.yaml --name one --format html");
  const ProgramResult table = without_programs("table recipe.yaml --out table.html");
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
  for (const char* text : {"<h3>First</h3>", "<h3>One</h3>", "<h3>Two</h3>", "Nothing to show: none of 8 runs has both",
                           "<code>xlm sweep recipe.yaml data.path=DIR</code>. To check whether they can fill this, add "
                           "<code>--check</code>",
                           "8 runs: 8 done", "adaptive-span-text8-00000008"}) {
    EXPECT_THAT(page, HasSubstr(text));
  }
  const Json summary = json("report recipe.yaml --where seed=1 --out other.html");
  EXPECT_EQ(summary["file"], "other.html");
  EXPECT_EQ(summary["tables"], 1);
  EXPECT_EQ(summary["figures"], 2) << "a figure with nothing to show counts too";
  EXPECT_EQ(summary["nothing_to_show"], 1);
  EXPECT_EQ(summary["printed"]["values"], 0);
  EXPECT_EQ(summary["printed"]["agrees"], 0);
  EXPECT_THAT(read_file(temporary_.path() / "other.html"), HasSubstr("4 runs: 4 done"));
}

TEST_F(ResultsCommands, ReportsAdviseHowToMakeMissingRuns) {
  make_sweep();
  write("recipe.yaml",
        "experiment: spans\nmodel: {type: adaptive-span}\nsweep: {grid: {model.span: [64, 256, 999], "
        "model.span_type: [fixed, adaptive]}}\ntable: First\nrows: [{label: far, where: {model.span: 999}}]\n"
        "columns: [{value: test.bpc}]\n");
  const Json summary = json("report recipe.yaml");
  EXPECT_EQ(summary["tables"], 1);
  EXPECT_EQ(summary["nothing_to_show"], 1) << "a table without a number";
  EXPECT_THAT(read_file(temporary_.path() / "report.html"), HasSubstr("To make its runs: <code>xlm sweep"));
  write("wrong.yaml",
        "experiment: spans\nsweep: {gird: {seed: [1]}}\ntable: First\nrows: model.span\n"
        "cells: {value: test.bpc}\n");
  EXPECT_EQ(xlm("report wrong.yaml").code, 0) << "existing runs are shown, whatever made them";
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
  EXPECT_EQ(later.code, 0) << "a report may have no runs yet";
  EXPECT_THAT(later.err, HasSubstr("`xlm sweep recipes/b.yaml --profile smoke data.path=DIR` makes them"));
  EXPECT_THAT(read_file(temporary_.path() / "report.html"), HasSubstr("There are no runs yet."));
}

TEST_F(ResultsCommands, RunsOfAForgottenProfileAreFound) {
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
  EXPECT_THAT(xlm("report wrong.yaml --where model.spam=1").err, Not(HasSubstr("wrong.yaml:1")))
      << "the mistake is not in the file";
  write("plain.yaml", "experiment: x\ntables: []\n");
  EXPECT_THAT(xlm("report plain.yaml").err, HasSubstr("describes no table and no figure"));
  create_folders(temporary_.path() / "none");
  EXPECT_EQ(xlm("report none").code, 2);
  EXPECT_EQ(xlm("report missing.yaml").code, 2);
  EXPECT_EQ(xlm("report").code, 2);
}

TEST_F(ResultsCommands, FigureWithoutMatplotlibIsAnError) {
  make_sweep();
  write("recipe.yaml", kRecipe);
  const ProgramResult outcome = without_programs("figure recipe.yaml --name one");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("python3 -m pip install matplotlib"));
}

}  // namespace
}  // namespace xlm
