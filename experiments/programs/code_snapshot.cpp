// The code of a foreign program, read and frozen.
#include "experiments/programs/code_snapshot.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <functional>
#include <string_view>
#include <thread>
#include <tuple>

#include <fmt/format.h>

#include "base/closed_place.h"
#include "base/error.h"
#include "base/sha256.h"
#include "base/staged_folder.h"
#include "base/text.h"
#include "experiments/programs/code_manifest.h"
#include "experiments/programs/code_paths.h"

namespace xlm {
namespace {

constexpr const char* kUnfinishedPrefix = ".new";  // as of the program's own copies, which lie next to these
constexpr int kReadings = 5;
constexpr std::chrono::milliseconds kBetweenReadings{200};
constexpr std::size_t kLargestNamed = 5;
constexpr fs::perms kReadByAll = fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read;
constexpr fs::perms kExecutedByAll = fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec;

/// What tells that a file is another one, or was written.
using Look = std::tuple<dev_t, ino_t, off_t, std::int64_t, std::int64_t, mode_t>;

Look look_at(const struct stat& status) {
  constexpr std::int64_t kNano = 1000000000;
  const auto nanoseconds = [](const timespec& time) { return std::int64_t{time.tv_sec} * kNano + time.tv_nsec; };
  return {status.st_dev, status.st_ino, status.st_size, nanoseconds(status.st_mtim), nanoseconds(status.st_ctim),
          status.st_mode};
}

/// Hands a file's bytes on. Its length is at most `limit`: a file may grow without end.
void read_pieces(const fs::path& path, std::uint64_t limit, const std::function<void(std::string_view)>& take) {
  InputFile file(path);
  std::string piece(std::size_t{1} << 20U, '\0');
  std::uint64_t done = 0;
  while (const std::size_t count = file.read(piece.data(), piece.size())) {
    done += count;
    if (done > limit) throw Error(fmt::format("{} grows while it is read", path.string()));
    take(std::string_view(piece).substr(0, count));
  }
}

std::string content_of_file(const fs::path& path, std::uint64_t limit) {
  Sha256 hash;
  read_pieces(path, limit, [&hash](std::string_view piece) { hash.update(piece); });
  return hash.finish();
}

std::string target_of_link(const fs::path& path) {
  std::error_code error;
  std::string target = fs::read_symlink(path, error).string();
  if (error) throw_file_error("read the link", path, error.value());
  return target;
}

/// The files and how they look, without their contents.
std::vector<std::pair<CodeFile, Look>> look_at_all(const fs::path& folder, const std::vector<std::string>& paths) {
  std::vector<std::pair<CodeFile, Look>> found;
  for (const std::string& path : paths) {
    struct stat status {};
    if (::lstat((folder / path).c_str(), &status) != 0) {
      if (errno == ENOENT) continue;  // removed since it was listed; the next look tells
      throw_file_error("read", folder / path, errno);
    }
    CodeFile file{.path = path};
    if (S_ISLNK(status.st_mode)) {
      file.kind = CodeFile::Kind::kLink;
    } else if (S_ISREG(status.st_mode)) {
      file.bytes = static_cast<std::uint64_t>(status.st_size);
      if ((status.st_mode & S_IXUSR) != 0) file.kind = CodeFile::Kind::kExecutable;
    } else {
      throw_file_error("read", folder / path, ENXIO);
    }
    found.emplace_back(file, look_at(status));
  }
  return found;
}

void check_size(const CodeRequest& request, std::vector<CodeFile> files) {
  std::uint64_t sum = 0;
  for (const CodeFile& file : files) sum += file.bytes;
  if (sum <= request.limit) return;
  std::stable_sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  std::vector<std::string> largest;
  for (std::size_t i = 0; i < std::min(files.size(), kLargestNamed); ++i) {
    largest.push_back(fmt::format("{} ({})", files[i].path, human_bytes(static_cast<double>(files[i].bytes))));
  }
  throw UsageError(
      fmt::format("the program's code in {} has {}; the limit is {}. The largest: {}\n"
                  "leave data and outputs out: name the files that are code in program.code",
                  request.folder.string(), human_bytes(static_cast<double>(sum)),
                  human_bytes(static_cast<double>(request.limit)), join(largest, ", ")));
}

std::vector<CodeFile> files_in(const std::vector<std::pair<CodeFile, Look>>& found) {
  std::vector<CodeFile> files;
  for (const auto& [file, look] : found) files.push_back(file);
  return files;
}

/// What a link of the copy says: one that leaves the folder leads to the same place from elsewhere.
std::string placed_target(const fs::path& folder, const CodeFile& link) {
  if (fs::path(link.content).is_absolute() || points_inside(link.path, link.content)) return link.content;
  return (fs::absolute(folder) / fs::path(link.path).parent_path() / link.content).lexically_normal().string();
}

constexpr const char* kFrozenPrefix = "code-";

fs::path frozen_place(const fs::path& place, const std::string& hash) { return place / (kFrozenPrefix + hash); }
fs::path files_place(const fs::path& frozen) { return frozen / "files"; }
fs::path manifest_place(const fs::path& frozen) { return frozen / "manifest.json"; }

/// Of all copies at a place, sorted.
std::vector<std::string> frozen_hashes(const fs::path& place) {
  std::vector<std::string> hashes;
  std::error_code error;
  for (fs::directory_iterator entry(place, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.starts_with(kFrozenPrefix)) hashes.push_back(name.substr(std::string_view(kFrozenPrefix).size()));
  }
  std::sort(hashes.begin(), hashes.end());
  return hashes;
}

/// A copy as its manifest describes it. Throws DataError if there is none, or none that has this hash.
Code read_frozen(const fs::path& place, const std::string& hash) {
  const fs::path file = manifest_place(frozen_place(place, hash));
  Code frozen = read_manifest(file);
  if (frozen.hash != hash) throw DataError(fmt::format("{} does not have the hash {}", file.string(), hash));
  return frozen;
}

/// Whether what lies at a place is this file of the code.
bool is_same_file(const fs::path& path, const CodeFile& file) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return false;
  if (file.kind == CodeFile::Kind::kLink) return S_ISLNK(status.st_mode) && target_of_link(path) == file.leads_to;
  const bool executable = (status.st_mode & S_IXUSR) != 0;
  if (!S_ISREG(status.st_mode) || executable != (file.kind == CodeFile::Kind::kExecutable)) return false;
  if (static_cast<std::uint64_t>(status.st_size) != file.bytes) return false;
  return content_of_file(path, file.bytes) == file.content;
}

/// The files of a copy that are missing or changed.
std::vector<CodeFile> damaged_files(const fs::path& place, const Code& code) {
  std::vector<CodeFile> damaged;
  for (const CodeFile& file : code.files) {
    if (!is_same_file(code_folder(place, code.hash) / file.path, file)) damaged.push_back(file);
  }
  return damaged;
}

/// Copies one file. Throws Error if it is not what it was when the code was read.
void place_file(const Code& code, const CodeFile& file, const fs::path& files) {
  const fs::path from = code.folder / file.path;
  const fs::path to = files / file.path;
  const auto changed = [&from] {
    return Error(fmt::format("{} has changed while it was copied\nrun the same command again", from.string()));
  };
  struct stat status {};
  if (::lstat(from.c_str(), &status) != 0) throw changed();
  create_folders(to.parent_path());
  std::error_code ignored;
  if (fs::is_symlink(to) || fs::is_directory(to)) fs::remove_all(to, ignored);
  if (file.kind == CodeFile::Kind::kLink) {
    const std::string target = S_ISLNK(status.st_mode) ? target_of_link(from) : "";
    if (target.empty() || (target != file.content && target != file.leads_to)) throw changed();
    std::error_code error;
    fs::remove(to, ignored);
    fs::create_symlink(file.leads_to, to, error);
    if (error) throw_file_error("create the link", to, error.value());
    return;
  }
  if (!S_ISREG(status.st_mode)) throw changed();
  Sha256 hash;
  AtomicFile out(to);
  try {
    read_pieces(from, file.bytes, [&](std::string_view piece) {
      hash.update(piece);
      out.write(piece);
    });
  } catch (const ResourceError&) {
    throw;
  } catch (const Error&) {
    throw changed();
  }
  if (hash.finish() != file.content) throw changed();
  out.commit();
  fs::permissions(to, file.kind == CodeFile::Kind::kExecutable ? kReadByAll | kExecutedByAll : kReadByAll);
}

/// Makes the copy at its place, or what is missing of it.
void place_code(const Code& code, const fs::path& place) {
  const OwnerWrites unshared;
  const fs::path target = frozen_place(place, code.hash);
  std::error_code ignored;
  if (!fs::exists(target, ignored)) {
    remove_left_folders(place, kUnfinishedPrefix);
    const StagedFolder copy(target, kUnfinishedPrefix);
    create_folders(files_place(copy.path()));
    for (const CodeFile& file : code.files) place_file(code, file, files_place(copy.path()));
    write_manifest(code, manifest_place(copy.path()));
    if (copy.move_into_place()) return;
  }
  // It is there: made by another process at the same time, or long ago. Programs may run in it, so it stays, and what
  // differs is replaced file by file.
  Code wanted = code;
  try {
    wanted.files = read_frozen(place, code.hash).files;
  } catch (const DataError&) {
    write_manifest(code, manifest_place(target));
  }
  for (const CodeFile& file : damaged_files(place, wanted)) place_file(code, file, files_place(target));
}

}  // namespace

Code read_code(const CodeRequest& request) {
  std::string changing;
  for (int reading = 0; reading < kReadings; ++reading) {
    if (reading > 0) std::this_thread::sleep_for(kBetweenReadings);
    Code code{.folder = request.folder};
    const std::vector<std::string> paths = code_paths(request, code.notes);
    const auto before = look_at_all(request.folder, paths);
    code.files = files_in(before);
    check_size(request, code.files);
    try {
      for (CodeFile& file : code.files) {
        const fs::path path = request.folder / file.path;
        const bool is_link = file.kind == CodeFile::Kind::kLink;
        file.content = is_link ? target_of_link(path) : content_of_file(path, file.bytes);
        if (is_link) file.leads_to = placed_target(request.folder, file);
        if (is_link && !points_inside(file.path, file.content)) {
          code.notes.push_back(
              fmt::format("{} is a link out of the program's folder: what it leads to is not copied, and "
                          "runs that wait see its changes",
                          file.path));
        }
      }
    } catch (const Error&) {
      // A file that is gone or another one by now cannot be read either.
      if (look_at_all(request.folder, paths) == before) throw;
    }
    std::vector<std::string> ignored;
    const auto after = look_at_all(request.folder, code_paths(request, ignored));
    if (after == before) {
      code.hash = hash_of_code(code.files);
      return code;
    }
    for (const auto& [file, look] : after) {
      const bool same = std::find(before.begin(), before.end(), std::pair(file, look)) != before.end();
      if (!same) changing = file.path;
    }
  }
  throw Error(
      fmt::format("the program's code in {} changes while it is read{}\nstop what writes there, or leave those "
                  "files out of program.code",
                  request.folder.string(), changing.empty() ? "" : ": " + changing));
}

fs::path code_folder(const fs::path& place, const std::string& hash) { return files_place(frozen_place(place, hash)); }

fs::path freeze_code(const Code& code, const fs::path& place) {
  place_code(code, place);
  check_frozen_code(place, code.hash);
  return code_folder(place, code.hash);
}

void check_frozen_code(const fs::path& place, const std::string& hash) {
  constexpr const char* kFix =
      "submit the run again with the code as it was, by train or sweep: that makes the copy again";
  std::error_code ignored;
  if (!fs::exists(frozen_place(place, hash), ignored)) {
    throw Error(
        fmt::format("the copy of the program's code is missing: {}\n{}", frozen_place(place, hash).string(), kFix));
  }
  std::vector<CodeFile> damaged;
  try {
    damaged = damaged_files(place, read_frozen(place, hash));
  } catch (const DataError& error) {
    throw Error(fmt::format("the copy of the program's code is damaged: {}\n{}", first_line(error.what()), kFix));
  }
  if (damaged.empty()) return;
  throw Error(fmt::format("the copy of the program's code was changed: {}{}\n{}",
                          (code_folder(place, hash) / damaged[0].path).string(),
                          damaged.size() > 1 ? fmt::format(" and {} others", damaged.size() - 1) : "", kFix));
}

std::vector<Code> frozen_with_others(const Code& code, const CodeRequest& request, const fs::path& place) {
  std::vector<Code> found;
  for (const std::string& hash : frozen_hashes(place)) {
    if (hash == code.hash) continue;
    try {
      Code frozen = read_frozen(place, hash);
      std::vector<std::string> paths;
      for (const CodeFile& file : frozen.files) paths.push_back(file.path);
      const std::vector<std::string> kept = without_others(request, code_folder(place, hash), std::move(paths));
      std::vector<CodeFile> files = frozen.files;
      std::erase_if(files,
                    [&](const CodeFile& file) { return !std::binary_search(kept.begin(), kept.end(), file.path); });
      if (files.size() == frozen.files.size() || hash_of_code(files) != code.hash) continue;
      frozen.folder = code.folder;
      frozen.notes = code.notes;
      found.push_back(std::move(frozen));
    } catch (const Error&) {
      // A damaged copy, of which check_frozen_code speaks where it is needed.
    }
  }
  return found;
}

void copy_frozen_code(const fs::path& from, const fs::path& to, const std::string& hash) {
  check_frozen_code(from, hash);
  Code code = read_frozen(from, hash);
  code.folder = code_folder(from, hash);
  place_code(code, to);
  check_frozen_code(to, hash);
}

std::vector<fs::path> files_of_frozen_code(const fs::path& place, const std::string& hash) {
  check_frozen_code(place, hash);
  std::vector<fs::path> files{manifest_place(frozen_place("", hash))};
  for (const CodeFile& file : read_frozen(place, hash).files) {
    if (file.kind != CodeFile::Kind::kLink) files.push_back(code_folder("", hash) / file.path);
  }
  return files;
}

void restore_unpacked_code(const fs::path& place) {
  for (const std::string& hash : frozen_hashes(place)) {
    try {
      for (const CodeFile& file : read_frozen(place, hash).files) {
        const fs::path path = code_folder(place, hash) / file.path;
        std::error_code ignored;
        if (file.kind == CodeFile::Kind::kExecutable) {
          // The mode of a link's file would be changed, wherever it is.
          if (!fs::is_regular_file(fs::symlink_status(path, ignored))) continue;
          fs::permissions(path, kReadByAll | kExecutedByAll | fs::perms::owner_write, ignored);
        } else if (file.kind == CodeFile::Kind::kLink) {
          create_folders(path.parent_path());
          fs::create_symlink(file.leads_to, path, ignored);
        }
      }
    } catch (const Error&) {
      // No run needs it to be shown; who does finds it damaged.
    }
  }
}

}  // namespace xlm
