// The HTTP server, over real connections.
#include "results/live/http_server.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/results/live/http_client.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;

/// Host, path and query, as the handler got them.
HttpResponse echo(const HttpRequest& request) {
  std::string text = request.host + "|" + request.path;
  for (const auto& [key, value] : request.query) text += "|" + key + "=" + value;
  return {.status = 200, .type = "text/plain", .body = text};
}

TEST(HttpServerTest, PassesWhatABrowserAsksForToTheHandler) {
  const auto server = serve_http(0, echo);
  const HttpAnswer answer = http_ask(server->port(), "GET", "/a%20b/c?where=seed%3C4%2Cx%3D%22a%20b%22&where=y&w=1+2",
                                     "Host: localhost:99\r\n");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "localhost:99|/a b/c|where=seed<4,x=\"a b\"|where=y|w=1 2");
  EXPECT_THAT(answer.head, HasSubstr("Content-Type: text/plain; charset=utf-8\r\n"));
}

TEST(HttpServerTest, ForbidsOtherPagesToUseWhatItSends) {
  const auto server = serve_http(0, echo);
  for (const char* path : {"/", "/x"}) {
    EXPECT_THAT(http_get(server->port(), path).head,
                AllOf(HasSubstr("Cache-Control: no-store\r\n"), HasSubstr("X-Content-Type-Options: nosniff\r\n"),
                      HasSubstr("X-Frame-Options: DENY\r\n"), HasSubstr("Referrer-Policy: no-referrer\r\n"),
                      HasSubstr("Cross-Origin-Resource-Policy: same-origin\r\n")));
  }
}

/// The addresses that listen on a port, as the kernel writes them.
std::vector<std::string> listening_on(int port) {
  std::vector<std::string> found;
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream lines(table);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string number;
      std::string local;
      std::string remote;
      std::string state;
      words >> number >> local >> remote >> state;
      if (state == "0A" && local.ends_with(fmt::format(":{:04X}", port))) found.push_back(local);
    }
  }
  return found;
}

TEST(HttpServerTest, ListensOnTheLoopbackAddressAlone) {
  const auto server = serve_http(0, echo);
  EXPECT_THAT(listening_on(server->port()),
              ::testing::ElementsAre(fmt::format("{}:{:04X}", "0100007F", server->port())));
}

TEST(HttpServerTest, OnlyReads) {
  std::atomic<int> calls = 0;
  const auto server = serve_http(0, [&](const HttpRequest& request) {
    ++calls;
    return echo(request);
  });
  for (const char* method : {"POST", "PUT", "DELETE", "PATCH", "OPTIONS"}) {
    const HttpAnswer answer = http_ask(server->port(), method, "/");
    EXPECT_EQ(answer.status, 405) << method;
    EXPECT_THAT(answer.head, HasSubstr("Allow: GET, HEAD\r\n"));
  }
  EXPECT_EQ(calls.load(), 0);
  const HttpAnswer head = http_ask(server->port(), "HEAD", "/");
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.body, "");
  EXPECT_EQ(http_ask(server->port(), "GET", "/", "Host: x\r\nRange: bytes=100-200\r\n").status, 416);
  EXPECT_EQ(http_get(server->port(), "/").status, 200) << "it is still there";
}

TEST(HttpServerTest, OutlivesWhatIsNoRequest) {
  const auto server = serve_http(0, echo);
  EXPECT_THAT(answer_to(server->port(), "hello\r\n\r\n"), Not(HasSubstr(" 200 ")));
  EXPECT_THAT(answer_to(server->port(), std::string("\0\xFF\r\n\r\n", 6)), Not(HasSubstr(" 200 ")));
  EXPECT_THAT(answer_to(server->port(), "GET /" + std::string(20'000, 'a') + " HTTP/1.1\r\n\r\n"),
              Not(HasSubstr(" 200 ")));
  EXPECT_THAT(answer_to(server->port(), "GET /" + std::string(8000, '%') + " HTTP/1.1\r\nConnection: close\r\n\r\n"),
              HasSubstr("HTTP/1.1 "));
  EXPECT_EQ(http_get(server->port(), "/").status, 200);
}

TEST(HttpServerTest, SendsLargeBodiesWholeAndUncompressed) {
  std::string large;
  for (int i = 0; large.size() < 6'000'000; ++i) large += fmt::format("{} ", i);
  const auto server = serve_http(0, [&](const HttpRequest& /*request*/) {
    return HttpResponse{.status = 200, .type = "text/html", .body = large, .file_name = "runs.html"};
  });
  const HttpAnswer answer =
      http_ask(server->port(), "GET", "/", "Host: 127.0.0.1\r\nAccept-Encoding: gzip, deflate, br\r\n");
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.head, AllOf(HasSubstr(fmt::format("Content-Length: {}\r\n", large.size())),
                                 HasSubstr("Content-Disposition: attachment; filename=\"runs.html\"\r\n"),
                                 Not(HasSubstr("Content-Encoding"))));
  EXPECT_TRUE(answer.body == large);
}

TEST(HttpServerTest, ServesManyReadersAtOnce) {
  const auto server = serve_http(0, echo);
  std::atomic<int> right = 0;
  std::vector<std::thread> readers;
  for (int reader = 0; reader < 20; ++reader) {
    readers.emplace_back([&, reader] {
      for (int i = 0; i < 10; ++i) {
        const std::string path = fmt::format("/{}-{}", reader, i);
        if (http_get(server->port(), path).body == "127.0.0.1|" + path) ++right;
      }
    });
  }
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(right.load(), 200);
}

TEST(HttpServerTest, SlowConnectionsKeepNeitherItsOwnerNorItsEndWaiting) {
  using Seconds = std::chrono::duration<double>;
  const auto began = std::chrono::steady_clock::now();
  for (const char* request : {"", "GET / HT", "GET / HTTP/1.1\r\nHost: x\r\n"}) {
    auto server = serve_http(0, echo);
    const Strangers strangers(server->port(), 300, request);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(http_get(server->port(), "/").status, 200) << request;
    server.reset();
  }
  EXPECT_LT(Seconds(std::chrono::steady_clock::now() - began).count(), 4) << "it waited for a connection";
}

TEST(HttpServerTest, AConnectionThatNeverAsksIsClosed) {
  const auto server = serve_http(0, echo);
  const auto began = std::chrono::steady_clock::now();
  answer_to(server->port(), "GET / HT");  // returns when the server closes the connection
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count(), 20);
}

TEST(HttpServerTest, TakesNoHeadersWithoutEnd) {
  constexpr std::size_t kMaxBytes = std::size_t{1} << 26;
  const auto server = serve_http(0, echo);
  for (const std::string piece : {"A: b\r\n", "AAAAAAAAAAAAAAAA"}) {
    std::string many;
    while (many.size() < 4096) many += piece;
    const Strangers stranger(server->port(), 1, "GET / HTTP/1.1\r\n");
    EXPECT_LT(stranger.send_on(many, kMaxBytes), kMaxBytes) << "the rest is in buffers of the system";
  }
  EXPECT_EQ(http_get(server->port(), "/").status, 200);
}

TEST(HttpServerTest, APortHasOneServerAndIsFreeAfterIt) {
  auto server = serve_http(0, echo);
  const int port = server->port();
  EXPECT_THAT([&] { serve_http(port, echo); },
              ThrowsMessage<UsageError>(HasSubstr(fmt::format("cannot listen on port {}", port))))
      << "two servers share a port";
  server.reset();
  EXPECT_EQ(answer_to(port, "GET / HTTP/1.1\r\n\r\n"), "") << "nothing listens any more";
  EXPECT_EQ(serve_http(port, echo)->port(), port);
}

}  // namespace
}  // namespace xlm
