// The text around a position.
#include "base/excerpt.h"

#include <algorithm>

#include "base/text.h"
#include "base/utf8.h"

namespace xlm {

std::string excerpt(std::string_view text, std::size_t position) {
  constexpr std::size_t kBefore = 15;
  const auto inside = [&](std::size_t at) { return at < text.size() && (text[at] & 0xC0) == 0x80; };
  std::size_t begin = position - std::min(position, kBefore);
  while (begin < position && inside(begin)) ++begin;
  const std::size_t line = text.substr(0, position).rfind('\n');
  if (line != std::string_view::npos) begin = std::max(begin, line + 1);
  std::size_t end = std::min(text.size(), position + kExcerptBehind);
  while (end > position && inside(end)) --end;
  end = std::min(end, text.find('\n', position));
  return printable(trim(repaired_utf8(text.substr(begin, end - begin))));
}

}  // namespace xlm
