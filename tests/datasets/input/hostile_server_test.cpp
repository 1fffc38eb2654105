// Downloads from hostile or broken servers, and to manipulated folders.
#include <sys/stat.h>

#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "datasets/corpora/addresses.h"
#include "tests/datasets/input/downloads.h"
#include "tests/datasets/input/https_server.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;

class HostileServers : public Downloads {
 protected:
  /// The messages of a download from a mirror.
  std::string said(const std::string& mirror, const std::string& dataset = "text8") const {
    std::string said;
    const PrepareObserver observer{
        .progress = [&](const std::string& stage, std::uint64_t, std::uint64_t) { said += stage + "\n"; },
        .note = [&](const std::string& note) { said += note + "\n"; }};
    try {
      const Downloader downloader({.attempts = 2, .first_pause = 0.01, .stalled = 5});
      fetch_raw_files(dataset, "fi", path("raw"), mirror, downloader, observer);
    } catch (const Error& error) {
      said += error.what();
    }
    return said;
  }

  std::string note_of(const Download& download) const {
    std::string notes;
    const PrepareObserver observer{.progress = {}, .note = [&](const std::string& note) { notes += note; }};
    EXPECT_THROW(fetch(download, observer), Error);
    return notes;
  }
};

TEST_F(HostileServers, NoSpellingOfHttpsLeadsToHttp) {
  const fs::path trusted = path("certificate.pem");
  const HttpServer plain([&](const Request& request) { return HttpServer::part_of(content_, request); });
  const HttpsServer secure(trusted, fmt::format("HTTP/1.1 302 X\r\nLocation: {}\r\nContent-Length: 0\r\n"
                                                "Connection: close\r\n\r\n",
                                                plain.url("/file")));
  ::setenv("CURL_CA_BUNDLE", trusted.c_str(), 1);
  for (const char* scheme : {"https", "HTTPS", "Https", "hTTPs"}) {
    const std::string url = scheme + secure.url("/file").substr(5);
    expect_error<Error>({.url = url, .target = path("in/file")}, "cannot fetch " + url);
  }
  EXPECT_EQ(secure.answered(), 4) << "each is refused at once, without a retry";
  EXPECT_EQ(plain.requests().size(), 0U);
  // The first address may still be http.
  const HttpServer first(
      [&](const Request&) { return Answer{.status = 302, .headers = {"Location: " + secure.url("/file")}}; });
  expect_error<Error>(file(first), "it leads from https to http");
  ::unsetenv("CURL_CA_BUNDLE");
  EXPECT_EQ(first.requests().size(), 1U);
}

TEST_F(HostileServers, NoMessageHasThePasswordOfAMirror) {
  const HttpServer missing([](const Request&) { return Answer{.status = 404}; });
  const HttpServer broken([](const Request&) { return Answer{.status = 503}; });
  const HttpServer page([](const Request&) { return Answer{.body = "<html>"}; });
  const HttpServer cut([&](const Request&) { return Answer{.body = content_, .cut_after = 9}; });
  for (const HttpServer* server : {&missing, &broken, &page, &cut}) {
    for (const char* dataset : {"text8", "wiki40b", "cc-100"}) {
      const std::string all = said("http://bob:S3CRET@" + server->url().substr(7), dataset);
      EXPECT_THAT(all, AllOf(HasSubstr(server->url()), Not(HasSubstr("S3CRET")), Not(HasSubstr("bob"))));
      EXPECT_EQ(server->requests().back().authorization, "Basic Ym9iOlMzQ1JFVA==") << "the server gets it";
    }
  }
  for (const char* mirror :
       {"http://bob:S3CRET@127.0.0.1:1", "http://bob:S3/CRET@127.0.0.1:1", "http://bob:S3?CRET@127.0.0.1:1",
        "ftp://bob:S3CRET@127.0.0.1", "bob:S3CRET@127.0.0.1", "https://bob:S3CRET@", "http://bob:S3CRET@in valid",
        "http://bob:S3@CRET@127.0.0.1:1", "http://bob:S3CRET@127.0.0.1:99999", "http://127.0.0.1/?key=S3CRET"}) {
    EXPECT_THAT(said(mirror), AllOf(Not(HasSubstr("CRET")), Not(HasSubstr("bob")), HasSubstr("mirror"))) << mirror;
  }
}

TEST_F(HostileServers, MalformedMirrorsAreRefusedAtOnce) {
  for (const char* mirror : {"ftp://127.0.0.1", "FTP://127.0.0.1", "file:///srv/mirror", "127.0.0.1:8000", "http://",
                             "http:///x", "https:/x", "mirror", "http://127.0.0.1/#x", "http://127.0.0.1/x@y"}) {
    EXPECT_THAT(said(mirror), StartsWith("--mirror")) << mirror;
  }
  for (const char* mirror : {"http://in valid", "http://127.0.0.1:99999", "http://127.0.0.1:x"}) {
    EXPECT_THAT(said(mirror), AllOf(HasSubstr("cannot fetch"), Not(HasSubstr("waiting")))) << mirror;
  }
  const HttpServer server([](const Request&) { return Answer{.body = "PK\x03\x04 and more"}; });
  EXPECT_THAT(said("HTTP" + server.url("/").substr(4)), Not(HasSubstr("mirror")));
  EXPECT_TRUE(fs::exists(path("raw/text8.zip")));
}

TEST_F(HostileServers, AServerThatNeverContinuesIsGivenUp) {
  for (const bool answers_416 : {false, true}) {
    const HttpServer server([&](const Request& request) {
      if (answers_416 && request.begin >= 0) return Answer{.status = 416};
      return Answer{.body = content_, .cut_after = 100'000};
    });
    expect_error<Error>(checked(server), "breaks off each time, at last after 100 kB");
    EXPECT_LE(server.requests().size(), 6U);
    EXPECT_TRUE(fs::is_empty(path("in"))) << "no partial file is kept, because none can be resumed";
  }
  std::size_t length = 1000;
  const HttpServer growing([&](const Request&) { return Answer{.body = content_, .cut_after = length += 10}; });
  expect_error<Error>(checked(growing), "restarts instead of resuming");
}

TEST_F(HostileServers, AFileThatChangesEachTimeIsNotResumed) {
  int version = 0;
  const HttpServer server([&](const Request&) {
    return Answer{.body = content_, .headers = {fmt::format("ETag: \"{}\"", ++version)}, .cut_after = 5000};
  });
  expect_error<Error>(file(server), "the server restarts");
}

TEST_F(HostileServers, KeptBytesAreReportedAndEmptyFilesAreNotKept) {
  const HttpServer server([&](const Request& request) {
    if (request.begin >= 0) return Answer{.status = 503};
    return Answer{.body = content_, .headers = {"ETag: \"v1\""}, .cut_after = 50'000};
  });
  EXPECT_THAT(note_of(file(server)), AllOf(HasSubstr("50.0 kB of file are kept in " + path("in/.file.part").string()),
                                           HasSubstr("the same command resumes")));
  EXPECT_EQ(fs::file_size(path("in/.file.part")), 50'000U);
  const HttpServer refusing([](const Request&) { return Answer{.status = 503}; });
  const Download other{.url = refusing.url("/other"), .target = path("out/other")};
  EXPECT_EQ(note_of(other), "");
  EXPECT_TRUE(fs::is_empty(path("out")));
  write_file(path("in/file"), content_);  // a user puts the file there
  fetch(checked(server));
  EXPECT_FALSE(fs::exists(path("in/.file.part")));
  EXPECT_FALSE(fs::exists(path("in/.file.tag")));
}

TEST_F(HostileServers, BytesOfAnUnknownVersionAreNotResumed) {
  const HttpServer server([&](const Request& request) { return HttpServer::part_of(content_, request); });
  create_folders(path("in"));
  write_file(path("in/.file.part"), "of whatever");
  fetch(file(server));
  EXPECT_EQ(read_file(path("in/file")), content_);
  EXPECT_THAT(begins(server), ElementsAre(-1));
}

TEST_F(HostileServers, AWebPageIsNoArchive) {
  std::string body;
  const HttpServer server([&](const Request&) { return Answer{.body = body}; });
  for (const auto& [name, sent, problem] :
       std::vector<std::array<std::string, 3>>{{"text8.zip", "<!DOCTYPE html><title>Log in</title>", "a web page"},
                                               {"enwik8.zip", "\xEF\xBB\xBF\r\n <HTML lang=en>", "a web page"},
                                               {"fi.txt.xz", "<html><body>503</body></html>", "a web page"},
                                               {"10.txt", "\n<!doctype HTML>", "a web page"},
                                               {"text8.zip", "Please log in.", "not a zip file"},
                                               {"text8.zip", "", "not a zip file"},
                                               {"fi.txt.xz", "PK\x03\x04", "not a xz file"},
                                               {"a.parquet", "version https://git-lfs", "not a Parquet file"}}) {
    body = sent;
    const std::string& file = name;
    expect_error<DataError>({.url = server.url("/" + name), .target = path("in") / name}, "it is " + problem);
    EXPECT_TRUE(fs::is_empty(path("in"))) << name;
    write_file(path("in") / name, sent);  // as an earlier version would have kept it
    EXPECT_THAT([&] { fetch({.url = server.url("/" + file), .target = path("in") / file}); },
                ThrowsMessage<DataError>(AllOf(HasSubstr("it is " + problem), HasSubstr("rm " + path("in").string()))));
    fs::remove(path("in") / name);
  }
}

TEST_F(HostileServers, NothingIsWrittenOrReadThroughALink) {
  const HttpServer server([&](const Request& request) {
    Answer answer = HttpServer::part_of(content_, request);
    answer.headers.emplace_back("ETag: \"v1\"");
    return answer;
  });
  create_folders(path("in"));
  write_file(path("precious"), "precious");
  fs::create_symlink(path("precious"), path("in/.file.part"));
  expect_error<DataError>(file(server), "rm " + path("in/.file.part").string());
  fs::remove(path("in/.file.part"));
  fs::create_hard_link(path("precious"), path("in/.file.part"));
  expect_error<DataError>(file(server), "is a link or not a file");
  fs::remove(path("in/.file.part"));
  fs::create_symlink(path("nowhere"), path("in/.file.part"));
  expect_error<DataError>(file(server), "is a link or not a file");
  fs::remove(path("in/.file.part"));
  ASSERT_EQ(::mkfifo(path("in/.file.part").c_str(), 0600), 0);
  expect_error<DataError>(file(server), "is a link or not a file");
  fs::remove(path("in/.file.part"));
  EXPECT_FALSE(fs::exists(path("nowhere")));
  EXPECT_EQ(server.requests().size(), 0U);

  write_file(path("in/.file.part"), content_.substr(0, 10));
  fs::create_symlink(path("precious"), path("in/.file.tag"));
  fetch(checked(server));
  EXPECT_EQ(server.requests().back().if_range, "") << "the version is not read through a link";
  fs::remove(path("in/file"));
  fs::create_symlink(path("precious"), path("in/.file.tag"));
  fetch(checked(server));
  EXPECT_EQ(read_file(path("precious")), "precious");
  EXPECT_EQ(read_file(path("in/file")), content_);
}

}  // namespace
}  // namespace xlm
