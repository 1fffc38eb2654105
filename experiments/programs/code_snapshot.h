// The code of a foreign program, frozen: a copy that a run starts from, whatever is edited meanwhile.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/files.h"

namespace xlm {

constexpr std::uint64_t kMaxCodeBytes = 64000000;

/// What the code of a program is.
struct CodeRequest {
  fs::path folder;                      // in which its command runs
  std::vector<std::string> patterns{};  // `code:`: paths below `folder` with *, ? and **, those of files that are none
                                        // behind "!"; without any other: what git tracks
  std::vector<fs::path> exclude{};      // folders that are no code, such as that of the runs
  std::vector<std::string> words{};     // its command: files of `folder` that it names must be among the code
  std::uint64_t limit = kMaxCodeBytes;
};

/// One file or link of the code.
struct CodeFile {
  std::string path;  // below the folder, with '/'
  enum class Kind { kFile, kExecutable, kLink } kind = Kind::kFile;
  std::uint64_t bytes = 0;
  std::string content;   // SHA-256 of a file; the target of a link
  std::string leads_to;  // target of a link's copy, which is another one if the link leaves the folder; not hashed

  bool operator==(const CodeFile&) const = default;
};

/// The code as it lies in a folder at one moment.
struct Code {
  std::string hash;                // 16 digits: of paths, kinds and contents; the same on every machine
  std::vector<CodeFile> files;     // sorted by path
  std::vector<std::string> notes;  // for the user: what is not in it though it could be meant
  fs::path folder;
};

/// Reads the code and its hash; nothing is written. Throws UsageError for a folder that is not there, for a pattern
/// that fits nothing, for code over the limit (with the largest files), and for a file that the command names and that
/// is not among the code; DataError for a file that cannot be read; Error for one that grows. freeze_code finds what
/// has changed meanwhile.
Code read_code(const CodeRequest& request);

/// Where the program runs: the copy of the code with this hash. `place` is the folder of the pinned programs,
/// RUNS/.programs or its stand-in.
fs::path code_folder(const fs::path& place, const std::string& hash);

/// Copies the code to PLACE/code-HASH/files, once for each hash, whole or not at all, with manifest.json next to it. A
/// copy that was damaged is made again. Any number of processes may do so at once. Returns code_folder. Throws Error if
/// the code has changed since it was read, ResourceError for a full disk.
fs::path freeze_code(const Code& code, const fs::path& place);

/// Throws Error if the copy is missing, or is not what its hash says, naming the file and what to do.
void check_frozen_code(const fs::path& place, const std::string& hash);

/// The frozen copies, in the order of their hashes, that hold `code` and besides only files that the request leaves
/// out: they were made when those counted as code.
std::vector<Code> frozen_with_others(const Code& code, const CodeRequest& request, const fs::path& place);

/// In which files the code differs from the newest copy of the same folder: "train.py was edited, curve.svg is new".
/// Empty if there is none, or if this code has a copy.
std::string changes_of_code(const Code& code, const fs::path& place);

/// Copies a frozen copy from one place to another, for runs that are merged, packed or moved; nothing if it is there.
void copy_frozen_code(const fs::path& from, const fs::path& to, const std::string& hash);

/// The regular files of a frozen copy, as paths below `place`, for an archive of runs. Throws as check_frozen_code.
std::vector<fs::path> files_of_frozen_code(const fs::path& place, const std::string& hash);

/// Gives the copies of an unpacked archive what it does not keep: links, and which files can be executed. A copy that
/// is damaged stays so.
void restore_unpacked_code(const fs::path& place);

}  // namespace xlm
