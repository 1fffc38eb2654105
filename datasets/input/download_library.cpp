// libxlm_download.so: one file at a time from an HTTP server, with libcurl.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <thread>

#include <curl/curl.h>
#include <fmt/format.h>

#include "base/error.h"
#include "base/sha256.h"
#include "base/text.h"
#include "datasets/input/download.h"

namespace xlm {
namespace {

constexpr long kPartialContent = 206;
constexpr long kRangeNotSatisfiable = 416;

/// The bytes that have arrived so far, held by one process at a time. Beside it ".NAME.tag" says which version of the
/// file they are of, as the server calls it.
class PartFile {
 public:
  explicit PartFile(const fs::path& target)
      : path_(target.parent_path() / fmt::format(".{}.part", target.filename().string())),
        tag_file_(target.parent_path() / fmt::format(".{}.tag", target.filename().string())) {
    descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kNewFileMode);
    if (descriptor_ < 0) throw_file_error("create", path_, errno);
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      ::close(descriptor_);
      throw UsageError(fmt::format("another process is fetching {}\nwait until it has finished", target.string()));
    }
  }
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;
  ~PartFile() { ::close(descriptor_); }

  const fs::path& path() const { return path_; }

  std::uint64_t size() const {
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0) throw_file_error("read", path_, errno);
    return static_cast<std::uint64_t>(status.st_size);
  }

  std::string tag() const {
    std::error_code ignored;
    return fs::exists(tag_file_, ignored) ? read_file(tag_file_) : "";
  }

  /// Begins anew, with bytes of the version `tag`.
  void restart(const std::string& tag) {
    if (::ftruncate(descriptor_, 0) != 0) throw_file_error("write", path_, errno);
    write_file(tag_file_, tag);
  }

  void append(const char* bytes, std::size_t count) {
    if (::lseek(descriptor_, 0, SEEK_END) < 0) throw_file_error("write", path_, errno);
    while (count > 0) {
      const ssize_t written = ::write(descriptor_, bytes, count);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) throw_file_error("write", path_, errno);
      bytes += written;
      count -= static_cast<std::size_t>(written);
    }
  }

  void move_to(const fs::path& target) {
    if (::fsync(descriptor_) != 0) throw_file_error("write", path_, errno);
    if (::rename(path_.c_str(), target.c_str()) != 0) throw_file_error("create", target, errno);
    sync_folder(target.parent_path());
    remove_tag();
  }

  void remove() {
    ::unlink(path_.c_str());
    remove_tag();
  }

 private:
  void remove_tag() const { ::unlink(tag_file_.c_str()); }

  fs::path path_;
  fs::path tag_file_;
  int descriptor_ = -1;
};

/// What a server says before the bytes.
struct Head {
  std::string tag;  // a strong ETag, or the date of the last change
  std::string date;
  std::uint64_t begin = 0;  // of a part: its first byte in the file
  std::uint64_t total = 0;  // of a part: the whole file's size, where it is said
};

std::uint64_t number_at(std::string_view text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// One request, and what came of it.
class Transfer {
 public:
  Transfer(CURL* curl, const Download& download, PartFile& part, const PrepareObserver& observer)
      : curl_(curl), download_(&download), part_(&part), observer_(&observer), resumed_from_(part.size()) {}

  /// Throws what the disk or the observer threw, and for more bytes than there should be.
  CURLcode perform(double stalled) {
    curl_easy_reset(curl_);
    const bool secure = download_->url.starts_with("https://");
    set(CURLOPT_URL, download_->url.c_str());
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
    if (const char* bundle = std::getenv("CURL_CA_BUNDLE"); bundle != nullptr && *bundle != '\0') {
      set(CURLOPT_CAINFO, bundle);  // as the command-line tool
    }
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
    static_cast<Transfer*>(self)->take_header(std::string_view(text, size * count));
    return size * count;
  }

  void take_header(std::string_view line) {
    if (line.starts_with("HTTP/")) {  // of a redirect, or of the answer itself
      head_ = {};
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
        throw DataError(
            fmt::format("{} sent bytes from {} on where {} was asked for\ntry --mirror, or fetch {} by hand",
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
  long status_ = 0;
  Head head_;
  char cause_[CURL_ERROR_SIZE] = "";
  std::exception_ptr error_;
};

class CurlDownloader : public Downloader {
 public:
  explicit CurlDownloader(const Patience& patience) : patience_(patience) {
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
    if (is_there(download)) return;
    create_folders(download.target.parent_path());
    PartFile part(download.target);
    bool resumed = receive(download, part, observer);
    if (!is_right(download, part) && resumed) {  // perhaps what was there before was of another version
      observer.say(fmt::format("{} does not match its checksum: fetching it once more, from the start",
                               download.target.filename().string()));
      part.restart("");
      receive(download, part, observer);
    }
    if (!is_right(download, part)) {
      const char* wrong = has_right_size(download, part) ? "sha256" : "size";
      part.remove();
      throw DataError(
          fmt::format("{} is not the published file: its {} differs\nfetch it from elsewhere with "
                      "--mirror; what was fetched is removed",
                      download.url, wrong));
    }
    part.move_to(download.target);
  }

 private:
  static bool is_there(const Download& download) {
    std::error_code ignored;
    if (!fs::is_regular_file(download.target, ignored)) return false;
    if (!download.sha256.empty() && sha256_file(download.target) != download.sha256) {
      throw DataError(
          fmt::format("{} is there, but is not the published file: its sha256 differs\nremove it, and it "
                      "is fetched again",
                      download.target.string()));
    }
    return true;
  }

  static bool has_right_size(const Download& download, const PartFile& part) {
    return download.bytes == 0 || part.size() == download.bytes;
  }

  static bool is_right(const Download& download, const PartFile& part) {
    if (!has_right_size(download, part)) return false;
    return download.sha256.empty() || sha256_file(part.path()) == download.sha256;
  }

  /// Fetches what is missing; true when some of it was there before.
  bool receive(const Download& download, PartFile& part, const PrepareObserver& observer) {
    const bool resumed = part.size() > 0;
    if (resumed && download.bytes > 0 && part.size() == download.bytes) return true;
    double pause = patience_.first_pause;
    for (int attempt = 1;; ++attempt) {
      Transfer transfer(curl_, download, part, observer);
      const CURLcode result = transfer.perform(patience_.stalled);
      const long status = transfer.status();
      if (result == CURLE_OK && (status == 200 || status == kPartialContent)) {
        if (transfer.received() == 0 && part.size() == 0) part.restart("");  // an empty file
        return resumed;
      }
      if (status == kRangeNotSatisfiable) {  // there is nothing behind what is there
        if (transfer.head().total == part.size()) return true;
        part.restart("");
      } else {
        check_status(download, status);
      }
      if (transfer.received() > 0) attempt = 0;
      if (attempt >= patience_.attempts) {
        const std::string cause = status >= 400 ? fmt::format("HTTP {}", status) : transfer.cause(result);
        throw Error(fmt::format("cannot fetch {}: {}\nrun the same command again to go on, or try --mirror",
                                download.url, cause));
      }
      if (attempt == 0) pause = patience_.first_pause;
      wait(pause, download, observer);
      pause *= 2;
    }
  }

  /// Throws for what will not change by waiting.
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
    constexpr double kStep = 0.1;
    for (; seconds > 0; seconds -= kStep) {
      observer.at("waiting for " + download.target.filename().string(), 0, download.bytes);
      std::this_thread::sleep_for(std::chrono::duration<double>(std::min(seconds, kStep)));
    }
  }

  Patience patience_;
  CURL* curl_ = nullptr;
};

}  // namespace
}  // namespace xlm

extern "C" __attribute__((visibility("default"))) xlm::Downloader* xlm_make_downloader(const xlm::Patience& patience) {
  return new xlm::CurlDownloader(patience);
}
