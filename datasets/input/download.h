// Files from the network, with libcurl. Its many libraries load slowly, so it is in a separate library
// (datasets/download/), which is opened on first use.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/files.h"
#include "datasets/input/sources.h"

namespace xlm {

struct Download {
  std::string url;    // without user name and password: messages show it
  std::string login;  // "USER:PASSWORD", as in an address; no message shows it
  fs::path target;
  std::string sha256;       // "": the source publishes none
  std::uint64_t bytes = 0;  // 0: not known
};

/// How often and how patiently a broken connection is retried. An attempt that received bytes counts as a success.
struct Patience {
  int attempts = 6;
  double first_pause = 0.5;  // seconds; each later pause is twice as long
  double stalled = 60;       // seconds without a byte after which a connection is closed
};

class Downloader {
 public:
  virtual ~Downloader() = default;

  /// Makes `download.target`, whole or not at all. Bytes go to ".NAME.part" next to it, which a later call resumes. An
  /// existing target is kept if its checksum, its size and its first bytes are right. Follows redirects, but never from
  /// https to http. Throws DataError for wrong bytes and for files that the server does not have, UsageError if another
  /// process fetches the same file, ResourceError for a full disk, and Error if the server cannot be reached or closes
  /// every connection early.
  virtual void fetch(const Download& download, const PrepareObserver& observer) = 0;
};

/// Why `file` is not what a file called `name` should be: "it is a web page, …"; empty: no problem. Checks its first
/// bytes.
using ProblemOfFile = std::string (*)(const fs::path& name, const fs::path& file);
std::string problem_of_fetched_file(const fs::path& name, const fs::path& file);

std::unique_ptr<Downloader> make_downloader(const Patience& patience = {});

}  // namespace xlm
