// Files whose hashes were verified.
#include "datasets/prepared/verified_files.h"

#include <sys/stat.h>

#include <cerrno>

#include <fmt/format.h>

#include "base/error.h"
#include "base/sha256.h"

namespace xlm {
namespace {

/// What changes with a file's content. The time is that of the last status change, which no program can set.
Json stamp_of(const fs::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) throw_file_error("read", file, errno);
  const std::int64_t changed = std::int64_t{status.st_ctim.tv_sec} * 1'000'000'000 + status.st_ctim.tv_nsec;
  return {{"bytes", status.st_size}, {"changed", changed}};
}

}  // namespace

VerifiedFiles::VerifiedFiles(fs::path folder) : folder_(std::move(folder)), known_(Json::object()) {
  try {
    const Json read = read_json(folder_ / kFile);
    if (read.is_object()) known_ = read;
  } catch (const Error&) {
    // It is missing or damaged, and is made again.
  }
}

bool VerifiedFiles::has_hash(const std::string& file, const std::string& hash, bool again) {
  Json stamp = stamp_of(folder_ / file);
  stamp["sha256"] = hash;
  if (!again && known_.contains(file) && known_[file] == stamp) return true;
  if (sha256_file(folder_ / file) != hash) return false;
  note({{file, hash}});
  return true;
}

void VerifiedFiles::note(const std::map<std::string, std::string>& hashes) {
  const Json before = known_;
  for (const auto& [file, hash] : hashes) {
    known_[file] = stamp_of(folder_ / file);
    known_[file]["sha256"] = hash;
  }
  if (known_ != before) keep();
}

std::string VerifiedFiles::of_file(const std::string& file, const std::string& what,
                                   const std::function<std::string()>& compute) {
  const std::string key = fmt::format("{} ({})", file, what);
  Json stamp = stamp_of(folder_ / file);
  if (const Json known = known_.value(key, Json::object()); known.contains(what)) {
    stamp[what] = known[what];
    if (known == stamp) return known[what].get<std::string>();
  }
  stamp[what] = compute();
  known_ = VerifiedFiles(folder_).known_;  // with what computing has verified
  known_[key] = stamp;
  keep();
  return stamp[what].get<std::string>();
}

void VerifiedFiles::keep() const {
  try {
    write_file(folder_ / kFile, known_.dump(1) + "\n");
  } catch (const Error&) {
    // Another user's folder, or a full disk.
  }
}

}  // namespace xlm
