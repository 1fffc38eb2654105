// What a repository contains in place of a large file until that is fetched: git-LFS, git-annex, DVC and others.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace xlm {

/// A kind of pointer, and the command that fetches its file.
struct PointerFile {
  std::string_view name;    // "a git-LFS pointer"
  std::string_view advice;  // "fetch the file itself: git lfs pull"
};

/// The kind of pointer that a file with these first bytes is; nullopt if it is not a pointer.
std::optional<PointerFile> pointer_file(std::string_view head);

/// Throws DataError if `text`, the content of `source`, is a pointer: the reader's own error would mislead.
void refuse_pointer(std::string_view text, const std::string& source);

}  // namespace xlm
