// Protocol buffers' wire format.
#include "base/wire_message.h"

namespace xlm {

std::optional<WireMessage::Field> WireMessage::next() {
  if (rest_.empty()) return std::nullopt;
  const std::uint64_t key = take_number();
  Field field{.number = key >> 3U, .content = {}};
  switch (key & 7U) {
    case 0:
      field.bits = take_number();
      break;
    case 1:
      field.kind = Kind::kFixed64;
      field.bits = from_little_endian<std::uint64_t>(take(8));
      break;
    case 2:
      field.kind = Kind::kContent;
      field.content = take(take_number());
      break;
    case 5:
      field.kind = Kind::kFixed32;
      field.bits = from_little_endian<std::uint32_t>(take(4));
      break;
    default:
      throw Malformed();
  }
  return field;
}

std::optional<std::string_view> WireMessage::find(std::uint64_t number) {
  while (const std::optional<Field> field = next()) {
    if (field->number == number && field->kind == Kind::kContent) return field->content;
  }
  return std::nullopt;
}

std::string_view WireMessage::take(std::uint64_t bytes) {
  if (bytes > rest_.size()) throw Malformed();
  const std::string_view taken = rest_.substr(0, bytes);
  rest_.remove_prefix(bytes);
  return taken;
}

std::uint64_t WireMessage::take_number() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const auto byte = static_cast<unsigned char>(take(1).front());
    value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
    if (byte < 0x80) return value;
  }
  throw Malformed();
}

}  // namespace xlm
