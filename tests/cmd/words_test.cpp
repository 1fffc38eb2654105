// Names with any characters in conditions, columns and lists, shown in a form that commands take.
#include <gmock/gmock.h>

#include "base/error.h"
#include "base/text.h"
#include "base/words.h"
#include "tests/cmd/results_commands_fixture.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Names : public ResultsCommands {
 protected:
  /// A run of an experiment and on data of the same name; `seed` tells runs apart.
  void make(const std::string& name, int seed) {
    MadeRun run{.id = fmt::format("adaptive-span-text8-{:08x}", seed),
                .experiment = name,
                .seed = seed,
                .bpc = 1 + 0.001 * seed};
    maker_.make(run);
    run.experiment = Json(name).dump();  // as YAML writes it
    maker_.write_config(run);
    write_file(RunPaths{maker_.folder(run.id)}.environment(),
               Json{{"dataset", name}, {"language", ""}, {"fingerprint", "f00d"}}.dump());
    maker_.evaluate(run, "test", 2 + 0.001 * seed, {{"data.name", name + " too"}});
  }

  /// Seeds of the runs that match a condition.
  std::vector<int> seeds(const std::string& condition) const {
    std::vector<int> found;
    for (const Json& run : json("runs ls --sort seed --columns seed --where " + shell_word(condition))) {
      found.push_back(run["seed"].get<int>());
    }
    return found;
  }
};

const std::vector<std::string>& odd_names() {
  static const std::vector<std::string> names{"spans,v2", "a #1",  "2023", "007",    "7",     "1e3", "1000",
                                              "null",     "true",  " x ",  "it's",   "\"q\"", "a=b", "<x",
                                              "x@y",      "[1,2]", "[1",   "a, b=c", "0x10",  "é",   "~"};
  return names;
}

TEST_F(Names, AreMatchedExactlyByQuotedConditions) {
  for (std::size_t i = 0; i < odd_names().size(); ++i) make(odd_names()[i], static_cast<int>(i) + 1);
  for (std::size_t i = 0; i < odd_names().size(); ++i) {
    const int seed = static_cast<int>(i) + 1;
    const std::string quoted = quoted_word(odd_names()[i]);
    EXPECT_THAT(seeds("data.name=" + quoted), ElementsAre(seed)) << quoted;
    EXPECT_THAT(seeds("experiment=" + quoted), ElementsAre(seed)) << quoted;
    EXPECT_THAT(seeds("seed<4,data.name!=" + quoted).size(), seed < 4 ? 2 : 3) << quoted;
    const Json rows = json("runs ls --where seed=" + std::to_string(seed) + " --columns " +
                           shell_word("seed,test.bpc@data.name=" + quoted_word(odd_names()[i] + " too")));
    EXPECT_EQ(rows.at(0).value("test.bpc@data.name=" + quoted_word(odd_names()[i] + " too"), 0.0), 2 + 0.001 * seed);
  }
}

TEST_F(Names, ThatLookLikeNumbersNeedNoQuotes) {
  make("2023", 1);
  make("007", 2);
  make("7", 3);
  make("1e3", 4);
  make("null", 5);
  make("true", 6);
  for (const char* column : {"data.name", "experiment"}) {
    int seed = 0;
    for (const char* name : {"2023", "007", "7", "1e3", "null", "true"}) {
      EXPECT_THAT(seeds(fmt::format("{}={}", column, name)), ElementsAre(++seed)) << column << " " << name;
    }
  }
  write("t.yaml",
        "table: x\ncolumns: [{label: bpc, value: test.bpc}]\n"
        "rows: [{label: a, where: {data.name: 2023}}, {label: b, where: {data.name: \"007\"}}]\n");
  const ProgramResult table = xlm("table t.yaml --format csv");
  EXPECT_THAT(table.out, AllOf(HasSubstr("a,1.001"), HasSubstr("b,1.002"))) << table.err;
}

TEST_F(Names, InAFileAreQuotedAsInYamlAfterAnOptionalSign) {
  make("<x", 1);
  make("!=y", 2);
  make(" z", 3);
  make("a,b", 4);
  write("t.yaml",
        "table: x\ncolumns: [{label: bpc, value: test.bpc}]\n"
        "rows: [{label: a, where: {data.name: '=<x'}}, {label: b, where: {data.name: '=!=y'}},\n"
        "  {label: c, where: {data.name: ' z'}}, {label: d, where: {data.name: 'a,b'}}]\n");
  EXPECT_THAT(xlm("table t.yaml --format csv").out,
              AllOf(HasSubstr("a,1.001"), HasSubstr("b,1.002"), HasSubstr("c,1.003"), HasSubstr("d,1.004")));
}

TEST_F(Names, AreShownInAFormThatCommandsTake) {
  make("spans,v2", 1);
  EXPECT_THAT(xlm("runs ls --where experiment=spans,v2").err,
              HasSubstr("no run has experiment=spans,v2; the nearest there is: \"spans,v2\""));
  EXPECT_THAT(xlm("runs ls --where 'experiment=\"spans,v3\"'").err, HasSubstr("no run has experiment=\"spans,v3\""));
  EXPECT_THAT(xlm("runs show 00000001").out, HasSubstr("test@data.name=\"spans,v2 too\""));
  EXPECT_EQ(xlm("pareto --x flops_per_token --y test.bpc --where 'experiment=\"spans,v2\"'").code, kDone);
  EXPECT_EQ(xlm("pareto --x flops_per_token --y '={test.bpc@data.name=\"spans,v2 too\"}*2'").code, kDone);
  const ProgramResult unclosed = xlm("runs ls --where 'experiment=\"spans'");
  EXPECT_EQ(unclosed.code, kUsage);
  EXPECT_THAT(unclosed.err, HasSubstr("the quote is not closed"));
}

TEST_F(Names, OfColumnsMayHoldCommasAndFormulas) {
  make("a,b", 1);
  const Json rows =
      json("runs ls --columns '=max(seed,2), test.bpc@data.name=\"a,b too\" ,={test.bpc@data.name=\"a,b too\"}*0'");
  EXPECT_EQ(rows.at(0)["=max(seed,2)"], 2.0);
  EXPECT_EQ(rows.at(0)["test.bpc@data.name=\"a,b too\""], 2.001);
  EXPECT_EQ(rows.at(0)["={test.bpc@data.name=\"a,b too\"}*0"], 0.0);
}

TEST_F(Names, BooleansAndTimesOfListsAreTyped) {
  make("true", 1);
  const Json run = json("runs ls --columns train.tf32,created,seed,optimizer.lr,model.span_type").at(0);
  EXPECT_EQ(run["train.tf32"], false);
  EXPECT_TRUE(run["train.tf32"].is_boolean());
  EXPECT_EQ(run["created"], "1970-01-01T00:16:40.000000Z");
  EXPECT_TRUE(run["seed"].is_number_integer());
  const Json names = json("runs ls --columns data.name").at(0);
  EXPECT_EQ(names["data.name"], "true") << "a name";
  const Json all = json("runs ls --all").at(0);
  EXPECT_EQ(all["params"]["data.name"], "true");
  EXPECT_EQ(all["params"]["train.tf32"], false);
  EXPECT_THAT(seeds("train.tf32=false"), ElementsAre(1));
  EXPECT_THAT(seeds("train.tf32=False"), ElementsAre(1));
  EXPECT_EQ(xlm("runs ls --columns train.tf32 --format csv").out.find("False"), std::string::npos);
}

/// A shell leaves ~ in --runs=~/x and data.path=~/x.
TEST_F(Names, ATildeBehindAnEqualsSignIsTheHomeFolder) {
  make_sweep();
  const std::string home = "HOME=" + temporary_.path().string();
  const auto at_home = [&](const std::string& arguments) {
    return shell(temporary_.path(), fmt::format("{} '{}' {}", home, XLM_BINARY, arguments));
  };
  EXPECT_EQ(Json::parse(at_home("runs ls --json --runs=~/runs").out).size(), 8);
  EXPECT_FALSE(fs::exists(temporary_.path() / "~"));
  write("train.yaml", "data: {path: ~/corpus}\nmodel: {type: adaptive-span}\ntrain: {steps: 10}\n");
  EXPECT_THAT(at_home("sweep train.yaml --dry-run").err, HasSubstr(temporary_.path().string() + "/corpus"));
  EXPECT_THAT(at_home("sweep train.yaml data.path=~/other --dry-run").err,
              HasSubstr(temporary_.path().string() + "/other"));
  write("n.txt", "a text of some words\nand another line of it\n");
  EXPECT_EQ(at_home("prepare-data text --unit byte --from=~/n.txt --out=~/made").code, 0);
  EXPECT_TRUE(fs::exists(temporary_.path() / "made/meta.json"));
}

TEST_F(Names, RecipesOfTheProgramNeedNoFolder) {
  const ProgramResult checked = xlm("sweep adaptive-span/span-limit --profile smoke --check");
  EXPECT_EQ(checked.code, 0) << checked.err;
  EXPECT_THAT(checked.out, HasSubstr("span-limit.yaml, profile smoke"));
  EXPECT_THAT(xlm("sweep adaptive-span/no-such --check").err, HasSubstr("adaptive-span/no-such"));
}

}  // namespace
}  // namespace xlm
