// TFRecord: per record its length (8 bytes, little-endian), the length's checksum, the content, the content's checksum.
// Checksums are CRC-32C, rotated and shifted ("masked") so that checksums of data that hold checksums stay sound.
#include "base/tf_record.h"

#include <cstdint>

#include "base/crc32c.h"
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

}  // namespace xlm
