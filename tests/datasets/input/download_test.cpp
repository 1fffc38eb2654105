#include "datasets/input/download.h"

#include <sys/file.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/sha256.h"
#include "datasets/corpora/addresses.h"
#include "tests/datasets/input/downloads.h"
#include "tests/datasets/input/https_server.h"

namespace xlm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST_F(Downloads, AFileArrivesWhole) {
  const HttpServer server([&](const Request& request) { return HttpServer::part_of(content_, request); });
  std::uint64_t most = 0;
  fetch(checked(server), {.progress = [&](const std::string& stage, std::uint64_t done, std::uint64_t) {
          EXPECT_EQ(stage, "fetching file");
          most = std::max(most, done);
        }});
  EXPECT_EQ(read_file(path("in/file")), content_);
  EXPECT_EQ(most, content_.size());
  EXPECT_EQ(std::distance(fs::directory_iterator(path("in")), {}), 1);  // no temporary file is left
  fetch(checked(server));
  EXPECT_EQ(server.requests().size(), 1U);  // the file exists
}

TEST_F(Downloads, ALinkStaysAndItsTargetIsFetched) {
  const HttpServer server([&](const Request& request) { return HttpServer::part_of(content_, request); });
  create_folders(path("in"));
  fs::create_symlink("../elsewhere/file", path("in/file"));
  fetch(checked(server));
  EXPECT_TRUE(fs::is_symlink(path("in/file")));
  EXPECT_EQ(read_file(path("elsewhere/file")), content_);
}

TEST_F(Downloads, ACutConnectionIsResumed) {
  const HttpServer server([&](const Request& request) {
    Answer answer = HttpServer::part_of(content_, request);
    answer.headers.emplace_back("ETag: \"v1\"");
    answer.cut_after = 100'000;
    return answer;
  });
  fetch(checked(server));
  EXPECT_EQ(read_file(path("in/file")), content_);
  EXPECT_THAT(begins(server), ElementsAre(-1, 100'000, 200'000));
  EXPECT_EQ(server.requests().back().if_range, "\"v1\"");
}

TEST_F(Downloads, AConnectionThatMakesProgressIsNotGivenUp) {
  const HttpServer server([&](const Request& request) {
    Answer answer = HttpServer::part_of(content_, request);
    answer.cut_after = 30'000;
    return answer;
  });
  fetch(checked(server));
  EXPECT_EQ(read_file(path("in/file")), content_);
  EXPECT_EQ(server.requests().size(), 10U) << "only three attempts in a row may fail";
}

TEST_F(Downloads, AConnectionWithoutProgressIsGivenUp) {
  const HttpServer server([](const Request&) { return Answer{.status = 503}; });
  expect_error<Error>(checked(server), "HTTP 503");
  EXPECT_EQ(server.requests().size(), 3U);
}

TEST_F(Downloads, AFileOfAnotherSizeIsRefused) {
  const HttpServer server([&](const Request& request) { return HttpServer::part_of(content_, request); });
  Download longer = file(server);
  longer.bytes = content_.size() + 1;
  expect_error<DataError>(longer, "is not the published file: its size differs");
  EXPECT_FALSE(fs::exists(path("in/.file.part")));
  Download right = file(server);
  right.bytes = content_.size();
  fetch(right);
  EXPECT_EQ(read_file(path("in/file")), content_);
}

TEST_F(Downloads, AWholeFileOfKnownSizeNeedsNoServer) {
  create_folders(path("in"));
  write_file(path("in/.file.part"), content_);
  fetch({.url = "http://127.0.0.1:1/file", .target = path("in/file"), .bytes = content_.size()});
  EXPECT_EQ(read_file(path("in/file")), content_);
}

TEST_F(Downloads, ALaterCallResumes) {
  std::atomic<int> seen{0};
  const HttpServer server([&](const Request& request) {
    if (seen++ == 0) {
      Answer answer{.body = content_};
      answer.cut_after = 50'000;
      return answer;
    }
    return seen <= 4 ? Answer{.status = 503} : HttpServer::part_of(content_, request);
  });
  expect_error<Error>(checked(server), "HTTP 503");
  EXPECT_TRUE(fs::exists(path("in/.file.part")));
  fetch(checked(server));
  EXPECT_EQ(read_file(path("in/file")), content_);
  EXPECT_EQ(begins(server).back(), 50'000);
}

TEST_F(Downloads, AServerWithoutRangesStartsOver) {
  std::atomic<int> seen{0};
  const HttpServer server([&](const Request&) {
    Answer answer{.body = content_};
    if (seen++ == 0) answer.cut_after = 100'000;
    return answer;
  });
  fetch(checked(server));
  EXPECT_EQ(read_file(path("in/file")), content_);
  EXPECT_THAT(begins(server), ElementsAre(-1, 100'000));
}

TEST_F(Downloads, WrongBytesAreRefusedAndRemoved) {
  const HttpServer server([&](const Request&) { return Answer{.body = some_bytes(10)}; });
  expect_error<DataError>(checked(server), "its sha256 differs");
  EXPECT_FALSE(fs::exists(path("in/.file.part")));
  Download small = file(server);
  small.bytes = 5;
  expect_error<DataError>(small, "more than the 5 bytes");
}

TEST_F(Downloads, AWrongBeginningIsFetchedOnceMore) {
  const HttpServer server([&](const Request& request) { return HttpServer::part_of(content_, request); });
  create_folders(path("in"));
  write_file(path("in/.file.part"), "of another version");
  fetch(checked(server));
  EXPECT_EQ(read_file(path("in/file")), content_);
  EXPECT_THAT(begins(server), ElementsAre(18, -1));
}

TEST_F(Downloads, AWholeFileIsNotFetched) {
  const HttpServer server([&](const Request& request) { return HttpServer::part_of(content_, request); });
  create_folders(path("in"));
  write_file(path("in/.file.part"), content_);
  fetch(checked(server));  // the server answers 416: the file is complete
  EXPECT_EQ(read_file(path("in/file")), content_);
  write_file(path("in/file"), "spoilt");
  EXPECT_THAT([&] { fetch(checked(server)); }, ThrowsMessage<DataError>(HasSubstr("is not the published")));
}

TEST_F(Downloads, RedirectsAreFollowed) {
  const HttpServer server([&](const Request& request) {
    if (request.path == "/file") return Answer{.status = 302, .body = "moved", .headers = {"Location: /else/where"}};
    return HttpServer::part_of(content_, request);
  });
  fetch(checked(server));
  EXPECT_EQ(read_file(path("in/file")), content_);
  const HttpServer loop([](const Request&) { return Answer{.status = 302, .headers = {"Location: /file"}}; });
  Download again = file(loop);
  again.target = path("in/other");
  expect_error<Error>(again, "redirects");
  const HttpServer odd(
      [](const Request&) { return Answer{.status = 302, .headers = {"Location: file:///etc/passwd"}}; });
  again.url = odd.url("/file");
  expect_error<Error>(again, "cannot fetch");
}

TEST_F(Downloads, NothingLeadsFromHttpsToHttp) {
  const fs::path trusted = path("certificate.pem");
  const HttpServer plain([&](const Request& request) { return HttpServer::part_of(content_, request); });
  const HttpsServer good(trusted, "HTTP/1.1 200 X\r\nContent-Length: 4\r\nConnection: close\r\n\r\nsafe");
  ::setenv("CURL_CA_BUNDLE", trusted.c_str(), 1);
  fetch({.url = good.url("/file"), .target = path("in/safe")});
  EXPECT_EQ(read_file(path("in/safe")), "safe");
  const HttpsServer bad(trusted, fmt::format("HTTP/1.1 302 X\r\nLocation: {}\r\nContent-Length: 0\r\n"
                                             "Connection: close\r\n\r\n",
                                             plain.url("/file")));
  expect_error<Error>({.url = bad.url("/file"), .target = path("in/file")}, "cannot fetch");
  ::unsetenv("CURL_CA_BUNDLE");
  EXPECT_GE(bad.answered(), 1) << "the redirect is refused";
  EXPECT_EQ(plain.requests().size(), 0U);
}

TEST_F(Downloads, ServersAreKnownByTheCertificatesThatTheUserNames) {
  constexpr const char* kAnswer = "HTTP/1.1 200 X\r\nContent-Length: 4\r\nConnection: close\r\n\r\nsafe";
  const HttpsServer server(path("own.pem"), kAnswer);
  const HttpsServer stranger(path("strange.pem"), kAnswer);
  ::setenv("no_proxy", "127.0.0.1", 1);
  ::setenv("CURL_CA_BUNDLE", "", 1);  // an empty name is none
  expect_error<Error>({.url = server.url("/file"), .target = path("in/file")}, "set CURL_CA_BUNDLE to");
  ::setenv("CURL_CA_BUNDLE", path("own.pem").c_str(), 1);
  expect_error<Error>({.url = stranger.url("/file"), .target = path("in/file")}, "set CURL_CA_BUNDLE to");
  fetch({.url = server.url("/file"), .target = path("in/file")});
  ::unsetenv("CURL_CA_BUNDLE");
  EXPECT_EQ(read_file(path("in/file")), "safe");
  EXPECT_EQ(stranger.answered(), 0);
}

/// A program of the name curl in a folder that is all of PATH.
class OtherCurls : public Downloads {
 protected:
  void SetUp() override {
    fs::create_directory(path("bin"));
    ::setenv("PATH", path("bin").c_str(), 1);
  }
  void TearDown() override { ::setenv("PATH", before_.c_str(), 1); }
  void make_curl(const std::string& script) const {
    write_file(path("bin/curl"), "#!/bin/sh\nPATH=/usr/bin:/bin\n" + script);
    fs::permissions(path("bin/curl"), fs::perms::owner_all);
  }
  const std::string before_ = std::getenv("PATH");
};

TEST_F(OtherCurls, AMissingOneIsNamedWithItsPackage) {
  expect_error<Error>({.url = "http://127.0.0.1:1/file", .target = path("in/file")}, "apt-get install curl");
  EXPECT_TRUE(fs::is_empty(path("in")));
}

TEST_F(OtherCurls, HeadersMayComeInPiecesAndSeveralTimes) {
  make_curl(R"(printf 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 302 Found\r\nLoca'; sleep 0.2
printf 'tion: /else\r\nETag: "redirect"\r\n\r\nHTTP/2 200\r\netag: "file"\r\n\r'; sleep 0.2
printf '\nHTTP/1.1 404 is what\r\n\r\n it says')");
  fetch({.url = "http://example.invalid/file", .target = path("in/file")});
  EXPECT_EQ(read_file(path("in/file")), "HTTP/1.1 404 is what\r\n\r\n it says");
}

TEST_F(OtherCurls, AddressesAreNotInTheirCommandLine) {
  make_curl("echo \"$*\" >" + path("words").string() + "\ncat >" + path("input").string() +
            "\nprintf 'HTTP/1.1 200 X\\r\\n\\r\\nsafe'");
  fetch({.url = "http://example.invalid/a\"b", .login = "bob:S3CRET", .target = path("in/file")});
  EXPECT_THAT(read_file(path("words")), ::testing::Not(HasSubstr("example")));
  EXPECT_EQ(read_file(path("input")), "url = \"http://bob:S3CRET@example.invalid/a\\\"b\"\n");
}

TEST_F(Downloads, AProxyIsUsedIfTheEnvironmentNamesOne) {
  const HttpServer proxy([&](const Request& request) { return HttpServer::part_of(content_, request); });
  ::setenv("http_proxy", proxy.url().c_str(), 1);
  fetch({.url = "http://corpora.invalid/file", .target = path("in/file")});
  ::setenv("http_proxy", "http://127.0.0.1:1", 1);
  fetch({.url = proxy.url("/file"), .target = path("in/near")});  // tests use no proxy for this machine
  ::unsetenv("http_proxy");
  ASSERT_EQ(proxy.requests().size(), 2U);
  EXPECT_EQ(proxy.requests().front().path, "http://corpora.invalid/file");
  EXPECT_EQ(read_file(path("in/near")), content_);
}

TEST_F(Downloads, ErrorsAreNotContent) {
  const HttpServer server([](const Request&) { return Answer{.status = 404, .body = "<html>not here</html>"}; });
  expect_error<DataError>(file(server), "404, not found");
  EXPECT_EQ(server.requests().size(), 1U);  // a retry would not help
  Download nowhere = file(server);
  nowhere.url = "http://127.0.0.1:1/file";
  expect_error<Error>(nowhere, "cannot fetch http://127.0.0.1:1/file");
}

TEST_F(Downloads, TheObserverCanStopIt) {
  const HttpServer server([&](const Request& request) { return HttpServer::part_of(content_, request); });
  const PrepareObserver stop{
      .progress = [](const std::string&, std::uint64_t, std::uint64_t) { throw Error("stopped"); }};
  EXPECT_THAT([&] { fetch(file(server), stop); }, ThrowsMessage<Error>("stopped"));
  EXPECT_FALSE(fs::exists(path("in/file")));
}

TEST_F(Downloads, AFullDiskIsAResourceError) {
  const HttpServer server([&](const Request& request) { return HttpServer::part_of(content_, request); });
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{100'000, before.rlim_max};
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
  ::setrlimit(RLIMIT_FSIZE, &small);
  expect_error<ResourceError>(file(server), "free some space");
  EXPECT_EQ(server.requests().size(), 1U) << "a retry would not make room";
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
}

TEST_F(Downloads, TwoProcessesDoNotFetchOneFile) {
  const HttpServer server([&](const Request& request) { return HttpServer::part_of(content_, request); });
  create_folders(path("in"));
  write_file(path("in/.file.part"), "");
  std::FILE* const other = std::fopen(path("in/.file.part").c_str(), "r");
  ASSERT_EQ(::flock(::fileno(other), LOCK_EX), 0);
  expect_error<UsageError>(file(server), "another process is fetching");
  std::fclose(other);
}

class RawFiles : public Downloads {
 protected:
  std::vector<fs::path> fetch_all(const std::string& dataset, const std::string& language,
                                  const HttpServer& server) const {
    const Downloader downloader({.attempts = 1, .first_pause = 0.01});
    return fetch_raw_files(dataset, language, path("raw"), server.url("/"), downloader, {});
  }
};

TEST_F(RawFiles, OfOneFile) {
  const auto packed = [](const std::string& name) {
    return (name.ends_with(".zip") ? std::string("PK\x03\x04")
                                   : std::string("\xFD"
                                                 "7zXZ\0",
                                                 6)) +
           name;
  };
  const HttpServer server([&](const Request& request) { return Answer{.body = packed(request.path)}; });
  EXPECT_THAT(fetch_all("text8", "", server), ElementsAre(path("raw/text8.zip")));
  EXPECT_EQ(read_file(path("raw/text8.zip")), packed("/dc/text8.zip"));
  EXPECT_THAT(fetch_all("cc-100", "fi", server), ElementsAre(path("raw/fi.txt.xz")));
  EXPECT_EQ(read_file(path("raw/fi.txt.xz")), packed("/cc-100/fi.txt.xz"));
  EXPECT_THROW(fetch_all("text", "", server), UsageError);
}

TEST_F(RawFiles, OfAListWithChecksums) {
  const std::string name = "fi/train-00000-of-00001.parquet";
  const std::string content = "/datasets/google/wiki40b/resolve/main/" + name;  // the server sends back the path
  for (const std::string& hash : {sha256(content), sha256("other")}) {
    const HttpServer server([&](const Request& request) {
      if (request.path != "/api/datasets/google/wiki40b/tree/main/fi") return Answer{.body = request.path};
      return Answer{.body = fmt::format(R"([{{"type": "directory", "path": "fi/x"}},)"
                                        R"({{"type": "file", "path": "{}", "size": {}, "lfs": {{"oid": "{}"}}}}])",
                                        name, content.size(), hash)};
    });
    fs::remove_all(path("raw"));
    if (hash == sha256(content)) {
      EXPECT_THAT(fetch_all("wiki40b", "fi", server), ElementsAre(path("raw")));
      EXPECT_EQ(read_file(path("raw") / name), content);
      EXPECT_FALSE(fs::exists(path("raw/.list.json")));
    } else {
      EXPECT_THROW(fetch_all("wiki40b", "fi", server), DataError);
    }
  }
}

TEST_F(RawFiles, OfPg19AreCheckedAgainstTheOfficialSums) {
  const auto list = [](const std::string& hash) {
    return fmt::format(
        R"({{"default":{{"download_checksums":{{"gs://deepmind-gutenberg/train":{{"num_bytes":1,"checksum":"x"}},)"
        R"("gs://deepmind-gutenberg/test/8197.txt":{{"num_bytes":4,"checksum":"{}"}}}}}}}})",
        hash);
  };
  for (const auto& [hash, good] : std::map<std::string, bool>{{sha256("book"), true}, {sha256("other"), false}}) {
    const HttpServer server([sums = list(hash)](const Request& request) {
      return Answer{.body = request.path.ends_with("dataset_infos.json") ? sums : "book"};
    });
    fs::remove_all(path("raw"));
    if (good) {
      EXPECT_THAT(fetch_all("pg-19", "", server), ElementsAre(path("raw")));
      EXPECT_EQ(read_file(path("raw/test/8197.txt")), "book");
      EXPECT_EQ(server.requests().back().path, "/deepmind-gutenberg/test/8197.txt");
    } else {
      EXPECT_THROW(fetch_all("pg-19", "", server), DataError);
      EXPECT_FALSE(fs::exists(path("raw/test/8197.txt")));
    }
  }
}

TEST_F(RawFiles, AListMustNotLeadOutside) {
  for (const char* body :
       {R"([{"type":"file","path":"../evil.parquet","size":4}])", R"([{"type":"file","path":"/x.parquet"}])",
        R"([{"type":"file","path":7}])", "{}", "[]", "not JSON"}) {
    const HttpServer server([&](const Request&) { return Answer{.body = body}; });
    EXPECT_THROW(fetch_all("wiki40b", "fi", server), DataError) << body;
  }
}

}  // namespace
}  // namespace xlm
