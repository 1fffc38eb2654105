// What the explorer of runs shows: rows, columns, cells and curves.
#include "results/pages/run_explorer.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "results/pages/assets.h"
#include "results/pages/report.h"
#include "tests/results/pages/pages.h"

namespace xlm {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class Explorer : public PagesTest {
 protected:
  Json list(const RunQuery& query) {
    RunTable runs(store_);
    return RunExplorer(runs).list(query);
  }

  Json curves(const CurveQuery& query) {
    RunTable runs(store_);
    return RunExplorer(runs).curves(query);
  }

  static std::vector<std::string> names(const Json& list) {
    std::vector<std::string> found;
    for (const Json& column : list["columns"]) found.push_back(column["name"].get<std::string>());
    return found;
  }

  static std::vector<std::string> ids(const Json& list) {
    std::vector<std::string> found;
    for (const Json& row : list["rows"]) found.push_back(row["id"].get<std::string>().substr(20));
    return found;
  }

  /// The cell of a run in a column.
  static Json cell(const Json& list, const std::string& id, const std::string& column) {
    const std::vector<std::string> columns = names(list);
    const auto place = std::find(columns.begin(), columns.end(), column);
    for (const Json& row : list["rows"]) {
      if (row["id"] == id && place != columns.end())
        return row["cells"][static_cast<std::size_t>(place - columns.begin())];
    }
    ADD_FAILURE() << id << " has no " << column;
    return Json();
  }

  /// A run of `steps` records whose loss is that of `loss`.
  template <class Loss>
  void make_long_run(const std::string& id, int steps, const Loss& loss) {
    const MadeRun run{.id = id, .experiment = "long"};
    maker_.write_config(run);
    Journal journal = maker_.journal(run);
    for (int step = 1; step <= steps; ++step) {
      journal.append("metric", {{"step", step}, {"values", {{"loss", loss(step)}, {"training_tokens", 512.0 * step}}}});
    }
    store_.sync(maker_.runs());
  }
};

TEST_F(Explorer, ShowsWhatDiffersAndTheHeadline) {
  const Json all = list({.where = {"status=done"}});
  EXPECT_EQ(all["all"], 13);
  EXPECT_EQ(all["found"], 12);
  EXPECT_THAT(names(all),
              ElementsAre("status", "step", "valid.bpc", "test.bpc", "model.span", "model.span_type", "seed"));
  std::vector<bool> keys;
  for (const Json& column : all["columns"]) keys.push_back(column["key"].get<bool>());
  EXPECT_THAT(keys, ElementsAre(false, false, false, false, true, true, true));
  EXPECT_EQ(all["columns"][4]["label"], "span limit");
  EXPECT_EQ(ids(all).front(), "0000000c") << "the newest first";
  EXPECT_EQ(cell(all, "adaptive-span-text8-00000001", "model.span"), 64);
  EXPECT_NEAR(cell(all, "adaptive-span-text8-00000001", "test.bpc")[0].get<double>(), 1.947, 1e-12);
  EXPECT_EQ(cell(all, "adaptive-span-text8-00000001", "test.bpc")[1], "1.9470");
  EXPECT_EQ(cell(all, "adaptive-span-text8-00000001", "step"), 100);
  EXPECT_EQ(cell(all, "adaptive-span-text8-0000000c", "model.span_type"), "adaptive");
  const Json fixed = list({.where = {"status=done", "model.span_type=fixed,model.span=64"}});
  EXPECT_EQ(fixed["found"], 3);
  EXPECT_THAT(names(fixed), ElementsAre("status", "step", "valid.bpc", "test.bpc", "seed")) << "only what differs";
}

TEST_F(Explorer, SortsAndShowsFurtherColumns) {
  const Json least =
      list({.where = {"status=done"}, .columns = {"optimizer.lr", "seed"}, .sort = "test.bpc", .limit = 2});
  EXPECT_EQ(least["found"], 12);
  EXPECT_EQ(least["rows"].size(), 2U);
  EXPECT_THAT(ids(least), ElementsAre("0000000a", "0000000b")) << "adaptive, 256, seeds 1 and 2";
  EXPECT_EQ(cell(least, "adaptive-span-text8-0000000a", "optimizer.lr"), 0.07);
  EXPECT_EQ(names(least).back(), "optimizer.lr") << "the seed is shown already";
  const Json most = list({.sort = "test.bpc", .reverse = true, .limit = 20});
  EXPECT_EQ(ids(most).front(), "00000003");
  EXPECT_EQ(ids(most).back(), "dead") << "a run without the number comes last, whichever way round";
  EXPECT_EQ(ids(list({.where = {"status=done"}, .reverse = true})).front(), "00000001") << "the oldest first";
}

TEST_F(Explorer, RefusesWhatTheStoreDoesNotKnow) {
  EXPECT_THROW(list({.where = {"nonsense"}}), UsageError);
  EXPECT_THROW(list({.where = {"model.spam=64"}}), UsageError);
  EXPECT_THROW(list({.columns = {"model.spam"}}), UsageError);
  EXPECT_THROW(list({.sort = "model.spam"}), UsageError);
  EXPECT_THROW(curves({.runs = {"no-such-run"}}), DataError);
  const Json none = list({.where = {"model.span=65"}});
  EXPECT_EQ(none["found"], 0);
  EXPECT_THAT(none["note"].get<std::string>(), HasSubstr("no run has model.span=65"));
}

TEST_F(Explorer, ARunThatTrainsShowsItsLastValidation) {
  maker_.make({.id = "adaptive-span-text8-0000live", .span = 64, .bpc = 1.5, .state = "running", .time = 90000});
  store_.sync(maker_.runs());
  const Json all = list({});
  EXPECT_EQ(ids(all).front(), "0000live");
  EXPECT_EQ(cell(all, "adaptive-span-text8-0000live", "status"), "running");
  EXPECT_EQ(cell(all, "adaptive-span-text8-0000live", "step"), Json::array({50.0, "50 of 100"}));
  EXPECT_EQ(cell(all, "adaptive-span-text8-0000live", "valid.bpc"), Json::array({nullptr, "1.7000 at 50"}));
  EXPECT_TRUE(cell(all, "adaptive-span-text8-0000live", "test.bpc").is_null());
}

TEST_F(Explorer, ShowsWhatPeopleSayOfRuns) {
  const MadeRun marked{.id = "adaptive-span-text8-00000001"};
  maker_.journal(marked).append("remark", {{"tag", "odd"}, {"given", true}});
  maker_.journal(marked).append("remark", {{"bad", "wrong data"}});
  store_.sync(maker_.runs());
  const Json all = list({});
  EXPECT_THAT(names(all), Contains("bad"));
  EXPECT_EQ(cell(all, marked.id, "tag"), "odd");
  EXPECT_EQ(cell(all, marked.id, "bad"), "wrong data") << "it is listed, unlike in tables";
  EXPECT_THAT(ids(list({.where = {"tag=odd"}})), ElementsAre("00000001"));
}

TEST_F(Explorer, ShowsWhatANumberOfARunDependsOn) {
  EXPECT_THAT(names(list({})), Not(AnyOf(Contains("reason"), Contains("program.not_frozen"))));
  const MadeRun warned{.id = "adaptive-span-text8-00000001"};
  const MadeRun outside{.id = "adaptive-span-text8-00000002"};
  maker_.journal(warned).append("state", {{"state", "done"}, {"reason", "warning: no line of the output fits 'x'"}});
  maker_.journal(outside).append("outside", {{"files", {{"mine/model.py", "3fa9c1d2"}}}});
  store_.sync(maker_.runs());
  const Json all = list({});
  EXPECT_EQ(cell(all, warned.id, "reason"), "warning: no line of the output fits 'x'");
  EXPECT_EQ(cell(all, outside.id, "program.not_frozen"), not_frozen_text({{"mine/model.py", "3fa9c1d2"}}));
}

TEST_F(Explorer, CurvesAreThoseOfTheJournals) {
  const std::string id = "adaptive-span-text8-00000001";
  const Json training = curves({.runs = {id, "adaptive-span-text8-0000000c"}, .quantity = ""});
  EXPECT_EQ(training["quantity"], "bpc") << "the headline";
  const std::vector<std::string> offered = training["quantities"];
  EXPECT_THAT(offered, Contains("loss"));
  EXPECT_THAT(offered, Contains("valid.bpc"));
  EXPECT_EQ(training["axes"], Json::array({"step"}));
  ASSERT_EQ(training["curves"].size(), 2U);
  EXPECT_EQ(training["curves"][0]["run"], id);
  EXPECT_EQ(training["curves"][0]["x"], Json::array({50.0, 100.0}));
  EXPECT_NEAR(training["curves"][0]["y"][0].get<double>(), 2.447, 1e-12);
  EXPECT_NEAR(training["curves"][0]["y"][1].get<double>(), 1.947, 1e-12);
  const Json validation = curves({.runs = {id}, .quantity = "valid.bpc"});
  ASSERT_EQ(validation["curves"].size(), 1U);
  EXPECT_EQ(validation["curves"][0]["x"], Json::array({50.0, 100.0}));
  EXPECT_NEAR(validation["curves"][0]["y"][0].get<double>(), 2.147, 1e-12);
  EXPECT_NEAR(validation["curves"][0]["y"][1].get<double>(), 1.847, 1e-12) << "the final one";
  EXPECT_EQ(curves({.runs = {id}, .quantity = "no such"})["quantity"], "bpc");
  EXPECT_EQ(curves({})["curves"].size(), 0U);
}

TEST_F(Explorer, LongCurvesKeepTheirPeaksAndEnds) {
  make_long_run("adaptive-span-text8-long", 5000, [](int step) {
    return step == 2345 ? 99.0 : step == 2347 ? -5.0 : 1.0;
  });
  const Json answer = curves({.runs = {"adaptive-span-text8-long"}, .quantity = "loss"});
  const std::vector<double> x = answer["curves"][0]["x"];
  const std::vector<double> y = answer["curves"][0]["y"];
  EXPECT_LE(x.size(), 1000U);
  EXPECT_GE(x.size(), 500U);
  EXPECT_EQ(x.front(), 1);
  EXPECT_EQ(x.back(), 5000);
  EXPECT_TRUE(std::is_sorted(x.begin(), x.end()));
  EXPECT_EQ(std::adjacent_find(x.begin(), x.end()), x.end()) << "no point twice";
  EXPECT_EQ(x[static_cast<std::size_t>(std::max_element(y.begin(), y.end()) - y.begin())], 2345);
  EXPECT_EQ(x[static_cast<std::size_t>(std::min_element(y.begin(), y.end()) - y.begin())], 2347);
}

TEST_F(Explorer, CurvesMayLieOverWhatTheyCost) {
  make_long_run("adaptive-span-text8-long", 3, [](int step) { return 1.0 / step; });
  const Json answer = curves({.runs = {"adaptive-span-text8-long"}, .quantity = "loss", .axis = "tokens"});
  EXPECT_EQ(answer["axes"], Json::array({"step", "tokens"}));
  EXPECT_EQ(answer["axis"], "tokens");
  EXPECT_EQ(answer["curves"][0]["x"], Json::array({512.0, 1024.0, 1536.0}));
  EXPECT_EQ(curves({.runs = {"adaptive-span-text8-long"}, .quantity = "loss", .axis = "flops"})["axis"], "step")
      << "they did not count them";
}

TEST_F(Explorer, ManyKeysAreCounted) {
  for (int run = 0; run < 2; ++run) {
    const fs::path folder = maker_.make({.id = fmt::format("many-keys-{}", run), .experiment = "many"});
    std::string config = read_file(RunPaths{folder}.config()) + "options: {";
    for (int key = 0; key < 12; ++key) config += fmt::format("k{:02}: {}, ", key, run);
    write_file(RunPaths{folder}.config(), config + "}\n");
  }
  store_.sync(maker_.runs());
  const Json many = list({.where = {"experiment=many"}});
  EXPECT_EQ(many["hidden_keys"], 4);
  EXPECT_THAT(names(many), Contains("options.k07"));
  EXPECT_THAT(names(many), Not(Contains("options.k08")));
  EXPECT_THAT(names(list({.where = {"experiment=many"}, .columns = {"options.k08"}})), Contains("options.k08"));
}

TEST_F(Explorer, AReportHoldsAllItNeeds) {
  Report report{.title = "R", .origin = "", .recipes = {}};
  report.recipes.push_back({.title = "a", .file = "a.yaml", .exhibits = {grid()}});
  const std::string page = report_page(store_, report);
  EXPECT_THAT(page, HasSubstr("<section id=\"explorer\">"));
  EXPECT_EQ(occurrences(page, std::string(run_explorer_script())), 1U);
  EXPECT_EQ(occurrences(page, std::string(run_conditions_script())), 1U);
  EXPECT_THAT(page, Not(HasSubstr("connect-src"))) << "a file asks nothing";
  const Json explorer = page_data(page)["explorer"];
  EXPECT_EQ(explorer["whole"]["list"]["rows"].size(), 12U);
  EXPECT_EQ(explorer["whole"]["curves"]["quantity"], "bpc");
  EXPECT_EQ(explorer["whole"]["curves"]["quantities"], Json::array({"bpc", "loss", "valid.bpc"}));
  EXPECT_EQ(explorer["whole"]["curves"]["of"]["loss"]["curves"].size(), 12U);
  EXPECT_EQ(explorer["looks"].size(), 14U);
}

TEST_F(Explorer, RunsHaveAPageOfTheirOwn) {
  const std::string page = runs_page(store_, "Runs of <mine>", {"adaptive-span-text8-00000002", "no-such-run"});
  EXPECT_THAT(page, HasSubstr("<h1>Runs of &lt;mine&gt;</h1>"));
  EXPECT_EQ(page_data(page)["explorer"]["whole"]["list"]["rows"].size(), 1U);
}

TEST_F(Explorer, IsTheFilesOfThisFolder) {
  const fs::path folder = fs::path(XLM_SOURCE_DIR) / "results/pages";
  EXPECT_EQ(run_explorer_script(), read_file(folder / "run_explorer.js"));
  EXPECT_EQ(run_conditions_script(), read_file(folder / "run_conditions.js"));
  for (const std::string_view script : {run_explorer_script(), run_conditions_script()}) {
    EXPECT_THAT(std::string(script), Not(HasSubstr("</script")));
    EXPECT_THAT(std::string(script), Not(HasSubstr("http")));
    EXPECT_THAT(std::string(script), Not(HasSubstr("innerHTML"))) << "what users write stays text";
  }
}

}  // namespace
}  // namespace xlm
