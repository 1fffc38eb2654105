// From the paths of --from to the files that are read, one after the other.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "datasets/input/recognition.h"

namespace xlm {

/// How preparation reports what it does. Each may be empty; `progress` may throw to stop.
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
  /// Reports everything that is not read though it was named or found in a folder: as PassedOver::add.
  void pass_over(const std::string& kind, const std::string& name, std::int64_t count = 1) const {
    if (passed_over) passed_over(kind, name, count);
  }
};

/// Counts what a preparation skipped, by kind, and keeps the first names of each.
class PassedOver {
 public:
  /// `kind` is a plural: "hidden files".
  void add(const std::string& kind, const std::string& name, std::int64_t count = 1);
  /// "hidden files: 2 (.git, a/.DS_Store); empty files: 1 (b.txt)"; "" if nothing was skipped.
  std::string text() const;

 private:
  struct Kind {
    std::string kind;
    std::int64_t count = 0;
    std::vector<std::string> names;
  };
  std::vector<Kind> kinds_;
};

/// One input file.
struct SourceFile {
  fs::path path;
  std::string name;                  // in meta.json: relative to the named folder, or the file's own name; unique
  bool named = false;                // named by the user, not found in a folder
  std::uint64_t size = 0;            // bytes
  fs::path root;                     // the named folder that contains it; empty if the file was named itself
  std::optional<std::size_t> split;  // its split's place in kSplitNames, if the user or names give one
};

/// The named files, in that order. A folder stands for the files in it, at any depth, in byte order of their relative
/// paths. Links to files and folders are followed. In folders these are skipped: hidden files, metadata, what is not a
/// file, links to a folder that contains the link, and what `glob` (if not empty) does not match. Throws DataError if a
/// path is missing or not a file, if a link leads nowhere, and if no file is left.
std::vector<SourceFile> find_sources(const std::vector<fs::path>& from, const std::string& glob,
                                     const PrepareObserver& observer = {});

/// Whether a name belongs to a file about data without data in it: README.md, LICENSE, dataset_infos.json, SHA256SUMS
/// (docs/data.md#text-of-your-own).
bool is_metadata_name(const std::string& relative_path);

/// Shell pattern against a relative path; '*' also matches '/', so that "*.txt" means any depth.
bool matches_glob(const std::string& glob, const std::string& relative_path);

/// sha256 of every source, in order. Those with a name in `known` are not read.
std::vector<std::string> hash_sources(const std::vector<SourceFile>& sources, const PrepareObserver& observer,
                                      const std::map<std::string, std::string>& known = {});

/// One file to read: a source, or an entry of an archive. Text comes in UTF-8 and without a byte-order mark, unless
/// bytes are kept.
struct TextFile {
  const SourceFile& source;
  std::string label;  // for messages: "books.zip: emma.txt"
  std::string entry;  // of an archive: its name there; empty for a plain or compressed file
  bool first;         // the first of its source
  FileForm form;      // kText, or another one that the reader takes
  std::function<std::size_t(char* buffer, std::size_t bytes)> read;
  std::function<void(std::uint64_t consumed)> at;  // reports progress, for readers that do not use `read`
  bool is_text = true;                             // or bytes in another encoding than UTF-8 (ReadSettings::bytes)
};

struct ReadSettings {
  std::string glob;               // which entries of named archives; empty: all
  std::int64_t max_unpacked = 0;  // as in ArchiveReader
  std::vector<FileForm> forms{};  // forms that the reader takes besides text; tables only if they are not packed
  bool bytes = false;             // every byte is kept: text may be in any encoding
  bool as_text = false;           // JSON, web pages and the like are text, too
  std::function<void(const SourceFile&, std::string sha256)> hashed{};  // gets the hashes of files read as they are
};

/// Calls `each` for every file in turn. Skips empty files found in folders, hidden entries, metadata and links in
/// archives; a file that the user named must not be empty. Anything that is neither text nor of a form that the reader
/// takes is a DataError, which says what it is and what reads it.
void read_sources(const std::vector<SourceFile>& sources, const ReadSettings& settings, const PrepareObserver& observer,
                  const std::function<void(const TextFile&)>& each);

}  // namespace xlm
