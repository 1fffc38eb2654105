// A file as it is at one moment, while another process writes it.
#pragma once

#include <cstdint>
#include <string>

#include "base/files.h"

namespace xlm {

class FileLook {
 public:
  /// Throws DataError for what is there and cannot be read, or is no regular file.
  explicit FileLook(fs::path path);

  bool is_there() const { return descriptor_.is_open(); }
  std::uint64_t size() const { return size_; }
  /// The same at another moment where the file was not written to or replaced in between.
  const std::string& mark() const { return mark_; }

  /// So many bytes of the file from `offset` on, or those up to its end.
  std::string read(std::uint64_t offset, std::size_t bytes) const;

 private:
  fs::path path_;
  Descriptor descriptor_;
  std::uint64_t size_ = 0;
  std::string mark_;
};

}  // namespace xlm
