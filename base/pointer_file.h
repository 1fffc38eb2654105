// What a repository holds in place of a large file until that is fetched: git-LFS, git-annex, DVC and others.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace xlm {

/// A kind of pointer, and the command that fetches what it stands for.
struct PointerFile {
  std::string_view name;    // "a git-LFS pointer"
  std::string_view advice;  // "fetch the file itself: git lfs pull"
};

/// What the first bytes of a file say; nothing where it is no pointer.
std::optional<PointerFile> pointer_file(std::string_view head);

/// Throws DataError where `text`, the content of `source`, is a pointer: for readers whose own complaint about it would
/// mislead.
void refuse_pointer(std::string_view text, const std::string& source);

}  // namespace xlm
