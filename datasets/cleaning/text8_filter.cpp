// The text8 filter as a chain of in-place passes. Each pass searches for the first byte of its rule with memchr, at
// memory speed, so text without markup costs almost nothing.
#include "datasets/cleaning/text8_filter.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/utf8.h"

namespace xlm {
namespace {

constexpr std::size_t kMaxRecordBytes = std::size_t{64} << 20;
constexpr std::array<std::string_view, 10> kDigitNames{"zero", "one", "two",   "three", "four",
                                                       "five", "six", "seven", "eight", "nine"};

/// How the last pass treats a byte: a letter or a space to write, or one of these.
enum ByteClass : char { kDigit = 1, kBracket = 2, kAmpersand = 3 };

constexpr std::array<char, 256> make_classes(bool markup) {
  std::array<char, 256> classes{};
  classes.fill(' ');
  for (int c = 'a'; c <= 'z'; ++c) classes[static_cast<std::size_t>(c)] = static_cast<char>(c);
  for (int c = 'A'; c <= 'Z'; ++c) classes[static_cast<std::size_t>(c)] = static_cast<char>(c - 'A' + 'a');
  for (int c = '0'; c <= '9'; ++c) classes[static_cast<std::size_t>(c)] = kDigit;
  if (markup) {
    classes['['] = kBracket;
    classes[']'] = kBracket;
    classes['&'] = kAmpersand;
  }
  return classes;
}
constexpr std::array<char, 256> kPlainClasses = make_classes(false);
constexpr std::array<char, 256> kMarkupClasses = make_classes(true);

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter_or_digit_of_ascii(char c) {
  const auto within = [](int byte, char first, unsigned char count) {
    return static_cast<unsigned char>(byte - first) < count;
  };
  return (static_cast<unsigned>(within(c | 0x20, 'a', 26)) | static_cast<unsigned>(within(c, '0', 10))) !=
         0;  // both, which is faster than one at a time
}

const char* find_byte(const char* begin, const char* end, char byte) {
  const void* found = std::memchr(begin, byte, static_cast<std::size_t>(end - begin));
  return found == nullptr ? end : static_cast<const char*>(found);
}

bool starts_with(const char* at, const char* end, std::string_view word) {
  return static_cast<std::size_t>(end - at) >= word.size() && std::memcmp(at, word.data(), word.size()) == 0;
}

bool starts_with_any_case(const char* at, const char* end, std::string_view lower_word) {
  if (static_cast<std::size_t>(end - at) < lower_word.size()) return false;
  for (const char expected : lower_word) {
    if (lower(*at++) != expected) return false;
  }
  return true;
}

/// The next position of a byte, remembered. Many rules that end at the same byte search for it once, so that every pass
/// is linear in the length of the record.
class NextByte {
 public:
  explicit NextByte(char byte) : byte_(byte) {}
  const char* from(const char* at, const char* end) {
    if (place_ == nullptr || place_ < at) place_ = find_byte(at, end, byte_);
    return place_;
  }

 private:
  char byte_;
  const char* place_ = nullptr;
};

/// Rewrites `text` from left to right. At each `start` byte, `match(at, end, out)` writes the replacement to `out`
/// (never longer than the match) and returns the end of the match. It returns `at` if nothing matches.
template <class Match>
void rewrite(std::string& text, char start, Match match) {
  char* out = text.data();
  const char* in = out;
  const char* const end = in + text.size();
  const auto keep_until = [&](const char* stop) {
    const auto bytes = static_cast<std::size_t>(stop - in);
    if (out != in) std::memmove(out, in, bytes);
    out += bytes;
    in = stop;
  };
  while (true) {
    const char* at = find_byte(in, end, start);
    keep_until(at);
    if (at == end) break;
    const char* next = match(at, end, out);
    if (next == at) {
      *out++ = start;
      ++next;
    }
    in = next;
  }
  text.resize(static_cast<std::size_t>(out - text.data()));
}

/// Drops the tag that ends the record, from the first '<' on its last line.
void drop_last_tag(std::string& text) {
  if (text.empty() || text.back() != '>') return;
  const std::size_t line_end = text.rfind('\n');
  const std::size_t tag = text.find('<', line_end == std::string::npos ? 0 : line_end);
  if (tag != std::string::npos) text.resize(tag);
}

/// Decodes &amp; &lt; &gt;. "&amp;lt;" is '<' too, because the wiki text was encoded twice.
void decode_entities(std::string& text) {
  rewrite(text, '&', [](const char* at, const char* end, char*& out) {
    const char* next = starts_with(at, end, "&amp;") ? at + 5 : at + 1;
    if (starts_with(next, end, "lt;") || starts_with(next, end, "gt;")) {
      *out++ = *next == 'l' ? '<' : '>';
      return next + 3;
    }
    *out++ = '&';
    return next;
  });
}

/// Drops <ref…</ref> without another tag inside, then all other tags.
void drop_references_and_tags(std::string& text) {
  if (text.find('<') == std::string::npos) return;
  rewrite(text, '<', [](const char* at, const char* end, char*&) {
    if (!starts_with(at, end, "<ref")) return at;
    const char* close = find_byte(at + 4, end, '<');
    return starts_with(close, end, "</ref>") ? close + 6 : at;
  });
  NextByte closing('>');
  rewrite(text, '<', [&](const char* at, const char* end, char*&) {
    const char* close = closing.from(at, end);
    return close == end ? at : close + 1;
  });
}

/// "[http://address text]" becomes "[text]".
void drop_addresses(std::string& text) {
  NextByte space(' ');
  NextByte bracket(']');
  rewrite(text, '[', [&](const char* at, const char* end, char*& out) {
    if (!starts_with(at, end, "[http:")) return at;
    *out++ = '[';
    return std::min(space.from(at, end), bracket.from(at, end));
  });
}

/// Drops layout words of images: "|thumb", "|left", "|right", "|200px".
void drop_image_layout(std::string& text) {
  if (text.find('|') == std::string::npos) return;
  for (const std::string_view word : {"|thumb", "|left", "|right"}) {
    rewrite(text, '|', [word](const char* at, const char* end, char*&) {
      return starts_with_any_case(at, end, word) ? at + word.size() : at;
    });
  }
  rewrite(text, '|', [](const char* at, const char* end, char*&) {
    const char* next = at + 1;
    while (next != end && is_digit(*next)) ++next;
    return next != at + 1 && starts_with_any_case(next, end, "px") ? next + 2 : at;
  });
}

/// "[[Image:file|…|caption" becomes "caption": up to the last '|' before a bracket.
void drop_image_names(std::string& text) {
  NextByte opening('[');
  NextByte closing(']');
  rewrite(text, '[', [&](const char* at, const char* end, char*&) {
    if (!starts_with_any_case(at, end, "[[image:")) return at;
    const char* begin = at + 8;
    const char* stop = std::min(opening.from(begin, end), closing.from(begin, end));
    const void* bar = ::memrchr(begin, '|', static_cast<std::size_t>(stop - begin));
    return bar == nullptr ? at : static_cast<const char*>(bar) + 1;
  });
}

/// "[[Category:Name|sort key]]" becomes "[[Name]]".
void unwrap_categories(std::string& text) {
  NextByte bar('|');
  NextByte closing(']');
  rewrite(text, '[', [&](const char* at, const char* end, char*& out) {
    if (!starts_with_any_case(at, end, "[[category:")) return at;
    const char* begin = at + 11;
    const char* close = closing.from(begin, end);
    if (!starts_with(close, end, "]]")) return at;
    const char* stop = std::min(bar.from(begin, end), close);
    const auto bytes = static_cast<std::size_t>(stop - begin);
    std::memcpy(out, "[[", 2);
    std::memmove(out + 2, begin, bytes);
    std::memcpy(out + 2 + bytes, "]]", 2);
    out += bytes + 4;
    return close + 2;
  });
}

/// Drops "[[fr:Anarchisme]]" and other links with a lower-case prefix.
void drop_language_links(std::string& text) {
  NextByte closing(']');
  rewrite(text, '[', [&](const char* at, const char* end, char*&) {
    if (!starts_with(at, end, "[[")) return at;
    const char* next = at + 2;
    while (next != end && ((*next >= 'a' && *next <= 'z') || *next == '-')) ++next;
    if (next == end || *next != ':') return at;
    const char* close = closing.from(next, end);
    return starts_with(close, end, "]]") ? close + 2 : at;
  });
}

/// "[[page|anchor" becomes "[[anchor".
void drop_link_targets(std::string& text) {
  NextByte bar('|');
  NextByte closing(']');
  rewrite(text, '[', [&](const char* at, const char* end, char*& out) {
    if (!starts_with(at, end, "[[")) return at;
    const char* stop = bar.from(at + 2, end);
    if (stop == end || closing.from(at + 2, end) < stop) return at;
    std::memcpy(out, "[[", 2);
    out += 2;
    return stop + 1;
  });
}

/// Drops {{…}}, then {…}: templates and tables, up to the first closing brace.
void drop_braces(std::string& text) {
  if (text.find('{') == std::string::npos) return;
  NextByte closing('}');
  rewrite(text, '{', [&](const char* at, const char* end, char*&) {
    if (!starts_with(at, end, "{{")) return at;
    const char* close = closing.from(at + 2, end);
    return starts_with(close, end, "}}") ? close + 2 : at;
  });
  NextByte single('}');
  rewrite(text, '{', [&](const char* at, const char* end, char*&) {
    const char* close = single.from(at, end);
    return close == end ? at : close + 1;
  });
}

constexpr std::size_t kBlockBytes = 64;  // a bit of a word for each
constexpr std::size_t kShortRun = 16;

/// A bit for each byte, which is 0 or 1.
std::uint64_t bits_of(const std::array<std::uint8_t, kBlockBytes>& bytes) {
  static_assert(std::endian::native == std::endian::little);
  constexpr std::uint64_t kGather = 0x0102040810204080U;  // the lowest bits of eight bytes to the upper byte
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < kBlockBytes; i += 8) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, bytes.data() + i, sizeof eight);
    bits |= eight * kGather >> 56U << i;
  }
  return bits;
}

/// Takes a block of text up to a byte that is neither letter nor space in the table of append_letters. Appends runs of
/// letters with a space behind each. Returns the number of bytes; `out` has room for that many, and kShortRun more.
template <bool kMarkup>
std::size_t append_block(const char* in, char*& out, char& last) {
  std::array<char, kBlockBytes + kShortRun> lower_case{};
  std::array<std::uint8_t, kBlockBytes> is_letter;
  std::array<std::uint8_t, kBlockBytes> is_stop;
  std::uint8_t any_stop = 0;
  const auto within = [](int byte, char first, unsigned count) {
    return static_cast<unsigned char>(byte - first) < count;
  };
  for (std::size_t i = 0; i < kBlockBytes; ++i) {  // in a form that the compiler takes side by side
    const int small = in[i] | 0x20;
    lower_case[i] = static_cast<char>(small);
    is_letter[i] = static_cast<std::uint8_t>(within(small, 'a', 26));
    const int stops =
        static_cast<int>(within(in[i], '0', 10)) |
        (kMarkup ? static_cast<int>(in[i] == '[') | static_cast<int>(in[i] == ']') | static_cast<int>(in[i] == '&')
                 : 0);
    is_stop[i] = static_cast<std::uint8_t>(stops);
    any_stop |= is_stop[i];
  }
  std::size_t size = kBlockBytes;
  std::uint64_t letters = bits_of(is_letter);
  if (any_stop != 0) {
    size = static_cast<std::size_t>(std::countr_zero(bits_of(is_stop)));
    if (size == 0) return 0;
    letters &= ~std::uint64_t{0} >> (kBlockBytes - size);
  }
  if ((letters & 1U) == 0 && last != ' ') *out++ = ' ';
  last = (letters >> (size - 1) & 1U) != 0 ? 'a' : ' ';
  while (letters != 0) {
    const auto begin = static_cast<std::size_t>(std::countr_zero(letters));
    const auto run = static_cast<std::size_t>(std::countr_one(letters >> begin));
    std::memcpy(out, lower_case.data() + begin, kShortRun);
    if (run > kShortRun) std::memcpy(out, lower_case.data() + begin, run);
    out += run;
    *out = ' ';
    out += begin + run < size ? 1 : 0;
    letters &= letters + (std::uint64_t{1} << begin);  // the run's bits become zero, and carry into the gap behind it
  }
  return size;
}

/// Appends `text` in the alphabet of text8 to `clean`. With markup, brackets are dropped and "&…;" counts as one other
/// byte. Every byte is written: a letter stays, and another byte is a space, which the next byte overwrites if a space
/// stands before it. So most bytes need no decision.
template <bool kMarkup>
void append_letters(std::string_view text, bool& space_pending, std::string& clean) {
  constexpr const std::array<char, 256>& kClasses = kMarkup ? kMarkupClasses : kPlainClasses;
  constexpr std::size_t kLongest = kBlockBytes + kShortRun;  // more than " three ", and what is overwritten
  const std::size_t before = clean.size();
  // Most records have few digits: room for the text, and more if a digit needs it.
  if (clean.capacity() < before + text.size() + kLongest)
    clean.reserve(before + text.size() + text.size() / 8 + kLongest);
  clean.resize(before + text.size() + kLongest);
  char* out = clean.data() + before;
  char* limit = clean.data() + clean.size() - kLongest;
  NextByte semicolon(';');
  const char* const end = text.data() + text.size();
  if (space_pending) *out++ = ' ';
  char last = space_pending ? ' ' : 'a';
  for (const char* in = text.data(); in != end; ++in) {
    const char kind = kClasses[static_cast<unsigned char>(*in)];
    if (kind >= ' ') {
      if (end - in >= static_cast<std::ptrdiff_t>(kBlockBytes)) {
        in += append_block<kMarkup>(in, out, last) - 1;
        continue;
      }
      *out = kind;
      out += static_cast<std::ptrdiff_t>((kind != ' ') | (last != ' '));
      last = kind;
      continue;
    }
    if (kMarkup && kind == kBracket) continue;
    if (last != ' ') *out++ = ' ';
    last = ' ';
    if (kind != kDigit) {
      const char* close = semicolon.from(in, end);
      if (close != end) in = close;
      continue;
    }
    if (out + (end - in) + kLongest > limit) {
      const auto used = static_cast<std::size_t>(out - clean.data());
      clean.resize(used + 2 * static_cast<std::size_t>(end - in) + 64 * kLongest);
      out = clean.data() + used;
      limit = clean.data() + clean.size() - kLongest;
    }
    const std::string_view name = kDigitNames[static_cast<std::size_t>(*in - '0')];
    std::memcpy(out, name.data(), name.size());
    out += name.size();
    *out++ = ' ';
  }
  space_pending = last == ' ';
  if (space_pending) --out;  // the next letter brings it
  clean.resize(static_cast<std::size_t>(out - clean.data()));
}

bool contains_redirect(std::string_view text) {
  const char* const end = text.data() + text.size();
  for (const char* at = find_byte(text.data(), end, '#'); at != end; at = find_byte(at + 1, end, '#')) {
    if (starts_with_any_case(at, end, "#redirect")) return true;
  }
  return false;
}

bool contains_tag(std::string_view text, std::string_view tag) {
  const char* const end = text.data() + text.size();
  for (const char* at = find_byte(text.data(), end, '<'); at != end; at = find_byte(at + 1, end, '<')) {
    if (starts_with(at, end, tag)) return true;
  }
  return false;
}

}  // namespace

WikipediaFilter::WikipediaFilter(std::string source, TextSink sink)
    : source_(std::move(source)), sink_(std::move(sink)) {}

void WikipediaFilter::write(std::string_view xml) {
  while (!xml.empty()) {
    const std::size_t close = xml.find('>');
    const std::size_t bytes = close == std::string_view::npos ? xml.size() : close + 1;
    record_.append(xml.substr(0, bytes));
    xml.remove_prefix(bytes);
    if (close != std::string_view::npos) {
      take_record();
    } else if (record_.size() > kMaxRecordBytes) {
      throw DataError(
          fmt::format("{} is not a Wikipedia XML dump: {} MB without a '>'", source_, record_.size() >> 20U));
    }
  }
}

void WikipediaFilter::finish() {
  take_record();
  inside_text_ = false;
}

void WikipediaFilter::take_record() {
  if (contains_tag(record_, "<text ")) inside_text_ = true;
  if (inside_text_ && contains_redirect(record_)) inside_text_ = false;
  if (inside_text_) {
    if (contains_tag(record_, "</text>")) inside_text_ = false;
    drop_last_tag(record_);
    decode_entities(record_);
    drop_references_and_tags(record_);
    drop_addresses(record_);
    drop_image_layout(record_);
    drop_image_names(record_);
    unwrap_categories(record_);
    drop_language_links(record_);
    drop_link_targets(record_);
    drop_braces(record_);
    clean_.clear();
    bool space_pending = true;
    append_letters<true>(record_, space_pending, clean_);
    if (!clean_.empty()) sink_(clean_);
  }
  record_.clear();
}

void Text8Cleaner::write(std::string_view text) {
  constexpr std::size_t kBriefBytes = std::size_t{16} << 10;
  std::string piece = std::exchange(begun_, {});
  piece += text;
  begun_ = piece.substr(whole_characters(piece));
  piece.resize(piece.size() - begun_.size());
  const bool brief = piece.size() < kBriefBytes;
  pieces_.add([piece = std::move(piece)] { return cleaned(piece); }, brief);
}

void Text8Cleaner::finish() {
  pieces_.finish();
  begun_.clear();
  space_pending_ = true;
}

/// A piece as if a letter stood in front of it.
Text8Cleaner::Piece Text8Cleaner::cleaned(std::string_view text) {
  Piece piece;
  append_letters<false>(text, piece.space_pending, piece.clean);
  piece.foreign.kept = count_bytes(text, is_letter_or_digit_of_ascii);
  for (std::size_t position = 0; (position = after_ascii(text, position)) < text.size();) {
    const Utf8Character character = decode_utf8(text.substr(position));
    const bool valid = character.kind == Utf8Character::Kind::kValid;
    if (!valid || is_letter_or_digit(character.code_point)) piece.foreign.lose(text, position);
    position += static_cast<std::size_t>(character.bytes);
  }
  return piece;
}

void Text8Cleaner::deliver(const Piece& piece) {
  foreign_.add(piece.foreign);
  if (!piece.clean.empty()) {
    if (space_pending_ && piece.clean.front() != ' ') sink_(" ");
    sink_(piece.clean);
    space_pending_ = false;
  }
  space_pending_ = space_pending_ || piece.space_pending;
}

}  // namespace xlm
