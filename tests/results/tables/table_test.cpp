// Tables: their files, their numbers, their looks.
#include "results/tables/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/text.h"
#include "results/exhibits/exhibits.h"
#include "results/pages/table_html.h"
#include "results/tables/latex.h"
#include "results/tables/table_notes.h"
#include "results/tables/table_text.h"
#include "tests/results/run_maker.h"

namespace xlm {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TableDescription table_of(const std::string& yaml) {
  return read_table_description(find_exhibits(parse_yaml(yaml, "description.yaml"), ExhibitKind::kTable).front());
}

std::string refusal(const std::string& yaml) {
  try {
    table_of(yaml);
  } catch (const UsageError& error) {
    return error.what();
  }
  ADD_FAILURE() << "accepted:\n" << yaml;
  return "";
}

class Tables : public ::testing::Test {
 protected:
  Tables() {
    maker_.make_sweep({"fixed", "adaptive"}, {64, 256}, {1, 2, 3});
    sync();
  }

  void sync() { store_.sync(maker_.runs()); }

  Table table(const std::string& yaml, const std::vector<std::string>& filters = {}) {
    RunTable runs(store_);
    return std::get<Table>(build_table(runs, table_of(yaml), parse_filters(filters)));
  }

  std::string text(const std::string& yaml, int width = 0) {
    return render_table(table(yaml), TableFormat::kText, width);
  }

  TemporaryFolder temporary_;
  RunMaker maker_{temporary_.path() / "runs"};
  Store store_ = Store::in_memory();
};

constexpr const char* kGrid =
    "table: Bits per character\nrows: model.span_type\ncolumns: model.span\n"
    "cells: {value: test.bpc, spread: sd, digits: 3}\n";

TEST_F(Tables, ShowEvaluationsOnOtherDataBesideTheRunsOwn) {
  int number = 0;
  for (const char* type : {"fixed", "adaptive"}) {
    for (const int span : {64, 256}) {
      for (const int seed : {1, 2, 3}) {
        const MadeRun run{.id = fmt::format("adaptive-span-text8-{:08x}", ++number), .type = type, .span = span};
        if (span == 64) maker_.evaluate(run, "test", 3 + 0.1 * seed, {{"data.name", "pg-19"}});
      }
    }
  }
  sync();
  const char* const description =
      "table: Two corpora\nrows: model.span_type\nwhere: {model.span: 64}\n"
      "cells: {value: test.bpc, spread: sd, digits: 3}\n"
      "columns:\n"
      "  - {label: text8}\n"
      "  - {label: pg-19, where: {at.data.name: pg-19}}\n"
      "  - {label: the same, value: test.bpc@data.name=pg-19}\n"
      "  - {label: enwik8, where: {at.data.name: enwik8}}\n";
  const Table result = table(description);
  ASSERT_EQ(result.rows.size(), 2);
  const std::vector<TableCell>& cells = result.rows[0].cells;
  EXPECT_NEAR(*cells[0].value, 2 - 0.064 - 0.1 + 0.02, 1e-12) << "the runs' own alone";
  for (const std::size_t column : {1U, 2U}) {
    EXPECT_NEAR(*cells[column].value, 3.2, 1e-12);
    EXPECT_NEAR(*cells[column].spread, 0.1, 1e-12);
    EXPECT_EQ(cells[column].groups, 3);
  }
  EXPECT_EQ(cells[3].missing, "not evaluated with data.name=enwik8");
  EXPECT_THAT(render_table(result, TableFormat::kCsv, 0), HasSubstr("3.2"));
}

TEST_F(Tables, AveragesOverSeeds) {
  const Table result = table(kGrid);
  ASSERT_EQ(result.rows.size(), 2);
  EXPECT_EQ(result.rows[0].label, "adaptive");
  EXPECT_EQ(result.columns[1].label, "256");
  const TableCell& cell = result.rows[0].cells[1];
  EXPECT_NEAR(*cell.value, 2 - 0.256 - 0.1 + 0.02, 1e-12);
  EXPECT_NEAR(*cell.spread, 0.01, 1e-12);
  EXPECT_EQ(cell.groups, 3);
  EXPECT_EQ(cell.runs.size(), 3);
  EXPECT_THAT(text(kGrid), HasSubstr("1.664 ± 0.010"));
  EXPECT_THAT(text(kGrid), HasSubstr("3 seeds in every cell."));
}

TEST_F(Tables, SaysWhereARunEndedWorseThanGuessing) {
  EXPECT_THAT(text(kGrid), Not(HasSubstr("guessing")));
  const MadeRun lost{.id = "lost", .type = "fixed", .span = 64, .seed = 4, .bpc = 9};
  maker_.make(lost);
  Json evaluation = RunMaker::evaluation("test", 9);
  evaluation["values"]["worse_than_guessing"] = 1;
  maker_.journal(lost).append("evaluation", evaluation);
  sync();
  EXPECT_THAT(text(kGrid), HasSubstr("above that of guessing all symbols alike are in fixed/64."));
}

TEST_F(Tables, OtherAggregates) {
  const auto value = [&](const std::string& aggregate) {
    return *table("table: T\nrows: model.span_type\nwhere: {model.span: 64}\ncells: {value: test.bpc, " + aggregate +
                  "}\n")
                .rows[0]
                .cells[0]
                .value;
  };
  EXPECT_NEAR(value("aggregate: median"), 1.856, 1e-12);
  EXPECT_NEAR(value("aggregate: min"), 1.846, 1e-12);
  EXPECT_NEAR(value("aggregate: max"), 1.866, 1e-12);
  EXPECT_NEAR(value("aggregate: best"), 1.846, 1e-12);
  EXPECT_NEAR(value("aggregate: best, better: higher"), 1.866, 1e-12);
}

TEST_F(Tables, ColumnsMayShowDifferentValues) {
  const std::string shown = text(
      "table: T\nwhere: {model.span: 256}\nrows: [{label: Ours, where: {model.span_type: adaptive}}]\n"
      "columns:\n  - {label: Avg. span, value: test.average_span, digits: 0}\n"
      "  - {label: '#Params', value: params, format: count, digits: 0}\n  - {label: dev, value: valid.bpc, digits: 2}\n"
      "printed: {Ours: {Avg. span: 314, '#Params': 38M, dev: '1.10'}}\n");
  EXPECT_THAT(shown, HasSubstr("40 [314]"));
  EXPECT_THAT(shown, HasSubstr("38M [38M]"));
  EXPECT_THAT(shown, HasSubstr("1.56 [1.10]")) << "as the paper prints it";
  EXPECT_THAT(shown, HasSubstr("[…] is the value that the paper prints."));
}

TEST_F(Tables, MissingCellsAreShownWithTheReason) {
  maker_.make({.id = "r1", .type = "dynamic", .span = 64, .state = "running"});
  maker_.make({.id = "r2", .type = "dynamic", .span = 64, .seed = 2, .state = "failed"});
  sync();
  const std::string shown = text(kGrid);
  EXPECT_THAT(shown, HasSubstr("–"));
  EXPECT_THAT(shown, HasSubstr("– not there yet: dynamic/64 (1 failed, 1 running); dynamic/256 (no run)."));
}

TEST_F(Tables, PrunedRunsAreSaidToBeSoAndNeverAveragedIn) {
  maker_.make({.id = "p1", .type = "adaptive", .span = 64, .seed = 4, .bpc = 0.1, .state = "pruned"});
  for (const int seed : {1, 2}) {
    maker_.make({.id = fmt::format("p{}", 1 + seed),
                 .type = "dynamic",
                 .span = 64,
                 .seed = seed,
                 .bpc = 0.1,
                 .state = "pruned"});
  }
  sync();
  for (const double lower : {0.0, 0.1}) {  // of validation, which a rung has looked at
    std::string description = kGrid;
    if (lower > 0) description.replace(description.find("test.bpc"), 8, "valid.bpc");
    const Table result = table(description);
    ASSERT_EQ(result.rows[0].label, "adaptive");
    EXPECT_NEAR(*result.rows[0].cells[0].value, 2 - 0.064 - 0.1 + 0.02 - lower, 1e-12);
    EXPECT_EQ(result.rows[0].cells[0].runs.size(), 3U);
    EXPECT_THAT(text(description), HasSubstr("– not there yet: dynamic/64 (2 pruned); dynamic/256 (no run)."));
  }
}

TEST_F(Tables, SaysWhereSeedsDiffer) {
  maker_.make({.id = "r1", .type = "dynamic", .span = 64});
  sync();
  EXPECT_THAT(text(kGrid), HasSubstr("3 seeds; 1 seed for dynamic/64."));
}

TEST_F(Tables, SayWhatTheirRunsDifferInBesideTheSeed) {
  const char* const mixed = "table: T\nrows: model.span_type\ncells: {value: test.bpc}\n";
  const std::string shown = text(mixed);
  EXPECT_THAT(shown, HasSubstr("6 runs in every cell.\n"));
  EXPECT_THAT(shown, HasSubstr("The runs in adaptive/test.bpc, fixed/test.bpc differ in model.span, not in the seed "
                               "alone; a 'where' can tell them apart.\n"));
  const Table result = table(mixed);
  EXPECT_THAT(render_table(result, TableFormat::kCsv), HasSubstr("test.bpc differ in\nadaptive,"));
  EXPECT_THAT(render_table(result, TableFormat::kCsv), HasSubstr(",3,model.span\n"));
  EXPECT_EQ(to_json(result)["rows"][0]["cells"][0]["differ_in"], Json({"model.span"}));
  EXPECT_THAT(text("table: T\nrows: model.span_type\nwhere: {seed: 1}\ncells: {value: test.bpc}\n"),
              HasSubstr("2 runs in every cell."))
      << "of one seed, but not one run";
  EXPECT_THAT(render_table(table(kGrid), TableFormat::kCsv), Not(HasSubstr("differ in")));
}

TEST_F(Tables, CountWhatTheyAverageOver) {
  EXPECT_THAT(text("table: T\nrows: model.span_type\nwhere: {seed: 1}\ncells: {value: test.bpc, over: model.span}\n"),
              HasSubstr("2 values of model.span in every cell."));
}

TEST_F(Tables, StarsMarkWhatIsBetterThanAllBaselines) {
  const Table result = table(std::string(kGrid) + "stars: {test: paired-t, against: [fixed], p: 0.05}\n");
  EXPECT_TRUE(result.rows[0].cells[0].star);
  EXPECT_FALSE(result.rows[1].cells[0].star);
  EXPECT_THAT(render_table(result, TableFormat::kText), HasSubstr("1.856 ± 0.010*"));
  const Table reversed = table(std::string(kGrid) + "stars: {against: [adaptive]}\n");
  EXPECT_FALSE(reversed.rows[1].cells[0].star) << "different, but worse";
}

TEST_F(Tables, OneBaselineThatIsNotBeatenTakesTheStarAway) {
  for (int seed = 1; seed <= 3; ++seed) {
    maker_.make(
        {.id = fmt::format("good-{}", seed), .type = "good", .span = 64, .seed = seed, .bpc = 0.5 + 0.01 * seed});
  }
  sync();
  const auto star = [&](const std::string& against) {
    const Table result = table(std::string(kGrid) + "stars: {against: [" + against + "]}\n");
    EXPECT_EQ(result.rows[0].label, "adaptive");
    return result.rows[0].cells[0].star;
  };
  EXPECT_TRUE(star("fixed"));
  EXPECT_FALSE(star("good"));
  EXPECT_FALSE(star("fixed, good"));
  EXPECT_FALSE(star("good, fixed"));
}

TEST_F(Tables, ABaselineThatIsNotThereGivesNoStar) {
  for (const char* against : {"fixed, vanilla", "vanilla, fixed"}) {
    const Table result = table(std::string(kGrid) + "stars: {against: [" + against + "]}\n");
    for (const TableRow& row : result.rows) {
      for (const TableCell& cell : row.cells) EXPECT_FALSE(cell.star) << row.label << " against " << against;
    }
    EXPECT_THAT(render_table(result, TableFormat::kText), HasSubstr("there is no row 'vanilla'"));
  }
}

TEST_F(Tables, NoStarWithFewerThanTwoCommonSeeds) {
  maker_.make({.id = "r1", .type = "dynamic", .span = 64, .bpc = 0.5});
  sync();
  const Table result = table(std::string(kGrid) + "stars: {against: [fixed]}\n");
  EXPECT_FALSE(result.rows[1].cells[0].star);
  EXPECT_THAT(render_table(result, TableFormat::kText),
              HasSubstr("No star can be given to dynamic/64: fewer than two seeds in common with a row of the test."));
}

TEST_F(Tables, NoStarAcrossCorpora) {
  const std::string description =
      "table: T\nwhere: {model.span: 64}\nrows: model.span_type\ncells: {value: test.bpc}\nstars: {against: [fixed]}\n";
  ASSERT_TRUE(table(description).rows[0].cells[0].star);
  for (int run = 1; run <= 3; ++run) {  // those of fixed spans
    const std::string id = fmt::format("adaptive-span-text8-{:08x}", run);
    write_file(RunPaths{maker_.folder(id)}.environment(),
               Json{{"dataset", "enwik8"}, {"language", ""}, {"fingerprint", "beef"}}.dump());
    maker_.journal({.id = id}).append("message", {{"text", "changed"}});
  }
  sync();
  const Table other = table(description);
  EXPECT_FALSE(other.rows[0].cells[0].star);
  EXPECT_THAT(render_table(other, TableFormat::kText),
              HasSubstr("No star can be given to adaptive: not measured on one corpus with the rows of the test."));
}

TEST_F(Tables, StarsOverCorporaPairThem) {
  for (int corpus = 1; corpus <= 3; ++corpus) {
    const auto make = [&](const std::string& type, double bpc) {
      const std::string id = fmt::format("{}-{}", type, corpus);
      maker_.make({.id = id, .type = type, .span = 512, .seed = corpus, .bpc = bpc});
      write_file(RunPaths{maker_.folder(id)}.environment(),
                 Json{{"dataset", fmt::format("text{}", corpus)}, {"language", ""}, {"fingerprint", "f"}}.dump());
    };
    make("a", corpus);
    make("b", corpus + 0.1 + 0.001 * corpus);
  }
  sync();
  const auto star = [&](const std::string& over) {
    const std::string cells = fmt::format("cells: {{value: test.bpc, over: {}}}\n", over);
    return table("table: T\nrows: model.span_type\nwhere: {model.span: 512}\n" + cells + "stars: {against: [b]}\n")
        .rows[0]
        .cells[0]
        .star;
  };
  EXPECT_TRUE(star("data.name"));
  EXPECT_FALSE(star("seed")) << "each seed is of another corpus";
}

/// Three seeds for each of some types, so that a's differences from c have p = 0.03 and b's say nothing.
void make_compared_types(RunMaker& maker) {
  const auto make = [&](const std::string& type, const std::vector<double>& bpc) {
    for (std::size_t seed = 0; seed < bpc.size(); ++seed) {
      maker.make({.id = fmt::format("{}-{}", type, seed),
                  .type = type,
                  .span = 512,
                  .seed = static_cast<int>(seed),
                  .bpc = bpc[seed]});
    }
  };
  make("a", {1.4307, 1.4, 1.3693});
  make("b", {1.51, 1.48, 1.505});
  make("c", {1.5, 1.5, 1.5});
}

constexpr const char* kCompared =
    "table: T\nrows: model.span_type\nwhere: {model.span: 512}\ncells: {value: test.bpc}\n";

TEST_F(Tables, SeveralStarsAreCorrectedByHolm) {
  make_compared_types(maker_);
  sync();
  const Table corrected = table(std::string(kCompared) + "stars: {against: [c]}\n");
  const TableCell& cell = corrected.rows[0].cells[0];
  EXPECT_NEAR(*cell.p, 2 * 0.03, 5e-4) << "the least of two p";
  EXPECT_FALSE(cell.star);
  EXPECT_NEAR(*corrected.rows[1].cells[0].p, 0.8740, 5e-4);
  EXPECT_FALSE(corrected.rows[2].cells[0].p.has_value()) << "the baseline is not compared with itself";
  EXPECT_THAT(
      render_table(corrected, TableFormat::kText),
      HasSubstr("* better than c by a two-sided paired t-test over common seeds, p < 0.05, Holm's correction for 2 "
                "compared cells."));
  EXPECT_NEAR(to_json(corrected)["rows"][0]["cells"][0]["p"].get<double>(), 0.06, 1e-3);
  EXPECT_EQ(to_json(corrected)["rows"][2]["cells"][0]["p"], Json());

  const Table plain = table(std::string(kCompared) + "stars: {against: [c], correct: none}\n");
  EXPECT_NEAR(*plain.rows[0].cells[0].p, 0.03, 5e-4);
  EXPECT_TRUE(plain.rows[0].cells[0].star);
  EXPECT_THAT(render_table(plain, TableFormat::kText), HasSubstr("p < 0.05, not corrected for multiple comparisons."));
}

TEST_F(Tables, AStarAgainstSeveralRowsHasTheLargestPOfItsTests) {
  make_compared_types(maker_);
  sync();
  const Table result = table(std::string(kCompared) + "stars: {against: [b, c], correct: none}\n");
  EXPECT_NEAR(*result.rows[0].cells[0].p, 0.0343, 5e-4) << "against b";
  const Table worse = table(std::string(kCompared) + "stars: {against: [a, b], correct: none}\n");
  EXPECT_EQ(*worse.rows[2].cells[0].p, 1) << "worse than a for sure, which is no star";
}

std::vector<std::string> best_cells(const Table& table) {
  std::vector<std::string> labels;
  for (const TableRow& row : table.rows) {
    for (std::size_t c = 0; c < row.cells.size(); ++c) {
      if (row.cells[c].best) labels.push_back(row.label + "/" + table.columns[c].label);
    }
  }
  return labels;
}

TEST_F(Tables, TheBestCellsOfColumnsAreMarkedWhereAsked) {
  EXPECT_THAT(best_cells(table(kGrid)), ElementsAre());
  const std::string best =
      "table: T\nrows: model.span_type\ncolumns: model.span\n"
      "cells: {value: test.bpc, spread: sd, digits: 3, best: true}\n";
  const Table result = table(best);
  EXPECT_THAT(best_cells(result), ElementsAre("adaptive/64", "adaptive/256"));
  EXPECT_THAT(render_table(result, TableFormat::kText), HasSubstr(" ▸1.856 ± 0.010 "));
  EXPECT_THAT(render_table(result, TableFormat::kMarkdown), HasSubstr("| **1.856** ± 0.010 |"));
  EXPECT_THAT(render_table(result, TableFormat::kLatex), HasSubstr("& \\textbf{1.856} $\\pm$ 0.010 &"));
  EXPECT_TRUE(to_json(result)["rows"][0]["cells"][0]["best"]);
  EXPECT_FALSE(to_json(result)["rows"][1]["cells"][0]["best"]);
  const std::string note = ": the best test bpc of a column by the digits that are printed, among cells of one corpus.";
  EXPECT_THAT(render_table(result, TableFormat::kText), HasSubstr("\n▸" + note));
  EXPECT_THAT(render_table(result, TableFormat::kMarkdown), HasSubstr("\nBold" + note));
  EXPECT_THAT(render_table(result, TableFormat::kLatex), HasSubstr("  Bold" + note));
  EXPECT_THAT(table_html(result, {}), HasSubstr("<li>Bold" + note));
  for (const TableFormat format : {TableFormat::kMarkdown, TableFormat::kLatex}) {
    EXPECT_THAT(render_table(result, format), Not(AnyOf(HasSubstr("▸"), HasSubstr("triangleright"))));
  }
  const Table highest = table(
      "table: T\nrows: model.span_type\nwhere: {model.span: 64}\n"
      "columns: [{label: low, value: test.bpc}, {label: high, value: test.bpc, better: higher, best: true}]\n");
  EXPECT_THAT(best_cells(highest), ElementsAre("fixed/high"));
  EXPECT_THAT(highest.best, StartsWith("the best of high by"));
}

TEST_F(Tables, SayNothingOfMarksWhereNoCellHasOne) {
  const std::string yaml =
      "table: T\nrows: [{label: a, where: {model.span_type: none-yet}}]\ncells: {value: test.bpc, best: true}\n";
  EXPECT_THAT(text(yaml), Not(HasSubstr("the best")));
  EXPECT_THAT(render_table(table(yaml), TableFormat::kLatex), Not(HasSubstr("the best")));
}

TEST_F(Tables, SayWhatTheCellsShowWhereTheColumnsDoNot) {
  const std::string yaml =
      "table: T\nrows: model.span_type\ncolumns: model.span\ncells: {value: valid.bpc}\n"
      "also: [{label: test, value: test.bpc}, {label: memory, value: peak_memory}]\n";
  const std::string note = "Cells: valid bpc; test: test bpc; memory: peak memory.";
  const Table by_keys = table(yaml);
  EXPECT_THAT(text(yaml), HasSubstr("\n" + note + "\n"));
  EXPECT_THAT(render_table(by_keys, TableFormat::kMarkdown), HasSubstr("\n" + note + "\n"));
  EXPECT_THAT(render_table(by_keys, TableFormat::kLatex), HasSubstr("  " + note + "\\par\n"));
  EXPECT_THAT(table_html(by_keys, {}), HasSubstr("<li>" + note + "</li>"));
  EXPECT_THAT(to_json(by_keys)["notes"][0], note);
  const std::string rows = "table: T\nrows: model.span_type\ncells: {value: step_seconds}\n";
  EXPECT_THAT(text(rows + "columns: model.span\n"), HasSubstr("\nCells: seconds per step.\n"));
  EXPECT_THAT(text(rows + "columns: [{label: short, where: {model.span: 64}}]\n"),
              HasSubstr("\nCells: seconds per step.\n"));
  for (const char* columns :
       {"", "columns: [{label: Seconds per step}]\n", "columns: [{label: dev, value: test.bpc}]\n"}) {
    EXPECT_THAT(text(rows + columns), Not(HasSubstr("Cells"))) << columns;
  }
  EXPECT_THAT(text("table: T\nrows: model.span_type\ncolumns: model.span\ncells: {value: test.bpc, against: fixed}\n"),
              HasSubstr("\nCells: test bpc, difference from fixed.\n"));
}

TEST_F(Tables, CellsThatPrintTheSameAreBestTogether) {
  make_compared_types(maker_);
  maker_.make({.id = "d", .type = "d", .span = 512, .bpc = 1.4004});
  sync();
  const auto best = [&](const std::string& digits) {
    return best_cells(
        table("table: T\nrows: model.span_type\nwhere: {model.span: 512}\ncells: {value: test.bpc, best: "
              "true, digits: " +
              digits + "}\n"));
  };
  EXPECT_THAT(best("3"), ElementsAre("a/test.bpc", "d/test.bpc"));
  EXPECT_THAT(best("4"), ElementsAre("a/test.bpc"));
  EXPECT_THAT(best("1"), ElementsAre("a/test.bpc", "d/test.bpc"));
  EXPECT_THAT(best("0"), ElementsAre("a/test.bpc", "b/test.bpc", "d/test.bpc")) << "1 is better than 2";
  const Table one =
      table("table: T\nrows: [{label: a, where: {model.span_type: a}}]\ncells: {value: test.bpc, best: true}\n");
  EXPECT_THAT(best_cells(one), ElementsAre()) << "better than nothing";
}

TEST_F(Tables, NoBestIsMarkedAmongDifferentCorpora) {
  make_compared_types(maker_);
  const auto other_corpus = [&](const std::string& id, const std::string& name, const std::string& fingerprint) {
    write_file(RunPaths{maker_.folder(id)}.environment(),
               Json{{"dataset", name}, {"language", ""}, {"fingerprint", fingerprint}}.dump());
  };
  const std::string rows =
      "table: T\nrows: [{label: a, where: {run_id: a-0}}, {label: b, where: {run_id: b-0}}, "
      "{label: c, where: {run_id: c-0}}]\ncells: {value: test.bpc, best: true}\n";
  other_corpus("a-0", "enwik8", "beef");
  sync();
  EXPECT_THAT(best_cells(table(rows)), ElementsAre("c/test.bpc")) << "b and c are of text8";
  other_corpus("b-0", "text8", "another");
  maker_.journal({.id = "b-0"}).append("message", {{"text", "changed"}});
  sync();
  EXPECT_THAT(best_cells(table(rows)), ElementsAre()) << "text8 of another preparation";
  const Table mixed = table(
      "table: T\nrows: [{label: a, where: {model.span_type: a, model.span: 512}}, {label: c, where: {model.span_type: "
      "c}}]\n"
      "cells: {value: test.bpc, best: true}\n");
  EXPECT_THAT(best_cells(mixed), ElementsAre()) << "a's number is of two corpora";
}

TEST_F(Tables, EvaluationsOnOneOtherCorpusAreCompared) {
  make_compared_types(maker_);
  for (const char* type : {"a", "b"}) {
    maker_.evaluate({.id = std::string(type) + "-0"}, "test", type == std::string("a") ? 3.1 : 3.0,
                    {{"data.name", "pg-19"}});
  }
  sync();
  const Table result = table(
      "table: T\nrows: [{label: a, where: {run_id: a-0}}, {label: b, where: {run_id: b-0}}]\ncells: {best: true}\n"
      "columns:\n  - {label: own, value: test.bpc}\n  - {label: by column, value: test.bpc@data.name=pg-19}\n"
      "  - {label: by row, value: test.bpc, where: {at.data.name: pg-19}}\n");
  EXPECT_THAT(best_cells(result), ElementsAre("a/own", "b/by column", "b/by row"));
}

TEST_F(Tables, AlsoAddsAColumnBesideEach) {
  const Table result = table(std::string(kGrid) +
                             "also: [{value: test.average_span, label: span, digits: 0}]\n"
                             "printed: {adaptive: {64: [1.5, 99]}}\n");
  ASSERT_EQ(result.columns.size(), 4);
  EXPECT_EQ(result.columns[1].label, "64 span");
  EXPECT_EQ(*result.rows[0].cells[1].value, 40);
  EXPECT_EQ(result.rows[0].cells[0].printed, "1.5");
  EXPECT_EQ(result.rows[0].cells[1].printed, "99");
}

TEST_F(Tables, RowsOfThePaperComeFirstEvenWithoutRuns) {
  const Table result = table(std::string(kGrid) + "printed: {vanilla: {64: 1.4}, fixed: {64: 1.3, 512: 1.2}}\n");
  std::vector<std::string> labels;
  for (const TableRow& row : result.rows) labels.push_back(row.label);
  EXPECT_THAT(labels, ElementsAre("vanilla", "fixed", "adaptive"));
  EXPECT_EQ(result.rows[0].cells[0].missing, "no run");
  EXPECT_EQ(result.columns.back().label, "512");
}

TEST_F(Tables, OfNoRunsShowPrintedValuesAlone) {
  Store empty = Store::in_memory();
  RunTable runs(empty);
  const auto result = build_table(runs, table_of(std::string(kGrid) + "printed: {fixed: {64: 1.3}}\n"), {});
  EXPECT_THAT(render_table(std::get<Table>(result), TableFormat::kText), HasSubstr("– [1.3]"));
}

TEST_F(Tables, WhoseConditionHoldsForNoRunSayWhichAndWhatThereIs) {
  const std::string wrong = "table: T\nwhere: {data.name: text8-en}\ncells: {value: test.bpc}\n";
  EXPECT_THAT(text(wrong + "rows: [{label: ours}]\n"),
              HasSubstr("No runs to show: no run has data.name=text8-en; the nearest there is: text8.\n"));
  RunTable runs(store_);
  const auto none = std::get<NothingToShow>(build_table(runs, table_of(wrong + "rows: model.span_type\n"), {}));
  EXPECT_EQ(none.reason, "no run has data.name=text8-en; the nearest there is: text8");
}

TEST_F(Tables, WithNeitherRunsNorRowsSayWhy) {
  Store empty = Store::in_memory();
  RunTable runs(empty);
  const auto result =
      build_table(runs, table_of("table: \"Bits: all\"\nrows: model.span\ncells: {value: test.bpc}\n"), {});
  const auto& nothing = std::get<NothingToShow>(result);
  EXPECT_EQ(nothing.title, "Bits: all");
  EXPECT_EQ(nothing.reason, "there are no runs");
  EXPECT_EQ(nothing.message,
            "the table 'Bits: all' has nothing to show: there are no runs\n"
            "see `xlm runs ls`, and `xlm sweep` to make runs");
}

TEST_F(Tables, ShowQuantitiesAsIsUsualWhereTheFileSaysNothing) {
  const std::string yaml =
      "table: T\nrows: model.span_type\ncolumns:\n  - {value: test.bpc}\n  - {label: Span, value: test.average_span}\n"
      "  - {value: params}\n  - {value: params, digits: 0, label: all}\n  - {value: test.shortening_factor, better: "
      "lower}\n"
      "  - {value: test.shortening_factor, label: more}\n";
  const Table result = table(yaml);
  std::vector<std::string> labels;
  for (const TableColumn& column : result.columns) labels.push_back(column.label);
  EXPECT_THAT(labels, ElementsAre("test bpc", "Span", "parameters", "all", "test shortening factor", "more"));
  EXPECT_EQ(result.columns[1].cells.digits, 0);
  EXPECT_EQ(result.columns[3].cells.format, NumberFormat::kNumber) << "where digits are given, so is the form";
  for (const char* number : {" 1.8", " 40 ", " 38.1M ", " 38,100,000 "}) EXPECT_THAT(text(yaml), HasSubstr(number));
  EXPECT_EQ(result.columns[4].cells.better, Better::kLower);
  EXPECT_EQ(result.columns[5].cells.better, Better::kHigher);
}

TEST_F(Tables, TakeDigitsOfAllColumnsFromCellsFirst) {
  const Table result = table(
      "table: T\nrows: model.span_type\ncells: {value: test.bpc, digits: 1, better: higher}\n"
      "columns: [{value: test.average_span}, {label: b}, {value: params, digits: 4}]\n");
  EXPECT_EQ(result.columns[0].cells.digits, 1);
  EXPECT_EQ(result.columns[1].cells.digits, 1);
  EXPECT_EQ(result.columns[2].cells.digits, 4);
  EXPECT_EQ(result.columns[2].cells.format, NumberFormat::kNumber) << "as without a table of quantities";
  EXPECT_EQ(result.columns[2].cells.better, Better::kHigher);
}

TEST_F(Tables, OfAnExperimentWithoutRunsAskForNoColumn) {
  const Table result =
      table("table: T\nrows: [{label: a, where: {model.boundaries.type: none}}]\ncells: {value: test.bpc}\n",
            {"experiment=not-yet"});
  EXPECT_EQ(result.rows[0].cells[0].missing, "no run");
}

TEST_F(Tables, UnknownColumnsAreRefused) {
  EXPECT_THROW(table("table: T\nrows: model.span_tipe\ncells: {value: test.bpc}\n"), UsageError);
  EXPECT_THROW(table("table: T\nrows: model.span_type\ncells: {value: test.bcp}\n"), UsageError);
}

TEST_F(Tables, TextFitsTheTerminalByGoingOnBelow) {
  const std::string shown = text(std::string(kGrid) + "stars: {against: [fixed]}\n", 40);
  for (const std::string& line : split(shown, '\n')) EXPECT_LE(display_width(line), 40) << line;
  EXPECT_THAT(shown, HasSubstr("1.664"));
  EXPECT_THAT(shown, HasSubstr("1.856"));
}

TEST_F(Tables, Formats) {
  const Table result = table(std::string(kGrid) + "printed: {fixed: {64: 1.9}}\nstars: {against: [fixed]}\n");
  const std::string markdown = render_table(result, TableFormat::kMarkdown);
  EXPECT_THAT(markdown, HasSubstr("**Bits per character**"));
  EXPECT_THAT(markdown, HasSubstr("| fixed "));
  const std::string csv = render_table(result, TableFormat::kCsv);
  EXPECT_THAT(csv, HasSubstr("model.span_type \\ model.span,64,64 sd,64 n,64 paper,64 verdict,64 difference,64 "
                             "half_width,256,256 sd,256 n\n"));
  EXPECT_THAT(csv, HasSubstr(",3,1.9,"));
  const std::string latex = render_table(result, TableFormat::kLatex);
  EXPECT_THAT(latex, HasSubstr("\\begin{tabular}{lrr}"));
  EXPECT_THAT(latex, HasSubstr("$\\pm$ 0.010$^{*}$"));
  EXPECT_THAT(latex, HasSubstr("model.span\\_type \\textbackslash{} model.span"));
  EXPECT_THAT(latex, Not(HasSubstr("±")));
  const Json json = Json::parse(render_table(result, TableFormat::kJson));
  EXPECT_EQ(json["rows"][0]["label"], "fixed");
  EXPECT_EQ(json["rows"][0]["cells"][0]["printed"], "1.9");
  EXPECT_EQ(json["rows"][0]["cells"][0]["n"], 3);
  EXPECT_EQ(json["rows"][1]["cells"][0]["runs"].size(), 3);
}

TEST(Latex, EscapesWhatMeansSomething) {
  EXPECT_EQ(latex_escape("100 % of a_b & {c} ~ ^ \\"),
            "100 \\% of a\\_b \\& \\{c\\} \\textasciitilde{} \\textasciicircum{} \\textbackslash{}");
  EXPECT_EQ(latex_escape("[1] #2 $3 <4>"), "{[}1] \\#2 $\\mathdollar$3 $<$4$>$");
}

TEST(Latex, GivesNegativeNumbersAMinusSign) {
  EXPECT_EQ(latex_escape("-0.240"), "$-0.240$");
  EXPECT_EQ(latex_escape("-0.1 ± 0.2"), "$-0.1$ $\\pm$ 0.2");
  EXPECT_EQ(latex_escape("-12,010.5, (-5.4 %) [-3] fixed/256 -1."),
            "$-12{,}010.5$, ($-5.4$ \\%) {[}$-3$] fixed/256 $-1$.");
  EXPECT_EQ(latex_escape("a-1 2020-10 - --5 -x"), "a-1 2020-10 - --5 -x") << "hyphens";
}

TEST_F(Tables, HaveMinusSignsInLatex) {
  const Table result =
      table("table: T\nrows: model.span_type\ncolumns: [{label: it, value: test.bpc, against: fixed, best: true}]\n");
  EXPECT_THAT(render_table(result, TableFormat::kLatex), HasSubstr("& \\textbf{$-0.101$} \\\\\n"));
  EXPECT_THAT(render_table(result, TableFormat::kText), HasSubstr("▸-0.101\n"));
}

TEST_F(Tables, RelateCellsToARow) {
  const auto cells = [&](const std::string& how) {
    return text("table: T\nrows: model.span_type\ncolumns: [{label: it, value: test.bpc, spread: sd, " + how + "}]\n");
  };
  EXPECT_THAT(cells("against: fixed"),
              ::testing::AllOf(HasSubstr("-0.101\n"), HasSubstr(" 0.000\n"), Not(HasSubstr("±"))));
  EXPECT_THAT(cells("against: fixed, as: change, format: percent, digits: 1"), HasSubstr(" -5.4 %\n"));
  EXPECT_THAT(cells("against: adaptive, as: ratio"), HasSubstr(" 1.057\n"));
  EXPECT_THAT(text("table: T\nrows: model.span_type\n"
                   "columns: [{label: it, value: \"=test.bpc * 0\", against: fixed, as: ratio}]\n"),
              ::testing::AllOf(HasSubstr("fixed is 0"), Not(HasSubstr("nan"))));
  EXPECT_THAT(cells("against: fixed, format: duration"), HasSubstr(" -0.1 s\n"));
  EXPECT_THAT([&] { cells("against: fixd"); }, ::testing::ThrowsMessage<UsageError>(HasSubstr("did you mean 'fixed'")));
}

TEST_F(Tables, ShowFormulasWithTheirUnit) {
  EXPECT_THAT(
      text("table: T\nrows: model.span_type\ncolumns: [{label: it, value: =flops_per_token/1e6, unit: MFLOPs}]\n"),
      HasSubstr("160 MFLOPs"));
}

TEST(NumberFormats, PrintWhatPapersPrint) {
  EXPECT_EQ(format_number(1.1364, NumberFormat::kNumber, -1), "1.136");
  EXPECT_EQ(format_number(8192, NumberFormat::kNumber, -1), "8192") << "whole: nothing behind the point";
  EXPECT_EQ(format_number(343210.7, NumberFormat::kNumber, -1), "343k");
  EXPECT_EQ(format_number(12010.254, NumberFormat::kNumber, 2), "12,010.25");
  EXPECT_EQ(format_number(-12010, NumberFormat::kNumber, 0), "-12,010");
  EXPECT_EQ(format_number(9999.5, NumberFormat::kNumber, 1), "9,999.5");
  EXPECT_EQ(format_number(5791.6193, NumberFormat::kNumber, 2), "5,791.62") << "as 13,119.25 below it";
  EXPECT_EQ(format_number(8192, NumberFormat::kNumber, 0), "8192");
  EXPECT_EQ(format_number(38.12e6, NumberFormat::kCount, 0), "38M");
  EXPECT_EQ(format_number(999.6e3, NumberFormat::kCount, 0), "1M");
  EXPECT_EQ(format_number(512, NumberFormat::kCount, 0), "512");
  EXPECT_EQ(format_number(3.1e9, NumberFormat::kBytes, 1), "3.1 GB");
  EXPECT_EQ(format_number(0.125, NumberFormat::kPercent, -1), "12.5 %");
  EXPECT_EQ(format_number(250, NumberFormat::kDuration, -1), "4 min 10 s");
}

TEST(TableFiles, NameTheCorrectionsThatThereAre) {
  EXPECT_THAT(refusal("table: T\nrows: a\ncells: {value: b}\nstars: {against: [x], correct: bonferroni}\n"),
              HasSubstr("description.yaml:4: 'correct' is holm or none, not 'bonferroni'"));
}

TEST(TableFiles, AreReadFromRecipes) {
  const Yaml recipe = parse_yaml(
      "experiment: spans\nmodel: {type: adaptive-span}\nsweep: {}\nfigures: []\n"
      "tables:\n  - {table: First one, rows: a, cells: {value: b}}\n  - {title: Second, name: two, rows: a, cells: "
      "{value: b}}\n",
      "recipe.yaml");
  const std::vector<Yaml> descriptions = find_exhibits(recipe, ExhibitKind::kTable);
  ASSERT_EQ(descriptions.size(), 2);
  EXPECT_EQ(read_table_description(descriptions[0]).name, "first-one");
  EXPECT_EQ(read_table_description(descriptions[1]).title, "Second");
  EXPECT_EQ(choose_exhibits(descriptions, ExhibitKind::kTable, "two").size(), 1);
  EXPECT_THROW(choose_exhibits(descriptions, ExhibitKind::kTable, "three"), UsageError);
  const Yaml twice =
      parse_yaml("figures: [{figure: A, x: seed, y: test.bpc}, {figure: a, x: seed, y: valid.bpc}]\n", "f");
  EXPECT_THAT([&] { find_exhibits(twice, ExhibitKind::kFigure); },
              ::testing::ThrowsMessage<UsageError>(HasSubstr("two figures are called 'a'")));
  EXPECT_EQ(recipe_experiment(recipe), "spans");
  EXPECT_EQ(recipe_experiment(parse_yaml("table: T\n", "t.yaml")), "");
  EXPECT_THROW(find_exhibits(parse_yaml("seed: 1\n", "r.yaml"), ExhibitKind::kTable), UsageError);
}

TEST(TableFiles, ErrorsNameTheLine) {
  EXPECT_THAT(refusal("table: T\nrowz: a\n"),
              HasSubstr("description.yaml:2: unknown key 'rowz' (did you mean 'rows'?)"));
  EXPECT_THAT(refusal("tables:\n  - table: T\n    rows: a\n    cels: {value: b}\n"),
              HasSubstr("description.yaml:4: unknown key 'cels' (did you mean 'cells'?)"));
  EXPECT_THAT(refusal("table: T\nrows: a\ncells:\n  value: b\n  agregate: mean\n"),
              HasSubstr("description.yaml:5: unknown key"));
  EXPECT_THAT(refusal("table: T\nrows: a\ncells: {value: b, aggregate: men}\n"), HasSubstr("did you mean 'mean'?"));
  EXPECT_THAT(refusal("table: T\nrows: a\ncells: {value: b, digits: 99}\n"),
              HasSubstr("description.yaml:3: digits is 99"));
  EXPECT_THAT(refusal("table: T\nrows: [{where: {a: 1}}]\ncells: {value: b}\n"), HasSubstr("has no label"));
  EXPECT_THAT(refusal("table: T\nrows: [{label: a, where: {c: 1}}, {label: a}]\ncells: {value: b}\n"),
              HasSubstr("description.yaml:1: two rows of the table are called 'a'"));
  EXPECT_THAT(refusal("table: T\nrows: a\ncolumns: [{value: test.bpc}, {value: test.bpc, where: {c: 1}}]\n"),
              HasSubstr("two columns of the table are called 'test bpc'"));
  EXPECT_THAT(refusal("table: T\nrows: a\ncolumns: [{label: x}, {label: x y}]\ncells: {value: b}\n"
                      "also: [{label: y, value: c}]\n"),
              HasSubstr("two columns of the table are called 'x y'"));
  EXPECT_THAT(refusal("table: T\nrows: [{label: a, were: {a: 1}}]\ncells: {value: b}\n"),
              HasSubstr("unknown key 'were'"));
  EXPECT_THAT(refusal("table: T\ncells: {value: b}\n"), HasSubstr("has no rows"));
  EXPECT_THAT(refusal("table: T\nrows: a\n"), HasSubstr("nothing says what the cells"));
  EXPECT_THAT(refusal("table: T\nrows: {a: b}\ncells: {value: b}\n"), HasSubstr("description.yaml:2"));
  EXPECT_THAT(refusal("table: T\nrows: a\ncells: {value: b}\nstars: {against: [x], p: 2}\n"),
              HasSubstr("between 0 and 1"));
  EXPECT_THAT(refusal("table: T\nrows: a\ncells: {value: b}\nstars: {test: wilcoxon, against: [x]}\n"),
              HasSubstr("paired-t"));
  EXPECT_THAT(refusal("table: T\nrows: [{label: gumbel}]\ncells: {value: b}\nstars: {against: [gumble]}\n"),
              HasSubstr("did you mean 'gumbel'?"));
  EXPECT_THAT(refusal("table: T\nrows: [{label: gumbel}]\ncells: {value: b}\nprinted:\n  gumble: {b: 1}\n"),
              HasSubstr("description.yaml:5: 'printed' speaks of a row 'gumble'"));
  EXPECT_THAT(refusal("table: T\nrows: a\ncells: {value: b}\nwhere: 5\n"), HasSubstr("description.yaml:4"));
  EXPECT_THAT(refusal("tables: 5\n"), HasSubstr("description.yaml:1"));
}

// Fixed spans of 64 have a mean of 1.95667 and a deviation of 0.01002 over three seeds: an interval of ± 0.0249.
TEST_F(Tables, PrintedValuesGetAVerdict) {
  const std::string yaml = std::string(kGrid) + "printed: {fixed: {64: '1.95*', 256: 1.9}, adaptive: {64: '–'}}\n";
  const Table result = table(yaml);
  ASSERT_EQ(result.rows[0].label, "fixed");
  const TableCell& agreeing = result.rows[0].cells[0];
  ASSERT_TRUE(agreeing.compared.has_value());
  EXPECT_EQ(agreeing.compared->verdict, Verdict::kAgrees);
  EXPECT_NEAR(agreeing.compared->difference, 0.00667, 1e-5);
  EXPECT_NEAR(*agreeing.compared->half_width, 0.02488, 2e-5);
  EXPECT_EQ(result.rows[0].cells[1].compared->verdict, Verdict::kDiffers);
  EXPECT_FALSE(result.rows[1].cells[0].compared.has_value()) << "no number is printed";
  EXPECT_THAT(
      text(yaml),
      HasSubstr("Beside the paper, by 95 % intervals over seeds (Student's t): 1 agrees; 1 differs (fixed/256 -0.135 "
                "± 0.0249)."));
  const Json json = to_json(result);
  EXPECT_EQ(json["rows"][0]["cells"][1]["verdict"], "differs");
  EXPECT_EQ(json["rows"][1]["cells"][0]["verdict"], Json());
}

TEST_F(Tables, CsvAndJsonSayTheDifferenceFromThePrintedValueAndItsInterval) {
  maker_.make({.id = "alone", .type = "dynamic", .span = 64, .seed = 1, .bpc = 1.5});
  sync();
  const Table result = table(std::string(kGrid) + "printed: {fixed: {64: 1.95}, dynamic: {64: 1.4}}\n");
  const Json cells = to_json(result)["rows"];
  const std::string csv = render_table(result, TableFormat::kCsv);
  EXPECT_THAT(csv, HasSubstr("64 paper,64 verdict,64 difference,64 half_width"));
  for (const Json& row : cells) {
    const Json& cell = row["cells"][0];
    if (row["label"] == "adaptive") {
      EXPECT_THAT(csv, HasSubstr(",3,,,,,")) << "nothing is printed";
    } else if (row["label"] == "dynamic") {
      EXPECT_THAT(csv, HasSubstr(",1.4,too few seeds," + json_number(cell["difference"].get<double>()) + ",,"));
      EXPECT_NEAR(cell["difference"].get<double>(), 0.1, 1e-12);
      EXPECT_EQ(cell["half_width"], Json());
    } else {
      EXPECT_NEAR(cell["difference"].get<double>(), 0.00667, 1e-5);
      EXPECT_NEAR(cell["half_width"].get<double>(), 0.02488, 2e-5);
      EXPECT_THAT(csv, HasSubstr(",1.95,agrees," + json_number(cell["difference"].get<double>()) + "," +
                                 json_number(cell["half_width"].get<double>()) + ","));
    }
  }
}

TEST(DifferencesFromPrint, AreWrittenAsTheirColumnWritesNumbers) {
  EXPECT_EQ(difference_from_print({.difference = -0.01234, .half_width = 0.00456}, {}), "-0.0123 ± 0.00456");
  EXPECT_EQ(difference_from_print({.difference = 1.2e6}, {.format = NumberFormat::kCount}), "+1.20M");
  EXPECT_EQ(difference_from_print({.difference = 0.0125, .half_width = 0.02}, {.format = NumberFormat::kPercent}),
            "+1.2 % ± 2.0 %");
  EXPECT_EQ(difference_from_print({.difference = -3}, {.unit = "ms"}), "-3 ms");
}

TEST_F(Tables, AToleranceAndASmallerProfileAreMindedInVerdicts) {
  const std::string printed = "printed: {fixed: {64: 1.9}}\n";
  const std::string tolerant =
      "table: T\nrows: model.span_type\ncolumns: model.span\ncells: {value: test.bpc, tolerance: 0.06}\n";
  EXPECT_EQ(table(tolerant + printed).rows[0].cells[0].compared->verdict, Verdict::kAgrees);
  RunTable runs(store_);
  TableDescription small = table_of(std::string(kGrid) + printed);
  small.paper_size = false;
  const auto result = std::get<Table>(build_table(runs, small, {}));
  EXPECT_EQ(result.rows[0].cells[0].compared->verdict, Verdict::kSmallerRun);
}

}  // namespace
}  // namespace xlm
