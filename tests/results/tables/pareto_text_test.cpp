// Pareto fronts as people and papers read them.
#include "results/tables/pareto_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/results/run_maker.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class ParetoTexts : public ::testing::Test {
 protected:
  ParetoTexts() {
    maker_.make_sweep({"fixed", "adaptive"}, {64, 256}, {1, 2});
    store_.sync(maker_.runs());
  }

  TemporaryFolder temporary_;
  RunMaker maker_{temporary_.path() / "runs"};
  Store store_ = Store::in_memory();
};

TEST_F(ParetoTexts, NameGroupsByTheirColumnsAndSayWhatTheirRunsDifferIn) {
  RunTable runs(store_);
  ParetoQuery query{.columns = {"flops_per_token", "test.bpc"},
                    .maximize = {false, false},
                    .group_by = {"model.span", "model.span_type"},
                    .where = {},
                    .reference = {}};
  const ParetoResult seeds = run_pareto(runs, query);
  EXPECT_EQ(seeds.mean_over, "2 seeds");
  EXPECT_THAT(render_pareto(query, seeds, TableFormat::kText), HasSubstr("Each point is the mean over 2 seeds.\n"));
  EXPECT_THAT(render_pareto(query, seeds, TableFormat::kCsv),
              StartsWith("front,flops_per_token,test.bpc,model.span,model.span_type,runs\n"
                         "front,64000000.0,1.851,64,adaptive,adaptive-span-text8-00000005 adaptive-span-text8-"));
  query.group_by = {"model.span"};
  const ParetoResult mixed = run_pareto(runs, query);
  EXPECT_EQ(mixed.mean_over, "4 runs that differ in model.span_type and seed");
  EXPECT_THAT(render_pareto(query, mixed, TableFormat::kText), HasSubstr("the mean over " + mixed.mean_over + ".\n"));
  const std::string csv = render_pareto(query, mixed, TableFormat::kCsv);
  EXPECT_THAT(csv, StartsWith("front,flops_per_token,test.bpc,model.span,runs,differ in\n"));
  EXPECT_THAT(csv, HasSubstr("00000006,model.span_type\n"));
  EXPECT_EQ(to_json(query, mixed)["front"][0]["differ_in"], Json({"model.span_type"}));
}

TEST_F(ParetoTexts, NamesOfRunsStandBelowTheirTitleAndNumbersOfThemToTheRight) {
  RunTable runs(store_);
  ParetoQuery query{.columns = {"flops_per_token", "test.bpc"},
                    .maximize = {false, false},
                    .group_by = {},
                    .where = {},
                    .reference = {}};
  EXPECT_THAT(render_pareto(query, run_pareto(runs, query), TableFormat::kText), HasSubstr("test.bpc  runs"));
  query.group_by = {"model.span"};
  EXPECT_THAT(render_pareto(query, run_pareto(runs, query), TableFormat::kMarkdown), HasSubstr("| runs |\n"));
  EXPECT_THAT(render_pareto(query, run_pareto(runs, query), TableFormat::kMarkdown), HasSubstr("---: |\n"));
}

TEST_F(ParetoTexts, AreWrittenForPapersToo) {
  RunTable runs(store_);
  const ParetoQuery query{.columns = {"flops_per_token", "test.bpc"},
                          .maximize = {false, false},
                          .group_by = {"model.span"},
                          .where = parse_filters({"model.span_type=fixed"}),
                          .reference = {}};
  const ParetoResult result = run_pareto(runs, query);
  const std::string latex = render_pareto(query, result, TableFormat::kLatex);
  EXPECT_THAT(latex, HasSubstr("\\caption{Pareto front of FLOPs per token and test bpc}\n"));
  EXPECT_THAT(latex, HasSubstr("$\\bullet$ & 64.0M & 1.9515 & 64 & 2 \\\\\n"));
  const std::string markdown = render_pareto(query, result, TableFormat::kMarkdown);
  EXPECT_THAT(markdown, HasSubstr("| ●     |           64.0M |   1.9515 | 64         |    2 |\n"));
  EXPECT_THAT(markdown, HasSubstr("Each point is the mean over 2 seeds.\n"));
}

TEST_F(ParetoTexts, NameTheCorpusOfEveryPointWhereThereAreSeveral) {
  maker_.make({.id = "hard", .bpc = 3, .flops = 2e6});
  write_file(RunPaths{maker_.folder("hard")}.environment(),
             Json{{"dataset", "hard"}, {"language", "en"}, {"fingerprint", "beef"}}.dump());
  store_.sync(maker_.runs());
  RunTable runs(store_);
  const ParetoQuery query{.columns = {"flops_per_token", "test.bpc"},
                          .maximize = {false, false},
                          .group_by = {"model.span"},
                          .where = {},
                          .reference = {}};
  const ParetoResult result = run_pareto(runs, query);
  const std::string text = render_pareto(query, result, TableFormat::kText);
  EXPECT_THAT(text, StartsWith("corpus   front"));
  EXPECT_THAT(text, HasSubstr("hard-en  ●                2.00M    3.0000  256            1\n"));
  EXPECT_THAT(text, HasSubstr("hard-en: 1 on the front (●), 0 dominated. Hypervolume 0 against (2.00M, 3.0000).\n"));
  EXPECT_THAT(text, HasSubstr("text8: 2 on the front (●), 0 dominated. Hypervolume "));
  EXPECT_THAT(text, HasSubstr("Each corpus has a separate front"));
  EXPECT_THAT(render_pareto(query, result, TableFormat::kCsv), HasSubstr("\nhard-en,front,2000000.0,3.0,256,hard,\n"));
  EXPECT_THAT(render_pareto(query, result, TableFormat::kMarkdown), StartsWith("| corpus  | front |"));
  EXPECT_THAT(render_pareto(query, result, TableFormat::kLatex), HasSubstr("hard-en & $\\bullet$ & 2.00M & 3.0000"));
}

TEST_F(ParetoTexts, HaveMinusSignsInLatex) {
  RunTable runs(store_);
  const ParetoQuery query{.columns = {"flops_per_token", "=0-test.bpc"},
                          .maximize = {false, true},
                          .group_by = {"model.span"},
                          .where = parse_filters({"model.span_type=fixed"}),
                          .reference = {}};
  const std::string latex = render_pareto(query, run_pareto(runs, query), TableFormat::kLatex);
  EXPECT_THAT(latex, HasSubstr("$\\bullet$ & 64.0M & $-1.9515$ & 64 & 2 \\\\\n"));
}

}  // namespace
}  // namespace xlm
