// The received part of a file that is fetched.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/descriptor.h"
#include "base/files.h"

namespace xlm {

/// The bytes received so far, in ".NAME.part", held by one process at a time. ".NAME.tag" next to it contains the
/// version of the file, as the server names it. Neither is read or written through a link, because other users may
/// write in the folder.
class PartFile {
 public:
  /// Throws UsageError if another process holds it, DataError for a link.
  explicit PartFile(const fs::path& target);

  static fs::path path_of(const fs::path& target);
  const fs::path& path() const { return path_; }
  std::uint64_t size() const;
  std::string tag() const;

  /// Starts again, with bytes of the version `tag`; "": unknown.
  void restart(const std::string& tag);
  void append(const char* bytes, std::size_t count);
  void move_to(const fs::path& target);
  void remove();

 private:
  struct stat status() const;
  void remove_tag() const;

  fs::path path_;
  fs::path tag_file_;
  Descriptor descriptor_;
  bool removed_ = false;
};

}  // namespace xlm
