// xlm runs tag, note, mark and diff: output, messages and exit codes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "tests/cmd/results_commands_fixture.h"
#include "tests/experiments/program.h"
#include "tests/results/run_maker.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kFirst = "adaptive-span-text8-00000001";
constexpr const char* kSecond = "adaptive-span-text8-00000002";

class RunsRemarks : public ResultsCommands {
 protected:
  RunsRemarks() { make_sweep(); }
};

TEST_F(RunsRemarks, TagsAreGivenAndTakenAway) {
  const ProgramResult given = xlm(fmt::format("runs tag paper {} --where seed=2", kFirst));
  ASSERT_EQ(given.code, 0) << given.err;
  EXPECT_THAT(given.out, HasSubstr(fmt::format("{}: tagged paper\n", kFirst)));
  EXPECT_EQ(json("runs ls --where tag=paper").size(), 5U);
  EXPECT_EQ(json(fmt::format("runs tag paper {} --remove", kFirst))["given"], false);
  EXPECT_EQ(json("runs ls --where tag=paper").size(), 4U);
  EXPECT_THAT(xlm("runs ls --where tag=paper --columns tag --format csv --limit 1").out, HasSubstr(",paper\n"));
  EXPECT_EQ(xlm(fmt::format("runs tag a,b {}", kFirst)).code, 2);
  EXPECT_EQ(xlm("runs tag paper").code, 2) << "of which runs?";
  EXPECT_EQ(xlm("runs tag paper --where seed=9").code, 3);
}

TEST_F(RunsRemarks, ANoteIsReplacedAndRemoved) {
  ASSERT_EQ(xlm(fmt::format("runs note 'the disk was slow' {}", kFirst)).code, 0);
  EXPECT_THAT(xlm(fmt::format("runs show {}", kFirst)).out, HasSubstr("the disk was slow"));
  EXPECT_EQ(json(fmt::format("runs show {}", kFirst))["note"], "the disk was slow");
  ASSERT_EQ(xlm(fmt::format("runs note '' {}", kFirst)).code, 0);
  EXPECT_FALSE(json(fmt::format("runs show {}", kFirst)).contains("note"));
}

TEST_F(RunsRemarks, BadRunsAreMarkedAndCountAgain) {
  const std::size_t all = json("pareto --x seed --y test.bpc --where model.span=64")["front"].size() +
                          json("pareto --x seed --y test.bpc --where model.span=64")["dominated"].size();
  ASSERT_EQ(xlm(fmt::format("runs mark {} --bad 'wrong corpus'", kFirst)).code, 0);
  const Json without = json("pareto --x seed --y test.bpc --where model.span=64");
  EXPECT_EQ(without["front"].size() + without["dominated"].size(), all - 1);
  EXPECT_THAT(without["notes"][0].get<std::string>(), HasSubstr("1 run marked as bad is left out"));
  EXPECT_THAT(xlm("runs ls --where is_bad=1").out, HasSubstr("done, bad"));
  EXPECT_EQ(json("runs ls").size(), 8U) << "lists show all runs";
  EXPECT_THAT(xlm("compare model.span_type=fixed model.span_type=adaptive --where model.span=64").out,
              HasSubstr("1 run marked as bad is left out"));
  ASSERT_EQ(xlm("runs mark --where is_bad=1 --good").code, 0);
  EXPECT_FALSE(json("pareto --x seed --y test.bpc --where model.span=64").contains("notes"));
  EXPECT_EQ(xlm(fmt::format("runs mark {}", kFirst)).code, 2);
  EXPECT_EQ(xlm(fmt::format("runs mark {} --bad ' '", kFirst)).code, 2);
  EXPECT_EQ(xlm(fmt::format("runs mark {} --bad reason --good", kFirst)).code, 2);
}

TEST_F(RunsRemarks, TravelWithTheRun) {
  maker_.make({.id = "adaptive-span-text8-1234567890abcdef"});
  ASSERT_EQ(xlm("runs mark adaptive-span-text8-1234567890abcdef --bad 'wrong corpus'").code, 0);
  ASSERT_EQ(xlm("runs pack adaptive-span-text8-1234567890abcdef --out packed.tar").code, 0);
  ASSERT_EQ(xlm("runs merge packed.tar --runs elsewhere").code, 0);
  EXPECT_EQ(json("runs ls --runs elsewhere --where 'bad=\"wrong corpus\"'").size(), 1U);
}

TEST_F(RunsRemarks, DiffShowsOnlyWhatDiffers) {
  const Json json_of_diff = json(fmt::format("runs diff {} {}", kFirst, kSecond));
  EXPECT_EQ(json_of_diff["configuration"], Json::parse(R"({"seed": [1, 2]})"));
  EXPECT_TRUE(json_of_diff["environment"].empty());
  EXPECT_TRUE(json_of_diff["results"].contains("test.bpc"));
  EXPECT_FALSE(json_of_diff["results"].contains("status"));
  write_file(RunPaths{maker_.folder(kSecond)}.environment(), Json{{"dataset", "text8"},
                                                                  {"language", ""},
                                                                  {"fingerprint", "f00d"},
                                                                  {"host", "node7"},
                                                                  {"command", {"xlm", "worker", kSecond}}}
                                                                 .dump());
  const ProgramResult text = xlm(fmt::format("runs diff {} {}", kFirst, kSecond));
  ASSERT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("node7"));
  EXPECT_THAT(text.out, HasSubstr("seed"));
  EXPECT_THAT(text.out, Not(HasSubstr("model.span")));
  EXPECT_EQ(json(fmt::format("runs diff {} {}", kFirst, kSecond))["environment"]["host"],
            Json::array({nullptr, "node7"}));
  EXPECT_THAT(text.out, Not(HasSubstr("worker"))) << "the command names the run's folder, so it differs always";
  EXPECT_EQ(xlm(fmt::format("runs diff {} {}", kFirst, kFirst)).code, 2);
  EXPECT_EQ(xlm(fmt::format("runs diff {} nothing", kFirst)).code, 3);
}

}  // namespace
}  // namespace xlm
