// How figures are drawn: axes and traces.
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "base/error.h"
#include "results/figures/figures.h"
#include "results/figures/picture.h"
#include "results/figures/plot_style.h"
#include "tests/results/figures/figures.h"

namespace xlm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// A marker away from its number says a wrong number, in every format.
TEST_F(Figures, MeasuredPlacesAreNeverMoved) {
  for (const char* kind : {"line", "scatter"}) {
    for (const char* scale : {"linear", "log"}) {
      const Figure drawn = figure(fmt::format(
          "figure: F\nkind: {}\nx: model.span\ny: test.bpc\nseries: model.span_type\nx_scale: {}\n", kind, scale));
      const Json plot = plotly_figure(drawn);
      for (const FigureSeries& series : drawn.series) {
        ASSERT_EQ(series.points.size(), 2U);
        for (const FigurePoint& point : series.points) {
          ASSERT_TRUE(point.spread);
          EXPECT_TRUE(point.x == 64 || point.x == 256);
        }
      }
      for (const Json& trace : plot["data"]) {
        for (const Json& x : trace["x"]) EXPECT_TRUE(x == 64.0 || x == 256.0) << kind << scale << x;
      }
    }
  }
}

TEST_F(Figures, ErrorBarsOfCurvesThatShareAPlaceAreBands) {
  const std::string text = "figure: F\nkind: line\nx: model.span\ny: test.bpc\n";
  const Figure two = figure(text + "series: model.span_type\n");
  const SpreadParts parts = spread_parts(two, 0);
  ASSERT_EQ(parts.bands.size(), 1U);
  EXPECT_EQ(parts.bands[0].size(), 2U);
  EXPECT_THAT(parts.bars, ::testing::IsEmpty());
  const Json plot = plotly_figure(two);
  EXPECT_EQ(plot["data"][0]["fill"], "toself");
  EXPECT_FALSE(plot["data"][1].contains("error_y"));
  const Figure one = figure(text + "where: {model.span_type: fixed}\n");
  EXPECT_EQ(spread_parts(one, 0).bars.size(), 2U) << "nothing hides them";
  EXPECT_TRUE(plotly_figure(one)["data"][0].contains("error_y"));
}

TEST(SpreadParts, AreBarsWhereNoNeighbourHasASpread) {
  Figure figure;
  FigureSeries series{.points = {}, .joined = true};
  for (const double x : {1, 2, 3, 4, 5, 6}) series.points.push_back({.x = x, .y = x, .spread = 0.5});
  series.points[2].spread.reset();
  series.points[4].spread.reset();
  figure.series = {series, series};
  const SpreadParts parts = spread_parts(figure, 0);
  ASSERT_EQ(parts.bands.size(), 1U);
  EXPECT_EQ(parts.bands[0].back().x, 2);
  ASSERT_EQ(parts.bars.size(), 2U);
  EXPECT_EQ(parts.bars[0].x, 4);
  EXPECT_EQ(parts.bars[1].x, 6);
}

TEST_F(Figures, ErrorBarsAtANamedPlaceStandSideBySide) {
  const Figure named = figure("figure: F\nx: model.span_type\ny: test.bpc\nseries: model.span\n");
  const SetApart apart(named);
  EXPECT_LT(apart(0, 1), 1);
  EXPECT_GT(apart(1, 1), 1);
  EXPECT_NEAR(apart(0, 1) + apart(1, 1), 2, 1e-9);
  EXPECT_NEAR(plotly_figure(named)["data"][0]["x"][1].get<double>(), apart(0, 1), 1e-9);
  Figure many = named;
  many.x_names.assign(40, "name");
  many.series.assign(6, named.series[0]);
  EXPECT_LT(SetApart(many)(5, 0), 0.5) << "nearer to its own place than to the next";
}

TEST_F(Figures, AFrontGoesThroughItsPoints) {
  for (const char* x : {"model.span", "model.span_type", "flops_per_token"}) {
    const Figure drawn =
        figure("figure: F\nx: " + std::string(x) + "\ny: test.bpc\nseries: model.span_type\nfront: true\n");
    ASSERT_EQ(drawn.fronts.size(), 1U) << x;
    const Json plot = plotly_figure(drawn);
    std::set<std::pair<double, double>> shown;
    for (std::size_t trace = 1; trace < plot["data"].size(); ++trace) {
      for (std::size_t i = 0; i < plot["data"][trace]["x"].size(); ++i)
        shown.emplace(plot["data"][trace]["x"][i], plot["data"][trace]["y"][i]);
    }
    const auto& corners = drawn.fronts[0].corners;
    for (std::size_t i = 0; i < corners.size(); i += 2) EXPECT_TRUE(shown.contains(corners[i])) << x;
  }
}

TEST_F(Figures, SayWhyALogarithmicAxisIsLinear) {
  const std::string text = "figure: F\nkind: line\nx: model.span\ny: test.bpc\nseries: seed\nspread: none\n";
  EXPECT_THAT(figure(text + "x_scale: log\ny_scale: log\n").warnings, ::testing::IsEmpty());
  maker_.make({.id = "zero", .type = "other", .span = 128, .seed = 1, .bpc = 0});
  store_.sync(maker_.runs());
  const Figure zero = figure(text + "x_scale: log\ny_scale: log\nwhere: {model.span_type: [fixed, other]}\n");
  EXPECT_THAT(zero.warnings, ElementsAre(HasSubstr("'F' is linear despite y_scale: a value or ")));
  EXPECT_FALSE(y_axis(zero).log);
  EXPECT_TRUE(x_axis(zero).log);
  EXPECT_THAT(figure(text + "where: {model.span_type: [fixed, other]}\n").warnings, ::testing::IsEmpty())
      << "not requested";
  const Figure cells = figure(
      "figure: F\nkind: heatmap\nx: model.span\ny: seed\nvalue: test.bpc\ny_scale: log\n"
      "where: {model.span_type: [fixed, other]}\n");
  EXPECT_THAT(cells.warnings, ElementsAre(HasSubstr("is linear despite y_scale")));
}

TEST_F(Figures, BarsBeginAtZero) {
  EXPECT_EQ(y_axis(figure("figure: F\nkind: bars\nx: model.span\ny: test.bpc\nseries: model.span_type\n")).range.low,
            0);
}

TEST_F(Figures, HaveTheSizeOfThePaper) {
  const Json picture = picture_of(figure(std::string(kLine) + "width: 3.3\nheight: 2.5\n"));
  EXPECT_EQ(picture["width"], 3.3);
  EXPECT_EQ(picture["height"], 2.5);
}

TEST_F(Figures, AxesFitTheData) {
  const Json log = plotly_figure(figure(kLine))["layout"]["xaxis"];
  EXPECT_EQ(log["tickvals"], Json({64.0, 256.0}));
  EXPECT_EQ(log["ticktext"], Json({"64", "256"}));
  EXPECT_EQ(log["type"], "log");
  const Json large = plotly_figure(figure("figure: F\nx: flops_per_token\ny: test.bpc\n"))["layout"]["xaxis"];
  EXPECT_THAT(large["ticktext"], ::testing::Contains("100M"));
  EXPECT_THAT(large["tickvals"], ::testing::Contains(1e8));
}

TEST_F(Figures, TicksThatWouldTouchBecomeRoundNumbers) {
  maker_.make({.id = "r1", .span = 65});
  store_.sync(maker_.runs());
  const Json ticks = plotly_figure(figure("figure: F\nx: model.span\ny: test.bpc\n"))["layout"]["xaxis"]["tickvals"];
  EXPECT_THAT(ticks, Not(::testing::Contains(65.0)));
  EXPECT_THAT(ticks, ::testing::IsSupersetOf({Json(100.0), Json(150.0)}));
}

// Adding steps to a tick never passes the end of the range if the tick is larger than the step by 2^53.
TEST(Ticks, AreFewWhateverTheRange) {
  const double least = std::numeric_limits<double>::denorm_min();
  const double most = std::numeric_limits<double>::max();
  const double third = 1.0 / 3;
  for (const auto& [low, high] : std::vector<std::pair<double, double>>{{third, std::nextafter(third, 1)},
                                                                        {third, third},
                                                                        {1.7, 1.7 + 1e-15},
                                                                        {1e16, 1e16 + 2},
                                                                        {-1e300, 1e300},
                                                                        {(0.1 + 0.2 + 0.3) / 3, (0.3 + 0.2 + 0.1) / 3},
                                                                        {-most, most},
                                                                        {0, least},
                                                                        {least, 2 * least},
                                                                        {least, most},
                                                                        {most / 2, most},
                                                                        {0, 0},
                                                                        {-1e-320, 1e-320},
                                                                        {1, most},
                                                                        {2, 2 + 1e-9},
                                                                        {-7, -7 + 1e-14},
                                                                        {20240001, 20240005}}) {
    for (const bool log : {false, true}) {
      Figure figure;
      figure.description.x_scale = log ? FigureDescription::Scale::kLog : FigureDescription::Scale::kLinear;
      figure.description.y_scale = figure.description.x_scale;
      FigureSeries series;
      for (const double value : {low, high}) series.points.push_back({.x = value, .y = value});
      figure.series = {series};
      for (const Axis& axis : {x_axis(figure), y_axis(figure)}) {
        EXPECT_TRUE(std::isfinite(axis.range.low) && std::isfinite(axis.range.high)) << low << " " << high;
        EXPECT_LT(axis.range.low, axis.range.high) << low << " " << high;
        EXPECT_GE(axis.ticks.size(), 1U) << low << " " << high << log;
        EXPECT_LE(axis.ticks.size(), 20U) << low << " " << high << log;
        const std::vector<std::string> texts = tick_texts(axis);
        EXPECT_EQ(std::adjacent_find(texts.begin(), texts.end()), texts.end()) << low << " " << high << " " << texts[0];
      }
      figure.grid = {{low, high}};
      EXPECT_LE(colour_axis(figure).ticks.size(), 20U);
    }
  }
}

// The means over three and five seeds of the same number.
TEST_F(Figures, PointsThatDifferInTheLastBitAreDrawn) {
  for (int seed = 10; seed < 18; ++seed) {
    maker_.make({.id = fmt::format("s{}", seed), .span = seed < 13 ? 1 : 2, .seed = seed, .bpc = 1.4});
  }
  store_.sync(maker_.runs());
  const Figure means = figure("figure: F\nx: model.span\ny: test.bpc\nwhere: {seed: '>=10'}\n");
  ASSERT_EQ(means.series[0].points.size(), 2U);
  const double distance = means.series[0].points[0].y - means.series[0].points[1].y;
  ASSERT_NE(distance, 0);
  ASSERT_LT(std::abs(distance), 1e-15);
  EXPECT_LE(y_axis(means).ticks.size(), 20U);
  EXPECT_LE(plotly_figure(means)["layout"]["yaxis"]["tickvals"].size(), 20U);
}

TEST_F(Figures, TextOnXBecomesPlaces) {
  const Figure result = figure("figure: F\nkind: bars\nx: model.span_type\ny: test.bpc\nseries: model.span\n");
  EXPECT_THAT(result.x_names, ElementsAre("adaptive", "fixed"));
  EXPECT_EQ(result.series[0].label, "span limit 64");
}

}  // namespace
}  // namespace xlm
