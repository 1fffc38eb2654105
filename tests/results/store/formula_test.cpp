// Formulas over columns: their values, which columns they name, and what is wrong with them.
#include "results/store/formula.h"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "results/store/run_table.h"
#include "tests/results/run_maker.h"

namespace xlm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(Formulas, HaveTheUsualMeaning) {
  EXPECT_EQ(*Formula("=a + 2 * b ^ 2").value({1, 3}), 19);
  EXPECT_EQ(*Formula("=1e3 * train.steps / x_2").value({4, 8}), 500);
  EXPECT_EQ(*Formula("=log2(a) + max(a, b, 3) + sqrt(4)").value({8, 1}), 13);
  EXPECT_EQ(*Formula("=a > 2 ? a : -a").value({1}), -1);
  EXPECT_EQ(*Formula("=a - -a").value({2}), 4);
  EXPECT_EQ(*Formula("={test.bpc@data.name=pg-19} / test.bpc").value({3, 2}), 1.5);
  EXPECT_FALSE(Formula("=1 / a").value({0})) << "infinite";
  EXPECT_FALSE(Formula("=ln(a)").value({-1})) << "no number";
}

TEST(Formulas, NameTheirColumnsOnce) {
  EXPECT_THAT(Formula("=a.b * a.b + c / {d@e=1}").columns(), ElementsAre("d@e=1", "a.b", "c"));
  EXPECT_THAT(columns_behind("test.bpc"), ElementsAre("test.bpc"));
}

TEST(Formulas, ThatAreNoneAreRefused) {
  for (const auto& [text, complaint] :
       std::initializer_list<std::pair<const char*, const char*>>{{"=", "formula"},
                                                                  {"=a +", "formula 'a +'"},
                                                                  {"=a b", "formula 'a b'"},
                                                                  {"=(a", "formula '(a'"},
                                                                  {"={a", "a brace is not closed"},
                                                                  {"=1 + 2", "it names no column"},
                                                                  {"=+", "a sign in it has no value"},
                                                                  {"=-", "a sign in it has no value"},
                                                                  {"=sqrt()", "formula"}}) {
    EXPECT_THAT([&wrong = text] { Formula formula(wrong); }, ThrowsMessage<UsageError>(HasSubstr(complaint))) << text;
  }
}

class FormulaColumns : public ::testing::Test {
 protected:
  void SetUp() override {
    maker_.make({.id = "adaptive-span-text8-00000001", .span = 64, .bpc = 2, .flops = 3e6});
    maker_.make({.id = "adaptive-span-text8-00000002", .span = 128, .seed = 2, .bpc = 1.5, .state = "running"});
    maker_.evaluate({.id = "adaptive-span-text8-00000001"}, "test", 3, {{"data.name", "pg-19"}});
    store_.sync(maker_.runs());
  }

  TemporaryFolder folder_;
  RunMaker maker_{folder_.path() / "runs"};
  Store store_ = Store::in_memory();
};

TEST(Formulas, CompareAndDoNotAssign) {
  EXPECT_EQ(*Formula("=a == 1 ? b : 0").value({1, 7}), 7);
  EXPECT_EQ(*Formula("=(a <= 1) + (a >= 1) + (a != 2)").value({1}), 3);
  EXPECT_EQ(*Formula("=min(a, b)").value({3, 2}), 2);
  EXPECT_THAT([] { Formula("=seed=1 ? a : 0"); }, ThrowsMessage<UsageError>(HasSubstr("write ==")));
  EXPECT_THAT([] { Formula("=a, b"); }, ThrowsMessage<UsageError>(HasSubstr("two values")));
}

TEST_F(FormulaColumns, AreColumnsOfTheStore) {
  RunTable runs(store_);
  EXPECT_EQ(std::get<double>(runs.column("=flops_per_token / 1e6 * model.span")[0]), 192);
  EXPECT_TRUE(is_missing(runs.column("=flops_per_token / 1e6 * model.span")[1])) << "one operand is missing";
  EXPECT_EQ(std::get<double>(runs.column("=1 / model.span")[1]), 1.0 / 128);
  EXPECT_EQ(std::get<double>(runs.column("={test.bpc@data.name=pg-19} / test.bpc")[0]), 1.5);
  EXPECT_TRUE(is_missing(runs.column("=model.span_type * 2")[0])) << "text is no number";
  EXPECT_TRUE(runs.is_measured("=test.bpc * 2"));
  EXPECT_FALSE(runs.is_measured("=model.span * 2"));
  EXPECT_THAT([&] { runs.column("=test.bpx * 2"); }, ThrowsMessage<UsageError>(HasSubstr("test.bpc")));
}

TEST_F(FormulaColumns, AskForTheEvaluationsThatTheyName) {
  RunTable runs(store_);
  EXPECT_EQ(runs.select({}).size(), 2U);
  EXPECT_EQ(runs.select({}, {"=at.model.span * 2"}).size(), 2U) << "nothing was measured at another span";
  EXPECT_EQ(runs.select({}, {"at.data.name"}).size(), 3U);
}

// Whatever is repeated a hundred thousand times is refused or computed, and ends.
TEST(Formulas, LongOnesEnd) {
  const auto repeated = [](const std::string& text, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) all += text;
    return all;
  };
  EXPECT_THAT([&] { Formula("=" + repeated("a+", 100'000) + "a"); },
              ::testing::ThrowsMessage<UsageError>(::testing::HasSubstr("a formula of 200002 bytes")));
  for (const int times : {100, 1000}) {
    for (const auto& [begin, end] : std::vector<std::pair<std::string, std::string>>{{"(", ")"},
                                                                                     {"(", ""},
                                                                                     {"", ")"},
                                                                                     {"-", ""},
                                                                                     {"sin(", ")"},
                                                                                     {"a+", ""},
                                                                                     {"a^", ""},
                                                                                     {"a?1:", ""},
                                                                                     {"a&&", ""},
                                                                                     {"{a}+", ""},
                                                                                     {"{", ""},
                                                                                     {"{", "}"},
                                                                                     {"a,", ""},
                                                                                     {"sum(a,", ")"},
                                                                                     {"1", ""},
                                                                                     {".", ""},
                                                                                     {"a==", ""}}) {
      const std::string formula = "=" + repeated(begin, times) + "a" + repeated(end, times);
      try {
        EXPECT_FALSE(Formula(formula).columns().empty()) << begin << times;
      } catch (const UsageError&) {
        SUCCEED();
      }
    }
  }
}

}  // namespace
}  // namespace xlm
