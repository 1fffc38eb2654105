// Figures of what a model reports along a text, with marks.
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results/figures/figures.h"
#include "tests/results/figures/figures.h"
#include "tests/results/run_maker.h"

namespace xlm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Texts : public Figures {
 protected:
  Texts() {
    for (const int span : {64, 256}) {
      for (const int seed : {1, 2}) {
        maker_.make({.id = fmt::format("text-{}-{}", span, seed),
                     .type = "dynamic",
                     .span = span,
                     .seed = seed,
                     .text = "on a\ncat's mat"});
      }
    }
    store_.sync(maker_.runs());
  }
};

constexpr const char* kText =
    "figure: Span along a text\nkind: text\ny: span\nseries: model.span\nfirst: 4\ntokens: 5\n";

TEST_F(Texts, AreBelowTheMeanOverSeeds) {
  const Figure result = figure(kText);
  EXPECT_THAT(result.x_names, ElementsAre("a", "↵", "c", "a", "t"));
  ASSERT_EQ(result.series.size(), 2);
  EXPECT_EQ(result.series[1].label, "span limit 256");
  ASSERT_EQ(result.series[1].points.size(), 5);
  EXPECT_EQ(result.series[1].points[2].x, 2);
  EXPECT_EQ(result.series[1].points[2].y, 61.5);
  EXPECT_THAT(result.series[1].points[2].runs, ElementsAre("text-256-1", "text-256-2"));
  EXPECT_NEAR(*result.series[1].points[2].spread, std::sqrt(0.5), 1e-12);
  EXPECT_EQ(result.x_label, "test split, tokens 4 to 8");
  EXPECT_EQ(result.caption, "mean and standard deviation over 2 seeds");
}

TEST_F(Texts, EndWhereTheRecordedOnesDo) {
  EXPECT_THAT(figure("figure: F\nkind: text\ny: span\nfirst: 12\nwhere: {run_id: text-64-1}\n").x_names,
              ElementsAre("m", "a", "t"));
}

TEST_F(Texts, ThatNoRunHasOrThatDifferAreNotDrawn) {
  const auto refusal = [&](const std::string& yaml) -> std::string {
    return nothing("figure: F\nkind: text\n" + yaml).message;
  };
  EXPECT_THAT(refusal("y: span\nwhere: {model.span_type: fixed}\n"), HasSubstr("none of 4 runs reports 'span' for"));
  EXPECT_THAT(refusal("y: span\nfirst: 99\n"), HasSubstr("the tokens from 99 on of the test split"));
  EXPECT_THAT(refusal("y: boundary\n"), HasSubstr("'boundary'"));
  EXPECT_THAT(refusal("y: span\nsplit: valid\n"), HasSubstr("valid split"));
  maker_.make({.id = "elsewhere", .text = "another"});
  store_.sync(maker_.runs());
  EXPECT_EQ(nothing("figure: F\nkind: text\ny: span\n").reason,
            "the figure 'F' shows runs on different texts (text-256-1 has another)");
  EXPECT_THAT(refusal("y: span\n"), HasSubstr("another)\nchoose one with `where: {data.name: …}`"));
}

TEST_F(Texts, StandUprightWhereTheirTokensAreWords) {
  maker_.make({.id = "words"});
  maker_.journal({.id = "words"})
      .append("trace", {{"split", "test"}, {"tokens", {"the", "Ġcat", "<0xC3>"}}, {"values", {{"span", {3, 4.5, 2}}}}});
  store_.sync(maker_.runs());
  const Figure result = figure("figure: F\nkind: text\ny: span\nwhere: {run_id: words}\n");
  EXPECT_THAT(result.x_names, ElementsAre("the", "Ġcat", "\ufffd"));
  EXPECT_EQ(plotly_figure(result)["layout"]["xaxis"]["tickangle"], -90);
}

/// A text of three letters. Two seeds report where it breaks; one of them reports one place more.
TEST_F(Figures, OfATextMarkTokensThatMostRunsMark) {
  for (const int seed : {1, 2, 3}) {
    const MadeRun run{.id = fmt::format("marked-{}", seed), .type = "dynamic", .seed = seed, .text = "abc"};
    maker_.make(run);
    Json record = RunMaker::trace(run);
    record["values"]["boundary"] = {seed == 1 ? 1 : 0, seed == 3 ? 0 : 1, 0};
    maker_.journal(run).append("trace", record);
  }
  store_.sync(maker_.runs());
  const std::string yaml = "figure: F\nkind: text\ny: span\nwhere: {model.span_type: dynamic}\n";
  const Figure plain = figure(yaml);
  EXPECT_TRUE(plain.series.at(0).marks.empty());
  const Figure marked = figure(yaml + "marks: boundary\n");
  ASSERT_EQ(marked.series.size(), 1);
  EXPECT_THAT(marked.series[0].marks, ElementsAre(1)) << "of place 1, the second letter, two of three runs say so";
  EXPECT_EQ(marked.series[0].points[1].y, 22) << "the line is what it is without marks";
  EXPECT_EQ(marked.caption, plain.caption);
  EXPECT_FALSE(plotly_figure(plain)["layout"].contains("shapes"));
  const Json plot = plotly_figure(marked);
  ASSERT_EQ(plot["layout"]["shapes"].size(), 1);
  EXPECT_EQ(plot["layout"]["shapes"][0]["x0"], 1.5);
  EXPECT_THAT(nothing(yaml + "marks: spike\n").reason, HasSubstr("none of 3 runs reports 'spike'"));
}

TEST_F(Figures, MarksOfSeveralSeriesHaveTheirColours) {
  for (const int seed : {1, 2}) {
    const MadeRun run{.id = fmt::format("marked-{}", seed), .type = "dynamic", .seed = seed, .text = "abc"};
    maker_.make(run);
    Json record = RunMaker::trace(run);
    record["values"]["boundary"] = {seed == 1, seed == 2, 0};
    for (Json& flag : record["values"]["boundary"]) flag = flag == true ? 1 : 0;
    maker_.journal(run).append("trace", record);
  }
  store_.sync(maker_.runs());
  const Figure two =
      figure("figure: F\nkind: text\ny: span\nmarks: boundary\nseries: seed\nwhere: {model.span_type: dynamic}\n");
  ASSERT_EQ(two.series.size(), 2);
  EXPECT_THAT(two.series[0].marks, ElementsAre(0));
  EXPECT_THAT(two.series[1].marks, ElementsAre(1));
  const Json shapes = plotly_figure(two)["layout"]["shapes"];
  EXPECT_NE(shapes[0]["line"]["color"], shapes[1]["line"]["color"]);
}

}  // namespace
}  // namespace xlm
