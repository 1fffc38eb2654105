// TFRecord: per record its length (8 bytes, little-endian), the length's checksum, the content, the content's checksum.
// Checksums are CRC-32C, rotated and shifted ("masked") so that checksums of data that hold checksums stay sound.
// tf.train.Example is a protocol buffer; of the wire format only what its four nested messages need is read here.
#include "datasets/input/tf_record.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include <fmt/format.h>

#include "base/crc32c.h"
#include "base/error.h"

namespace xlm {
namespace {

constexpr std::uint64_t kMaxTfRecordBytes = std::uint64_t{256} << 20;
constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kChecksumBytes = 4;

template <class Integer>
Integer little_endian(std::string_view bytes) {
  Integer value = 0;
  for (std::size_t i = sizeof(Integer); i-- > 0;) {
    value = static_cast<Integer>(value << 8U | static_cast<unsigned char>(bytes[i]));
  }
  return value;
}

/// The fields of one protocol-buffer message, in order.
class Message {
 public:
  struct Malformed {};
  struct Field {
    std::uint64_t number = 0;
    bool nested = false;  // has content: text, bytes or a message
    std::string_view content;
  };

  explicit Message(std::string_view bytes) : rest_(bytes) {}

  /// Throws Malformed.
  std::optional<Field> next() {
    if (rest_.empty()) return std::nullopt;
    const std::uint64_t key = take_number();
    Field field{.number = key >> 3U};
    switch (key & 7U) {
      case 0:
        take_number();
        break;
      case 1:
        take(8);
        break;
      case 2:
        field.nested = true;
        field.content = take(take_number());
        break;
      case 5:
        take(4);
        break;
      default:
        throw Malformed();
    }
    return field;
  }

  /// The content of the first field with this number.
  std::optional<std::string_view> find(std::uint64_t number) {
    while (const std::optional<Field> field = next()) {
      if (field->number == number && field->nested) return field->content;
    }
    return std::nullopt;
  }

 private:
  std::string_view take(std::uint64_t bytes) {
    if (bytes > rest_.size()) throw Malformed();
    const std::string_view taken = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return taken;
  }

  std::uint64_t take_number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1).front());
      value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
      if (byte < 0x80) return value;
    }
    throw Malformed();
  }

  std::string_view rest_;
};

/// Example { Features features = 1; }, Features { map<string, Feature> feature = 1; }, Feature { BytesList bytes_list =
/// 1; … }, BytesList { repeated bytes value = 1; }. A map is a list of messages { key = 1; value = 2; }.
std::optional<std::string_view> find_bytes(std::string_view example, std::string_view name) {
  Message outer(example);
  std::optional<std::string_view> found;  // what comes last counts, as in any protocol buffer
  while (const std::optional<std::string_view> features = outer.find(1)) {
    Message map(*features);
    while (const std::optional<std::string_view> entry = map.find(1)) {
      if (Message(*entry).find(1).value_or("") != name) continue;
      const std::optional<std::string_view> feature = Message(*entry).find(2);
      const std::optional<std::string_view> list = feature ? Message(*feature).find(1) : std::nullopt;
      found = list ? Message(*list).find(1) : std::nullopt;
    }
  }
  return found;
}

}  // namespace

bool is_tf_record(std::string_view head) {
  if (head.size() < kTfRecordHeaderBytes) return false;
  return masked_crc32c(head.substr(0, kLengthBytes)) == little_endian<std::uint32_t>(head.substr(kLengthBytes));
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
  const auto length = little_endian<std::uint64_t>(head);
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
  const auto recorded = little_endian<std::uint32_t>(std::string_view(record_).substr(bytes));
  if (masked_crc32c(content) != recorded) throw damaged("content");
  ++count_;
  return content;
}

std::optional<std::string_view> example_bytes(std::string_view example, std::string_view name,
                                              const std::string& source) {
  try {
    return find_bytes(example, name);
  } catch (const Message::Malformed&) {
    throw DataError(fmt::format("{}: a record is no tf.train.Example\nfetch the file again", source));
  }
}

}  // namespace xlm
