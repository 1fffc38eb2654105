// xlm fit: the documented output, recipes, forms, figures, refusals, and the section of reports.
#include <array>

#include <gmock/gmock.h>

#include "tests/cmd/results_commands_fixture.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kFitRecipe =
    "experiment: spans\n"
    "fits:\n"
    "  - fit: Loss against compute\n"
    "    loss: test.bpc\n"
    "    c: flops_per_token\n"
    "    draws: 100\n"
    "    predict: {C: 1e8}\n";

class FitCommand : public ResultsCommands {
 protected:
  /// Runs of 16 to 2048 places, a run each, whose bpc lies up to 0.3 % around 1 + 200·C^(−0.4).
  void make_law() {
    constexpr std::array<double, 8> kBpc{2.665, 2.251, 1.954, 1.716, 1.55, 1.416, 1.313, 1.239};
    for (int i = 0; i < 8; ++i) {
      const int span = 16 << i;
      maker_.make({.id = fmt::format("adaptive-span-text8-{:08x}", i + 1),
                   .span = span,
                   .bpc = kBpc.at(static_cast<std::size_t>(i)),
                   .flops = 1e4 * span});
    }
  }
};

/// The block of docs/fits.md that shows a command and its output.
std::string documented_fit() {
  const std::string page = read_file(fs::path(XLM_SOURCE_DIR) / "docs/fits.md");
  const std::size_t begin = page.find("$ xlm fit ");
  EXPECT_NE(begin, std::string::npos);
  return page.substr(begin, page.find("```", begin) - begin);
}

/// The page's numbers are not this program's: tests/golden/fit.py computes them.
TEST_F(FitCommand, PrintsWhatThePageShows) {
  make_law();
  const std::string block = documented_fit();
  const std::size_t end = block.find('\n');
  const ProgramResult result = xlm(block.substr(std::string("$ xlm ").size(), end - std::string("$ xlm ").size()));
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out, block.substr(end + 1));
}

TEST_F(FitCommand, TakesRecipesAndPredictsFurtherPlaces) {
  make_law();
  write("fits.yaml", kFitRecipe);
  const Json fits = json("fit fits.yaml --predict C=2e8");
  ASSERT_EQ(fits.size(), 1U);
  EXPECT_EQ(fits[0]["name"], "loss-against-compute");
  EXPECT_EQ(fits[0]["laws"][0]["predictions"].size(), 2U);
  EXPECT_NEAR(fits[0]["laws"][0]["parameters"][2]["value"].get<double>(), 0.403, 1e-3);
  EXPECT_THAT(xlm("fit fits.yaml --name other").err, HasSubstr("there is no fit named 'other'"));
  EXPECT_THAT(xlm("fit fits.yaml --loss test.loss").err, HasSubstr("--loss is for a fit without a recipe"));
  EXPECT_THAT(xlm("fit --name loss").err, HasSubstr("name it: xlm fit RECIPE.yaml"));
  write("none.yaml", "experiment: spans\ntables: []\n");
  EXPECT_THAT(xlm("fit none.yaml").err, HasSubstr("describes no fit"));
}

TEST_F(FitCommand, HasTheFormsOfTablesAndAFigure) {
  make_law();
  write("fits.yaml", kFitRecipe);
  for (const std::string name : {"fits.md", "fits.csv", "fits.tex", "fits.json", "fits.html"}) {
    const ProgramResult result = xlm("fit fits.yaml --out " + name);
    ASSERT_EQ(result.code, 0) << result.err;
    EXPECT_THAT(read_file(temporary_.path() / name),
                AnyOf(HasSubstr("Loss against compute"), HasSubstr("loss-against-compute")))
        << name;
  }
  EXPECT_THAT(read_file(temporary_.path() / "fits.html"), AllOf(HasSubstr("data-figure"), HasSubstr("95 % interval")));
  EXPECT_EQ(xlm("fit fits.yaml --figure fit.py").code, 0);
  EXPECT_THAT(read_file(temporary_.path() / "fit.py"), HasSubstr("import matplotlib"));
  const ProgramResult wrong = xlm("fit fits.yaml --figure fit.html");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("--out FILE.html"));
}

TEST_F(FitCommand, RefusesWhatGivesNoLaw) {
  EXPECT_EQ(xlm("fit --loss test.bpc").code, 3) << "there are no runs";
  make_law();
  const ProgramResult few = xlm("fit --loss test.bpc --c flops_per_token --where 'model.span<=64'");
  EXPECT_EQ(few.code, 3);
  EXPECT_THAT(few.err, AllOf(HasSubstr("has only 3 sizes"), HasSubstr("name another column with --c")));
  const ProgramResult constant = xlm("fit --loss test.bpc --c params");
  EXPECT_EQ(constant.code, 3);
  EXPECT_THAT(constant.err, HasSubstr("all runs have the same params"));
  const ProgramResult missing = xlm("fit --loss test.bpc");
  EXPECT_EQ(missing.code, 3);
  EXPECT_THAT(missing.err, HasSubstr("none of 8 runs has numbers above 0 in training_flops"));
  const ProgramResult unknown = xlm("fit --loss test.bcp --c flops_per_token");
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("test.bcp"));
  const ProgramResult place = xlm("fit --loss test.bpc --c flops_per_token --predict N=5");
  EXPECT_EQ(place.code, 2);
  EXPECT_THAT(place.err, HasSubstr("the law compute has no N"));
}

TEST_F(FitCommand, RegisteredForecastsAreJudgedByRunsThatBeganLater) {
  make_law();
  write("fits.yaml", kFitRecipe);
  EXPECT_THAT(xlm("fit fits.yaml --name loss-against-compute").out, Not(HasSubstr("registered")));
  const ProgramResult made = xlm("fit fits.yaml --register");
  EXPECT_EQ(made.code, 0) << made.err;
  const std::size_t begin = made.err.find("xlm claims ") + std::string("xlm claims ").size();
  const std::string record = made.err.substr(begin, 64);
  EXPECT_THAT(xlm("fit fits.yaml").out,
              AllOf(HasSubstr("L at C=1e8, registered"), HasSubstr("no run has reached any")));
  // The law says 1.126 there; one run lies inside, one far outside, and one had begun before.
  maker_.make({.id = "adaptive-span-text8-0000000a", .span = 10000, .bpc = 1.127, .flops = 1e8, .registered = record});
  maker_.make(
      {.id = "adaptive-span-text8-0000000b", .span = 10001, .bpc = 1.3, .flops = 1.005e8, .registered = record});
  maker_.make({.id = "adaptive-span-text8-0000000c", .span = 10002, .bpc = 1.126, .flops = 1e8});
  const Json law = json("fit fits.yaml")[0]["laws"][0];
  EXPECT_EQ(law["forecasts"][0]["runs_reached"], Json({1.127, 1.3}));
  const std::string text = xlm("fit fits.yaml").out;
  const double error = 50 * ((1.127 + 1.3) / law["forecasts"][0]["loss"].get<double>() - 2);
  EXPECT_THAT(text, AllOf(HasSubstr("1 registered forecast; 1 run at its place had begun before and count"),
                          HasSubstr(fmt::format("1 reached: 1 of 2 runs inside, mean error +{:.1f}", error))));
  EXPECT_THAT(xlm("fit --loss test.bpc --c flops_per_token --register").err, HasSubstr("nothing to register"));
  EXPECT_EQ(xlm("claims fits.yaml").code, 2) << "a record of forecasts is none of claims, and the chain is read";
}

TEST_F(FitCommand, AReportHasTheFitsOfItsRecipe) {
  make_law();
  write("fits.yaml", kFitRecipe);
  const Json summary = json("report fits.yaml --out report.html");
  EXPECT_EQ(summary["fits"], 1);
  EXPECT_EQ(summary["nothing_to_show"], 0);
  const std::string page = read_file(temporary_.path() / "report.html");
  EXPECT_THAT(page,
              AllOf(HasSubstr("<h3>Loss against compute</h3>"), HasSubstr("L at C=1e8"), HasSubstr("data-figure")));
}

}  // namespace
}  // namespace xlm
