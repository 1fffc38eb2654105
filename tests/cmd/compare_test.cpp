// xlm compare: output, messages and exit codes.
#include <cmath>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "tests/experiments/program.h"
#include "tests/results/run_maker.h"
#include "tests/results/tuned_runs.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Compare : public ::testing::Test {
 protected:
  ProgramResult compare(const std::string& arguments) const {
    return shell(temporary_.path(), fmt::format("'{}' compare {}", XLM_BINARY, arguments));
  }

  TemporaryFolder temporary_;
  RunMaker maker_{temporary_.path() / "runs"};
};

constexpr const char* kTypes = "model.span_type=fixed model.span_type=adaptive ";

// The differences of the seeds are 0.101, 0.100 and 0.101: their deviation is 0.001/√3, Student's quantile 4.302653.
TEST_F(Compare, PairsRunsBySeed) {
  maker_.make_sweep({"fixed", "adaptive"}, {64, 256}, {1, 2, 3});
  const ProgramResult outcome = compare(kTypes + std::string("--where model.span=64 --json"));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json json = Json::parse(outcome.out);
  EXPECT_EQ(json["value"], "test.bpc");
  EXPECT_EQ(json["pairs"], 3);
  EXPECT_NEAR(json["difference"].get<double>(), 0.302 / 3, 1e-9);
  EXPECT_NEAR(json["half_width"].get<double>(), 4.302653 * 0.001 / 3, 1e-8);
  const double t = 302;  // (0.302 / 3) / (0.001 / 3), and p = 1 − t / √(t² + 2) with two degrees of freedom
  EXPECT_NEAR(json["p"].get<double>(), 1 - t / std::sqrt(t * t + 2), 1e-9);
  EXPECT_NEAR(json["effect"].get<double>(), t / std::sqrt(3.0), 1e-6);
  EXPECT_EQ(json["a"]["n"], 3);
  EXPECT_EQ(json["b"]["runs"].size(), 3U);
  EXPECT_EQ(json["verdict"], "differs");
  const std::string text = compare(kTypes + std::string("--where model.span=64")).out;
  EXPECT_THAT(text, HasSubstr("A − B = +0.1007, 95 % interval +0.0992 to +0.1021 (3 pairs, each of one seed)"));
  EXPECT_THAT(text, HasSubstr("they differ: zero lies outside the 95 % interval"));
}

TEST_F(Compare, ARunStandsForItsSeeds) {
  maker_.make_sweep({"fixed", "adaptive"}, {64}, {1, 2, 3});
  const ProgramResult outcome = compare("adaptive-span-text8-00000001 adaptive-span-text8-00000006 --json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(Json::parse(outcome.out)["pairs"], 3);
  EXPECT_EQ(compare("adaptive-span-text8-0000000 adaptive-span-text8-00000006").code, 2) << "several settings";
  EXPECT_THAT(compare("nothing model.span=64").err, HasSubstr("neither a run nor a condition"));
}

TEST_F(Compare, ReportsNoDifference) {
  for (const int seed : {1, 2, 3}) {
    maker_.make({.id = fmt::format("a-{}", seed), .type = "fixed", .seed = seed, .bpc = 1.5});
    maker_.make({.id = fmt::format("b-{}", seed), .seed = seed, .bpc = 1.5 + 0.01 * (seed - 2)});
  }
  EXPECT_THAT(compare(kTypes).out, HasSubstr("undecided: zero lies inside the 95 % interval"));
}

TEST_F(Compare, NamesWhatDiffersBetweenTheSettings) {
  maker_.make({.id = "a-1", .type = "fixed", .span = 64, .seed = 1, .bpc = 1.5});
  maker_.make({.id = "a-2", .type = "fixed", .span = 64, .seed = 2, .bpc = 1.5});
  maker_.make({.id = "b-1", .span = 256, .seed = 1, .bpc = 1.4});
  const std::string text = compare("a-1 b-1").out;
  EXPECT_THAT(text, HasSubstr("A and B differ in model.span and model.span_type\n"));
  EXPECT_THAT(text, HasSubstr("1 seed without a partner: not in the difference\n"));
  EXPECT_EQ(Json::parse(compare("a-1 b-1 --json").out)["differ_in"], Json({"model.span", "model.span_type"}));
  const ProgramResult same = compare("a-1 a-2");
  EXPECT_EQ(same.code, 2);
  EXPECT_THAT(same.err, HasSubstr("all of the runs of 'a-1' are of 'a-2' too"));
  EXPECT_EQ(compare("model.span=64 model.span_type=fixed").code, 2);
  EXPECT_THAT(compare("model.span=64 seed=1").err, HasSubstr("1 of the runs of 'model.span=64' is of 'seed=1' too"));
}

TEST_F(Compare, ReportsWhatItCannotCompare) {
  maker_.make({.id = "a-1", .type = "fixed", .seed = 1, .bpc = 1.5});
  maker_.make({.id = "b-1", .seed = 1, .bpc = 1.4});
  const std::string one = compare(kTypes).out;
  EXPECT_THAT(one, HasSubstr("A − B = +0.1 (1 pair, each of one seed)"));
  EXPECT_THAT(one, HasSubstr("undecided: one pair does not show how much seeds differ: train more seeds"));
  EXPECT_THAT(one, Not(HasSubstr("p =")));
  maker_.make({.id = "a-2", .type = "fixed", .span = 64, .seed = 1, .bpc = 1.6});
  const std::string mixed = compare(kTypes).out;
  EXPECT_THAT(mixed,
              HasSubstr("warning: A mixes 2 runs that differ in model.span, and each seed counts as their mean"));
  EXPECT_THAT(mixed, Not(HasSubstr("B mixes")));
  EXPECT_EQ(compare("model.span=64 model.span_type=dynamic").code, 3) << "no such run";
  maker_.make({.id = "c-1", .type = "dynamic", .seed = 7});
  const ProgramResult apart = compare("model.span_type=dynamic model.span_type=fixed");
  EXPECT_EQ(apart.code, 3);
  EXPECT_THAT(apart.err, HasSubstr("no seed in common"));
  EXPECT_EQ(compare(kTypes + std::string("--value test.bcp")).code, 2);
  EXPECT_EQ(compare(kTypes + std::string("--level 100")).code, 2);
}

/// Golden numbers: statistics_test.cpp.
TEST_F(Compare, TestsWithoutPairsWhereSeedsDoNotPair) {
  int seed = 0;
  for (const double bpc : {1.50, 1.52, 1.55}) {
    maker_.make({.id = fmt::format("a-{}", seed), .type = "fixed", .seed = seed, .bpc = bpc});
    ++seed;
  }
  for (const double bpc : {1.60, 1.61, 1.66, 1.63}) {
    maker_.make({.id = fmt::format("b-{}", seed), .seed = seed, .bpc = bpc});
    ++seed;
  }
  const Json json = Json::parse(compare(kTypes + std::string("--json")).out);
  EXPECT_EQ(json["test"], "welch");
  EXPECT_EQ(json["pairs"], 0);
  EXPECT_NEAR(json["freedom"].get<double>(), 4.5882213251, 1e-6);
  EXPECT_NEAR(json["difference"].get<double>(), -0.1016666667, 1e-9);
  EXPECT_NEAR(json["half_width"].get<double>(), 0.0519056168, 1e-8);
  EXPECT_NEAR(json["p"].get<double>(), 0.0045318471, 1e-8);
  const std::string text = compare(kTypes).out;
  EXPECT_THAT(text, HasSubstr("(3 and 4 seeds, without pairs)"));
  EXPECT_THAT(text, HasSubstr("p = 0.0045 by Welch's two-sided t-test (4.59 degrees of freedom)"));
  EXPECT_THAT(text, Not(HasSubstr("caution")));
  EXPECT_THAT(text, Not(HasSubstr("without a partner")));
}

TEST_F(Compare, CautionsBelowThreePairs) {
  maker_.make_sweep({"fixed", "adaptive"}, {64}, {1, 2});
  const std::string two = compare(kTypes).out;
  EXPECT_THAT(two, HasSubstr("caution: two pairs leave 1 degree of freedom: "));
  EXPECT_EQ(Json::parse(compare(kTypes + std::string("--json")).out)["test"], "paired-t");
  maker_.make({.id = "c-1", .type = "dynamic", .seed = 7, .bpc = 1.4});
  maker_.make({.id = "c-2", .type = "dynamic", .seed = 8, .bpc = 1.5});
  EXPECT_THAT(compare("model.span_type=dynamic model.span_type=fixed").out,
              HasSubstr("caution: two seeds of a setting leave "));
  maker_.make({.id = "a-3", .type = "fixed", .span = 64, .seed = 3, .bpc = 1.97});
  maker_.make({.id = "b-3", .type = "adaptive", .span = 64, .seed = 3, .bpc = 1.87});
  EXPECT_THAT(compare(kTypes).out, Not(HasSubstr("caution")));
}

TEST_F(Compare, ComparesTheSettingsThatAreBestOnValidation) {
  make_tuned_runs(maker_);
  const std::string tuned = "model.span=64 model.span=256 --choose optimizer.lr --by valid.bpc";
  const ProgramResult text = compare(tuned);
  ASSERT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out,
              HasSubstr("Chosen by the best mean valid bpc: optimizer.lr=0.02 for A; optimizer.lr=0.01 for B"));
  EXPECT_THAT(text.out, Not(HasSubstr("mixes")));
  const Json json = Json::parse(compare(tuned + " --json").out);
  EXPECT_NEAR(json["difference"].get<double>(), 1.61 - 1.22, 1e-9);
  EXPECT_EQ(json["a"]["chosen"], Json::array({"optimizer.lr=0.02"}));
  EXPECT_EQ(compare("model.span=64 model.span=256 --choose optimizer.lr").code, 2) << "by what?";
  EXPECT_EQ(compare("model.span=64 model.span=256 --choose optimizer.lr --by test.bpc").code, 2);
  const ProgramResult lost = compare(tuned + " --where optimizer.lr=0.04");
  EXPECT_EQ(lost.code, 3);
  EXPECT_THAT(lost.err, HasSubstr("no setting of 'model.span=64' can be chosen"));
}

/// Both sides and --where together say which evaluations are asked for.
TEST_F(Compare, FindsTheEvaluationsThatWhereAsksFor) {
  double worse = 0;
  for (const int seed : {1, 2}) {
    for (const char* type : {"fixed", "adaptive"}) {
      const MadeRun run{.id = fmt::format("{}-{}", type, seed), .type = type, .seed = seed, .bpc = 1.5};
      maker_.make(run);
      maker_.evaluate(run, "test", 1.6 + worse, {{"eval.batch", 16}});
      maker_.evaluate(run, "test", 1.9, {{"eval.batch", 16}, {"eval.first_token", "score"}});
      worse += 0.01;
    }
  }
  for (const std::string& sides : {std::string(kTypes), std::string("fixed-1 adaptive-1 ")}) {
    const ProgramResult outcome = compare(sides + "--where at.eval.batch=16 --json");
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const Json json = Json::parse(outcome.out);
    EXPECT_EQ(json["pairs"], 2) << sides;
    EXPECT_NEAR(json["a"]["mean"].get<double>(), 1.61, 1e-9) << sides;
    EXPECT_NEAR(json["difference"].get<double>(), -0.01, 1e-9) << sides;
  }
  const ProgramResult scored =
      compare("at.eval.first_token=score at.eval.first_token!=score --where at.eval.batch=16 --json");
  ASSERT_EQ(scored.code, 0) << scored.err;
  EXPECT_NEAR(Json::parse(scored.out)["difference"].get<double>(), 1.9 - 1.615, 1e-9);
  EXPECT_THAT(compare(kTypes + std::string("--where at.eval.batch=17")).err, HasSubstr("no such run"));
}

TEST_F(Compare, WarnsIfNumbersAreOfDifferentData) {
  constexpr const char* kWarning = "warning: they were measured on different data\n";
  const Json other = {{"data.name", "pg-19"}, {"data.fingerprint", "beef"}};
  for (const int seed : {1, 2}) {
    for (const char* data : {"text8", "enwik8"}) {
      const MadeRun run{.id = fmt::format("{}-{}", data, seed), .seed = seed, .bpc = 1.5 + 0.1 * seed};
      maker_.make(run);
      write_file(RunPaths{maker_.folder(run.id)}.environment(),
                 Json{{"dataset", data}, {"language", ""}, {"fingerprint", data}}.dump());
      maker_.evaluate(run, "test", 1.8 + 0.1 * seed, other);
    }
  }
  const std::string names = "data.name=text8 data.name=enwik8 ";
  for (const std::string& differ : {names, std::string("at.data.name=text8 at.data.name=pg-19")}) {
    EXPECT_THAT(compare(differ).out, HasSubstr(kWarning)) << differ;
    EXPECT_EQ(Json::parse(compare(differ + " --json").out)["same_data"], false) << differ;
  }
  for (const std::string& same :
       std::vector<std::string>{names + "--value test.bpc@data.name=pg-19", names + "--value params",
                                "seed=1 seed=2 --over data.name", "seed=1 seed=2,data.name=text8 --over data.name"}) {
    const ProgramResult outcome = compare(same);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, Not(HasSubstr(kWarning))) << same;
    EXPECT_EQ(Json::parse(compare(same + " --json").out)["same_data"], true) << same;
  }
}

TEST_F(Compare, RefusesMeansOverCorpora) {
  for (const char* type : {"fixed", "adaptive"}) {
    for (const char* data : {"text8", "enwik8"}) {
      for (const int seed : {1, 2}) {
        const MadeRun run{
            .id = fmt::format("{}-{}-{}", type, data, seed), .type = type, .seed = seed, .bpc = 1 + 0.1 * seed};
        maker_.make(run);
        write_file(RunPaths{maker_.folder(run.id)}.environment(),
                   Json{{"dataset", data}, {"language", ""}, {"fingerprint", data}}.dump());
      }
    }
  }
  const ProgramResult mixed = compare(kTypes);
  EXPECT_EQ(mixed.code, kBadData) << mixed.out;
  EXPECT_THAT(mixed.err, HasSubstr("was measured on enwik8 and text8: a mean over them would say nothing"));
  EXPECT_EQ(compare(kTypes + std::string("--where data.name=text8")).code, 0);
  EXPECT_EQ(compare(kTypes + std::string("--value params")).code, 0);
}

TEST_F(Compare, CountsRunsThatHaveNoNumber) {
  maker_.make_sweep({"fixed", "adaptive"}, {64}, {1, 2});
  EXPECT_THAT(compare(kTypes).out, Not(HasSubstr("not in the number")));
  EXPECT_FALSE(Json::parse(compare(kTypes + std::string("--json")).out)["a"].contains("without_number"));
  const auto make = [&](const std::string& id, const std::string& state, int seed) {
    maker_.make({.id = id, .type = "fixed", .span = 64, .seed = seed, .state = state});
  };
  make("a-3", "diverged", 3);
  maker_.make({.id = "b-3", .type = "adaptive", .span = 64, .seed = 3});
  const std::string text = compare(kTypes).out;
  EXPECT_THAT(text, HasSubstr("\n1 run of A diverged and is not in the number\n"));
  EXPECT_THAT(text, HasSubstr("interval; 1 diverged: undecided if it counts as the worst\n"));
  EXPECT_THAT(text, Not(HasSubstr("of B ")));
  const Json json = Json::parse(compare(kTypes + std::string("--json")).out);
  EXPECT_EQ(json["a"].value("without_number", Json()), Json({{"diverged", Json::array({"a-3"})}}));
  EXPECT_FALSE(json["b"].contains("without_number"));
  make("a-4", "pruned", 4);
  make("a-5", "queued", 5);
  make("a-6", "queued", 6);
  const std::string several = compare("model.span_type=adaptive model.span_type=fixed").out;
  EXPECT_THAT(several, HasSubstr("1 run of B diverged and is not in the number\n"
                                 "1 run of B was pruned and is not in the number\n"
                                 "2 runs of B are queued and are not in the number\n"));
  EXPECT_THAT(compare(kTypes + std::string("--where status=done")).out, Not(HasSubstr("not in the number")));
  EXPECT_THAT(compare(kTypes + std::string("--value params")).out, HasSubstr("1 run of A diverged"));
  maker_.evaluate({.id = "b-3"}, "test", 1.3, {{"eval.batch", 16}});
  EXPECT_THAT(compare("model.span_type=adaptive model.span_type=fixed --value test.bpc@eval.batch=16").err,
              HasSubstr("no run of 'model.span_type=fixed' has test.bpc@eval.batch=16 (1 diverged, 2 done, 1 pruned, "
                        "2 queued)\n"));
  for (const char* id : {"adaptive-span-text8-00000001", "adaptive-span-text8-00000003"}) {  // seed 1 of both
    maker_.evaluate({.id = id}, "test", 1.4, {{"eval.batch", 16}});
  }
  EXPECT_THAT(compare("model.span_type=adaptive model.span_type=fixed --value test.bpc@eval.batch=16").out,
              HasSubstr("1 run of A has no test.bpc@eval.batch=16 and is not in the number\n"));
}

TEST_F(Compare, SaysWhetherBudgetsWereEqual) {
  const auto make = [&](const std::string& type, int seed, double flops) {
    const MadeRun run{.id = fmt::format("{}-{}", type, seed), .type = type, .seed = seed, .bpc = 1.5 + 0.01 * seed};
    maker_.make(run);
    maker_.journal(run).append("costs", {{"values", {{"training_flops", flops}}}});
  };
  for (const int seed : {1, 2}) make("fixed", seed, 1e15);
  for (const int seed : {1, 2}) make("adaptive", seed, 1.004e15);
  EXPECT_THAT(compare(kTypes).out, HasSubstr("equal budgets: 1.00P FLOPs of training each"));
  EXPECT_EQ(Json::parse(compare(kTypes + std::string("--json")).out)["budgets"]["equal"], true);
  make("adaptive", 2, 1.3e15);
  EXPECT_THAT(compare(kTypes).out, HasSubstr("warning: not of equal arithmetic: training took 1.00P to 1.30P FLOPs"));
  EXPECT_EQ(Json::parse(compare(kTypes + std::string("--json")).out)["budgets"]["equal"], false);
}

TEST_F(Compare, SaysNothingOfBudgetsThatNoRunKnows) {
  maker_.make_sweep({"fixed", "adaptive"}, {64}, {1, 2});
  EXPECT_THAT(compare(kTypes).out, Not(HasSubstr("equal")));
  EXPECT_FALSE(Json::parse(compare(kTypes + std::string("--json")).out).contains("budgets"));
}

}  // namespace
}  // namespace xlm
