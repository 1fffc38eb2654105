// A folder under construction.
#include "base/staged_folder.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <random>

#include <fmt/format.h>

namespace xlm {
namespace {

/// A new folder of a random name. Not mkdtemp, which keeps its folder from everybody else, whatever the umask allows.
fs::path make_folder(const fs::path& parent, const std::string& prefix) {
  std::random_device random;
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    fs::path folder = parent / fmt::format("{}.{:08x}", prefix, random());
    if (::mkdir(folder.c_str(), 0777) == 0) return folder;
    if (errno != EEXIST) break;
  }
  throw_file_error("create a folder in", parent, errno);
}

}  // namespace

StagedFolder::StagedFolder(fs::path target, const std::string& prefix) : target_(std::move(target)) {
  const fs::path parent = folder_of(target_);
  create_folders(parent);
  path_ = make_folder(parent, prefix);
}

StagedFolder::~StagedFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

bool StagedFolder::move_into_place() const {
  std::error_code error;
  fs::rename(path_, target_, error);
  if (!error) {
    sync_folder(folder_of(target_));
    return true;
  }
  if (fs::exists(target_)) return false;
  throw_file_error("create", target_, error.value());
}

void replace_folder(const fs::path& from, const fs::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) {
    if (errno != ENOTEMPTY && errno != EEXIST) throw_file_error("create the folder", to, errno);
    if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) != 0) {
      std::error_code ignored;
      fs::remove_all(to, ignored);  // a file system that cannot exchange: for a moment there is none
      if (::rename(from.c_str(), to.c_str()) != 0) throw_file_error("create the folder", to, errno);
    }
  }
  sync_folder(folder_of(to));
}

}  // namespace xlm
