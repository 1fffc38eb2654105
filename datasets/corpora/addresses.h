// The addresses of each corpus's raw files.
#pragma once

#include <string>
#include <vector>

#include "base/files.h"
#include "datasets/input/download.h"

namespace xlm {

/// The name of GPT-2's encoding, vocab.json and merges.txt, for fetch_raw_files.
inline constexpr const char* kGpt2Encoding = "gpt2";

/// Whether the raw files of a corpus can be fetched.
bool has_address(const std::string& dataset);

/// Fetches the missing raw files of a corpus to `folder` and returns the paths for --from. `language` is "" for corpora
/// without one. `mirror` ("" for none) replaces "https://HOST" in every address, and may have a user name and a
/// password. Throws as Downloader::fetch does, and UsageError if the corpus has no address or the mirror is invalid.
std::vector<fs::path> fetch_raw_files(const std::string& dataset, const std::string& language, const fs::path& folder,
                                      const std::string& mirror, const Downloader& downloader,
                                      const PrepareObserver& observer);

}  // namespace xlm
