// Files from the network, by libcurl. Its many libraries take a while to load, so it is in a library of its own
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
  std::string login;  // "USER:PASSWORD", as it stands in an address; no message shows it
  fs::path target;
  std::string sha256;       // "": the source publishes none
  std::uint64_t bytes = 0;  // 0: not known
};

/// How often and how patiently a connection that breaks is tried again. What has arrived counts as an attempt that
/// succeeded.
struct Patience {
  int attempts = 6;
  double first_pause = 0.5;  // seconds; each one is twice as long as the one before
  double stalled = 60;       // seconds without a byte after which a connection is given up
};

class Downloader {
 public:
  virtual ~Downloader() = default;

  /// Makes `download.target`, whole or not at all. Bytes go to ".NAME.part" beside it, which a later call goes on with.
  /// A target that is there already is kept if it can be the file: its checksum, its size and its first bytes are
  /// right. Follows redirects, but never from https to http. Throws DataError for wrong bytes and for what the server
  /// does not have, UsageError when another process fetches the same file, ResourceError for a full disk, Error when
  /// the server cannot be reached or breaks off each time.
  virtual void fetch(const Download& download, const PrepareObserver& observer) = 0;
};

/// What shows that `file` is not what one called `name` should be: "it is a web page, …"; empty: nothing. Its first
/// bytes are looked at.
using ProblemOfFile = std::string (*)(const fs::path& name, const fs::path& file);
std::string problem_of_fetched_file(const fs::path& name, const fs::path& file);

std::unique_ptr<Downloader> make_downloader(const Patience& patience = {});

}  // namespace xlm
