// The live page: who may see it, its answers, and that it follows run folders.
#include <atomic>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "results/pages/assets.h"
#include "tests/results/live/live_fixture.h"
#include "tests/results/pages/pages.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(LivePageTest, OnlyTheTokenOpensIt) {
  const auto status = [&](const std::string& path) {
    return page_.answer({.host = "127.0.0.1", .path = path, .query = {}}).status;
  };
  EXPECT_EQ(token_.size(), 64U);
  EXPECT_EQ(status("/" + token_ + "/"), 200);
  EXPECT_EQ(status("/" + token_ + "/state.json"), 200);
  std::string wrong = token_;
  wrong.back() = wrong.back() == '0' ? '1' : '0';
  for (const std::string& path :
       {std::string("/"), std::string(), "/" + wrong + "/", "/" + wrong + "/state.json", "/" + token_, token_ + "/",
        "//" + token_ + "/", "/" + token_.substr(1) + "/", std::string("/state.json"), std::string("/favicon.ico")}) {
    const HttpResponse response = page_.answer({.host = "127.0.0.1", .path = path, .query = {}});
    EXPECT_EQ(response.status, 404) << path;
    EXPECT_EQ(response.body, "not found\n") << "whatever is asked for";
  }
  EXPECT_EQ(status("/" + token_ + "/../state.json"), 404);
  EXPECT_EQ(status("/" + token_ + "/no-such.json"), 404);
}

TEST_F(LivePageTest, OnlyUnderANameOfThisMachine) {
  const auto status = [&](const std::string& host) {
    return page_.answer({.host = host, .path = page_.path(), .query = {}}).status;
  };
  for (const char* host : {"127.0.0.1", "127.0.0.1:8080", "localhost", "localhost:1", "[::1]", "[::1]:99"}) {
    EXPECT_EQ(status(host), 200) << host;
  }
  for (const char* host : {"", "evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil:1", "::1",
                           "10.0.0.1", "127.0.0.1:80:80"}) {
    EXPECT_EQ(status(host), 403) << host;
  }
}

TEST_F(LivePageTest, ThePageHasItsPartsAndAsksItsServerAlone) {
  const HttpResponse response = get("");
  EXPECT_EQ(response.type, "text/html");
  EXPECT_THAT(response.body, HasSubstr("default-src 'none'"));
  EXPECT_THAT(response.body, HasSubstr("; connect-src 'self'\">"));
  EXPECT_THAT(response.body, HasSubstr("<h1>Runs of &lt;here&gt;</h1>"));
  EXPECT_THAT(response.body, HasSubstr(std::string(run_explorer_script())));
  EXPECT_THAT(response.body, Not(HasSubstr(token_))) << "it asks by relative addresses";
  const Json data = page_data(response.body);
  EXPECT_EQ(data["explorer"]["where"], "seed<3");
  EXPECT_EQ(data["explorer"]["version"], 1);
  EXPECT_FALSE(data["explorer"].contains("whole"));
}

TEST_F(LivePageTest, ListsRunsAsAsked) {
  const Json list = json("runs.json", {{"where", "model.span=64,seed=1"}, {"where", "model.span_type=fixed"}});
  EXPECT_EQ(list["all"], 8);
  EXPECT_EQ(list["found"], 1);
  EXPECT_EQ(list["rows"][0]["id"], "adaptive-span-text8-00000001");
  const Json sorted =
      json("runs.json", {{"sort", "test.bpc"}, {"reverse", "1"}, {"limit", "3"}, {"column", "optimizer.lr"}});
  EXPECT_EQ(sorted["found"], 8);
  EXPECT_EQ(sorted["rows"].size(), 3U);
  EXPECT_EQ(sorted["rows"][0]["id"], "adaptive-span-text8-00000002") << "fixed, 64, seed 2";
  EXPECT_EQ(sorted["columns"].back()["name"], "optimizer.lr");
}

TEST_F(LivePageTest, SaysWhatIsWrongWithAQuestion) {
  const auto error = [&](const std::string& name, std::vector<std::pair<std::string, std::string>> query, int status) {
    const HttpResponse response = get(name, std::move(query));
    EXPECT_EQ(response.status, status) << name;
    return Json::parse(response.body)["error"].get<std::string>();
  };
  EXPECT_THAT(error("runs.json", {{"where", "model.spam=64"}}, 400), HasSubstr("did you mean 'model.span'?"));
  EXPECT_THAT(error("runs.json", {{"where", "nonsense"}}, 400), HasSubstr("is not a condition"));
  EXPECT_THAT(error("runs.json", {{"where", "a=\"b"}}, 400), HasSubstr("the quote is not closed"));
  EXPECT_THAT(error("runs.json", {{"column", "=seed+"}}, 400), HasSubstr("seed+"));
  EXPECT_THAT(error("runs.json", {{"sort", "no.such"}}, 400), HasSubstr("no.such"));
  for (const char* limit : {"0", "-1", "x", "1e9", "100001"}) {
    EXPECT_THAT(error("runs.json", {{"limit", limit}}, 400), HasSubstr(fmt::format("limit={}", limit)));
  }
  EXPECT_THAT(error("run.json", {{"run", "no-such"}}, 404), HasSubstr("there is no run 'no-such'"));
  EXPECT_THAT(error("run.json", {}, 404), HasSubstr("there is no run ''"));
  EXPECT_THAT(error("curves.json", {{"run", "../secret"}}, 404), HasSubstr("there is no run"));
  std::vector<std::pair<std::string, std::string>> many(51, {"run", "adaptive-span-text8-00000001"});
  EXPECT_THAT(error("curves.json", std::move(many), 400), HasSubstr("at most 50 curves"));
}

TEST_F(LivePageTest, GivesCurvesAndWholeRuns) {
  const Json curves = json("curves.json", {{"run", "adaptive-span-text8-00000001"}, {"quantity", "loss"}});
  EXPECT_EQ(curves["quantity"], "loss");
  EXPECT_EQ(curves["curves"][0]["x"], Json::array({50.0, 100.0}));
  EXPECT_EQ(curves["curves"][0]["y"], Json::array({1.2, 1.1}));
  const Json run = json("run.json", {{"run", "adaptive-span-text8-00000001"}});
  EXPECT_EQ(run["run_id"], "adaptive-span-text8-00000001");
  EXPECT_EQ(run["params"]["optimizer.lr"], 0.07);
  EXPECT_EQ(run["measured"]["params"], "38.1M");
}

TEST_F(LivePageTest, SavesRunsAsAFile) {
  const HttpResponse file = get("page.html", {{"where", "seed=1"}});
  EXPECT_EQ(file.status, 200);
  EXPECT_EQ(file.type, "text/html");
  EXPECT_EQ(file.file_name, "runs.html");
  EXPECT_EQ(page_data(file.body)["explorer"]["whole"]["list"]["rows"].size(), 4U);
  EXPECT_THAT(file.body, Not(HasSubstr("connect-src")));
}

TEST_F(LivePageTest, ThousandsOfRunsAreListedButNotSaved) {
  std::vector<xlm::Run> many;
  for (int i = 0; i < 2100; ++i) {
    xlm::Run run;
    run.id = fmt::format("many-{:05}", i);
    run.experiment = "many";
    run.created = 5000.0 + i;
    const int setting = i / 5;
    run.params = {{"seed", i % 5}, {"optimizer.lr", 0.001 * (setting + 1)}};
    many.push_back(std::move(run));
  }
  LiveRuns runs([&] {
    Store store = Store::in_memory();
    store.add(many);
    return store;
  });
  const LivePage page(runs, {.token = token_, .title = "", .where = ""});
  const auto ask = [&](const std::string& name, std::vector<std::pair<std::string, std::string>> query) {
    return page.answer({.host = "localhost", .path = page.path() + name, .query = std::move(query)});
  };
  const Json list = Json::parse(ask("runs.json", {{"sort", "optimizer.lr"}, {"reverse", "1"}}).body);
  EXPECT_EQ(list["found"], 2100);
  EXPECT_EQ(list["rows"].size(), 200U) << "a page of the table";
  EXPECT_EQ(list["rows"][0]["id"], "many-02099") << "of equal ones the newest";
  const HttpResponse file = ask("page.html", {});
  EXPECT_EQ(file.status, 400);
  EXPECT_THAT(file.body, HasSubstr("at most 2000 runs, and 2100 meet"));
}

TEST_F(LivePageTest, FollowsJournalsAndFolders) {
  const auto version = [&] { return json("state.json")["version"].get<int>(); };
  EXPECT_EQ(version(), 1);
  runs_.refresh();
  EXPECT_EQ(version(), 1) << "nothing has changed";
  maker_.make({.id = "new", .state = "running", .time = 90000});
  EXPECT_EQ(json("runs.json")["all"], 8) << "as it was at the last look";
  runs_.refresh();
  EXPECT_EQ(version(), 2);
  EXPECT_EQ(json("runs.json")["all"], 9);
  EXPECT_EQ(json("runs.json")["rows"][0]["id"], "new");
  maker_.journal({.id = "new"}).append("metric", {{"step", 60}, {"values", {{"loss", 0.5}}}});
  runs_.refresh();
  EXPECT_EQ(version(), 3);
  EXPECT_EQ(json("curves.json", {{"run", "new"}, {"quantity", "loss"}})["curves"][0]["x"], Json::array({50.0, 60.0}));
  fs::remove_all(maker_.folder("new"));
  runs_.refresh();
  EXPECT_EQ(json("runs.json")["all"], 8);
}

TEST_F(LivePageTest, KeepsItsRunsWhileAFolderCannotBeRead) {
  const fs::path away = temporary_.path() / "away";
  fs::rename(maker_.runs(), away);
  runs_.refresh();
  EXPECT_THAT(json("state.json")["problem"].get<std::string>(), HasSubstr("runs"));
  EXPECT_EQ(json("runs.json")["all"], 8) << "what was known is still shown";
  fs::rename(away, maker_.runs());
  runs_.refresh();
  EXPECT_EQ(json("state.json")["problem"], "");
}

TEST_F(LivePageTest, ServesReadersWhileItLooks) {
  std::atomic<bool> done = false;
  std::atomic<int> wrong = 0;
  std::atomic<int> answers = 0;
  std::vector<std::thread> readers;
  for (int reader = 0; reader < 4; ++reader) {
    readers.emplace_back([&, reader] {
      while (!done) {
        const HttpResponse response =
            reader % 2 == 0 ? get("runs.json", {{"where", "status=done"}, {"sort", "test.bpc"}})
                            : get("curves.json", {{"run", "adaptive-span-text8-00000001"}, {"quantity", "bpc"}});
        if (response.status != 200 || !Json::accept(response.body)) ++wrong;
        ++answers;
      }
    });
  }
  for (int look = 0; look < 20; ++look) {
    maker_.make({.id = fmt::format("new-{}", look), .time = 50000.0 + look});
    runs_.refresh();
  }
  done = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_GT(answers.load(), 0);
  EXPECT_EQ(json("runs.json")["all"], 28);
}

}  // namespace
}  // namespace xlm
