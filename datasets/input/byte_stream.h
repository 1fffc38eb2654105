// Bytes from front to back: a file, or the unpacked gzip, bzip2, xz or Zstandard stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/files.h"

namespace xlm {

class ByteStream {
 public:
  virtual ~ByteStream() = default;
  /// Up to `bytes` bytes into `buffer`; 0 at the end. Throws DataError for corrupt or truncated data.
  virtual std::size_t read(char* buffer, std::size_t bytes) = 0;
};

/// A plain file, which counts the bytes read.
class FileStream : public ByteStream {
 public:
  explicit FileStream(const fs::path& path) : file_(path) {}
  std::size_t read(char* buffer, std::size_t bytes) override;
  std::uint64_t consumed() const { return consumed_; }
  std::uint64_t size() const { return file_.size(); }

 private:
  InputFile file_;
  std::uint64_t consumed_ = 0;
};

/// Peeks into another stream.
class PeekedStream : public ByteStream {
 public:
  explicit PeekedStream(std::unique_ptr<ByteStream> inner) : inner_(std::move(inner)) {}
  /// The first `bytes` bytes not read yet; fewer only at the stream's end.
  std::string_view peek(std::size_t bytes);
  std::size_t read(char* buffer, std::size_t bytes) override;

 private:
  std::unique_ptr<ByteStream> inner_;
  std::string ahead_;
};

enum class Packing { kNone, kZip, kGzip, kBzip2, kXz, kZstd, kTar };

/// What a file is by `head`, its first bytes. Only bytes with which no text begins count; a tar header counts if its
/// checksum is right.
Packing detect_packing(std::string_view head);
constexpr std::size_t kTarBlockBytes = 512;

/// The packing by the end of a file name ("x.tar.gz" is kGzip).
Packing packing_of_name(const fs::path& path);

/// "gzip", "zip", …
std::string_view packing_name(Packing packing);

/// The unpacked bytes of a gzip, bzip2, xz or Zstandard stream; checksums are verified. `source` names it in errors.
std::unique_ptr<ByteStream> unpack(std::unique_ptr<ByteStream> packed, Packing packing, const std::string& source);

}  // namespace xlm
