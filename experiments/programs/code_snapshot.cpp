// The code of a foreign program, read and frozen.
#include "experiments/programs/code_snapshot.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/closed_place.h"
#include "base/error.h"
#include "base/lookup.h"
#include "base/sha256.h"
#include "base/staged_folder.h"
#include "base/text.h"
#include "experiments/programs/code_paths.h"

namespace xlm {
namespace {

constexpr std::size_t kCodeHashDigits = 16;

const char* kind_name(CodeFile::Kind kind) {
  switch (kind) {
    case CodeFile::Kind::kExecutable:
      return "executable";
    case CodeFile::Kind::kLink:
      return "link";
    default:
      return "file";
  }
}

/// Whether a link's target, as text, lies in the folder of the code.
bool points_inside(const std::string& path, const std::string& target) {
  if (fs::path(target).is_absolute()) return false;
  const fs::path place = (fs::path(path).parent_path() / target).lexically_normal();
  return place.empty() || *place.begin() != "..";
}

/// Whether the copy of a link may lead where its manifest says. A place outside of the code differs from machine to
/// machine and is no part of the hash, so its end is compared with the target, which is.
bool leads_to_its_target(const CodeFile& link) {
  const fs::path target = link.content;
  if (target.is_absolute() || points_inside(link.path, link.content)) return link.leads_to == link.content;
  fs::path end;
  for (const fs::path& part : (fs::path(link.path).parent_path() / target).lexically_normal()) {
    if (part != "..") end /= part;
  }
  const fs::path place = link.leads_to;
  return place.is_absolute() && place.lexically_normal().string() == link.leads_to &&
         (end.empty() || link.leads_to.ends_with("/" + end.string()));
}

/// A manifest may come from others: it names each file once, none of them lies outside of the copy or behind one of its
/// links, and links lead where their targets say.
void check_places(const std::vector<CodeFile>& files, const fs::path& manifest) {
  std::set<fs::path> links;
  for (const CodeFile& file : files) {
    if (file.kind == CodeFile::Kind::kLink) links.insert(file.path);
  }
  std::set<fs::path> named;
  for (const CodeFile& file : files) {
    const fs::path path = file.path;
    bool is_inside = path.has_filename() && path != "." && path.is_relative() && path == path.lexically_normal() &&
                     *path.begin() != "..";
    for (fs::path above = path.parent_path(); is_inside && !above.empty(); above = above.parent_path()) {
      is_inside = !links.contains(above);
    }
    if (!is_inside)
      throw DataError(fmt::format("{} names a file outside of the copy: {}", manifest.string(), file.path));
    if (!named.insert(path).second)
      throw DataError(fmt::format("{} names a file twice: {}", manifest.string(), file.path));
    if (file.kind == CodeFile::Kind::kLink && !leads_to_its_target(file)) {
      throw DataError(fmt::format("{}: the link {} leads to {}, and its target is {}", manifest.string(), file.path,
                                  file.leads_to, file.content));
    }
  }
}

/// 16 digits of paths, kinds and contents. Where the copies of links lead is no part of it.
std::string hash_of_code(const std::vector<CodeFile>& files) {
  Sha256 hash;
  for (const CodeFile& file : files) {
    hash.update(fmt::format("{} {} {}:{}{}:{}\n", kind_name(file.kind), file.bytes, file.path.size(), file.path,
                            file.content.size(), file.content));
  }
  return hash.finish().substr(0, kCodeHashDigits);
}

void write_manifest(const Code& code, const fs::path& file) {
  Json files = Json::array();
  for (const CodeFile& each : code.files) {
    Json entry = {{"path", each.path}, {"kind", kind_name(each.kind)}};
    if (each.kind == CodeFile::Kind::kLink) {
      entry["target"] = each.content;
      entry["leads_to"] = each.leads_to;
    } else {
      entry["bytes"] = each.bytes;
      entry["sha256"] = each.content;
    }
    files.push_back(entry);
  }
  write_file(file, json_text({{"from", fs::absolute(code.folder).string()}, {"files", files}}));
}

/// Reads a manifest, which may come from others. Throws DataError if it is malformed, names a file twice, outside of
/// the copy or behind one of its links, or has a link that does not lead where its target says.
Code read_manifest(const fs::path& file) {
  const Json manifest = read_json_object(file);
  Code code;
  try {
    code.folder = manifest.at("from").get<std::string>();
    for (const Json& entry : manifest.at("files")) {
      CodeFile found{.path = entry.at("path").get<std::string>()};
      const auto kind = entry.at("kind").get<std::string>();
      if (kind == "link") {
        found.kind = CodeFile::Kind::kLink;
        found.content = entry.at("target").get<std::string>();
        found.leads_to = entry.at("leads_to").get<std::string>();
      } else {
        found.kind = kind == "executable" ? CodeFile::Kind::kExecutable : CodeFile::Kind::kFile;
        found.bytes = entry.at("bytes").get<std::uint64_t>();
        found.content = entry.at("sha256").get<std::string>();
      }
      code.files.push_back(found);
    }
  } catch (const nlohmann::json::exception& error) {
    throw DataError(fmt::format("{}: {}", file.string(), reason_of(error)));
  }
  check_places(code.files, file);
  code.hash = hash_of_code(code.files);
  return code;
}

constexpr const char* kUnfinishedPrefix = ".new";  // as of the program's own copies, which lie next to these
constexpr std::size_t kLargestNamed = 5;
constexpr fs::perms kReadByAll = fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read;
constexpr fs::perms kExecutedByAll = fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec;

std::string target_of_link(const fs::path& path) {
  std::error_code error;
  std::string target = fs::read_symlink(path, error).string();
  if (error) throw_file_error("read the link", path, error.value());
  return target;
}

/// A file or link as it is now, without its content.
CodeFile file_at(const fs::path& folder, const std::string& path) {
  struct stat status {};
  if (::lstat((folder / path).c_str(), &status) != 0) throw_file_error("read", folder / path, errno);
  CodeFile file{.path = path};
  if (S_ISLNK(status.st_mode)) {
    file.kind = CodeFile::Kind::kLink;
  } else if (S_ISREG(status.st_mode)) {
    file.bytes = static_cast<std::uint64_t>(status.st_size);
    if ((status.st_mode & S_IXUSR) != 0) file.kind = CodeFile::Kind::kExecutable;
  } else {
    throw_file_error("read", folder / path, ENXIO);
  }
  return file;
}

void check_size(const CodeRequest& request, std::vector<CodeFile> files) {
  std::uint64_t sum = 0;
  for (const CodeFile& file : files) sum += file.bytes;
  if (sum <= request.limit) return;
  std::ranges::stable_sort(files, [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  std::vector<std::string> largest;
  for (std::size_t i = 0; i < std::min(files.size(), kLargestNamed); ++i) {
    largest.push_back(fmt::format("{} ({})", files[i].path, human_bytes(static_cast<double>(files[i].bytes))));
  }
  throw UsageError(fmt::format(
      "the program's code in {} has {}; the limit is {}. The largest: {}\n"
      "leave data and outputs out: program: {{code: [\"*.py\"]}} names what is code, and [\"**\", \"!{}\"] all but "
      "that file",
      request.folder.string(), human_bytes(static_cast<double>(sum)), human_bytes(static_cast<double>(request.limit)),
      join(largest, ", "), files.front().path));
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
  for (const fs::directory_entry& entry : entries_in(place)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(kFrozenPrefix)) hashes.push_back(name.substr(std::string_view(kFrozenPrefix).size()));
  }
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
  return sha256(read_file(path, file.bytes)) == file.content;
}

/// The files of a copy that are missing or changed.
std::vector<CodeFile> damaged_files(const fs::path& place, const Code& code) {
  std::vector<CodeFile> damaged;
  for (const CodeFile& file : code.files) {
    if (!is_same_file(code_folder(place, code.hash) / file.path, file)) damaged.push_back(file);
  }
  return damaged;
}

/// Whether the copy is there, as its hash says.
bool is_whole_copy(const fs::path& place, const std::string& hash) {
  try {
    return damaged_files(place, read_frozen(place, hash)).empty();
  } catch (const DataError&) {
    return false;
  }
}

/// Copies one file. Throws Error if it is not what it was when the code was read.
void place_file(const Code& code, const CodeFile& file, const fs::path& files) {
  const fs::path from = code.folder / file.path;
  const fs::path to = files / file.path;
  create_folders(to.parent_path());
  std::error_code error;
  std::string content;
  try {
    const bool is_link = fs::is_symlink(from, error);
    if (file.kind == CodeFile::Kind::kLink) {
      content = is_link ? target_of_link(from) : "";
    } else if (!is_link) {
      content = read_file(from, file.bytes);
    }
  } catch (const DataError&) {
    content.clear();
  }
  const bool is_same = file.kind == CodeFile::Kind::kLink ? content == file.content || content == file.leads_to
                                                          : sha256(content) == file.content;
  if (!is_same) {
    throw Error(
        fmt::format("{} has changed while it was copied\nrun the same command again, or leave out of program.code what "
                    "a program writes there",
                    from.string()));
  }
  if (file.kind == CodeFile::Kind::kLink) {
    fs::create_symlink(file.leads_to, to, error);
    if (error) throw_file_error("create the link", to, error.value());
  } else {
    write_file(to, content);
    fs::permissions(to, file.kind == CodeFile::Kind::kExecutable ? kReadByAll | kExecutedByAll : kReadByAll);
  }
}

}  // namespace

Code read_code(const CodeRequest& request) {
  Code code{.folder = request.folder};
  for (const std::string& path : code_paths(request, code.notes)) code.files.push_back(file_at(request.folder, path));
  check_size(request, code.files);
  for (CodeFile& file : code.files) {
    const fs::path path = request.folder / file.path;
    if (file.kind != CodeFile::Kind::kLink) {
      file.content = sha256(read_file(path, file.bytes));
      continue;
    }
    file.content = target_of_link(path);
    file.leads_to = placed_target(request.folder, file);
    if (points_inside(file.path, file.content)) continue;
    code.notes.push_back(fmt::format(
        "{} is a link out of the program's folder: what it leads to is not copied, and runs that wait see its "
        "changes",
        file.path));
  }
  code.hash = hash_of_code(code.files);
  return code;
}

fs::path code_folder(const fs::path& place, const std::string& hash) { return files_place(frozen_place(place, hash)); }

fs::path freeze_code(const Code& code, const fs::path& place) {
  const OwnerWrites unshared;
  if (is_whole_copy(place, code.hash)) return code_folder(place, code.hash);
  const fs::path target = frozen_place(place, code.hash);
  remove_left_folders(place, kUnfinishedPrefix);
  const StagedFolder copy(target, kUnfinishedPrefix);
  create_folders(files_place(copy.path()));
  for (const CodeFile& file : code.files) place_file(code, file, files_place(copy.path()));
  write_manifest(code, manifest_place(copy.path()));
  // Another process may have been faster. What is there and not whole was damaged.
  if (!copy.move_into_place() && !is_whole_copy(place, code.hash)) replace_folder(copy.path(), target);
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
  const bool whole_folder = is_whole_folder(request);
  for (const std::string& hash : frozen_hashes(place)) {
    if (hash == code.hash) continue;
    try {
      Code frozen = read_frozen(place, hash);
      std::vector<std::string> notes;
      const std::vector<std::string> kept =
          without_others(request, code_folder(place, hash), mapped(frozen.files, &CodeFile::path), whole_folder, notes);
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

std::string changes_of_code(const Code& code, const fs::path& place) {
  std::optional<Code> newest;
  fs::file_time_type newest_time;
  for (const std::string& hash : frozen_hashes(place)) {
    if (hash == code.hash) return "";
    try {
      const fs::file_time_type time = fs::last_write_time(manifest_place(frozen_place(place, hash)));
      Code frozen = read_frozen(place, hash);
      if (frozen.folder != fs::absolute(code.folder) || (newest && time < newest_time)) continue;
      newest = std::move(frozen);
      newest_time = time;
    } catch (const std::exception&) {
      // A damaged copy says nothing.
    }
  }
  if (!newest) return "";
  std::map<std::string, std::pair<const CodeFile*, const CodeFile*>> files;
  for (const CodeFile& file : newest->files) files[file.path].first = &file;
  for (const CodeFile& file : code.files) files[file.path].second = &file;
  std::vector<std::string> changes;
  for (const auto& [path, file] : files) {
    const auto& [before, now] = file;
    if (before != nullptr && now != nullptr && before->kind == now->kind && before->content == now->content) continue;
    changes.push_back(printable(path) + (before == nullptr ? " is new" : now == nullptr ? " is gone" : " was edited"));
  }
  constexpr std::size_t kListedChanges = 3;
  const std::size_t others = changes.size() - std::min(changes.size(), kListedChanges);
  changes.resize(changes.size() - others);
  return join(changes, ", ") + (others > 0 ? fmt::format(", and {} more", others) : "");
}

void copy_frozen_code(const fs::path& from, const fs::path& to, const std::string& hash) {
  check_frozen_code(from, hash);
  Code code = read_frozen(from, hash);
  code.folder = code_folder(from, hash);
  freeze_code(code, to);
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
