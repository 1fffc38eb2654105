// Keys that say how a figure looks on paper: legend, labels, order, title; and looks that figures share.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "results/figures/picture.h"
#include "results/figures/plot_style.h"
#include "results/figures/series_looks.h"
#include "tests/results/figures/figures.h"
#include "tests/thrown_message.h"

namespace xlm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kLooks = "figure: F\nkind: line\nx: model.span\ny: test.bpc\nseries: model.span_type\n";

class Looks : public Figures {
 protected:
  Figure with(const std::string& keys) { return figure(kLooks + keys); }

  static std::vector<std::string> labels(const Figure& figure) {
    std::vector<std::string> labels;
    for (const FigureSeries& series : figure.series) labels.push_back(series.label);
    return labels;
  }

  static std::string problem_of(const std::string& keys) {
    return thrown_message([&] { spec_of(kLooks + keys); });
  }
};

TEST_F(Looks, LabelsAndOrderOfSeries) {
  EXPECT_THAT(labels(with("")), ElementsAre("adaptive", "fixed"));
  const Figure renamed = with("labels: {fixed: adaptive, adaptive: fixed}\n");
  EXPECT_THAT(labels(renamed), ElementsAre("fixed", "adaptive")) << "each is renamed once";
  EXPECT_EQ(renamed.series[0].points[0].y, with("").series[0].points[0].y) << "numbers stay with their series";
  EXPECT_THAT(labels(with("order: [fixed]\n")), ElementsAre("fixed", "adaptive"));
  EXPECT_THAT(labels(with("order: [All, adaptive]\nlabels: {fixed: All}\n")), ElementsAre("All", "adaptive"));
  const Figure both = figure(
      "figure: F\nx: seed\ny: test.bpc\nseries: [model.span_type, model.span]\n"
      "labels: {fixed: F, 64: short, 'adaptive, span limit 256': long}\n");
  EXPECT_THAT(labels(both), ElementsAre("adaptive, short", "long", "F, short", "F, span limit 256"));
  const Figure named = figure("figure: F\nkind: bars\nx: model.span_type\ny: test.bpc\nlabels: {fixed: Fixed}\n");
  EXPECT_THAT(named.x_names, ElementsAre("adaptive", "Fixed"));
}

TEST_F(Looks, OrderTakesNumbersOfAColumn) {
  const Figure ordered = figure("figure: F\nx: seed\ny: test.bpc\nseries: model.span\norder: [256, 64]\n");
  EXPECT_THAT(labels(ordered), ElementsAre("span limit 256", "span limit 64"));
  EXPECT_THAT(ordered.warnings, IsEmpty());
}

TEST(SeriesLooks, DifferUntilColoursAndSymbolsAreUsedUp) {
  std::set<std::pair<std::string_view, std::string_view>> marks;
  std::set<std::pair<std::string_view, std::string_view>> bars;
  for (std::size_t i = 0; i < 40; ++i) {
    const SeriesLook look = series_look(i);
    marks.emplace(look.colour, look.symbol);
    bars.emplace(look.colour, look.pattern);
  }
  EXPECT_EQ(marks.size(), 40U);
  EXPECT_EQ(bars.size(), 40U);
}

TEST(CellTexts, HaveTheDigitsOfTheirOwnNumber) {
  Figure figure;
  figure.grid = {{0.52, 120.2}, {1.46, 12.34}};
  std::vector<std::string> texts;
  for (const double value : {0.52, 120.2, 1.46, 12.34, 0.00123}) texts.push_back(cell_text(figure, value));
  EXPECT_THAT(texts, ElementsAre("0.52", "120", "1.46", "12.3", "0.0012"));
  figure.grid = {{1, 2}};
  EXPECT_EQ(cell_text(figure, 2), "2");
}

TEST_F(Looks, WarnOfWhatTheFigureDoesNotHave) {
  EXPECT_THAT(with("labels: {fixed: F}\norder: [fixed]\n").warnings, IsEmpty());
  EXPECT_THAT(with("labels: {fixt: F}\norder: [adaptve]\n").warnings,
              ElementsAre(HasSubstr("'fixt' in `labels`, but shows no such value: it has 'adaptive', 'fixed'"),
                          HasSubstr("'adaptve' in `order`")));
}

TEST_F(Looks, ThatMeanNothingAreErrors) {
  EXPECT_THAT(problem_of("legend: middle\n"), HasSubstr("middle"));
  EXPECT_THAT(problem_of("legend: {place: right}\n"), HasSubstr("description.yaml"));
  EXPECT_THAT(problem_of("labels: [a]\n"), HasSubstr("labels is a map"));
  EXPECT_THAT(problem_of("order: a\n"), HasSubstr("order is a list"));
  EXPECT_THAT(problem_of("references: [{y: 1}]\n"), HasSubstr("unknown key 'references'"));
}

TEST_F(Looks, LegendsStandWhereTheyAreTold) {
  EXPECT_EQ(picture_of(with("legend: below\n"))["legend"], "below");
  EXPECT_EQ(picture_of(with(""))["legend"], "auto");
  EXPECT_EQ(picture_of(with("legend: none\n"))["legend"], "none");
  EXPECT_EQ(picture_of(with("where: {model.span_type: fixed}\n"))["legend"], "none") << "of one series";
  EXPECT_EQ(plotly_figure(with("legend: none\n"))["layout"]["showlegend"], false);
  EXPECT_EQ(plotly_figure(with("legend: below\n"))["layout"]["legend"]["orientation"], "h");
}

TEST_F(Looks, TitleCaptionAndSizeOfTexts) {
  const Json plain = picture_of(with("name: plain\n"));
  EXPECT_EQ(plain["title"], "F");
  EXPECT_THAT(plain["caption"].get<std::string>(), HasSubstr("over 2 seeds"));
  const Json bare = picture_of(with("show_title: false\nshow_caption: false\nfont_size: 7\n"));
  EXPECT_EQ(bare["title"], "");
  EXPECT_EQ(bare["caption"], "");
  EXPECT_EQ(bare["font_size"], 7);
}

TEST_F(Looks, AreTheSameForAValueInAllFiguresOfAFile) {
  SharedLooks looks;
  const auto made = [&](const std::string& keys) { return std::get<Figure>(looks.applied(built(kLooks + keys))); };
  const Figure first = made("");
  EXPECT_EQ(first.series[1].label, "fixed");
  EXPECT_EQ(first.series[1].look, 1U);
  const Figure second = made("where: {model.span_type: fixed}\nlabels: {fixed: other name}\n");
  EXPECT_EQ(second.series[0].look, 1U);
  EXPECT_EQ(plotly_figure(second)["data"][0]["line"]["color"], series_look(1).colour);
  EXPECT_EQ(made("order: [fixed]\n").series[0].look, 1U);
  const Figure other = std::get<Figure>(looks.applied(built("figure: G\nx: seed\ny: test.bpc\nseries: model.span\n")));
  EXPECT_EQ(other.series[0].look, 0U) << "another column begins again";
}

}  // namespace
}  // namespace xlm
