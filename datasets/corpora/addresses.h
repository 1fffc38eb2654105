// Where the raw files of each corpus lie on the network.
#pragma once

#include <string>
#include <vector>

#include "base/files.h"
#include "datasets/input/download.h"

namespace xlm {

/// GPT-2's encoding, vocab.json and merges.txt, as fetch_raw_files names it.
inline constexpr const char* kGpt2Encoding = "gpt2";

/// Whether the raw files of a corpus lie on the network.
bool has_address(const std::string& dataset);

/// Fetches the raw files of a corpus to `folder`, those that are not there yet, and returns what --from would name.
/// `language` is "" for corpora without one. `mirror` ("" for none) stands in for "https://HOST" of every address; it
/// may name a user and a password. Throws as Downloader::fetch does, and UsageError for a corpus that has no address
/// and for a mirror that is none.
std::vector<fs::path> fetch_raw_files(const std::string& dataset, const std::string& language, const fs::path& folder,
                                      const std::string& mirror, Downloader& downloader,
                                      const PrepareObserver& observer);

}  // namespace xlm
