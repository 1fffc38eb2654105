// Bytes from front to back. gzip uses zlib directly, because libarchive does not verify its checksum, and Zstandard its
// own library, because libarchive's windows end at 128 MB; the other compressors use libarchive.
#include "datasets/input/byte_stream.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/error.h"
#include "base/text.h"
#include "datasets/input/libarchive.h"

namespace xlm {
namespace {

struct PackingInfo {
  Packing packing;
  std::string_view name;
  std::vector<std::string_view> extensions;
};

const std::vector<PackingInfo>& packings() {
  static const std::vector<PackingInfo> table{
      {Packing::kZip, "zip", {".zip"}},
      {Packing::kGzip, "gzip", {".gz", ".tgz"}},
      {Packing::kBzip2, "bzip2", {".bz2", ".tbz2", ".tbz"}},
      {Packing::kXz, "xz", {".xz", ".txz"}},
      {Packing::kZstd, "Zstandard", {".zst", ".tzst"}},
      {Packing::kTar, "tar", {".tar"}},
  };
  return table;
}

bool is_tar_header(std::string_view head) {
  constexpr std::size_t kChecksumAt = 148;
  constexpr std::size_t kChecksumBytes = 8;
  if (head.size() < kTarBlockBytes || head[0] == '\0') return false;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kTarBlockBytes; ++i) {
    const bool in_checksum = i >= kChecksumAt && i < kChecksumAt + kChecksumBytes;
    sum += in_checksum ? static_cast<unsigned char>(' ') : static_cast<unsigned char>(head[i]);
  }
  std::uint64_t recorded = 0;
  bool digits = false;
  for (const char c : head.substr(kChecksumAt, kChecksumBytes)) {
    if (c == ' ' && !digits) continue;
    if (c < '0' || c > '7') break;
    recorded = recorded * 8 + static_cast<std::uint64_t>(c - '0');
    digits = true;
  }
  return digits && recorded == sum;
}

/// One or more gzip members, one after the other.
class GzipStream : public ByteStream {
 public:
  GzipStream(std::unique_ptr<ByteStream> packed, std::string source)
      : packed_(std::move(packed)), source_(std::move(source)), input_(kBlockBytes, '\0') {
    constexpr int kGzipWindow = 15 + 16;  // the largest window, and a gzip header is expected
    if (inflateInit2(&zlib_, kGzipWindow) != Z_OK) throw ResourceError("out of memory while opening " + source_);
  }
  GzipStream(const GzipStream&) = delete;
  GzipStream& operator=(const GzipStream&) = delete;
  ~GzipStream() override { inflateEnd(&zlib_); }

  std::size_t read(char* buffer, std::size_t bytes) override {
    bytes = std::min(bytes, std::size_t{1} << 30U);
    zlib_.next_out = reinterpret_cast<Bytef*>(buffer);
    zlib_.avail_out = static_cast<uInt>(bytes);
    while (!finished_ && zlib_.avail_out == bytes) {
      if (zlib_.avail_in == 0 && !refill()) throw bad("it ends too early");
      const int result = inflate(&zlib_, Z_NO_FLUSH);
      if (result == Z_STREAM_END) {
        finished_ = !begin_next_member();
      } else if (result == Z_MEM_ERROR) {
        throw ResourceError("out of memory while unpacking " + source_);
      } else if (result != Z_OK && result != Z_BUF_ERROR) {
        throw bad(zlib_.msg == nullptr ? "unknown error" : zlib_.msg);
      }
    }
    return bytes - zlib_.avail_out;
  }

 private:
  bool refill() {
    const std::size_t count = packed_->read(input_.data(), input_.size());
    zlib_.next_in = reinterpret_cast<Bytef*>(input_.data());
    zlib_.avail_in = static_cast<uInt>(count);
    return count > 0;
  }

  /// Returns false at the end of the file. Zeros behind the last member are padding (tapes, block devices).
  bool begin_next_member() {
    bool padded = false;
    while (zlib_.avail_in > 0 || refill()) {
      if (*zlib_.next_in == 0x1F && !padded) {
        inflateReset(&zlib_);
        return true;
      }
      if (*zlib_.next_in != 0) throw bad("other bytes follow its end");
      padded = true;
      ++zlib_.next_in;
      --zlib_.avail_in;
    }
    return false;
  }

  DataError bad(const std::string& cause) const {
    return DataError(fmt::format("{} is truncated or corrupt: {}\nfetch the file again", source_, cause));
  }

  std::unique_ptr<ByteStream> packed_;
  std::string source_;
  static constexpr std::size_t kBlockBytes = std::size_t{256} << 10;
  std::string input_;
  z_stream zlib_{};
  bool finished_ = false;
};

/// Frames of Zstandard, one after the other, with windows of up to 2 GB (`zstd --long=31`). Skippable frames, such as
/// pzstd's, are passed over.
class ZstdStream : public ByteStream {
 public:
  ZstdStream(std::unique_ptr<ByteStream> packed, std::string source)
      : packed_(std::move(packed)), source_(std::move(source)), input_(ZSTD_DStreamInSize(), '\0') {
    constexpr int kLargestWindow = 31;
    if (context_ == nullptr) throw ResourceError("out of memory while opening " + source_);
    ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, kLargestWindow);
  }

  std::size_t read(char* buffer, std::size_t bytes) override {
    ZSTD_outBuffer out{buffer, bytes, 0};
    while (out.pos == 0 && bytes > 0) {
      if (ahead_.pos == ahead_.size && !has_more_output_) {
        ahead_ = {input_.data(), packed_->read(input_.data(), input_.size()), 0};
        if (ahead_.size == 0 && is_inside_) throw bad("it ends too early");
        if (ahead_.size == 0) return 0;
      }
      const std::size_t wanted = ZSTD_decompressStream(context_.get(), &out, &ahead_);
      if (ZSTD_isError(wanted)) throw error_of(ZSTD_getErrorCode(wanted), ZSTD_getErrorName(wanted));
      is_inside_ = wanted != 0;
      has_more_output_ = is_inside_ && out.pos == out.size;
    }
    return out.pos;
  }

 private:
  DataError bad(const std::string& cause) const {
    return DataError(fmt::format("{} is truncated or corrupt: {}\nfetch the file again", source_, cause));
  }
  DataError error_of(ZSTD_ErrorCode code, const std::string& cause) const {
    if (code == ZSTD_error_memory_allocation) throw ResourceError("out of memory while unpacking " + source_);
    if (code != ZSTD_error_dictionary_wrong) return bad(cause);
    return DataError(fmt::format(
        "{} was compressed with a dictionary, which is not in it\nunpack it first: zstd -d -D DICTIONARY {}", source_,
        shell_word(source_)));
  }

  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };
  std::unique_ptr<ByteStream> packed_;
  std::string source_;
  std::string input_;
  std::unique_ptr<ZSTD_DCtx, Free> context_{ZSTD_createDCtx()};
  ZSTD_inBuffer ahead_{nullptr, 0, 0};
  bool is_inside_ = false;        // a frame has begun and not ended
  bool has_more_output_ = false;  // which waits in the library
};

/// bzip2 and xz: libarchive's filters, with its raw format, in which the unpacked bytes are one entry.
class FilteredStream : public ByteStream {
 public:
  FilteredStream(std::unique_ptr<ByteStream> packed, Packing packing, const std::string& source)
      : packed_(std::move(packed)), source_(source), archive_(source) {
    if (packing == Packing::kBzip2) {
      archive_read_support_filter_bzip2(archive_.get());
    } else {
      archive_read_support_filter_xz(archive_.get());
    }
    archive_read_support_format_raw(archive_.get());
    archive_.open(*packed_);
    archive_.next_header();
    // The raw format accepts anything: without the filter it would return the packed bytes.
    if (archive_filter_code(archive_.get(), 0) == ARCHIVE_FILTER_NONE) {
      throw DataError(fmt::format("{} is not a whole {} file\nfetch the file again", source, packing_name(packing)));
    }
  }

  std::size_t read(char* buffer, std::size_t bytes) override {
    const std::size_t count = archive_.read(buffer, bytes, "");
    // libarchive takes a damaged head of a further stream for the end of all.
    if (count == 0 && bytes > 0 && !std::exchange(is_at_end_, true) && archive_.is_followed_by_bytes()) {
      throw DataError(
          fmt::format("{} is truncated or corrupt: other bytes follow its end\nfetch the file again", source_));
    }
    return count;
  }

 private:
  std::unique_ptr<ByteStream> packed_;
  std::string source_;
  LibArchive archive_;
  bool is_at_end_ = false;
};

}  // namespace

std::size_t FileStream::read(char* buffer, std::size_t bytes) {
  const std::size_t count = file_.read(buffer, bytes);
  consumed_ += count;
  return count;
}

std::string_view PeekedStream::peek(std::size_t bytes) {
  while (ahead_.size() < bytes) {
    const std::size_t before = ahead_.size();
    ahead_.resize(bytes);
    const std::size_t count = inner_->read(ahead_.data() + before, bytes - before);
    ahead_.resize(before + count);
    if (count == 0) break;
  }
  return std::string_view(ahead_).substr(0, bytes);
}

std::size_t PeekedStream::read(char* buffer, std::size_t bytes) {
  if (ahead_.empty()) return inner_->read(buffer, bytes);
  const std::size_t count = std::min(bytes, ahead_.size());
  std::memcpy(buffer, ahead_.data(), count);
  ahead_.erase(0, count);
  return count;
}

Packing detect_packing(std::string_view head) {
  using namespace std::string_view_literals;
  if (head.starts_with("PK\x03\x04"sv) || head.starts_with("PK\x05\x06"sv)) return Packing::kZip;
  if (head.starts_with("\x1F\x8B\x08"sv)) return Packing::kGzip;
  if (head.starts_with("\xFD\x37zXZ\x00"sv)) return Packing::kXz;
  if (head.starts_with("\x28\xB5\x2F\xFD"sv)) return Packing::kZstd;
  const bool is_skippable_frame = head.size() >= 4 && head[0] >= '\x50' && head[0] <= '\x5F';
  if (is_skippable_frame && head.substr(1).starts_with("\x2A\x4D\x18"sv)) return Packing::kZstd;
  if (head.size() >= 10 && head.starts_with("BZh"sv)) {
    const std::string_view block = head.substr(4, 6);  // the mark of the first block, or of the end in an empty file
    if (block == "1AY&SY"sv || block == "\x17\x72\x45\x38\x50\x90"sv) return Packing::kBzip2;
  }
  return is_tar_header(head) ? Packing::kTar : Packing::kNone;
}

Packing packing_of_name(const fs::path& path) {
  const std::string extension = lower_case(path.extension().string());
  for (const PackingInfo& info : packings()) {
    if (std::ranges::find(info.extensions, extension) != info.extensions.end()) {
      return info.packing;
    }
  }
  return Packing::kNone;
}

std::string_view packing_name(Packing packing) {
  for (const PackingInfo& info : packings()) {
    if (info.packing == packing) return info.name;
  }
  return "plain";
}

std::unique_ptr<ByteStream> unpack(std::unique_ptr<ByteStream> packed, Packing packing, const std::string& source) {
  if (packing == Packing::kGzip) return std::make_unique<GzipStream>(std::move(packed), source);
  if (packing == Packing::kZstd) return std::make_unique<ZstdStream>(std::move(packed), source);
  return std::make_unique<FilteredStream>(std::move(packed), packing, source);
}

}  // namespace xlm
