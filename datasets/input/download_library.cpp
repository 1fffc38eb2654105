// libxlm_download.so: one file at a time from an HTTP server, with libcurl.
#include <strings.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <thread>

#include <curl/curl.h>
#include <fmt/format.h>

#include "base/error.h"
#include "base/sha256.h"
#include "base/shared_library.h"
#include "base/text.h"
#include "datasets/input/download.h"
#include "datasets/input/download_part.h"

namespace xlm {
namespace {

constexpr long kPartialContent = 206;
constexpr long kRangeNotSatisfiable = 416;

/// The file of the certificates by which servers are known: what the user names, as for the command-line tools of curl
/// and OpenSSL. Else where systems have it, as libcurl looks only where the one has it that it was built on. Else that
/// of a portable folder, as in a container without certificates. Empty if there is none.
std::string certificate_bundle() {
  for (const char* name : {"CURL_CA_BUNDLE", "SSL_CERT_FILE"}) {
    if (const char* named = std::getenv(name); named != nullptr && *named != '\0') return named;
  }
  for (const char* file : {"/etc/ssl/certs/ca-certificates.crt",  // Debian, Ubuntu, Arch
                           "/etc/pki/tls/certs/ca-bundle.crt",    // Fedora, Red Hat, Rocky
                           "/etc/ssl/ca-bundle.pem",              // SUSE
                           "/etc/ssl/cert.pem"}) {                // Alpine
    if (::access(file, R_OK) == 0) return file;
  }
  const fs::path own = executable_path().parent_path().parent_path() / "share/xlm/certificates.crt";
  return ::access(own.c_str(), R_OK) == 0 ? own.string() : "";
}

/// The headers of a server's response.
struct Head {
  std::string tag;  // a strong ETag, or the date of the last change
  std::string date;
  std::uint64_t begin = 0;  // of a part: its first byte in the file
  std::uint64_t total = 0;  // of a part: the whole file's size, if the server sends it
};

std::uint64_t number_at(std::string_view text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

bool is_https(std::string_view scheme) {
  constexpr std::string_view kHttps = "https";
  return scheme.size() == kHttps.size() && ::strncasecmp(scheme.data(), kHttps.data(), kHttps.size()) == 0;
}

bool is_of_certificates(CURLcode result) {
  return result == CURLE_PEER_FAILED_VERIFICATION || result == CURLE_SSL_CACERT_BADFILE;
}

/// Whether a repeated request would fail in the same way.
bool is_lasting(CURLcode result) {
  return result == CURLE_UNSUPPORTED_PROTOCOL || result == CURLE_URL_MALFORMAT || result == CURLE_TOO_MANY_REDIRECTS ||
         is_of_certificates(result);
}

/// What to do after a failed request, before "try --mirror".
const char* advice_for(CURLcode result) {
  if (is_of_certificates(result)) return "set SSL_CERT_FILE to the file of the certificates that you trust, or ";
  return is_lasting(result) ? "" : "run the same command again, or ";
}

/// One request and its result.
class Transfer {
 public:
  Transfer(CURL* curl, const Download& download, PartFile& part, const PrepareObserver& observer)
      : curl_(curl), download_(&download), part_(&part), observer_(&observer), resumed_from_(part.size()) {}

  /// Throws what the disk or the observer threw, and for more bytes than expected.
  CURLcode perform(double stalled) {
    curl_easy_reset(curl_);
    const std::size_t host = download_->url.find("://");
    const bool secure = is_https(download_->url.substr(0, host));
    std::string url = download_->url;
    if (!download_->login.empty()) url.insert(host + 3, download_->login + "@");
    set(CURLOPT_URL, url.c_str());
    set(CURLOPT_PROTOCOLS_STR, "http,https");
    set(CURLOPT_REDIR_PROTOCOLS_STR, secure ? "https" : "http,https");
    set(CURLOPT_FOLLOWLOCATION, 1L);
    set(CURLOPT_MAXREDIRS, 10L);
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_USERAGENT, "xlm");
    set(CURLOPT_CONNECTTIMEOUT, 30L);
    set(CURLOPT_LOW_SPEED_LIMIT, 1L);
    set(CURLOPT_LOW_SPEED_TIME, std::max(1L, static_cast<long>(stalled)));
    set(CURLOPT_HEADERFUNCTION, &Transfer::on_header);
    set(CURLOPT_HEADERDATA, this);
    set(CURLOPT_WRITEFUNCTION, &Transfer::on_bytes);
    set(CURLOPT_WRITEDATA, this);
    set(CURLOPT_NOPROGRESS, 0L);
    set(CURLOPT_XFERINFOFUNCTION, &Transfer::on_progress);
    set(CURLOPT_XFERINFODATA, this);
    set(CURLOPT_ERRORBUFFER, cause_);
    const std::string bundle = certificate_bundle();
    if (!bundle.empty()) set(CURLOPT_CAINFO, bundle.c_str());
    const std::string range = fmt::format("{}-", resumed_from_);
    curl_slist* headers = nullptr;
    if (resumed_from_ > 0) {
      set(CURLOPT_RANGE, range.c_str());
      const std::string tag = part_->tag();
      if (!tag.empty()) headers = curl_slist_append(headers, ("If-Range: " + tag).c_str());
    }
    set(CURLOPT_HTTPHEADER, headers);
    const CURLcode result = curl_easy_perform(curl_);
    curl_easy_getinfo(curl_, CURLINFO_RESPONSE_CODE, &status_);
    curl_slist_free_all(headers);
    if (error_) std::rethrow_exception(error_);
    return result;
  }

  long status() const { return status_; }
  std::uint64_t resumed_from() const { return resumed_from_; }
  std::uint64_t received() const { return received_; }
  const Head& head() const { return head_; }
  std::string cause(CURLcode result) const { return cause_[0] != '\0' ? cause_ : curl_easy_strerror(result); }

 private:
  template <class Value>
  void set(CURLoption option, Value value) {
    curl_easy_setopt(curl_, option, value);
  }

  /// Exceptions must not pass through C.
  template <class Work>
  bool guarded(const Work& work) {
    try {
      work();
      return true;
    } catch (...) {
      error_ = std::current_exception();
      return false;
    }
  }

  static std::size_t on_header(const char* text, std::size_t size, std::size_t count, void* self) {
    auto* const transfer = static_cast<Transfer*>(self);
    const std::string_view line(text, size * count);
    return transfer->guarded([&] { transfer->take_header(line); }) ? size * count : 0;
  }

  void take_header(std::string_view line) {
    if (line.starts_with("HTTP/")) {  // of a redirect, or of the response itself
      head_ = {};
      check_scheme();
      return;
    }
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return;
    std::string name(line.substr(0, colon));
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    const std::string_view value = trim(line.substr(colon + 1));
    if (name == "etag" && !value.starts_with("W/")) head_.tag = value;
    if (name == "last-modified") head_.date = value;
    if (name == "content-range") {  // bytes 5-9/10, bytes */10
      const std::size_t digits = value.find_first_of("0123456789");
      const std::size_t slash = value.find('/');
      if (digits < slash) head_.begin = number_at(value.substr(digits));
      if (slash != std::string_view::npos) head_.total = number_at(value.substr(slash + 1));
    }
  }

  /// libcurl checks only the first address: one of http may lead to https and from there to http.
  void check_scheme() {
    const char* scheme = nullptr;
    curl_easy_getinfo(curl_, CURLINFO_SCHEME, &scheme);
    const bool secure = scheme != nullptr && is_https(scheme);
    if (was_secure_ && !secure) {
      throw Error(fmt::format("cannot fetch {}: it leads from https to http\ntry --mirror", download_->url));
    }
    was_secure_ = secure;
  }

  static std::size_t on_bytes(const char* bytes, std::size_t size, std::size_t count, void* self) {
    auto* const transfer = static_cast<Transfer*>(self);
    return transfer->guarded([&] { transfer->take_bytes(bytes, size * count); }) ? size * count : 0;
  }

  void take_bytes(const char* bytes, std::size_t count) {
    long status = 0;
    curl_easy_getinfo(curl_, CURLINFO_RESPONSE_CODE, &status);
    if (status != 200 && status != kPartialContent) return;  // the text of an error page
    if (!begun_) {
      begun_ = true;
      const bool goes_on = status == kPartialContent && head_.begin == resumed_from_;
      if (status == kPartialContent && !goes_on) {
        throw DataError(fmt::format("{} sent bytes from {} on instead of {}\ntry --mirror, or fetch {} by hand",
                                    download_->url, head_.begin, resumed_from_, download_->target.filename().string()));
      }
      if (!goes_on) {
        resumed_from_ = 0;
        part_->restart(head_.tag.empty() ? head_.date : head_.tag);
      }
    }
    received_ += count;
    const std::uint64_t size = resumed_from_ + received_;
    if (download_->bytes > 0 && size > download_->bytes) {
      part_->remove();
      throw DataError(fmt::format("{} sends more than the {} bytes that the file has\ntry --mirror", download_->url,
                                  download_->bytes));
    }
    part_->append(bytes, count);
  }

  static int on_progress(void* self, curl_off_t total, curl_off_t done, curl_off_t, curl_off_t) {
    auto* const transfer = static_cast<Transfer*>(self);
    const auto before = static_cast<curl_off_t>(transfer->begun_ ? transfer->resumed_from_ : 0);
    const bool good = transfer->guarded([&] {
      if (total <= 0) total = static_cast<curl_off_t>(transfer->download_->bytes);
      transfer->observer_->at("fetching " + transfer->download_->target.filename().string(),
                              static_cast<std::uint64_t>(before + done), static_cast<std::uint64_t>(before + total));
    });
    return good ? 0 : 1;
  }

  CURL* curl_;
  const Download* download_;
  PartFile* part_;
  const PrepareObserver* observer_;
  std::uint64_t resumed_from_;
  std::uint64_t received_ = 0;
  bool begun_ = false;
  bool was_secure_ = false;
  long status_ = 0;
  Head head_;
  char cause_[CURL_ERROR_SIZE] = "";
  std::exception_ptr error_;
};

class CurlDownloader : public Downloader {
 public:
  CurlDownloader(const Patience& patience, ProblemOfFile problem_of) : patience_(patience), problem_of_(problem_of) {
    curl_global_init(CURL_GLOBAL_DEFAULT);
    curl_ = curl_easy_init();
    if (curl_ == nullptr) throw ResourceError("out of memory while starting libcurl");
  }
  CurlDownloader(const CurlDownloader&) = delete;
  CurlDownloader& operator=(const CurlDownloader&) = delete;
  ~CurlDownloader() override {
    curl_easy_cleanup(curl_);
    curl_global_cleanup();
  }

  void fetch(const Download& wanted, const PrepareObserver& observer) override {
    Download download = wanted;
    download.target = behind_links(wanted.target);  // a link stays
    std::error_code ignored;
    const bool there = is_there(download);
    if (there && !fs::exists(fs::symlink_status(PartFile::path_of(download.target), ignored))) return;
    create_folders(download.target.parent_path());
    PartFile part(download.target);
    if (there) return part.remove();  // it has arrived in another way
    try {
      receive_right(download, part, observer);
    } catch (...) {
      tell_what_is_kept(download, part, observer);
      throw;
    }
    part.move_to(download.target);
  }

 private:
  bool is_there(const Download& download) const {
    std::error_code ignored;
    if (!fs::exists(download.target, ignored)) return false;
    const std::string wrong = wrong_with(download, download.target);
    if (wrong.empty()) return true;
    throw DataError(
        fmt::format("{} is not the published file: {}\nremove it, then run the same command again: "
                    "rm {}",
                    download.target.string(), wrong, shell_word(download.target.string())));
  }

  /// Why `file` cannot be the wanted file; empty: it can.
  std::string wrong_with(const Download& download, const fs::path& file) const {
    if (download.bytes > 0 && InputFile(file).size() != download.bytes) return "its size differs";
    if (!download.sha256.empty() && sha256_file(file) == download.sha256) return "";
    const std::string problem = problem_of_(download.target, file);
    return problem.empty() && !download.sha256.empty() ? "its sha256 differs" : problem;
  }

  void receive_right(const Download& download, PartFile& part, const PrepareObserver& observer) {
    if (part.size() > 0 && part.tag().empty() && download.sha256.empty() && download.bytes == 0) {
      observer.say(fmt::format("{}: fetching it from the start, because the version of the {} on disk is unknown",
                               download.target.filename().string(), human_bytes(static_cast<double>(part.size()))));
      part.restart("");
    }
    const bool resumed = receive(download, part, observer);
    std::string wrong = wrong_with(download, part.path());
    if (!wrong.empty() && resumed) {  // the earlier part may be of another version
      observer.say(fmt::format("{} is not the published file: fetching it again from the start",
                               download.target.filename().string()));
      part.restart("");
      receive(download, part, observer);
      wrong = wrong_with(download, part.path());
    }
    if (wrong.empty()) return;
    part.remove();
    throw DataError(
        fmt::format("{} is not the published file: {}\nfetch it from elsewhere with --mirror; the fetched file was "
                    "removed",
                    download.url, wrong));
  }

  static void tell_what_is_kept(const Download& download, PartFile& part, const PrepareObserver& observer) {
    if (part.size() == 0) return part.remove();
    observer.say(fmt::format("{} of {} are kept in {}: the same command resumes from there",
                             human_bytes(static_cast<double>(part.size())), download.target.filename().string(),
                             part.path().string()));
  }

  /// Fetches what is missing. Returns whether some of it existed before.
  bool receive(const Download& download, PartFile& part, const PrepareObserver& observer) const {
    const bool resumed = part.size() > 0;
    if (resumed && download.bytes > 0 && part.size() == download.bytes) return true;
    double pause = patience_.first_pause;
    int restarts = 0;
    for (int attempt = 1;; ++attempt) {
      const std::uint64_t before = part.size();
      Transfer transfer(curl_, download, part, observer);
      const CURLcode result = transfer.perform(patience_.stalled);
      const long status = transfer.status();
      if (result == CURLE_OK && (status == 200 || status == kPartialContent)) {
        if (transfer.received() == 0 && part.size() == 0) part.restart("");  // an empty file
        return resumed;
      }
      if (status == kRangeNotSatisfiable) {  // no bytes follow the existing ones
        if (transfer.head().total == part.size()) return true;
        part.restart("");
      } else {
        check_status(download, status);
      }
      if (before > 0 && (part.size() == 0 || (transfer.received() > 0 && transfer.resumed_from() == 0))) ++restarts;
      if (restarts + 1 >= patience_.attempts) {
        const std::string size = human_bytes(static_cast<double>(std::max(before, part.size())));
        part.remove();
        throw Error(
            fmt::format("{} breaks off each time, at last after {}, and the server restarts instead of resuming\n"
                        "try --mirror, or fetch the file by hand and name it with --from",
                        download.url, size));
      }
      if (transfer.received() > 0) attempt = 0;
      if (is_lasting(result) || attempt >= patience_.attempts) {
        const std::string cause = status >= 400 ? fmt::format("HTTP {}", status) : transfer.cause(result);
        throw Error(fmt::format("cannot fetch {}: {}\n{}try --mirror", download.url, cause, advice_for(result)));
      }
      if (attempt == 0) pause = patience_.first_pause;
      wait(pause, download, observer);
      pause *= 2;
    }
  }

  /// Throws for errors that waiting does not change.
  static void check_status(const Download& download, long status) {
    constexpr long kTimeout = 408;
    constexpr long kTooMany = 429;
    if (status < 400 || status >= 500 || status == kTimeout || status == kTooMany) return;
    throw DataError(
        fmt::format("{}: the server says {}\ntry --mirror, or fetch the file by hand and name it with --from",
                    download.url, status == 404 ? "404, not found" : fmt::format("HTTP {}", status)));
  }

  /// Waits in steps, so that the observer can stop it.
  static void wait(double seconds, const Download& download, const PrepareObserver& observer) {
    constexpr double kMaxAtOnce = 0.1;
    const auto steps = static_cast<int>(std::ceil(seconds / kMaxAtOnce));
    for (int step = 0; step < steps; ++step) {
      observer.at("waiting for " + download.target.filename().string(), 0, download.bytes);
      std::this_thread::sleep_for(std::chrono::duration<double>(seconds / steps));
    }
  }

  Patience patience_;
  ProblemOfFile problem_of_;
  CURL* curl_ = nullptr;
};

}  // namespace
}  // namespace xlm

extern "C" __attribute__((visibility("default"))) xlm::Downloader* xlm_make_downloader(const xlm::Patience& patience,
                                                                                       xlm::ProblemOfFile problem_of) {
  return new xlm::CurlDownloader(patience, problem_of);
}
