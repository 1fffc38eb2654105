// From what the user names after --from to the files that are read, one after the other.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "datasets/input/passed_over.h"
#include "datasets/input/recognition.h"

namespace xlm {

/// How preparation tells what it does. Each may be empty; `progress` may throw to stop.
struct PrepareObserver {
  std::function<void(const std::string& stage, std::uint64_t done, std::uint64_t total)>
      progress;  // bytes; 0 of 0: unknown
  std::function<void(const std::string& message)> note;
  std::function<void(const std::string& kind, const std::string& name, std::int64_t count)> passed_over;

  void at(const std::string& stage, std::uint64_t done, std::uint64_t total) const {
    if (progress) progress(stage, done, total);
  }
  void say(const std::string& message) const {
    if (note) note(message);
  }
  /// For everything that is not read though it was named or lies in a folder: as PassedOver::add.
  void pass_over(const std::string& kind, const std::string& name, std::int64_t count = 1) const {
    if (passed_over) passed_over(kind, name, count);
  }
};

/// One file of the user's.
struct SourceFile {
  fs::path path;
  std::string name;        // in meta.json: relative to the folder that was named, or the file's own name; unique
  bool named = false;      // named by the user, not found in a folder
  std::uint64_t size = 0;  // bytes
  fs::path root;           // the folder that was named and that it lies in; empty where it was named itself
  std::optional<std::size_t> split;  // the place of its split in kSplitNames, where the user or names say so
};

/// The files named, in that order; a folder stands for the files in it, at any depth, in byte order of their relative
/// paths. Links to files and folders are followed. In folders these are passed over: hidden files, metadata, what is
/// no file, links to a folder that holds the link, and what `glob` (if not empty) does not match. Throws DataError for
/// what is missing or no file, for links that lead nowhere, and when nothing is left.
std::vector<SourceFile> find_sources(const std::vector<fs::path>& from, const std::string& glob,
                                     const PrepareObserver& observer = {});

/// Whether a name says that the file is about data and holds none: README.md, LICENSE, dataset_infos.json, SHA256SUMS
/// (docs/data.md#text-of-your-own).
bool is_metadata_name(const std::string& relative_path);

/// Shell pattern against a relative path; '*' also matches '/', so that "*.txt" means any depth.
bool matches_glob(const std::string& glob, const std::string& relative_path);

/// sha256 of every source, in order.
std::vector<std::string> hash_sources(const std::vector<SourceFile>& sources, const PrepareObserver& observer);

/// One file to read: a source, or an entry of a source that is an archive. Text comes in UTF-8 and without a byte-order
/// mark, unless bytes are kept.
struct TextFile {
  const SourceFile& source;
  std::string label;  // for messages: "books.zip: emma.txt"
  std::string entry;  // of an archive: its name there; empty for a plain or compressed file
  bool first;         // the first of its source
  FileForm form;      // kText, or one of those that the reader takes
  std::function<std::size_t(char* buffer, std::size_t bytes)> read;
  std::function<void(std::uint64_t consumed)> at;  // tells progress; for who reads the source without `read`
};

struct ReadSettings {
  std::string glob;               // which entries of archives that the user named; empty: all
  std::int64_t max_unpacked = 0;  // as in ArchiveReader
  std::vector<FileForm> forms{};  // what the reader takes beside text; tables only where they lie unpacked
  bool bytes = false;             // every byte is kept: text may be in any encoding
  bool as_text = false;           // JSON, web pages and the like are text, too
};

/// Calls `each` for every file in turn. Empty files found in folders are passed over, and so are hidden entries,
/// metadata and links in archives; a file that the user named must not be empty. What is neither text nor of a form
/// that the reader takes is a DataError, which says what it is and what reads it.
void read_sources(const std::vector<SourceFile>& sources, const ReadSettings& settings, const PrepareObserver& observer,
                  const std::function<void(const TextFile&)>& each);

}  // namespace xlm
