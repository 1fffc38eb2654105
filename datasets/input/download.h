// Files from the network, which the program curl fetches. What is kept of them is decided here.
#pragma once

#include <cstdint>
#include <string>

#include "base/files.h"
#include "datasets/input/download_part.h"
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

/// Fetches files, with the program curl.
class Downloader {
 public:
  explicit Downloader(const Patience& patience = {}) : patience_(patience) {}

  /// Makes `download.target`, whole or not at all. Bytes go to ".NAME.part" next to it, which a later call resumes. An
  /// existing target is kept if its checksum, its size and its first bytes are right. Follows redirects, but never from
  /// https to http. Throws DataError for wrong bytes and for files that the server does not have, UsageError if another
  /// process fetches the same file, ResourceError for a full disk, and Error if there is no curl, if the server cannot
  /// be reached or if it closes every connection early.
  void fetch(const Download& wanted, const PrepareObserver& observer) const;

 private:
  void receive_right(const Download& download, PartFile& part, const PrepareObserver& observer) const;
  bool receive(const Download& download, PartFile& part, const PrepareObserver& observer) const;

  Patience patience_;
};

}  // namespace xlm
