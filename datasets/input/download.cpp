// One file at a time from an HTTP server, with curl.
#include "datasets/input/download.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <string>
#include <string_view>
#include <thread>

#include <fmt/format.h>

#include "base/command.h"
#include "base/error.h"
#include "base/sha256.h"
#include "base/text.h"
#include "base/words.h"
#include "datasets/input/byte_stream.h"

namespace xlm {
namespace {

constexpr int kOk = 200;
constexpr int kPartialContent = 206;
constexpr int kRangeNotSatisfiable = 416;

bool is_web_page(std::string_view head) {
  if (head.starts_with(kUtf8Mark)) head.remove_prefix(kUtf8Mark.size());
  const std::string begin = lower_case(trim(head).substr(0, 20));
  return begin.starts_with("<!doctype html") || begin.starts_with("<html") || begin.starts_with("<head");
}

/// Why `file` is not what a file called `name` should be: "it is a web page, …"; empty: no problem. Checks its first
/// bytes.
std::string problem_of_fetched_file(const fs::path& name, const fs::path& file) {
  PeekedStream stream(std::make_unique<FileStream>(file));
  const std::string_view head = stream.peek(kTarBlockBytes);
  if (is_web_page(head)) return "it is a web page, perhaps a login";
  const Packing promised = packing_of_name(name);
  if (promised != Packing::kNone && detect_packing(head) != promised) {
    return fmt::format("it is not a {} file", packing_name(promised));
  }
  return name.extension() == ".parquet" && !head.starts_with("PAR1") ? "it is not a Parquet file" : "";
}

/// Why `file` cannot be the wanted file; empty: it can.
std::string wrong_with(const Download& download, const fs::path& file) {
  if (download.bytes > 0 && InputFile(file).size() != download.bytes) return "its size differs";
  if (!download.sha256.empty() && sha256_file(file) == download.sha256) return "";
  const std::string problem = problem_of_fetched_file(download.target, file);
  return problem.empty() && !download.sha256.empty() ? "its sha256 differs" : problem;
}

bool is_fetched(const Download& download) {
  std::error_code ignored;
  if (!fs::exists(download.target, ignored)) return false;
  const std::string wrong = wrong_with(download, download.target);
  if (wrong.empty()) return true;
  throw DataError(
      fmt::format("{} is not the published file: {}\nremove it, then run the same command again: "
                  "rm {}",
                  download.target.string(), wrong, shell_word(download.target.string())));
}

std::uint64_t number_at(std::string_view text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// `begin` is in small letters.
bool begins_with(std::string_view text, std::string_view begin) {
  return lower_case(text.substr(0, begin.size())) == begin;
}

/// By curl's exit code.
bool is_of_certificates(int code) { return code == 60 || code == 77; }

/// Whether a repeated request would fail in the same way, by curl's exit code: an unknown scheme, a bad option, a bad
/// address, too many redirects.
bool is_lasting(int code) { return (code > 0 && code <= 3) || code == 47 || is_of_certificates(code); }

/// What to do after a failed request, before "try --mirror".
const char* advice_for(int code) {
  if (is_of_certificates(code)) return "set CURL_CA_BUNDLE to the file of the certificates that you trust, or ";
  return is_lasting(code) ? "" : "run the same command again, or ";
}

/// The headers of a server's response.
struct ResponseHead {
  int status = 0;
  bool leads_elsewhere = false;  // it is a redirect, and another response follows
  std::string tag;               // a strong ETag, or else the date of the last change
  std::string date;
  std::uint64_t begin = 0;   // of a part: its first byte in the file
  std::uint64_t total = 0;   // of a part: the whole file's size, if the server sends it
  std::uint64_t length = 0;  // of the bytes that follow, if the server says it
};

/// One request and its result.
class Transfer {
 public:
  Transfer(const Download& download, PartFile& part, const PrepareObserver& observer)
      : download_(download),
        part_(part),
        observer_(observer),
        resumed_from_(part.size()),
        is_secure_(begins_with(download.url, "https:")) {}

  /// Throws what the disk or the observer threw, and for more bytes than expected.
  void perform(double stalled) {
    std::string url = download_.url;
    if (!download_.login.empty()) url.insert(url.find("://") + 3, download_.login + "@");
    // The address comes by standard input, because others see a command line, and a mirror's may hold a password.
    const CommandResult ended = follow_command(command(stalled), "url = " + quoted_word(url) + "\n",
                                               [this](std::string_view bytes) { take(bytes); });
    if (ended.code == kNoProgram) {
      throw Error(
          "curl, which fetches files, is not installed\nto install it: apt-get install curl; or fetch the file by hand "
          "and name it with --from");
    }
    code_ = ended.code;
    const std::string said = first_line(ended.err);  // "curl: (7) Failed to connect to …"
    const std::size_t words = said.find(") ");
    cause_ = words == std::string::npos ? fmt::format("curl ended with exit code {}", code_) : said.substr(words + 2);
  }

  bool has_succeeded() const { return code_ == 0 && has_content(); }
  int code() const { return code_; }  // of curl
  std::uint64_t resumed_from() const { return resumed_from_; }
  std::uint64_t received() const { return received_; }
  const ResponseHead& head() const { return head_; }
  std::string cause() const { return head_.status >= 400 ? fmt::format("HTTP {}", head_.status) : cause_; }

 private:
  bool has_content() const { return head_.status == kOk || head_.status == kPartialContent; }

  /// The headers come first, those of each redirect too. The user's settings (~/.curlrc) could change what is printed.
  std::vector<std::string> command(double stalled) const {
    std::vector<std::string> words = {"curl",
                                      "--disable",
                                      "--config",
                                      "-",
                                      "--include",
                                      "--suppress-connect-headers",
                                      "--silent",
                                      "--show-error",
                                      "--globoff",
                                      "--no-buffer",
                                      "--user-agent",
                                      "xlm",
                                      "--connect-timeout",
                                      "30",
                                      "--speed-limit",
                                      "1",
                                      "--speed-time",
                                      fmt::format("{}", std::max(1L, static_cast<long>(stalled))),
                                      "--proto",
                                      "=http,https",
                                      "--location",
                                      "--max-redirs",
                                      "10",
                                      "--proto-redir",
                                      is_secure_ ? "=https" : "=http,https"};
    if (resumed_from_ == 0) return words;
    words.insert(words.end(), {"--range", fmt::format("{}-", resumed_from_)});
    const std::string tag = part_.tag();
    if (!tag.empty()) words.insert(words.end(), {"--header", "If-Range: " + tag});
    return words;
  }

  void take(std::string_view bytes) {
    while (in_head_ && !bytes.empty()) {
      const std::size_t end = std::min(bytes.find('\n'), bytes.size() - 1) + 1;
      line_ += bytes.substr(0, end);
      bytes.remove_prefix(end);
      if (line_.ends_with('\n')) {
        take_header(trim(line_));
        line_.clear();
      }
    }
    if (!bytes.empty() && has_content()) take_content(bytes);
    const std::uint64_t total = head_.total > 0 ? head_.total : head_.length > 0 ? before() + head_.length : 0;
    observer_.at("fetching " + download_.target.filename().string(), before() + received_,
                 total > 0 ? total : download_.bytes);
  }

  /// The bytes that were there already.
  std::uint64_t before() const { return begun_ ? resumed_from_ : 0; }

  void take_header(std::string_view line) {
    if (line.empty()) {
      in_head_ = head_.leads_elsewhere || head_.status < kOk;  // 1xx: the response itself follows
    } else if (begins_with(line, "http/")) {
      head_ = {.status = static_cast<int>(number_at(line.substr(std::min(line.find(' '), line.size() - 1) + 1)))};
    } else if (const std::size_t colon = line.find(':'); colon != std::string_view::npos) {
      take_field(line.substr(0, colon), trim(line.substr(colon + 1)));
    }
  }

  void take_field(std::string_view name, std::string_view value) {
    const auto is = [&](std::string_view wanted) { return name.size() == wanted.size() && begins_with(name, wanted); };
    if (is("etag") && !value.starts_with("W/")) head_.tag = value;
    if (is("last-modified")) head_.date = value;
    if (is("content-length")) head_.length = number_at(value);
    if (is("content-range")) {  // bytes 5-9/10, bytes */10
      const std::size_t digits = value.find_first_of("0123456789");
      const std::size_t slash = value.find('/');
      if (digits < slash) head_.begin = number_at(value.substr(digits));
      if (slash != std::string_view::npos) head_.total = number_at(value.substr(slash + 1));
    }
    if (is("location") && head_.status >= 300 && head_.status < 400) follow(value);
  }

  /// curl checks only the first address: one of http may lead to https and from there to http.
  void follow(std::string_view address) {
    head_.leads_elsewhere = true;
    if (is_secure_ && begins_with(address, "http:")) {
      throw Error(fmt::format("cannot fetch {}: it leads from https to http\ntry --mirror", download_.url));
    }
    is_secure_ = is_secure_ || begins_with(address, "https:");
  }

  void take_content(std::string_view bytes) {
    if (!begun_) begin();
    received_ += bytes.size();
    if (download_.bytes > 0 && resumed_from_ + received_ > download_.bytes) {
      part_.remove();
      throw DataError(fmt::format("{} sends more than the {} bytes that the file has\ntry --mirror", download_.url,
                                  download_.bytes));
    }
    part_.append(bytes.data(), bytes.size());
  }

  void begin() {
    begun_ = true;
    if (head_.status == kPartialContent && head_.begin != resumed_from_) {
      throw DataError(fmt::format("{} sent bytes from {} on instead of {}\ntry --mirror, or fetch {} by hand",
                                  download_.url, head_.begin, resumed_from_, download_.target.filename().string()));
    }
    if (head_.status == kPartialContent) return;
    resumed_from_ = 0;
    part_.restart(head_.tag.empty() ? head_.date : head_.tag);
  }

  const Download& download_;
  PartFile& part_;
  const PrepareObserver& observer_;
  std::uint64_t resumed_from_;
  std::uint64_t received_ = 0;
  bool is_secure_;
  bool in_head_ = true;
  bool begun_ = false;
  std::string line_;  // of the headers, as far as it has come
  ResponseHead head_;
  int code_ = 0;
  std::string cause_;
};

void tell_what_is_kept(const Download& download, PartFile& part, const PrepareObserver& observer) {
  if (part.size() == 0) return part.remove();
  observer.say(fmt::format("{} of {} are kept in {}: the same command resumes from there",
                           human_bytes(static_cast<double>(part.size())), download.target.filename().string(),
                           part.path().string()));
}

/// Throws for errors that waiting does not change.
void check_status(const Download& download, int status) {
  constexpr int kTimeout = 408;
  constexpr int kTooMany = 429;
  if (status < 400 || status >= 500 || status == kTimeout || status == kTooMany) return;
  throw DataError(fmt::format("{}: the server says {}\ntry --mirror, or fetch the file by hand and name it with --from",
                              download.url, status == 404 ? "404, not found" : fmt::format("HTTP {}", status)));
}

/// Waits in steps, so that the observer can stop it.
void wait(double seconds, const Download& download, const PrepareObserver& observer) {
  constexpr double kMaxAtOnce = 0.1;
  const auto steps = static_cast<int>(std::ceil(seconds / kMaxAtOnce));
  for (int step = 0; step < steps; ++step) {
    observer.at("waiting for " + download.target.filename().string(), 0, download.bytes);
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds / steps));
  }
}

}  // namespace

void Downloader::fetch(const Download& wanted, const PrepareObserver& observer) const {
  Download download = wanted;
  download.target = behind_links(wanted.target);  // a link stays
  std::error_code ignored;
  const bool there = is_fetched(download);
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

void Downloader::receive_right(const Download& download, PartFile& part, const PrepareObserver& observer) const {
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

/// Fetches what is missing. Returns whether some of it existed before.
bool Downloader::receive(const Download& download, PartFile& part, const PrepareObserver& observer) const {
  const bool resumed = part.size() > 0;
  if (resumed && download.bytes > 0 && part.size() == download.bytes) return true;
  double pause = patience_.first_pause;
  int restarts = 0;
  for (int attempt = 1;; ++attempt) {
    const std::uint64_t before = part.size();
    Transfer transfer(download, part, observer);
    transfer.perform(patience_.stalled);
    if (transfer.has_succeeded()) {
      if (transfer.received() == 0 && part.size() == 0) part.restart("");  // an empty file
      return resumed;
    }
    if (transfer.head().status == kRangeNotSatisfiable) {  // no bytes follow the existing ones
      if (transfer.head().total == part.size()) return true;
      part.restart("");
    } else {
      check_status(download, transfer.head().status);
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
    if (is_lasting(transfer.code()) || attempt >= patience_.attempts) {
      throw Error(fmt::format("cannot fetch {}: {}\n{}try --mirror", download.url, transfer.cause(),
                              advice_for(transfer.code())));
    }
    if (attempt == 0) pause = patience_.first_pause;
    wait(pause, download, observer);
    pause *= 2;
  }
}

}  // namespace xlm
