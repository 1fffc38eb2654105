// Writing archives of files.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>

#include "base/files.h"

struct archive;

namespace xlm {

/// A tar archive under construction, compressed by its ending: .tar, .tar.gz, .tar.xz, .tar.zst. It appears whole with
/// `commit`, or not at all.
class ArchiveWriter {
 public:
  /// Throws UsageError for another ending.
  explicit ArchiveWriter(const fs::path& file);
  ArchiveWriter(const ArchiveWriter&) = delete;
  ArchiveWriter& operator=(const ArchiveWriter&) = delete;
  ~ArchiveWriter();

  /// Adds a regular file. Throws ResourceError or DataError if it cannot be written.
  void add(const std::string& name, std::string_view content, fs::file_time_type changed);

  /// Completes the archive; returns its bytes.
  std::uint64_t commit();

 private:
  struct Free {
    void operator()(struct archive* archive) const;
  };
  static std::ptrdiff_t take(struct archive*, void* self, const void* data, std::size_t bytes);
  void require(int result);

  int (*add_filter_)(struct archive*);
  fs::path path_;
  AtomicFile file_;
  bool discards_ = false;
  std::exception_ptr error_;  // of the file: exceptions must not pass through C
  std::unique_ptr<struct archive, Free> archive_;
};

}  // namespace xlm
