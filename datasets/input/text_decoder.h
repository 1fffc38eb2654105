// UTF-8 from UTF-16 and UTF-32, which declare themselves by a byte-order mark.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "datasets/input/byte_stream.h"

namespace xlm {

enum class Encoding { kUtf8, kUtf16Little, kUtf16Big, kUtf32Little, kUtf32Big };

/// The byte-order mark at the beginning of a text.
struct ByteOrderMark {
  Encoding encoding = Encoding::kUtf8;
  std::size_t bytes = 0;  // of the mark; 0: there is none
};
ByteOrderMark byte_order_mark(std::string_view head);

/// "UTF-16 (little-endian)", …
std::string_view encoding_name(Encoding encoding);

/// Decodes UTF-16 or UTF-32 in pieces, behind its mark. UTF-8 passes unchanged.
class TextDecoder {
 public:
  explicit TextDecoder(Encoding encoding) : encoding_(encoding) {}
  /// Appends the characters that `bytes` complete to `out`.
  void write(std::string_view bytes, std::string& out);
  /// Returns false if the text ends inside a character.
  bool finish() const { return rest_.empty(); }
  /// The offset of the first invalid bytes, which become U+FFFD; -1 if there are none.
  std::int64_t first_damaged() const { return first_damaged_; }

 private:
  std::uint32_t unit(std::string_view bytes) const;

  Encoding encoding_;
  std::string rest_;  // of an incomplete character
  std::int64_t taken_ = 0;
  std::int64_t first_damaged_ = -1;
};

/// A text without its byte-order mark, in UTF-8. Reading throws DataError with `source` if the text is not what its
/// mark declares.
std::unique_ptr<ByteStream> decode_text(std::unique_ptr<ByteStream> encoded, const ByteOrderMark& mark,
                                        const std::string& source);

}  // namespace xlm
