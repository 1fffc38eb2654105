// Fits of runs of a store: recovery, groups, refusals with advice, forms and the figure.
#include "results/fits/fitted_runs.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "results/figures/figures.h"
#include "results/fits/fit_figure.h"
#include "tests/results/fits/fits.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST_F(Fits, RecoverAPlantedLaw) {
  make_runs({16, 32, 64, 128, 256, 512}, 0);
  const auto result = built(kFitOfSpans);
  ASSERT_TRUE(std::holds_alternative<FitResult>(result));
  const auto& fit = std::get<FitResult>(result);
  ASSERT_EQ(fit.laws.size(), 1U);
  const FittedLaw& fitted = fit.laws.front();
  ASSERT_TRUE(fitted.estimate.has_value());
  EXPECT_EQ(fitted.of.points.count_settings(), 6U);
  EXPECT_EQ(fitted.of.points.size(), 12U);
  const PowerLaw& law = fitted.estimate->found().law;
  EXPECT_NEAR(law.floor, 1, 1e-3);
  EXPECT_NEAR(law.terms.front().scale, 200, 1);
  EXPECT_NEAR(law.terms.front().exponent, 0.4, 1e-3);
  EXPECT_NEAR(fitted.predictions.front().loss, 1 + 200 * std::pow(1e8, -0.4), 1e-4);
  ASSERT_TRUE(fitted.left_out.has_value());
  EXPECT_NEAR(fitted.left_out->predicted.loss / fitted.left_out->loss, 1, 1e-3);
  EXPECT_EQ(runs_of(fit).size(), 12U);
}

TEST_F(Fits, OfSeveralMethodsAreSeparate) {
  make_runs({16, 32, 64, 128, 256, 512}, 0, {"adaptive", "fixed"});
  const auto result = built(kFitOfSpans + "by: model.span_type\n");
  ASSERT_TRUE(std::holds_alternative<FitResult>(result));
  const auto& fit = std::get<FitResult>(result);
  ASSERT_EQ(fit.laws.size(), 2U);
  EXPECT_EQ(fit.laws[0].of.label, "adaptive");
  EXPECT_EQ(fit.laws[1].of.label, "fixed");
  EXPECT_NEAR(fit.laws[0].estimate->found().law.floor, 1, 1e-3);
  EXPECT_NEAR(fit.laws[1].estimate->found().law.floor, 1.1, 1e-3);
}

/// 1 + 200·C^(−0.4) reaches at C what 1.1 + 200·C'^(−0.4) reaches at C' = (C^(−0.4) − 0.1/200)^(−1/0.4).
TEST_F(Fits, SayHowMuchMoreComputeAnotherLawNeeds) {
  make_runs({16, 32, 64, 128, 256, 512}, 0.0002, {"adaptive", "fixed"});
  const std::string asked = kFitOfSpans + "by: model.span_type\n";
  const auto result = built(asked + "faster_than: fixed\n");
  const auto& fit = std::get<FitResult>(result);
  EXPECT_FALSE(fit.laws[1].speed_up);
  ASSERT_TRUE(fit.laws[0].speed_up);
  const SpeedUp& found = *fit.laws[0].speed_up;
  const double needed = std::pow(std::pow(5.12e6, -0.4) - 0.1 / 200, -1 / 0.4);
  EXPECT_NEAR(found.factor, needed / 5.12e6, 0.02 * needed / 5.12e6);
  EXPECT_LT(found.interval.low, needed / 5.12e6);
  EXPECT_GT(found.interval.high, needed / 5.12e6);
  EXPECT_THAT(render_fits({fit}, TableFormat::kText), HasSubstr("speed-up over fixed at C=5.12e6"));
  const auto slower = built(asked + "faster_than: adaptive\n");
  EXPECT_LT(std::get<FitResult>(slower).laws[1].speed_up->factor, 1);
  EXPECT_THROW(built(asked + "faster_than: dynamic\n"), UsageError);
  for (int adaptive = 1; adaptive <= 12; ++adaptive) {
    const std::string id = fmt::format("adaptive-span-text8-{:08x}", adaptive);
    write_file(RunPaths{maker_.folder(id)}.environment(),
               Json{{"dataset", "enwik8"}, {"language", ""}, {"fingerprint", "beef"}}.dump());
    maker_.journal({.id = id}).append("message", {{"text", "changed"}});
  }
  store_.sync(maker_.runs());
  const auto of_other_text = built(asked + "faster_than: fixed\n");
  const FittedLaw& other = std::get<FitResult>(of_other_text).laws[0];
  EXPECT_FALSE(other.speed_up);
  EXPECT_THAT(other.notes, Contains("No speed-up over fixed, whose losses are of other text"));
}

TEST_F(Fits, WithTooLittleAreRefusedWithAdvice) {
  EXPECT_THAT(refusal(kFitOfSpans), HasSubstr("has nothing to show"));
  make_runs({16, 32, 64}, 0.01);
  EXPECT_THAT(refusal(kFitOfSpans), AllOf(HasSubstr("flops_per_token has only 3 sizes, and the law needs at least 4"),
                                          HasSubstr("train with further sizes")));
  make_runs({128, 256}, 0.01);
  EXPECT_THAT(refusal(kFitOfSpans), IsEmpty());
  EXPECT_THAT(refusal("fit: F\nloss: test.bpc\nc: params\n"), HasSubstr("all runs have the same params"));
  EXPECT_THAT(refusal("fit: F\nloss: test.bpc\n"), AllOf(HasSubstr("none of 10 runs"), HasSubstr("training_flops")));
  EXPECT_THAT(refusal("fit: F\nlaw: size-and-data\nloss: test.bpc\nn: flops_per_token\nd: model.span\n"),
              AllOf(HasSubstr("at least 6 settings, and there are 5"), HasSubstr("seeds of one setting do not count")));
  make_runs({512, 1024}, 0.01);
  EXPECT_THAT(refusal("fit: F\nlaw: size-and-data\nloss: test.bpc\nn: flops_per_token\nd: model.span\n"),
              AllOf(HasSubstr("determine each other"), HasSubstr("several budgets")));
  EXPECT_THAT(refusal(kFitOfSpans + "where: {model.span: 4}\n"), HasSubstr("no run has model.span=4"));
}

TEST_F(Fits, OfUnknownColumnsAreErrors) {
  make_runs({16, 32, 64, 128}, 0.01);
  EXPECT_THROW(built("fit: F\nloss: test.bcp\n"), UsageError);
}

TEST_F(Fits, OneMethodWithTooLittleLeavesTheOthers) {
  make_runs({16, 32, 64, 128, 256}, 0.005);
  maker_.make({.id = "adaptive-span-text8-0000ff01", .type = "dynamic", .span = 16, .bpc = 2, .flops = 1e5});
  store_.sync(maker_.runs());
  const auto result = built(kFitOfSpans + "by: model.span_type\n");
  ASSERT_TRUE(std::holds_alternative<FitResult>(result));
  const auto& fit = std::get<FitResult>(result);
  ASSERT_EQ(fit.laws.size(), 2U);
  EXPECT_FALSE(fit.laws[1].estimate.has_value());
  EXPECT_THAT(render_fits({fit}, TableFormat::kText), HasSubstr("dynamic: all runs have the same flops_per_token"));
}

const std::string kFitOfBudgets =
    "fit: Best spans\nlaw: iso-flops\nloss: test.bpc\nn: model.span\nc: flops_per_token\ndraws: 100\npredict: {C: "
    "1e8}\n";

TEST_F(Fits, OfBudgetsFindTheirBestSizes) {
  make_budgets({-2, -1, 0, 1});
  const auto result = built(kFitOfBudgets);
  ASSERT_TRUE(std::holds_alternative<FitResult>(result)) << refusal(kFitOfBudgets);
  const auto& fit = std::get<FitResult>(result);
  ASSERT_TRUE(fit.laws.front().best_sizes.has_value());
  const IsoFlopEstimate& estimate = *fit.laws.front().best_sizes;
  ASSERT_EQ(estimate.budgets().size(), 2U);
  EXPECT_NEAR(estimate.best_sizes()[0].size, 128, 1e-6);
  EXPECT_NEAR(estimate.best_sizes()[1].size, 512, 1e-6);
  EXPECT_NEAR(estimate.exponent(), std::log10(4), 1e-9);
  EXPECT_NEAR(fit.laws.front().size_predictions.front().size, 2048, 1e-5);
  EXPECT_THAT(render_fits({fit}, TableFormat::kText),
              AllOf(HasSubstr("best N at C=1e6"), HasSubstr("best N at C=1e8, predicted"),
                    HasSubstr("8 runs of 8 settings"), HasSubstr("biased")));
  const Json json = Json::parse(render_fits({fit}, TableFormat::kJson));
  EXPECT_EQ(json[0]["laws"][0]["budgets"].size(), 2U);
  EXPECT_NEAR(json[0]["laws"][0]["exponent"]["value"].get<double>(), std::log10(4), 1e-9);
  const Figure figure = figure_of_fit(fit);
  ASSERT_EQ(figure.series.size(), 5U);
  EXPECT_EQ(figure.series[0].label, "C 1e6");
  EXPECT_EQ(figure.series[0].points.size(), 4U);
  EXPECT_EQ(figure.series[4].label, "best N");
}

TEST_F(Fits, OfBudgetsWithoutAMinimumAreRefused) {
  make_budgets({-1, 0, 1});
  EXPECT_THAT(refusal(kFitOfBudgets), AllOf(HasSubstr("three sizes for each budget"), HasSubstr("a fourth size")));
  EXPECT_THAT(refusal(kFitOfBudgets + "where: {flops_per_token: '< 5e6'}\n"),
              AllOf(HasSubstr("1 of 1 values of flops_per_token has a minimum"), HasSubstr("at least three sizes")));
}

TEST_F(Fits, OfBudgetsWithoutAnyDrawSayThatNoIntervalIsKnown) {
  for (int budget = 0; budget < 20; ++budget) {
    for (const auto& [span, aside] :
         {std::pair(64, -1.0), std::pair(128, 3.0), std::pair(256, -3.0), std::pair(512, 1.0)}) {
      const double away = std::log2(span) - 7.5;
      maker_.make({.id = fmt::format("adaptive-span-text8-{:08x}", ++made_),
                   .span = span,
                   .bpc = 2 + 1e-6 * away * away + 0.1 * aside,
                   .flops = 1e6 * std::pow(2, budget),
                   .lr = 0.01 * (budget + 1)});
    }
  }
  store_.sync(maker_.runs());
  const auto result = built(kFitOfBudgets);
  ASSERT_TRUE(std::holds_alternative<FitResult>(result)) << refusal(kFitOfBudgets);
  const auto& fit = std::get<FitResult>(result);
  EXPECT_THAT(render_fits({fit}, TableFormat::kText), AllOf(HasSubstr("unknown"), HasSubstr("no interval is known")));
  const Json exponent = Json::parse(render_fits({fit}, TableFormat::kJson))[0]["laws"][0]["exponent"];
  EXPECT_TRUE(exponent["value"].is_number());
  EXPECT_TRUE(exponent["low"].is_null());
  EXPECT_TRUE(exponent["high"].is_null());
  EXPECT_THAT(render_fits({fit}, TableFormat::kCsv), HasSubstr(",,,"));
}

TEST_F(Fits, WarnOfBestSizesBeyondThoseTried) {
  make_budgets({-4, -3, -2, -1});
  const auto result = built(kFitOfBudgets);
  ASSERT_TRUE(std::holds_alternative<FitResult>(result));
  EXPECT_THAT(render_fits({std::get<FitResult>(result)}, TableFormat::kText),
              HasSubstr("best N at C=1e6 lies beyond the largest size that was tried: try larger ones"));
}

TEST_F(Fits, HaveTheFormsOfTables) {
  make_runs({16, 32, 64, 128, 256, 512}, 0.002);
  const auto result = built(kFitOfSpans);
  const auto& fit = std::get<FitResult>(result);
  const std::string text = render_fits({fit}, TableFormat::kText);
  EXPECT_THAT(text, AllOf(HasSubstr("Loss against compute"), HasSubstr("95 % interval"), HasSubstr("L at C=1e8"),
                          HasSubstr("left out"), HasSubstr("12 runs of 6 settings"),
                          HasSubstr("test.bpc = E + A·C^(−α), with C = flops_per_token.")));
  EXPECT_THAT(render_fits({fit}, TableFormat::kMarkdown), HasSubstr("**Loss against compute**"));
  EXPECT_THAT(render_fits({fit}, TableFormat::kLatex), HasSubstr("tab:loss-against-compute"));
  EXPECT_THAT(render_fits({fit}, TableFormat::kCsv), HasSubstr("fit,law,number,value,low,high,runs reached"));
  const Json json = Json::parse(render_fits({fit}, TableFormat::kJson));
  ASSERT_EQ(json.size(), 1U);
  const Json& law = json[0]["laws"][0];
  EXPECT_EQ(law["parameters"].size(), 3U);
  EXPECT_EQ(law["residuals"].size(), 12U);
  EXPECT_EQ(law["predictions"][0]["C"], 1e8);
  EXPECT_LE(law["predictions"][0]["low"].get<double>(), law["predictions"][0]["law_low"].get<double>());
  EXPECT_NEAR(law["left_out"]["error"].get<double>(), 0, 0.05);
}

TEST_F(Fits, OfManySizesDrawEachRunAtItsOwn) {
  for (const double n : {1e6, 2e6, 4e6, 8e6, 16e6, 32e6}) {
    for (const int d : {100, 400, 1600}) {
      maker_.make({.id = fmt::format("adaptive-span-text8-{:08x}", ++made_),
                   .span = d,
                   .bpc = 1 + 200 * std::pow(n, -0.4) + 30 * std::pow(d, -0.5),
                   .flops = n,
                   .lr = 1e-8 * n});
    }
  }
  store_.sync(maker_.runs());
  const std::string asked =
      "fit: F\nlaw: size-and-data\nloss: test.bpc\nn: flops_per_token\nd: model.span\ndraws: 100\n";
  const auto result = built(asked);
  ASSERT_TRUE(std::holds_alternative<FitResult>(result)) << refusal(asked);
  std::map<std::string, std::size_t> points;
  for (const FigureSeries& series : figure_of_fit(std::get<FitResult>(result)).series) {
    if (!series.joined) points[series.label] = series.points.size();
  }
  const std::map<std::string, std::size_t> expected{
      {"N 1.00M", 3}, {"N 2.00M", 3}, {"N 8.00M", 3}, {"N 32.0M", 3}, {"other N", 6}};
  EXPECT_EQ(points, expected) << "and none at the size below";
}

TEST_F(Fits, HaveAFigureWithRunsLawAndPrediction) {
  make_runs({16, 32, 64, 128, 256, 512}, 0.002);
  const auto result = built(kFitOfSpans);
  const Figure figure = figure_of_fit(std::get<FitResult>(result));
  ASSERT_EQ(figure.series.size(), 3U);
  EXPECT_EQ(figure.series[0].label, "runs");
  EXPECT_EQ(figure.series[0].points.size(), 12U);
  EXPECT_EQ(figure.series[1].label, "law");
  EXPECT_TRUE(figure.series[1].joined);
  EXPECT_DOUBLE_EQ(figure.series[1].points.front().x, 1.6e5);
  EXPECT_NEAR(figure.series[1].points.back().x, 1e8, 1);
  EXPECT_EQ(figure.series[2].label, "predicted");
  EXPECT_TRUE(figure.series[2].points.front().spread.has_value());
  EXPECT_EQ(runs_of(figure).size(), 12U);
  EXPECT_EQ(plotly_figure(figure)["layout"]["xaxis"]["type"], "log");
  EXPECT_EQ(plotly_figure(figure)["name"], "loss-against-compute");
}

}  // namespace
}  // namespace xlm
