// For tests of the live page: run folders, and the page of their store as it is at each look.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "base/secret.h"
#include "results/live/live_page.h"
#include "results/live/live_runs.h"
#include "tests/results/run_maker.h"

namespace xlm {

class LivePageTest : public ::testing::Test {
 protected:
  static RunMaker made_runs(const fs::path& runs) {
    RunMaker maker(runs);
    maker.make_sweep({"fixed", "adaptive"}, {64, 256}, {1, 2});
    return maker;
  }

  Store open() const {
    Store store = Store::in_memory();
    store.sync(maker_.runs());
    return store;
  }

  HttpResponse get(const std::string& name, std::vector<std::pair<std::string, std::string>> query = {}) const {
    return page_.answer({.host = "127.0.0.1:8080", .path = page_.path() + name, .query = std::move(query)});
  }

  Json json(const std::string& name, std::vector<std::pair<std::string, std::string>> query = {}) const {
    const HttpResponse response = get(name, std::move(query));
    EXPECT_EQ(response.status, 200) << response.body;
    EXPECT_EQ(response.type, "application/json");
    return Json::parse(response.body);
  }

  TemporaryFolder temporary_;
  RunMaker maker_ = made_runs(temporary_.path() / "runs");
  LiveRuns runs_{[this] { return open(); }};
  std::string token_ = fresh_secret();
  LivePage page_{runs_, {.token = token_, .title = "Runs of <here>", .where = "seed<3"}};
};

}  // namespace xlm
