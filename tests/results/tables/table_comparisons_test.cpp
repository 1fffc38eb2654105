// What tables make of comparing cells: stars, the best of a column, verdicts on printed values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results/pages/table_html.h"
#include "results/tables/table.h"
#include "results/tables/table_notes.h"
#include "results/tables/table_text.h"
#include "results/tables/verdict_notes.h"
#include "tests/results/run_maker.h"
#include "tests/results/tables/paper_with.h"
#include "tests/results/tables/tables.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

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

TEST_F(Tables, ANumberThatHasExplodedCountsAsDiverged) {
  for (int seed = 1; seed <= 3; ++seed) {
    maker_.make({.id = fmt::format("huge-{}", seed), .type = "huge", .seed = seed, .bpc = seed == 2 ? 1e160 : 1.5});
  }
  sync();
  const Table result = table("table: T\nrows: model.span_type\ncells: {value: test.bpc}\nstars: {against: [fixed]}\n");
  EXPECT_THAT(render_table(result, TableFormat::kText), HasSubstr("huge/test.bpc (1 beyond 1e70)"));
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
  EXPECT_THAT(
      render_table(result, TableFormat::kText),
      HasSubstr("No star can be given to dynamic/64: fewer than two seeds in common with a row of the test, and a "
                "single one on one side."));
}

/// Golden numbers: estimate_test.cpp. xlm compare gives such settings the same p.
TEST_F(Tables, StarsAreWelchsWhereSeedsDoNotPair) {
  int seed = 0;
  const auto make = [&](const std::string& type, const std::vector<double>& bpc) {
    for (const double value : bpc) {
      maker_.make({.id = fmt::format("{}-{}", type, seed), .type = type, .span = 512, .seed = seed, .bpc = value});
      ++seed;
    }
  };
  make("a", {1.50, 1.52, 1.55});
  make("b", {1.60, 1.61, 1.66, 1.63});
  sync();
  const std::string description =
      "table: T\nrows: model.span_type\nwhere: {model.span: 512}\ncells: {value: test.bpc}\n";
  const Table result = table(description + "stars: {against: [b]}\n");
  EXPECT_NEAR(*result.rows[0].cells[0].p, 0.00453184706106562, 1e-10);
  EXPECT_TRUE(result.rows[0].cells[0].star);
  EXPECT_THAT(render_table(result, TableFormat::kText),
              AllOf(HasSubstr("* better than b by a two-sided paired t-test over common seeds (Welch's t-test over all "
                              "seeds for a), p < 0.05, Holm's correction for 1 test."),
                    Not(HasSubstr("No star can be given"))));
  EXPECT_EQ(*table(description + "stars: {against: [a]}\n").rows[1].cells[0].p, 1) << "different, but worse";
}

/// The runs of fixed spans 64 were made on another corpus.
void move_fixed_spans_to_enwik8(RunMaker& maker) {
  for (int run = 1; run <= 3; ++run) {
    const std::string id = fmt::format("adaptive-span-text8-{:08x}", run);
    write_file(RunPaths{maker.folder(id)}.environment(),
               Json{{"dataset", "enwik8"}, {"language", ""}, {"fingerprint", "beef"}}.dump());
    maker.journal({.id = id}).append("message", {{"text", "changed"}});
  }
}

TEST_F(Tables, NoStarAcrossCorpora) {
  const std::string description =
      "table: T\nwhere: {model.span: 64}\nrows: model.span_type\ncells: {value: test.bpc}\nstars: {against: [fixed]}\n";
  ASSERT_TRUE(table(description).rows[0].cells[0].star);
  move_fixed_spans_to_enwik8(maker_);
  sync();
  const Table other = table(description);
  EXPECT_FALSE(other.rows[0].cells[0].star);
  EXPECT_THAT(render_table(other, TableFormat::kText),
              HasSubstr("No star can be given to adaptive: not measured on one corpus with the rows of the test."));
}

TEST_F(Tables, SayWhichNumbersAreOfDifferentTextIfNothingNamesIt) {
  const std::string note = "Numbers on different text say nothing about each other: ";
  const std::string by_rows =
      "table: T\nwhere: {model.span: 64}\nrows: model.span_type\ncolumns: [{label: test, value: ";
  const std::string grid = "table: T\nrows: model.span_type\ncolumns: model.span\ncells: {value: test.bpc}\n";
  EXPECT_THAT(text(grid), Not(HasSubstr(note)));
  move_fixed_spans_to_enwik8(maker_);
  sync();
  EXPECT_THAT(text(by_rows + "test.bpc}, {label: valid, value: valid.bpc}]\n"),
              HasSubstr(note + "enwik8 (fixed), text8 (adaptive).\n"));
  EXPECT_THAT(text(grid), HasSubstr(note + "enwik8 (fixed/64), text8 (adaptive/256, adaptive/64, fixed/256).\n"));
  EXPECT_THAT(text(by_rows + "params}]\n"), Not(HasSubstr(note))) << "costs have no text";
  EXPECT_THAT(text("table: T\nrows: data.name\ncolumns: model.span\ncells: {value: test.bpc}\n"), Not(HasSubstr(note)))
      << "the rows name it";
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
  // scipy 1.17: 2·t.sf((|d| − 0.0005) / e, 2), as the equal numbers of c may hide half a step of 0.001.
  EXPECT_NEAR(*corrected.rows[1].cells[0].p, 0.9114, 5e-4);
  EXPECT_FALSE(corrected.rows[2].cells[0].p.has_value()) << "the baseline is not compared with itself";
  EXPECT_THAT(
      render_table(corrected, TableFormat::kText),
      HasSubstr("* better than c by a two-sided paired t-test over common seeds, p < 0.05, Holm's correction for 2 "
                "tests."));
  EXPECT_NEAR(to_json(corrected)["rows"][0]["cells"][0]["p"].get<double>(), 0.06, 1e-3);
  EXPECT_EQ(to_json(corrected)["rows"][2]["cells"][0]["p"], Json());

  const Table plain = table(std::string(kCompared) + "stars: {against: [c], correct: none}\n");
  EXPECT_NEAR(*plain.rows[0].cells[0].p, 0.03, 5e-4);
  EXPECT_TRUE(plain.rows[0].cells[0].star);
  EXPECT_THAT(render_table(plain, TableFormat::kText), HasSubstr("p < 0.05, not corrected for multiple comparisons."));
}

TEST_F(Tables, ColumnsOfTheSameValueAddNoTests) {
  make_compared_types(maker_);
  sync();
  const std::string columns =
      "table: T\nrows: model.span_type\nwhere: {model.span: 512, model.span_type: [a, c]}\ncells: {value: test.bpc}\n"
      "stars: {against: [c]}\n";
  const auto p = [&](const std::string& more) { return *table(columns + more).rows[0].cells[0].p; };
  EXPECT_NEAR(p(""), 0.03, 5e-4);
  EXPECT_NEAR(p("columns: [{label: test, value: test.bpc}, {label: to c, value: test.bpc, against: c}]\n"), 0.03, 5e-4);
  EXPECT_NEAR(p("columns: [{label: test, value: test.bpc}, {label: long, value: test.bpc, digits: 6}]\n"), 0.03, 5e-4);
}

TEST_F(Tables, ARowOfAnotherCorpusHasNoDifference) {
  const std::string description =
      "table: T\nwhere: {model.span: 64}\nrows: model.span_type\ncolumns: [{label: to, value: test.bpc, against: "
      "fixed}, {label: cost, value: params, against: fixed}]\n";
  EXPECT_NEAR(*table(description).rows[0].cells[0].value, -0.302 / 3, 1e-9);
  move_fixed_spans_to_enwik8(maker_);
  sync();
  const Table other = table(description);
  EXPECT_FALSE(other.rows[0].cells[0].value);
  EXPECT_EQ(other.rows[0].cells[0].missing, "measured on another corpus than fixed");
  EXPECT_EQ(other.rows[0].cells[1].value, 0) << "costs have no corpus";
}

TEST_F(Tables, RunsWithoutANumberAreNamed) {
  EXPECT_THAT(text(kGrid), Not(HasSubstr("without a number")));
  maker_.make({.id = "r1", .type = "fixed", .span = 64, .seed = 4, .state = "diverged"});
  sync();
  EXPECT_THAT(text(kGrid), HasSubstr("Runs without a number are left out of fixed/64 (1 diverged)."));
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
  EXPECT_THAT(table_html(result), HasSubstr("<li>Bold" + note));
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

TEST_F(Tables, CostsHaveNoCorpus) {
  for (const char* corpus : {"text8", "enwik8"}) {
    maker_.make({.id = corpus, .type = corpus, .span = 512, .flops = corpus == std::string("text8") ? 1e6 : 2e6});
    write_file(RunPaths{maker_.folder(corpus)}.environment(),
               Json{{"dataset", corpus}, {"language", ""}, {"fingerprint", corpus}}.dump());
  }
  sync();
  const Table result = table(
      "table: T\nrows: model.span_type\nwhere: {model.span: 512}\ncolumns: [{label: cost, value: flops_per_token, "
      "best: "
      "true}, {label: bpc, value: test.bpc, best: true}]\n");
  EXPECT_THAT(best_cells(result), ElementsAre("text8/cost"));
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

// Fixed spans of 64 have a mean of 1.95667 and a deviation of 0.01002 over three seeds, as all cells have. A seed moves
// all four alike, so they are worth 2.004 degrees of freedom: with one run of the paper the interval is
// ± 4.296·0.01001·√(1/3 + 1) + 0.005.
TEST_F(Tables, PrintedValuesGetAVerdict) {
  const std::string yaml = std::string(kGrid) + "printed: {fixed: {64: '1.95*', 256: 1.9}, adaptive: {64: '–'}}\n";
  const Table result = table(yaml);
  ASSERT_EQ(result.rows[0].label, "fixed");
  const TableCell& consistent = result.rows[0].cells[0];
  ASSERT_TRUE(consistent.compared.has_value());
  EXPECT_EQ(consistent.compared->verdict, Verdict::kConsistent);
  EXPECT_NEAR(consistent.compared->difference, 0.00667, 1e-5);
  EXPECT_NEAR(*consistent.compared->half_width, 4.2958 * 0.0100085 * std::sqrt(4.0 / 3) + 0.005, 3e-5);
  EXPECT_EQ(result.rows[0].cells[1].compared->verdict, Verdict::kDiffers);
  EXPECT_FALSE(result.rows[1].cells[0].compared.has_value()) << "no number is printed";
  const std::string shown = text(yaml);
  EXPECT_THAT(shown,
              HasSubstr("Compared with the paper: 1 consistent, without a margin to agree within; 1 differs (fixed/256 "
                        "-0.135 ± 0.0996)."));
  EXPECT_THAT(shown, HasSubstr("Intervals of the difference: 95 % by Student's t, with the rounding of the printed "
                               "value, which counts as one run; the spread of test bpc is pooled over 4 cells, 0.01 "
                               "with 2 degrees of freedom (Levene's test of equal variances: p = 1)."));
  const Json json = to_json(result);
  const Json& differing = json["rows"][0]["cells"][1];
  EXPECT_EQ(differing["verdict"], "differs");
  EXPECT_LT(differing["difference_p"].get<double>(), 0.05);
  EXPECT_EQ(differing["not_comparable_in"], Json::array());
  EXPECT_EQ(json["tests"], 2);
  EXPECT_EQ(json["rows"][1]["cells"][0]["verdict"], Json());
}

TEST_F(Tables, CsvAndJsonSayTheDifferenceFromThePrintedValueAndItsInterval) {
  maker_.make({.id = "alone", .type = "dynamic", .span = 64, .seed = 1, .bpc = 1.5});
  sync();
  const Table result = table(std::string(kGrid) + "printed: {fixed: {64: 1.95}, dynamic: {64: 1.35}}\n");
  const Json cells = to_json(result)["rows"];
  const std::string csv = render_table(result, TableFormat::kCsv);
  EXPECT_THAT(csv, HasSubstr("64 paper,64 verdict,64 difference,64 half_width,64 decides"));
  for (const Json& row : cells) {
    const Json& cell = row["cells"][0];
    if (row["label"] == "adaptive") {
      EXPECT_THAT(csv, HasSubstr(",3,,,,,,")) << "nothing is printed";
    } else if (row["label"] == "dynamic") {
      EXPECT_THAT(csv, HasSubstr(",1.35,differs," + json_number(cell["difference"].get<double>()) + ",")) << csv;
      EXPECT_NEAR(cell["difference"].get<double>(), 0.15, 1e-12);
      EXPECT_GT(cell["half_width"].get<double>(), 0.05) << "one seed, by the spread of the others";
      EXPECT_EQ(cell["decides"], Json());
    } else {
      EXPECT_NEAR(cell["difference"].get<double>(), 0.00667, 1e-5);
      EXPECT_NEAR(cell["half_width"].get<double>(), 0.0546, 1e-4);
      EXPECT_THAT(csv, HasSubstr(",1.95,consistent," + json_number(cell["difference"].get<double>()) + "," +
                                 json_number(cell["half_width"].get<double>()) + ","));
    }
  }
}

TEST(DifferencesFromPrint, AreWrittenAsTheirColumnWritesNumbers) {
  EXPECT_EQ(difference_from_print({.difference = -0.01234, .half_width = 0.00456}, {}), "-0.0123 ± 0.00456");
  EXPECT_EQ(difference_from_print({.difference = 1.2e6}, {.format = NumberFormat::kCount}), "+1.20M");
  EXPECT_EQ(difference_from_print({.difference = 0.0125, .half_width = 0.02}, {.format = NumberFormat::kPercent}),
            "+1.2 % ± 2.0 %");
}

TEST_F(Tables, AMarginAndAnotherConfigurationAreMindedInVerdicts) {
  const std::string printed = "printed: {fixed: {64: 1.95}}\n";
  const std::string tolerant =
      "table: T\nrows: model.span_type\ncolumns: model.span\ncells: {value: test.bpc, margin: 0.07}\n";
  EXPECT_EQ(table(tolerant + printed).rows[0].cells[0].compared->verdict, Verdict::kAgrees);
  RunTable runs(store_);
  TableDescription description = table_of(std::string(kGrid) + printed);
  const auto verdict_beside = [&](const SettingList& paper) {
    description.paper = paper_with(paper);
    return std::get<Table>(build_table(runs, description, {})).rows[0].cells[0].compared->verdict;
  };
  EXPECT_EQ(verdict_beside({{"model.span_type", "fixed"}, {"model.span", 64}}), Verdict::kConsistent);
  EXPECT_EQ(verdict_beside({{"model.span_type", "fixed"}, {"model.span", 8192}}), Verdict::kNotComparable);
}

}  // namespace
}  // namespace xlm
