// What a recipe's table says besides its numbers: other people's rows, how long its runs train, its notes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "results/exhibits/exhibits.h"
#include "results/tables/run_lengths.h"
#include "results/tables/table.h"
#include "results/tables/table_text.h"
#include "tests/results/run_maker.h"
#include "tests/results/tables/paper_with.h"

namespace xlm {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class TableOfARecipe : public ::testing::Test {
 protected:
  TableOfARecipe() {
    maker_.make_sweep({"fixed", "adaptive"}, {64}, {1});
    store_.sync(maker_.runs());
  }

  static TableDescription described(const std::string& yaml) {
    return read_table_description(find_exhibits(parse_yaml(yaml, "t.yaml"), ExhibitKind::kTable).front());
  }

  Table table(const TableDescription& description) {
    RunTable runs(store_);
    return std::get<Table>(build_table(runs, description, {}));
  }

  TemporaryFolder temporary_;
  RunMaker maker_{temporary_.path() / "runs"};
  Store store_ = Store::in_memory();
};

constexpr const char* kTable =
    "table: Spans\nrows:\n"
    "  - {label: Others, printed_only: true}\n"
    "  - {label: Fixed, where: {model.span_type: fixed}}\n"
    "columns: [{label: bpc, value: test.bpc}]\n"
    "printed: {Others: {bpc: 1.18}, Fixed: {bpc: 1.11}}\n"
    "notes: [One., Two.]\n";

TEST_F(TableOfARecipe, OtherPeoplesRowShowsThePrintedValueAloneAndIsNotMissing) {
  const Table result = table(described(kTable));
  const TableCell& others = result.rows[0].cells[0];
  EXPECT_FALSE(others.value);
  EXPECT_THAT(others.runs, IsEmpty());
  EXPECT_EQ(others.printed, "1.18");
  EXPECT_EQ(others.missing, kPrintedOnly);
  EXPECT_TRUE(result.rows[1].cells[0].value);
  const std::string text = render_table(result, TableFormat::kText, 0);
  EXPECT_THAT(text, HasSubstr("1.18"));
  EXPECT_THAT(text, Not(HasSubstr("not there yet")));
}

TEST_F(TableOfARecipe, APrintedRowChoosesNoRuns) {
  EXPECT_THROW(described("table: T\nrows: [{label: a, printed_only: true, where: {seed: 1}}]\ncells: {value: loss}\n"),
               UsageError);
  EXPECT_THROW(described("table: T\nrows: [{label: a, printed_only: perhaps}]\ncells: {value: loss}\n"), UsageError);
}

TEST_F(TableOfARecipe, SaysHowLongSmallerRunsTrainBesideThePapers) {
  TableDescription description = described(kTable);
  EXPECT_THAT(table(description).notes, Not(Contains(HasSubstr("Training:"))));
  description.paper = paper_with({{"train.steps", 600'000}}, "600,000 steps (19.7G tokens)");
  EXPECT_THAT(table(description).notes,
              Contains("Training: 100 steps here; 600,000 steps (19.7G tokens) in the paper."));
  EXPECT_THAT(table(description).notes, Contains(HasSubstr("train.steps=100 (paper: 600000)")));
  description.paper = paper_with({{"train.steps", 100}}, "600,000 steps");
  EXPECT_THAT(table(description).notes, Not(Contains(HasSubstr("Training:")))) << "nothing differs";
}

TEST_F(TableOfARecipe, SaysThatPrintedValuesAreOfThePapersConfigurationWhereTheRunsAreNot) {
  TableDescription description = described(kTable);
  EXPECT_THAT(table(description).notes, Contains("[…] is the value that the paper prints."));
  description.paper = paper_with({{"model.layers", 12}});
  const Table smaller = table(description);
  for (const TableFormat format : {TableFormat::kText, TableFormat::kMarkdown, TableFormat::kLatex}) {
    EXPECT_THAT(render_table(smaller, format, 0),
                HasSubstr("is the value that the paper prints, for its own configuration."));
  }
}

// A step of windows that overlap scores less than it reads: T + (W − 1)(T − O) predictions of each of its sequences,
// which is what train.block is when a run is made (Gpt2Options::complete).
TEST_F(TableOfARecipe, TokensOfWindowsThatOverlapAreThoseThatAreScored) {
  const MadeRun overlapping{.id = "overlapping", .type = "fixed", .span = 64, .seed = 9};
  maker_.make(overlapping);
  const fs::path config = RunPaths{maker_.folder("overlapping")}.config();
  std::string text = read_file(config);
  write_file(config, text.replace(text.find("steps: 100"), 10, "steps: 1000, batch: 4, block: 5050"));  // 300 + 19·250
  store_.sync(maker_.runs());
  TableDescription description = described(
      "table: T\nrows: [{label: a, where: {seed: 9}}]\ncolumns: [{label: bpc, value: test.bpc}]\n"
      "printed: {a: {bpc: 1.11}}\n");
  description.paper = paper_with({{"model.layers", 12}}, "2 epochs");
  EXPECT_THAT(table(description).notes, Contains("Training: 1,000 steps (20.2M tokens) here; 2 epochs in the paper."));
}

TEST_F(TableOfARecipe, SaysWhereNotTheWholeSplitWasEvaluated) {
  EXPECT_THAT(table(described(kTable)).notes, Not(Contains(HasSubstr("max_windows"))));
  const MadeRun part{.id = "part", .type = "fixed", .span = 64, .seed = 9};
  maker_.make(part);
  const fs::path config = RunPaths{maker_.folder("part")}.config();
  std::string text = read_file(config);
  write_file(config, text.replace(text.find("batch: 8"), 8, "batch: 8, max_windows: 500"));
  store_.sync(maker_.runs());
  EXPECT_THAT(table(described(kTable)).notes,
              Contains("Evaluated on the first 500 windows of each row of a split at most (eval.max_windows)."));
}

TEST_F(TableOfARecipe, ItsOwnNotesComeLast) {
  const std::vector<std::string> notes = table(described(kTable)).notes;
  ASSERT_GE(notes.size(), 2U);
  EXPECT_EQ(notes[notes.size() - 2], "One.");
  EXPECT_EQ(notes.back(), "Two.");
  EXPECT_THAT(described("table: T\nrows: seed\ncells: {value: loss}\nnotes: One.\n").notes, ElementsAre("One."));
}

TEST(RunLengths, NameStepsAndTokensFromTheShortestToTheLongest) {
  RunLengths lengths;
  EXPECT_EQ(lengths.text(), "");
  lengths.add(600'000, 600'000.0 * 64 * 512);
  EXPECT_EQ(lengths.text(), "600,000 steps (19.7G tokens)");
  lengths.add(900'000, 900'000.0 * 64 * 512);
  EXPECT_EQ(lengths.text(), "600,000 to 900,000 steps (19.7G to 29.5G tokens)");
  lengths.add("2 epochs");
  EXPECT_EQ(lengths.text(), "2 epochs, 600,000 to 900,000 steps (19.7G to 29.5G tokens)");
}

TEST(NamedExhibits, AProfileChangesOneOfAMapOrTakesItAway) {
  const Yaml file = parse_yaml(
      "figures:\n  a: {figure: A, grid: spans, where: {model.span: 4096}}\n  b: {figure: B, grid: spans}\n", "r.yaml");
  const Yaml over = parse_yaml("figures: {a: {where: {model.span: 256}}, b: null}\n", "profile");
  EXPECT_EQ(find_exhibits(file, ExhibitKind::kFigure).size(), 2U);
  const std::vector<Yaml> left = find_exhibits(merge(file, over), ExhibitKind::kFigure);
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left[0].find("name")->scalar, "a");
  EXPECT_EQ(left[0].find("where")->find("model.span")->scalar, "256");
  EXPECT_FALSE(has_exhibits(parse_yaml("figures: {a: null}\n", "r.yaml"), ExhibitKind::kFigure));
  EXPECT_THROW(find_exhibits(parse_yaml("figures: {a: {figure: A, name: b}}\n", "r.yaml"), ExhibitKind::kFigure),
               UsageError)
      << "its key is its name";
}

}  // namespace
}  // namespace xlm
