// Heatmaps, and figures of recorded grids.
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "results/figures/figures.h"
#include "tests/results/figures/figures.h"
#include "tests/results/run_maker.h"
#include "tests/thrown_message.h"

namespace xlm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(Figures, SpansOfTheNewestRun) {
  const Figure heat = figure("figure: F\nkind: heatmap\ngrid: spans\n");
  EXPECT_THAT(heat.grid, ElementsAre(ElementsAre(32, 40), ElementsAre(33, 256)));
  EXPECT_EQ(heat.caption, "adaptive-span-text8-00000008");
  EXPECT_THAT(heat.notes, ElementsAre(HasSubstr("the newest of 8 runs")));
  const Figure points =
      figure("figure: F\nkind: scatter\ngrid: spans\nwhere: {run_id: adaptive-span-text8-00000001}\n");
  EXPECT_TRUE(points.notes.empty());
  EXPECT_EQ(points.series[0].points.size(), 4);
  EXPECT_EQ(points.series[1].points[1].y, (33 + 64) / 2.0);
}

TEST_F(Figures, HeatmapOfAColumn) {
  const Figure result = figure("figure: F\nkind: heatmap\nx: model.span\ny: model.span_type\nvalue: test.bpc\n");
  EXPECT_THAT(result.x_names, ElementsAre("64", "256"));
  EXPECT_THAT(result.y_names, ElementsAre("adaptive", "fixed"));
  EXPECT_NEAR(result.grid[0][0], 1.851, 1e-12);
}

TEST_F(Figures, HolesInAHeatmapHaveNoNumber) {
  maker_.make({.id = "lone", .type = "fixed", .span = 512});
  store_.sync(maker_.runs());
  const Figure result = figure("figure: F\nkind: heatmap\nx: model.span\ny: model.span_type\nvalue: test.bpc\n");
  EXPECT_TRUE(std::isnan(result.grid[0][2]));
  EXPECT_EQ(result.grid_runs[1][2], std::vector<std::string>{"lone"});
  const Json page = plotly_figure(result)["data"][0];
  EXPECT_TRUE(page["z"][0][2].is_null());
  EXPECT_EQ(page["text"][0][2], "");
}

class Grids : public Figures {
 protected:
  Grids() {
    const MadeRun run{.id = "gates", .time = 50000};
    maker_.make(run);
    maker_.journal(run).append(
        "grid", {{"step", 90}, {"name", "gate_share"}, {"rows", Json::array({Json::array({9, 9, 9, 9})})}});
    maker_.journal(run).append("grid",
                               {{"step", 100}, {"name", "gate_share"}, {"rows", {{0.25, 0.5, 1.5}, {2, nullptr}}}});
    maker_.make({.id = "newer", .time = 60000});
    store_.sync(maker_.runs());
  }
};

TEST_F(Grids, AreShownUnderTheirOwnName) {
  const Figure heat = figure("figure: F\nkind: heatmap\ngrid: gate_share\n");
  EXPECT_EQ(heat.caption, "gates") << "the newest that has one";
  EXPECT_TRUE(heat.notes.empty());
  ASSERT_EQ(heat.grid.size(), 2) << "of its newest step";
  EXPECT_THAT(heat.grid[0], ElementsAre(0.25, 0.5, 1.5));
  ASSERT_EQ(heat.grid[1].size(), 3) << "as wide as the widest row";
  EXPECT_EQ(heat.grid[1][0], 2);
  EXPECT_TRUE(std::isnan(heat.grid[1][1]));
  EXPECT_EQ(heat.x_label + "|" + heat.y_label + "|" + heat.value_label, "column|row|gate share");
  EXPECT_EQ(plotly_figure(heat)["data"][0]["colorbar"]["title"]["text"], "gate share");
  EXPECT_TRUE(plotly_figure(heat)["data"][0]["z"][1][1].is_null());
}

TEST_F(Grids, AreShownAsPointsAndMeansOfRows) {
  const Figure points = figure("figure: F\ngrid: gate_share\ny_label: share\n");
  ASSERT_EQ(points.series.size(), 2);
  EXPECT_EQ(points.series[0].label, "one column");
  EXPECT_EQ(points.series[0].points.size(), 4) << "none for what is not there";
  EXPECT_EQ(points.series[1].label, "mean of the row");
  EXPECT_EQ(points.series[1].points[0].y, 0.75);
  EXPECT_EQ(points.series[1].points[1].y, 2);
  EXPECT_EQ(points.y_label, "share");
}

/// Ten heads whose attention moves away by one step each. The columns stand for the distances 4, 8, 12 and 15.
class AttentionGrid : public Figures {
 protected:
  AttentionGrid() {
    const MadeRun run{.id = "attentive", .time = 70000};
    maker_.make(run);
    Json rows = Json::array();
    for (int head = 0; head < 10; ++head) {
      const double far = 0.1 * ((head + 3) % 10);  // head 8 sees nearest, head 7 furthest
      rows.push_back({1 - far, 0, nullptr, far});
    }
    maker_.journal(run).append("grid",
                               {{"step", 100}, {"name", "attention"}, {"rows", rows}, {"columns", {4, 8, 12, 15}}});
    store_.sync(maker_.runs());
  }
};

TEST_F(AttentionGrid, OfManyRowsTheTwoThatDifferMostAreDrawn) {
  const Figure lines = figure("figure: F\nkind: line\ngrid: attention\n");
  ASSERT_EQ(lines.series.size(), 2);
  EXPECT_EQ(lines.series[0].label, "head 8");
  EXPECT_EQ(lines.series[1].label, "head 7");
  ASSERT_EQ(lines.series[0].points.size(), 3) << "none for what is not there";
  EXPECT_EQ(lines.series[0].points[0].x, 4);
  EXPECT_EQ(lines.series[1].points[2].x, 15);
  EXPECT_DOUBLE_EQ(lines.series[1].points[2].y, 0.9);
  EXPECT_THAT(lines.series[1].points[2].runs, ElementsAre("attentive"));
  EXPECT_EQ(lines.x_label + "|" + lines.y_label, "distance|attention weight");
  EXPECT_EQ(lines.caption, "attentive; heads are counted layer by layer");
  ASSERT_EQ(lines.notes.size(), 1);
  EXPECT_THAT(lines.notes[0], HasSubstr("with the smallest and the largest mean distance, of 10"));
}

TEST_F(AttentionGrid, RowsThatAreNamedAreDrawn) {
  const Figure lines = figure("figure: F\nkind: line\ngrid: attention\nrows: [2, 9, 1]\nx_scale: log\n");
  ASSERT_EQ(lines.series.size(), 3);
  EXPECT_EQ(lines.series[1].label, "head 9");
  EXPECT_DOUBLE_EQ(lines.series[0].points[2].y, 0.4);
  EXPECT_TRUE(lines.notes.empty());
  for (const char* row : {"11", "0"}) {
    EXPECT_THROW(figure(std::string("figure: F\nkind: line\ngrid: attention\nrows: [") + row + "]\n"), UsageError);
  }
}

TEST_F(AttentionGrid, AHeatmapNamesItsColumns) {
  EXPECT_THAT(figure("figure: F\nkind: heatmap\ngrid: attention\n").x_names, ElementsAre("4", "8", "15"))
      << "a column without numbers is not there";
}

TEST_F(AttentionGrid, OfManyColumnsAHeatmapNamesThoseThatHaveRoom) {
  Json row = Json::array();
  Json columns = Json::array();
  for (int i = 1; i <= 128; ++i) {
    row.push_back(1.0 / 128);
    columns.push_back(2 * i);
  }
  maker_.journal({.id = "attentive"})
      .append("grid", {{"step", 100}, {"name", "wide"}, {"rows", Json::array({row})}, {"columns", columns}});
  store_.sync(maker_.runs());
  const Figure heat = figure("figure: F\nkind: heatmap\ngrid: wide\n");
  ASSERT_EQ(heat.x_names.size(), 128) << "a place is named where it is hovered over";
  const Json names = plotly_figure(heat)["layout"]["xaxis"]["ticktext"];
  EXPECT_EQ(names[7], "16");
  EXPECT_EQ(names[8], "");
}

TEST_F(Figures, OfFewRowsAllAreDrawn) {
  const Figure lines = figure("figure: F\nkind: line\ngrid: spans\n");
  ASSERT_EQ(lines.series.size(), 2);
  EXPECT_EQ(lines.series[1].label, "layer 2");
  EXPECT_EQ(lines.series[1].points[0].y, 33);
}

TEST_F(Grids, UnknownOnesAreErrors) {
  EXPECT_EQ(
      thrown_message([&] { figure("figure: F\nkind: heatmap\ngrid: gate_shares\n"); }),
      "the figure 'F' asks for the grid 'gate_shares' (did you mean 'gate_share'?); there are: gate_share, spans");
  EXPECT_EQ(nothing("figure: F\nkind: heatmap\ngrid: gate_share\nwhere: {run_id: newer}\n").reason,
            "none of 1 runs has gate_share in its journal");
}

TEST(GridsOfAnEmptyStore, MayYetCome) {
  TemporaryFolder folder;
  RunMaker maker(folder.path());
  maker.make({.id = "a", .state = "running"});
  Store store = Store::in_memory();
  store.sync(maker.runs());
  RunTable runs(store);
  const auto built = build_figure(runs, spec_of("figure: F\nkind: heatmap\ngrid: gates\n"), {});
  EXPECT_EQ(std::get<NothingToShow>(built).reason, "none of 1 runs has gates in its journal");
}

}  // namespace
}  // namespace xlm
