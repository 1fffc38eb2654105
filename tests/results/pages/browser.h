// For tests of pages in a real browser, without a network. They are skipped if none is installed.
#pragma once

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "results/pages/assets.h"
#include "tests/experiments/program.h"
#include "tests/needs.h"
#include "tests/results/pages/pages.h"

namespace xlm {

class Browser : public PagesTest {
 protected:
  void SetUp() override {
    for (const char* name : {"chromium", "google-chrome", "chromium-browser"}) {
      if (program_.empty() && std::system(fmt::format("command -v {} >/dev/null 2>&1", name).c_str()) == 0) {
        program_ = name;
      }
    }
    if (program_.empty()) GTEST_SKIP() << needs::kBrowser;
  }

  /// The document after its scripts have run, without the scripts.
  std::string shown(const std::string& page, const std::string& more = "") {
    write_file(temporary_.path() / "page.html", page);
    return shown_at(fmt::format("file://{}/page.html", temporary_.path().string()), more);
  }

  /// The same of an address. Of several options `more` counts.
  std::string shown_at(const std::string& address, const std::string& more = "") {
    const ProgramResult outcome =
        shell(temporary_.path(),
              fmt::format("timeout 120 {} --headless --no-sandbox --disable-gpu --no-first-run --user-data-dir=profile "
                          "--disable-background-networking --disable-component-update "
                          "--host-resolver-rules='MAP * ~NOTFOUND' --virtual-time-budget=8000 --log-net-log=net.json "
                          "{} --dump-dom '{}'",
                          program_, more, address));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.err, ::testing::Not(::testing::HasSubstr("CONSOLE"))) << "the page complains";
    return without_scripts(outcome.out);
  }

  /// The value of a JavaScript expression over `e`, the root of a page, on a phone. A browser's window is never as
  /// narrow as a phone, but a frame is.
  std::string told_by_a_phone(std::string page, const std::string& expression) {
    page.insert(page.rfind("</body>"), fmt::format("<script>setTimeout(() => {{ const e = document.documentElement; "
                                                   "parent.postMessage({}, '*'); }}, 2000)</script>",
                                                   expression));
    write_file(temporary_.path() / "inner.html", page);
    return shown(
        "<html><body><iframe width=390 height=800 src='inner.html'></iframe>"
        "<script>addEventListener('message', (e) => document.body.append(e.data))</script></body></html>");
  }

  /// plotly.js may contain what looks like the beginning of a script, so it goes first.
  static std::string without_scripts(std::string document) {
    if (const std::size_t at = document.find(plotly_script()); at != std::string::npos) {
      document.erase(at, plotly_script().size());
    }
    constexpr std::string_view kEnd = "</script>";
    for (std::size_t begin = 0; (begin = document.find("<script", begin)) != std::string::npos;) {
      const std::size_t end = document.find(kEnd, begin);
      document.erase(begin, end == std::string::npos ? end : end + kEnd.size() - begin);
    }
    return document;
  }

  /// Requests of the page (not of the browser itself) to any host.
  std::vector<std::string> requests() const {
    std::vector<std::string> urls;
    const Json log = Json::parse(read_file(temporary_.path() / "net.json"));
    for (const Json& event : log["events"]) {
      if (!event.contains("params") || !event["params"].contains("initiator")) continue;
      const std::string url = event["params"].value("url", "");
      if (event["params"]["initiator"] != "not an origin" && url.starts_with("http")) urls.push_back(url);
    }
    return urls;
  }

  std::string program_;
};

}  // namespace xlm
