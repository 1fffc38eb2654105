// Tables: their files, their rows and columns, the numbers of their cells.
#include "results/tables/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "results/exhibits/exhibits.h"
#include "results/pages/table_html.h"
#include "results/tables/table_text.h"
#include "tests/results/run_maker.h"
#include "tests/results/tables/tables.h"
#include "tests/thrown_message.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string refusal(const std::string& yaml) {
  return thrown_message([&] { table_of(yaml); });
}

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
  EXPECT_THAT(text(kGrid), HasSubstr("3 seeds in every cell; ± is their standard deviation.\n"));
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

TEST_F(Tables, Medians) {
  const Table medians =
      table("table: T\nrows: model.span_type\nwhere: {model.span: 64}\ncells: {value: test.bpc, aggregate: median}\n");
  EXPECT_NEAR(*medians.rows[0].cells[0].value, 1.856, 1e-12);
  EXPECT_EQ(medians.shown, "Cells: the median over seeds in test.bpc.");
  const Table both = table(
      "table: T\nrows: model.span_type\ncolumns: model.span\ncells: {value: test.bpc}\n"
      "also: [{label: middle, value: test.bpc, aggregate: median}]\n");
  EXPECT_EQ(both.shown, "Cells: test bpc; middle: test bpc; the median over seeds in 64 middle, 256 middle.");
}

TEST_F(Tables, NumbersFarBelowOneGetDigits) {
  maker_.make({.id = "adaptive-span-text8-0000aaaa", .type = "tiny", .bpc = 1.234e-7});
  maker_.make({.id = "adaptive-span-text8-0000aaab", .type = "tinier", .bpc = 2e-8});
  sync();
  const std::string tiny = "table: T\nrows: model.span_type\nwhere: {model.span_type: [tiny, tinier]}\n";
  EXPECT_THAT(text(tiny + "cells: {value: test.bpc}\n"), AllOf(HasSubstr("0.000000123\n"), HasSubstr("0.000000020\n")));
  EXPECT_THAT(text(tiny + "cells: {value: test.bpc, digits: 4}\n"), HasSubstr("0.0000\n")) << "as it says";
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
  EXPECT_THAT(text(kGrid), HasSubstr("3 seeds; 1 seed for dynamic/64; ± is their standard deviation."));
}

TEST_F(Tables, SayWhatTheirRunsDifferInBesideTheSeed) {
  const char* const mixed = "table: T\nrows: model.span_type\ncells: {value: test.bpc}\n";
  const std::string shown = text(mixed);
  EXPECT_THAT(shown, HasSubstr("6 runs in every cell.\n"));
  EXPECT_THAT(shown, HasSubstr("The runs in adaptive/test.bpc, fixed/test.bpc differ in model.span, not in the seed "
                               "alone; a 'where' can tell them apart.\n"));
  const Table result = table(mixed);
  EXPECT_THAT(render_table(result, TableFormat::kCsv), HasSubstr("test.bpc differ in\nadaptive,"));
  EXPECT_THAT(render_table(result, TableFormat::kCsv), HasSubstr(",6,model.span\n"));
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

TEST_F(Tables, SayWhatTheCellsShowWhereTheColumnsDoNot) {
  const std::string yaml =
      "table: T\nrows: model.span_type\ncolumns: model.span\ncells: {value: valid.bpc}\n"
      "also: [{label: test, value: test.bpc}, {label: memory, value: peak_memory}]\n";
  const std::string note = "Cells: valid bpc; test: test bpc; memory: peak memory.";
  const Table by_keys = table(yaml);
  EXPECT_THAT(text(yaml), HasSubstr("\n" + note + "\n"));
  EXPECT_THAT(render_table(by_keys, TableFormat::kMarkdown), HasSubstr("\n" + note + "\n"));
  EXPECT_THAT(render_table(by_keys, TableFormat::kLatex), HasSubstr("  " + note + "\\par\n"));
  EXPECT_THAT(table_html(by_keys), HasSubstr("<li>" + note + "</li>"));
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

TEST_F(Tables, ANoteNamesACellOnceForItsFurtherValues) {
  maker_.make({.id = "adaptive-span-text8-000000aa", .type = "dynamic", .span = 64, .seed = 1});
  sync();
  const std::string shown = text(std::string(kGrid) + "also: [{value: test.average_span, label: span, digits: 0}]\n");
  EXPECT_THAT(shown, HasSubstr("3 seeds; 1 seed for dynamic/64; ± is their standard deviation."));
  EXPECT_THAT(shown, HasSubstr("– not there yet: dynamic/256 (no run)."));
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
  EXPECT_THAT([&] { cells("against: fixd"); }, ::testing::ThrowsMessage<UsageError>(HasSubstr("did you mean 'fixed'")));
}

TEST_F(Tables, ShowFormulas) {
  EXPECT_THAT(text("table: T\nrows: model.span_type\ncolumns: [{label: MFLOPs, value: =flops_per_token/1e6}]\n"),
              HasSubstr("  160\n"));
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
  EXPECT_EQ(find_exhibits(recipe, ExhibitKind::kTable, "two").size(), 1);
  EXPECT_THROW(find_exhibits(recipe, ExhibitKind::kTable, "three"), UsageError);
  const Yaml twice =
      parse_yaml("figures: [{figure: A, x: seed, y: test.bpc}, {figure: a, x: seed, y: valid.bpc}]\n", "f");
  EXPECT_THAT([&] { find_exhibits(twice, ExhibitKind::kFigure); },
              ::testing::ThrowsMessage<UsageError>(HasSubstr("two figures are named 'a'")));
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

}  // namespace
}  // namespace xlm
