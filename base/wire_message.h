// Protocol buffers: the fields of one message, without a schema.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace xlm {

class WireMessage {
 public:
  struct Malformed {};
  enum class Kind { kNumber, kFixed64, kContent, kFixed32 };
  struct Field {
    std::uint64_t number = 0;  // by which a schema knows the field
    Kind kind = Kind::kNumber;
    std::uint64_t bits = 0;    // of a number, and of what has a fixed size
    std::string_view content;  // text, bytes or a message
  };

  explicit WireMessage(std::string_view bytes) : rest_(bytes) {}

  /// The next field, in their order; nullopt at the end. Throws Malformed.
  std::optional<Field> next();

  /// The content of the first field from here on with this number. Throws Malformed.
  std::optional<std::string_view> find(std::uint64_t number);

 private:
  std::string_view take(std::uint64_t bytes);
  std::uint64_t take_number();

  std::string_view rest_;
};

/// An integer of `bytes`, which are as many as it has, the lowest first.
template <class Integer>
Integer from_little_endian(std::string_view bytes) {
  Integer value = 0;
  for (std::size_t i = sizeof(Integer); i-- > 0;) {
    value = static_cast<Integer>(value << 8U | static_cast<unsigned char>(bytes[i]));
  }
  return value;
}

}  // namespace xlm
