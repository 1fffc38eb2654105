// Figures of settings that were chosen on validation.
#include <gmock/gmock.h>

#include "base/error.h"
#include "tests/results/figures/figures.h"
#include "tests/results/tuned_runs.h"

namespace xlm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ChoiceFigures : public Figures {
 protected:
  ChoiceFigures() {
    make_tuned_runs(maker_);
    store_.sync(maker_.runs());
  }

  static std::vector<double> ys_of(const Figure& figure) {
    std::vector<double> ys;
    for (const FigurePoint& point : figure.series.at(0).points) ys.push_back(point.y);
    return ys;
  }
};

constexpr const char* kTunedRuns = "figure: Tuned\ny: test.bpc\nwhere: {experiment: tuned}\n";
constexpr const char* kChoice = "choose: {over: optimizer.lr, by: valid.bpc}\n";

TEST_F(ChoiceFigures, APointIsTheSettingThatIsBestOnValidation) {
  const Figure line = figure(std::string(kTunedRuns) + kChoice + "kind: line\nx: model.span\n");
  EXPECT_THAT(ys_of(line), ElementsAre(::testing::DoubleNear(1.61, 1e-12), ::testing::DoubleNear(1.22, 1e-12)));
  EXPECT_EQ(line.caption, "mean and standard deviation over 2 seeds; best optimizer.lr by valid bpc");
  EXPECT_THAT(line.notes, ElementsAre("Chosen by the best mean valid bpc: optimizer.lr=0.02 for model.span=64; "
                                      "optimizer.lr=0.01 for model.span=256."));
}

TEST_F(ChoiceFigures, APointOfAnOutcomeIsOneSettingOfEachFamily) {
  const Figure scatter = figure(std::string(kTunedRuns) + kChoice + "x: flops_per_token\n");
  EXPECT_EQ(scatter.series.at(0).points.size(), 2U) << "without a choice there are five";
  EXPECT_EQ(figure(std::string(kTunedRuns) + "x: flops_per_token\n").series.at(0).points.size(), 5U);
}

TEST_F(ChoiceFigures, CurvesAreOfTheChosenRuns) {
  const Figure curves = figure(
      std::string(
          "figure: Curves\nkind: line\nx: step\ny: valid.bpc\nseries: model.span\nwhere: {experiment: tuned}\n") +
      kChoice);
  ASSERT_EQ(curves.series.size(), 2U);
  EXPECT_EQ(curves.series[0].points.back().runs.size(), 2U);
}

TEST_F(ChoiceFigures, WithoutASettingToChooseThereIsNothingToShow) {
  EXPECT_THAT(
      nothing(
          std::string("figure: Lost\nx: model.span\ny: test.bpc\nwhere: {experiment: tuned, optimizer.lr: 0.04}\n") +
          kChoice)
          .reason,
      HasSubstr("no setting can be chosen"));
  EXPECT_THROW(spec_of(std::string(kTunedRuns) + "x: model.span\nchoose: {over: optimizer.lr, by: test.bpc}\n"),
               UsageError);
}

}  // namespace
}  // namespace xlm
