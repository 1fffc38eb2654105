// libarchive behind RAII and exceptions.
#pragma once

#include <array>
#include <exception>
#include <memory>
#include <string>

#include <archive.h>
#include <archive_entry.h>

#include "datasets/input/byte_stream.h"

namespace xlm {

/// A libarchive reader that takes its bytes from a ByteStream (or a file, for formats that seek).
class LibArchive {
 public:
  explicit LibArchive(std::string source);
  LibArchive(const LibArchive&) = delete;
  LibArchive& operator=(const LibArchive&) = delete;

  struct archive* get() const {
    return archive_.get();
  }

  void open(ByteStream& stream);
  void open(const fs::path& file);

  /// The next header; null at the end.
  struct archive_entry* next_header();
  /// Up to `bytes` bytes of the current entry; 0 at its end. `entry` names it in errors.
  std::size_t read(char* buffer, std::size_t bytes, const std::string& entry);
  /// At the end of a stream: whether bytes follow it that were not unpacked. Zeros are padding.
  bool is_followed_by_bytes();

 private:
  static la_ssize_t give(struct archive*, void* self, const void** block);
  [[noreturn]] void fail(const std::string& entry) const;

  struct Free {
    void operator()(struct archive* archive) const { archive_read_free(archive); }
  };
  std::string source_;
  ByteStream* stream_ = nullptr;
  std::exception_ptr error_;  // of the stream: exceptions must not pass through C
  static constexpr std::size_t kBlockBytes = std::size_t{256} << 10;
  std::string block_;
  std::size_t block_bytes_ = 0;  // of it, which the stream has filled
  std::int64_t given_ = 0;       // bytes of the stream
  std::unique_ptr<struct archive, Free> archive_;
};

}  // namespace xlm
