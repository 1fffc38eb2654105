// Small multiples: a panel for each value of a column, with the same axes, places and looks.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "base/error.h"
#include "results/figures/picture.h"
#include "results/figures/plot_style.h"
#include "results/figures/series_looks.h"
#include "results/pages/page.h"
#include "tests/results/figures/figures.h"
#include "tests/thrown_message.h"

namespace xlm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kPanels =
    "figure: F\nkind: line\nx: model.span\ny: test.bpc\nseries: model.span_type\nfacet: seed\n";

class Panels : public Figures {
 protected:
  static std::string refused(const std::string& yaml) {
    return thrown_message([&] { spec_of(yaml); });
  }

  static std::vector<std::string> titles(const Figure& figure) {
    std::vector<std::string> titles;
    for (const Figure& panel : figure.panels) titles.push_back(panel.description.title);
    return titles;
  }
};

TEST_F(Panels, ShowTheRunsOfAValueEach) {
  const Figure whole = figure(kPanels);
  EXPECT_THAT(titles(whole), ElementsAre("seed 1", "seed 2"));
  for (const int seed : {1, 2}) {
    const Figure alone =
        figure(fmt::format("figure: F\nkind: line\nx: model.span\ny: test.bpc\nseries: model.span_type\n"
                           "where: {{seed: {}}}\n",
                           seed));
    const Figure& panel = whole.panels[static_cast<std::size_t>(seed - 1)];
    ASSERT_EQ(panel.series.size(), alone.series.size());
    for (std::size_t i = 0; i < alone.series.size(); ++i) {
      EXPECT_EQ(panel.series[i].label, alone.series[i].label);
      ASSERT_EQ(panel.series[i].points.size(), 2U);
      for (std::size_t point = 0; point < 2; ++point) {
        EXPECT_EQ(panel.series[i].points[point].x, alone.series[i].points[point].x);
        EXPECT_EQ(panel.series[i].points[point].y, alone.series[i].points[point].y);
        EXPECT_EQ(panel.series[i].points[point].runs, alone.series[i].points[point].runs);
      }
    }
  }
  EXPECT_EQ(runs_of(whole).size(), 8U);
  EXPECT_THAT(whole.caption, IsEmpty()) << "a point is one run";
  EXPECT_THAT(whole.notes, IsEmpty());
}

TEST_F(Panels, HaveTheSameAxes) {
  const Figure whole = figure(kPanels);
  const Range first = y_axis(whole.panels[0]).range;
  const Range second = y_axis(whole.panels[1]).range;
  EXPECT_EQ(first.low, second.low);
  EXPECT_EQ(first.high, second.high);
  EXPECT_EQ(x_axis(whole.panels[0]).range.high, x_axis(whole.panels[1]).range.high);
  for (const Figure& panel : whole.panels) {
    for (const FigureSeries& series : panel.series) {
      for (const FigurePoint& point : series.points) {
        EXPECT_GT(point.y, first.low);
        EXPECT_LT(point.y, first.high);
      }
    }
  }
}

TEST_F(Panels, KeepPlacesLooksAndLabelsOfTheWholeFigure) {
  maker_.make({.id = "only-short", .type = "banded", .span = 64});
  store_.sync(maker_.runs());
  const Figure named =
      figure("figure: F\nkind: bars\nx: model.span_type\ny: test.bpc\nfacet: model.span\nlabels: {64: short}\n");
  EXPECT_THAT(titles(named), ElementsAre("short", "span limit 256"));
  EXPECT_THAT(named.panels[1].x_names, ElementsAre("adaptive", "banded", "fixed"));
  ASSERT_EQ(named.panels[1].series[0].points.size(), 2U);
  EXPECT_EQ(named.panels[1].series[0].points[1].x, 2) << "no run of banded";
  const Figure whole =
      figure("figure: F\nx: seed\ny: test.bpc\nseries: model.span_type\nfacet: model.span\norder: [fixed]\n");
  const Figure& last = whole.panels[1];
  ASSERT_EQ(last.series.size(), 2U);
  EXPECT_EQ(last.series[0].label, "fixed");
  EXPECT_EQ(last.series[0].look, 0U);
  EXPECT_EQ(last.series[1].look, 1U) << "adaptive comes second in all panels";
  SharedLooks looks;
  EXPECT_TRUE(std::holds_alternative<Figure>(
      looks.applied(built("figure: G\nx: seed\ny: test.bpc\nseries: model.span_type\n"))));
  const Figure shared = std::get<Figure>(looks.applied(whole));
  EXPECT_EQ(shared.panels[1].series[0].look, 2U) << "adaptive and banded have the first two";
}

TEST_F(Panels, ThatCannotBeAreErrors) {
  EXPECT_THAT(refused("figure: F\nkind: heatmap\nx: seed\ny: model.span\nvalue: test.bpc\nfacet: seed\n"),
              HasSubstr("has a 'facet', which only a scatter, line, bars of columns of the store shows"));
  EXPECT_THAT(refused("figure: F\nkind: line\ngrid: spans\nfacet: seed\n"), HasSubstr("has a 'facet'"));
  EXPECT_THAT(refused(std::string(kPanels) + "legend: inside\n"), HasSubstr("its legend stands below or right"));
  EXPECT_THAT(refused("figure: F\nx: seed\ny: test.bpc\nfacet: {by: seed, rows: 2}\n"), HasSubstr("rows"));
  EXPECT_THROW(built("figure: F\nx: seed\ny: test.bpc\nfacet: model.spam\n"), UsageError);
}

TEST_F(Panels, OfValuesWithoutNumbersAreLeftOutWithANote) {
  maker_.write_config({.id = "no-results", .span = 1024});
  maker_.journal({.id = "no-results"}).append("state", {{"state", "running"}, {"host", "here"}, {"pid", 42}});
  store_.sync(maker_.runs());
  const Figure whole = figure("figure: F\nx: seed\ny: test.bpc\nfacet: model.span\n");
  EXPECT_THAT(titles(whole), ElementsAre("span limit 64", "span limit 256"));
  EXPECT_THAT(whole.notes, ::testing::Contains(HasSubstr("no panel for span limit 1024")));
}

TEST_F(Panels, AreInOnePictureAndOnPages) {
  const Figure whole = figure(std::string(kLine) + "facet: {by: seed, columns: 1}\nwidth: 3.25\n");
  const Json picture = picture_of(whole);
  ASSERT_EQ(picture["panels"].size(), 2U);
  EXPECT_EQ(picture["panels"][1]["title"], "seed 2");
  EXPECT_EQ(picture["panels"][0]["layout"]["yaxis"]["range"], picture["panels"][1]["layout"]["yaxis"]["range"]);
  EXPECT_EQ(picture["columns"], 1);
  const std::string page = figure_page(store_, whole);
  EXPECT_THAT(page, HasSubstr("<h3>seed 2</h3>"));
  EXPECT_THAT(page, HasSubstr("data-figure=\"1\""));
}

}  // namespace
}  // namespace xlm
