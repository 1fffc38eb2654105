// UTF-8 from UTF-16 and UTF-32.
#include "datasets/input/text_decoder.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/utf8.h"

namespace xlm {
namespace {

constexpr bool is_high(char32_t unit) { return unit >= 0xD800 && unit < 0xDC00; }
constexpr bool is_low(char32_t unit) { return unit >= 0xDC00 && unit < 0xE000; }

class DecodedStream : public ByteStream {
 public:
  DecodedStream(std::unique_ptr<ByteStream> encoded, const ByteOrderMark& mark, std::string source)
      : encoded_(std::move(encoded)), mark_(mark), decoder_(mark.encoding), source_(std::move(source)) {
    std::array<char, 4> skipped{};
    std::size_t left = mark.bytes;
    while (left > 0) left -= encoded_->read(skipped.data(), left);
  }

  std::size_t read(char* buffer, std::size_t bytes) override {
    while (used_ == decoded_.size()) {
      std::array<char, 65536> block{};
      const std::size_t count = encoded_->read(block.data(), block.size());
      decoded_.clear();
      used_ = 0;
      decoder_.write({block.data(), count}, decoded_);
      check(count == 0);
      if (count == 0) return 0;
    }
    const std::size_t count = decoded_.copy(buffer, bytes, used_);
    used_ += count;
    return count;
  }

 private:
  void check(bool at_end) const {
    const std::int64_t damaged = decoder_.first_damaged();
    if (damaged < 0 && (!at_end || decoder_.finish())) return;
    const std::string where =
        damaged < 0 ? "it ends inside a character"
                    : fmt::format("there is no character at byte {}", damaged + static_cast<std::int64_t>(mark_.bytes));
    throw DataError(fmt::format("{} begins as {}, but is damaged: {}\nfetch the file again", source_,
                                encoding_name(mark_.encoding), where));
  }

  std::unique_ptr<ByteStream> encoded_;
  ByteOrderMark mark_;
  TextDecoder decoder_;
  std::string source_;
  std::string decoded_;
  std::size_t used_ = 0;
};

}  // namespace

ByteOrderMark byte_order_mark(std::string_view head) {
  using namespace std::string_view_literals;
  // UTF-32 comes first: its little-endian mark begins with that of UTF-16.
  for (const auto& [mark, encoding] :
       {std::pair("\xFF\xFE\x00\x00"sv, Encoding::kUtf32Little), std::pair("\x00\x00\xFE\xFF"sv, Encoding::kUtf32Big),
        std::pair("\xFF\xFE"sv, Encoding::kUtf16Little), std::pair("\xFE\xFF"sv, Encoding::kUtf16Big),
        std::pair("\xEF\xBB\xBF"sv, Encoding::kUtf8)}) {
    if (head.starts_with(mark)) return {encoding, mark.size()};
  }
  return {};
}

std::string_view encoding_name(Encoding encoding) {
  switch (encoding) {
    case Encoding::kUtf16Little:
      return "UTF-16 (little-endian)";
    case Encoding::kUtf16Big:
      return "UTF-16 (big-endian)";
    case Encoding::kUtf32Little:
      return "UTF-32 (little-endian)";
    case Encoding::kUtf32Big:
      return "UTF-32 (big-endian)";
    case Encoding::kUtf8:
      break;
  }
  return "UTF-8";
}

std::uint32_t TextDecoder::unit(std::string_view bytes) const {
  std::uint32_t value = 0;
  const bool big = encoding_ == Encoding::kUtf16Big || encoding_ == Encoding::kUtf32Big;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[big ? i : bytes.size() - 1 - i]);
    value = value << 8U | byte;
  }
  return value;
}

void TextDecoder::write(std::string_view bytes, std::string& out) {
  if (encoding_ == Encoding::kUtf8) {
    out += bytes;
    return;
  }
  const bool wide = encoding_ == Encoding::kUtf32Little || encoding_ == Encoding::kUtf32Big;
  const std::size_t width = wide ? 4 : 2;
  rest_ += bytes;
  const std::string_view text = rest_;
  std::size_t position = 0;
  while (position + width <= text.size()) {
    char32_t character = unit(text.substr(position, width));
    std::size_t used = width;
    bool good = character <= kLastCodePoint && !is_low(character) && !(wide && is_high(character));
    if (good && is_high(character)) {
      if (position + 2 * width > text.size()) break;  // the second half is not here yet
      const char32_t second = unit(text.substr(position + width, width));
      good = is_low(second);
      if (good) {
        character = 0x10000 + ((character - 0xD800) << 10U) + (second - 0xDC00);
        used = 2 * width;
      }
    }
    if (!good && first_damaged_ < 0) first_damaged_ = taken_ + static_cast<std::int64_t>(position);
    append_utf8(out, good ? character : kReplacementCharacter);
    position += used;
  }
  rest_.erase(0, position);
  taken_ += static_cast<std::int64_t>(position);
}

std::unique_ptr<ByteStream> decode_text(std::unique_ptr<ByteStream> encoded, const ByteOrderMark& mark,
                                        const std::string& source) {
  return std::make_unique<DecodedStream>(std::move(encoded), mark, source);
}

}  // namespace xlm
