// Shared by tests of downloads: a server's content, and a downloader that waits only briefly.
#pragma once

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/sha256.h"
#include "datasets/input/download.h"
#include "tests/datasets/input/http_server.h"
#include "tests/temporary_folder.h"

namespace xlm {

using Answer = HttpServer::Answer;
using Request = HttpServer::Request;

inline std::string some_bytes(std::size_t count) {
  std::string bytes;
  std::uint64_t state = 7;
  while (bytes.size() < count) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    bytes += static_cast<char>(state >> 56U);
  }
  return bytes;
}

class Downloads : public ::testing::Test {
 protected:
  fs::path path(const std::string& name) const { return folder_.path() / name; }
  Download file(const HttpServer& server) const { return {.url = server.url("/file"), .target = path("in/file")}; }
  Download checked(const HttpServer& server) const {
    Download download = file(server);
    download.sha256 = sha256(content_);
    return download;
  }
  void fetch(const Download& download, const PrepareObserver& observer = {}) const {
    Downloader({.attempts = 3, .first_pause = 0.01, .stalled = 5}).fetch(download, observer);
  }
  template <class Failure>
  void expect_error(const Download& download, const std::string& complaint) const {
    EXPECT_THAT([&] { fetch(download); }, ::testing::ThrowsMessage<Failure>(::testing::HasSubstr(complaint)));
    EXPECT_FALSE(fs::exists(download.target));
  }
  static std::vector<std::int64_t> begins(const HttpServer& server) {
    std::vector<std::int64_t> begins;
    for (const Request& request : server.requests()) begins.push_back(request.begin);
    return begins;
  }

  TemporaryFolder folder_;
  const std::string content_ = some_bytes(300'000);
};

}  // namespace xlm
