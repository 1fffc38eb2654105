// TFRecord: per record its length (8 bytes, little-endian), the length's checksum, the content, the content's checksum.
// Checksums are CRC-32C, rotated and shifted ("masked") so that checksums of data that hold checksums stay sound.
#include "base/tf_record.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include <fmt/format.h>

#include "base/crc32c.h"
#include "base/error.h"
#include "base/wire_message.h"

namespace xlm {
namespace {

constexpr std::uint64_t kMaxTfRecordBytes = std::uint64_t{256} << 20;
constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kChecksumBytes = 4;

std::uint32_t checksum_at(std::string_view bytes, std::size_t place) {
  return from_little_endian<std::uint32_t>(bytes.substr(place, kChecksumBytes));
}

}  // namespace

bool is_tf_record(std::string_view head) {
  if (head.size() < kTfRecordHeaderBytes) return false;
  return masked_crc32c(head.substr(0, kLengthBytes)) == checksum_at(head, kLengthBytes);
}

TfRecordPiece take_tf_record(std::string_view bytes) {
  using Kind = TfRecordPiece::Kind;
  if (bytes.size() < kTfRecordHeaderBytes)
    return {.kind = Kind::kIncomplete, .content = {}, .bytes = kTfRecordHeaderBytes};
  if (!is_tf_record(bytes)) return {.kind = Kind::kDamaged, .content = {}};
  const auto length = from_little_endian<std::uint64_t>(bytes);
  if (length > kMaxTfRecordBytes) return {.kind = Kind::kDamaged, .content = {}};
  const std::size_t whole = kTfRecordHeaderBytes + static_cast<std::size_t>(length) + kChecksumBytes;
  if (bytes.size() < whole) return {.kind = Kind::kIncomplete, .content = {}, .bytes = whole};
  const std::string_view content = bytes.substr(kTfRecordHeaderBytes, static_cast<std::size_t>(length));
  if (masked_crc32c(content) != checksum_at(bytes, whole - kChecksumBytes))
    return {.kind = Kind::kDamaged, .content = {}};
  return {.kind = Kind::kWhole, .content = content, .bytes = whole};
}

bool TfRecordReader::fill(char* buffer, std::size_t bytes, bool may_end) {
  std::size_t filled = 0;
  while (filled < bytes) {
    const std::size_t count = read_(buffer + filled, bytes - filled);
    if (count == 0) break;
    filled += count;
  }
  offset_ += filled;
  if (filled == 0 && may_end) return false;
  if (filled < bytes) {
    throw DataError(fmt::format("{} is truncated: record {} ends at byte {}, too early\nfetch the file again", source_,
                                count_ + 1, offset_));
  }
  return true;
}

std::optional<std::string_view> TfRecordReader::next() {
  const auto damaged = [&](const char* what) {
    return DataError(
        fmt::format("{} is damaged: the checksum of record {}'s {} is wrong (before byte {})\nfetch the "
                    "file again",
                    source_, count_ + 1, what, offset_));
  };
  std::array<char, kTfRecordHeaderBytes> header{};
  if (!fill(header.data(), header.size(), true)) return std::nullopt;
  const std::string_view head(header.data(), header.size());
  if (!is_tf_record(head)) throw damaged("length");
  const auto length = from_little_endian<std::uint64_t>(head);
  if (length > kMaxTfRecordBytes) {
    throw DataError(fmt::format("{}: record {} has {} bytes; more than {} are no article\nfetch the file again",
                                source_, count_ + 1, length, kMaxTfRecordBytes));
  }
  const auto bytes = static_cast<std::size_t>(length);
  // In steps, so that a made-up length costs no more memory than the file has.
  constexpr std::size_t kStepBytes = std::size_t{1} << 20;
  record_.clear();
  while (record_.size() < bytes + kChecksumBytes) {
    const std::size_t begun = record_.size();
    const std::size_t step = std::min(kStepBytes, bytes + kChecksumBytes - begun);
    record_.resize(begun + step);
    fill(record_.data() + begun, step, false);
  }
  const std::string_view content = std::string_view(record_).substr(0, bytes);
  if (masked_crc32c(content) != checksum_at(record_, bytes)) throw damaged("content");
  ++count_;
  return content;
}

}  // namespace xlm
