// Descriptions of fits: their keys, places to predict, and errors with their place.
#include "results/fits/fit_description.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/results/fits/fits.h"
#include "tests/thrown_message.h"

namespace xlm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string error_of_fit(const std::string& yaml) {
  return thrown_message([&] { fit_of(yaml); });
}

TEST(FitDescription, HasDefaults) {
  const FitDescription fit = fit_of("fit: Loss against compute\n");
  EXPECT_EQ(fit.name, "loss-against-compute");
  EXPECT_EQ(fit.law, FitLaw::kCompute);
  EXPECT_THAT(fit.columns(), ElementsAre("training_flops"));
  EXPECT_THAT(fit.parameter_names(), ElementsAre("E", "A", "α"));
  EXPECT_EQ(fit.formula(), "test.loss = E + A·C^(−α), with C = training_flops");
}

TEST(FitDescription, IsReadWhole) {
  const FitDescription fit = fit_of(
      "fits:\n"
      "  two:\n"
      "    title: Size and data\n"
      "    law: size-and-data\n"
      "    loss: test.bits_per_byte\n"
      "    n: flops_per_token\n"
      "    by: [model.type, data.name]\n"
      "    where: {status: done}\n"
      "    predict: [{N: 1e9, D: 2e10}, {D: 4e10, N: 1e9}]\n"
      "    draws: 200\n"
      "    level: 90\n");
  EXPECT_EQ(fit.title, "Size and data");
  EXPECT_EQ(fit.name, "two");
  EXPECT_THAT(fit.columns(), ElementsAre("flops_per_token", "training_tokens"));
  EXPECT_THAT(fit.by, ElementsAre("model.type", "data.name"));
  EXPECT_EQ(fit.where.size(), 1U);
  EXPECT_THAT(fit.predict, ElementsAre(ElementsAre(1e9, 2e10), ElementsAre(1e9, 4e10)));
  EXPECT_DOUBLE_EQ(fit.estimate_options().level, 0.9);
  EXPECT_EQ(fit.estimate_options().draws, 200);
  EXPECT_EQ(fit_place_text(fit, fit.predict[0]), "N=1e9, D=2e10");
}

TEST(FitDescription, OfBudgetsPredictsSizes) {
  const FitDescription fit = fit_of("fit: F\nlaw: iso-flops\npredict: {C: 1e19}\n");
  EXPECT_THAT(fit.columns(), ElementsAre("params", "training_flops"));
  EXPECT_THAT(fit.predict, ElementsAre(ElementsAre(1e19)));
  EXPECT_THAT(error_of_fit("fit: F\nlaw: iso-flops\npredict: {N: 1e9}\n"), HasSubstr("the law iso-flops has no N"));
}

TEST(FitDescription, ErrorsNameTheirPlace) {
  EXPECT_THAT(error_of_fit("fits: [{law: compute}]\n"), HasSubstr("fits.yaml:1: the fit has no title"));
  EXPECT_THAT(error_of_fit("fit: F\nlaw: cubic\n"), HasSubstr("fits.yaml:2"));
  EXPECT_THAT(error_of_fit("fits:\n- {fit: F, lawn: compute}\n"), HasSubstr("did you mean 'law'?"));
  EXPECT_THAT(error_of_fit("fit: F\npredict: {N: 1e9}\n"), HasSubstr("the law compute has no N"));
  EXPECT_THAT(error_of_fit("fit: F\npredict: {C: -1}\n"), HasSubstr("'-1', it must be a number above 0"));
  EXPECT_THAT(error_of_fit("fit: F\npredict: 1e9\n"), HasSubstr("predict takes a map"));
  EXPECT_THAT(error_of_fit("fit: F\nlaw: size-and-data\npredict: {N: 1}\n"), HasSubstr("lacks D"));
  EXPECT_THAT(error_of_fit("fit: F\ndraws: 3\n"), HasSubstr("fits.yaml:2"));
  EXPECT_THAT(error_of_fit("fit: F\nby: [seed, seed]\n"), HasSubstr("by names seed twice"));
  EXPECT_THAT(error_of_fit("fit: F\nc: =params *\n"), HasSubstr("fits.yaml:1"));
}

TEST(FitDescription, PlacesOfTheCommandLineAreRead) {
  const FitDescription compute = fit_of("fit: F\n");
  EXPECT_THAT(read_fit_place("C=1e19", compute), ElementsAre(1e19));
  EXPECT_EQ(fit_place_text(compute, {1.25e19}), "C=1.25e19");
  EXPECT_EQ(fit_place_text(compute, {2500}), "C=2500");
  EXPECT_THROW(read_fit_place("1e19", compute), UsageError);
  EXPECT_THROW(read_fit_place("C=many", compute), UsageError);
  const FitDescription both = fit_of("fit: F\nlaw: size-and-data\n");
  EXPECT_THAT(read_fit_place("D=2e10, N=1e9", both), ElementsAre(1e9, 2e10));
  EXPECT_THROW(read_fit_place("N=1e9", both), UsageError);
}

}  // namespace
}  // namespace xlm
