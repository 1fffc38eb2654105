// The live page in a real browser.
#include <atomic>
#include <string>

#include <fmt/format.h>

#include "results/live/http_server.h"
#include "results/live/live_page.h"
#include "results/live/live_runs.h"
#include "tests/results/pages/browser.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kServedRow = "<td class=\"choice\">";
constexpr const char* kServedPoint = "<path class=\"point plotly-customdata\"";
constexpr const char* kReachLoopback = "--host-resolver-rules='MAP * ~NOTFOUND , EXCLUDE 127.0.0.1'";

class ServedBrowser : public Browser {
 protected:
  Store open() const {
    Store store = Store::in_memory();
    store.sync(maker_.runs());
    return store;
  }

  std::string address_of(const HttpServer& server) const {
    return fmt::format("http://{}:{}{}", kLoopback, server.port(), page_.path());
  }

  LiveRuns runs_{[this] { return open(); }};
  LivePage page_{runs_, {.token = std::string(64, 'a'), .title = "Runs of <here>", .where = "status=done"}};
};

TEST_F(ServedBrowser, ShowsRunsWithTheCurvesOfTheNewest) {
  const auto server = serve_http(0, [this](const HttpRequest& request) { return page_.answer(request); });
  const std::string after = shown_at(address_of(*server), kReachLoopback);
  EXPECT_THAT(after, HasSubstr("<h1>Runs of &lt;here&gt;</h1>"));
  EXPECT_THAT(after, HasSubstr("12 of 13 runs"));
  EXPECT_EQ(occurrences(after, kServedRow), 12U);
  EXPECT_EQ(occurrences(after, kServedPoint), 6U * 2U);
  EXPECT_THAT(after, HasSubstr("save these runs as a file"));
  const std::string here = fmt::format("http://{}:{}/", kLoopback, server->port());
  EXPECT_FALSE(requests().empty());
  for (const std::string& url : requests()) EXPECT_THAT(url, StartsWith(here)) << "no other place";
}

TEST_F(ServedBrowser, FollowsWhatJobsWrite) {
  std::atomic<int> questions = 0;
  const auto server = serve_http(0, [&](const HttpRequest& request) {
    if (request.path.ends_with("state.json") && ++questions == 1) {  // it asks whether something has changed
      maker_.make({.id = "come-later", .type = "late", .time = 90000});
      runs_.refresh();
    }
    return page_.answer(request);
  });
  const std::string after = shown_at(address_of(*server), kReachLoopback);
  EXPECT_GE(questions.load(), 1);
  EXPECT_THAT(after, HasSubstr("13 of 14 runs"));
  EXPECT_THAT(after, HasSubstr("title=\"come-later\""));
}

TEST_F(ServedBrowser, SaysWhyItCannotFollow) {
  const auto server = serve_http(0, [this](const HttpRequest& request) {
    if (!request.path.ends_with("state.json")) return page_.answer(request);
    return HttpResponse{.status = 200, .body = R"({"version": 1, "runs": 13, "problem": "no disk"})"};
  });
  EXPECT_THAT(shown_at(address_of(*server), kReachLoopback), HasSubstr("role=\"alert\">no disk</p>"));
}

}  // namespace
}  // namespace xlm
