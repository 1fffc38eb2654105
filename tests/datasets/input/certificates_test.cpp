// Whose certificates a download trusts: the file that the user names, else that of the system, wherever systems have
// it.
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "tests/datasets/input/downloads.h"
#include "tests/datasets/input/https_server.h"
#include "tests/needs.h"

namespace xlm {
namespace {

constexpr const char* kDebian = "/etc/ssl/certs/ca-certificates.crt";
constexpr const char* kRedHat = "/etc/pki/tls/certs/ca-bundle.crt";
constexpr const char* kSuse = "/etc/ssl/ca-bundle.pem";
constexpr const char* kAlpine = "/etc/ssl/cert.pem";

/// What became of a download in another root file system.
enum class Fetched { kArrived, kNotTrusted, kFailed, kNoRoot };

class Certificates : public Downloads {
 protected:
  static constexpr const char* kAnswer = "HTTP/1.1 200 X\r\nContent-Length: 4\r\nConnection: close\r\n\r\nsafe";

  void SetUp() override { fs::create_directories(root_ / "in"); }

  /// Puts a certificate where the system of the root has its own.
  void install(const fs::path& certificate, const fs::path& place) const {
    const fs::path file = root_ / place.relative_path();
    fs::create_directories(file.parent_path());
    fs::copy_file(certificate, file, fs::copy_options::overwrite_existing);
  }

  /// Fetches in a process whose root is `root_`. SSL_CERT_FILE is `named` there, or not set.
  Fetched fetch_in_root(const HttpsServer& server, const char* named = nullptr) const {
    const Download download{.url = server.url("/file"), .target = "/in/file"};
    const auto downloader = make_downloader({.attempts = 2, .first_pause = 0.01, .stalled = 5});  // opens the library
    fs::remove(root_ / "in/file");
    const pid_t child = ::fork();
    if (child == 0) ::_exit(static_cast<int>(fetch_as_child(*downloader, download, named)));
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status));
    const auto outcome = static_cast<Fetched>(WEXITSTATUS(status));
    EXPECT_EQ(fs::exists(root_ / "in/file"), outcome == Fetched::kArrived);
    return outcome;
  }

 private:
  Fetched fetch_as_child(Downloader& downloader, const Download& download, const char* named) const {
    ::alarm(60);
    if (::geteuid() != 0 && ::unshare(CLONE_NEWUSER) != 0) return Fetched::kNoRoot;
    if (::chroot(root_.c_str()) != 0 || ::chdir("/") != 0) return Fetched::kNoRoot;
    ::unsetenv("CURL_CA_BUNDLE");
    ::unsetenv("SSL_CERT_FILE");
    if (named != nullptr) ::setenv("SSL_CERT_FILE", named, 1);
    try {
      downloader.fetch(download, {});
      return Fetched::kArrived;
    } catch (const Error& error) {
      return std::string(error.what()).find("SSL_CERT_FILE") != std::string::npos ? Fetched::kNotTrusted
                                                                                  : Fetched::kFailed;
    } catch (...) {
      return Fetched::kFailed;
    }
  }

 protected:
  const fs::path root_ = path("root");
};

TEST_F(Certificates, AreFoundWhereEachDistributionHasThem) {
  const HttpsServer server(path("own.pem"), kAnswer);
  const HttpsServer stranger(path("strange.pem"), kAnswer);
  for (const char* place : {kDebian, kRedHat, kSuse, kAlpine}) {
    fs::remove_all(root_ / "etc");
    install(path("own.pem"), place);
    const Fetched outcome = fetch_in_root(server);
    if (outcome == Fetched::kNoRoot) GTEST_SKIP() << needs::kNamespaces;
    EXPECT_EQ(outcome, Fetched::kArrived) << place;
    EXPECT_EQ(fetch_in_root(stranger), Fetched::kNotTrusted) << place;
  }
  EXPECT_EQ(server.answered(), 4);
  EXPECT_EQ(stranger.answered(), 0);
}

TEST_F(Certificates, ThatTheUserNamesCountAlone) {
  const HttpsServer server(path("own.pem"), kAnswer);
  const HttpsServer stranger(path("strange.pem"), kAnswer);
  install(path("strange.pem"), kDebian);
  install(path("own.pem"), "/home/own.pem");
  const Fetched outcome = fetch_in_root(server);
  if (outcome == Fetched::kNoRoot) GTEST_SKIP() << needs::kNamespaces;
  EXPECT_EQ(outcome, Fetched::kNotTrusted);
  EXPECT_EQ(fetch_in_root(server, "/home/own.pem"), Fetched::kArrived);
  EXPECT_EQ(fetch_in_root(stranger, "/home/own.pem"), Fetched::kNotTrusted);
  EXPECT_EQ(fetch_in_root(stranger, ""), Fetched::kArrived) << "an empty name is none";
  EXPECT_NE(fetch_in_root(server, "/home/missing.pem"), Fetched::kArrived);
}

}  // namespace
}  // namespace xlm
