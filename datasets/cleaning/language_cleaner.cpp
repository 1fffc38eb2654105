// Cleans any text to a language's alphabet.
#include "datasets/cleaning/language_cleaner.h"

#include <algorithm>
#include <cstring>

namespace xlm {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 20;
constexpr std::string_view kNewLine = "_NEWLINE_";

/// The marker at the beginning of `text`, alone on its line; without the line end.
std::string_view marker_line(std::string_view text) {
  for (const std::string_view marker : {"_START_ARTICLE_", "_START_SECTION_", "_START_PARAGRAPH_"}) {
    if (text.starts_with(marker) && text.size() > marker.size() && text[marker.size()] == '\n') return marker;
  }
  return {};
}

/// Bytes of the first `count` characters of valid UTF-8.
std::size_t bytes_of(std::string_view valid, std::int64_t count) {
  std::size_t position = 0;
  for (; position < valid.size(); ++position) {
    if ((valid[position] & 0xC0) != 0x80 && count-- == 0) break;
  }
  return position;
}

/// Where a piece may end: behind a line end if there is one, otherwise where it cuts no marker (before a character
/// other than '_' and A-Z). 0 if there is no such place.
std::size_t cut_of(std::string_view text) {
  const std::size_t line_end = text.rfind('\n');
  if (line_end != std::string_view::npos) return line_end + 1;
  for (std::size_t position = text.size(); --position > 0;) {
    const char c = text[position];
    const bool of_marker = c == '_' || (c >= 'A' && c <= 'Z');
    if (!of_marker && (c & 0xC0) != 0x80) return position;
  }
  return 0;
}

/// The character of valid UTF-8 at `byte`, which moves past it.
char32_t take_character(const char*& byte) {
  const auto next = [&] { return static_cast<char32_t>(static_cast<unsigned char>(*byte++)); };
  const char32_t first = next();
  if (first < 0x80) return first;
  char32_t character = first & (first < 0xE0 ? 0x1FU : first < 0xF0 ? 0x0FU : 0x07U);
  for (int rest = first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3; rest > 0; --rest)
    character = character << 6U | (next() & 0x3FU);
  return character;
}

}  // namespace

/// Cleans one piece, which is valid UTF-8.
class LanguageCleaner::PieceCleaner {
 public:
  PieceCleaner(const CharacterRules& rules, DocumentMark mark, std::string_view text)
      : rules_(&rules), mark_(mark), text_(text) {}

  Piece clean(bool at_line_start) {
    const char* byte = text_.data();
    const char* const end = byte + text_.size();
    if (at_line_start) byte = begin_line(byte);
    while (byte < end) {
      make_room(static_cast<std::size_t>(end - byte));
      if (const char letter = rules_->letter(static_cast<unsigned char>(*byte)); letter != 0) {
        separate();
        byte = take_letters(byte, end);
        continue;
      }
      if (*byte == '_' && rest(byte).starts_with(kNewLine)) {
        byte += kNewLine.size();
        note(kLine);
        continue;
      }
      const char* const begin = byte;
      const std::uint8_t action = rules_->action(take_character(byte));
      if (action >= CharacterRules::kText) {
        put(rules_->text(action));
      } else if (action == CharacterRules::kLineBreak) {
        note(kLine);
        byte = begin_line(byte);
      } else if (action == CharacterRules::kForeign) {
        piece_.foreign.lose(text_, static_cast<std::size_t>(begin - text_.data()));
        note(kSpace);
      } else if (action == CharacterRules::kBlank) {
        note(kSpace);
      }
    }
    piece_.text.resize(size_);
    piece_.after = separator_;
    if (size_ == 0) piece_.before = separator_;
    piece_.document_after = document_;
    return std::move(piece_);
  }

 private:
  std::string_view rest(const char* byte) const { return text_.substr(static_cast<std::size_t>(byte - text_.data())); }

  /// At the start of a line: skips markers, but not their line end.
  const char* begin_line(const char* byte) {
    const std::string_view line = rest(byte);
    if (mark_ == DocumentMark::kBlankLine && line.starts_with('\n')) document_ = true;
    if (!line.starts_with('_')) return byte;
    const std::string_view marker = marker_line(line);
    if (mark_ == DocumentMark::kArticle && marker == "_START_ARTICLE_") document_ = true;
    return byte + marker.size();
  }

  void note(Separator separator) { separator_ = std::max(separator_, separator); }

  /// Before text: writes the separator from the text before.
  void separate() {
    if (separator_ != kNothing) {
      if (size_ == 0) {
        piece_.before = separator_;
      } else {
        piece_.text[size_++] = separator_ == kLine ? '\n' : ' ';
      }
      separator_ = kNothing;
    }
    if (document_) {
      piece_.documents.push_back(size_);
      document_ = false;
    }
  }

  const char* take_letters(const char* byte, const char* end) {
    char* const begin = piece_.text.data() + size_;
    char* out = begin;
    for (; byte < end; ++byte) {
      const char letter = rules_->letter(static_cast<unsigned char>(*byte));
      if (letter == 0) break;
      *out++ = letter;
    }
    size_ += static_cast<std::size_t>(out - begin);
    piece_.foreign.kept += out - begin;
    return byte;
  }

  void put(const CharacterRules::Text& text) {
    if (text.blank_before) note(kSpace);
    separate();
    std::memcpy(piece_.text.data() + size_, text.bytes.data(), CharacterRules::Text::kRoom);  // a fixed size is fast
    size_ += text.size;
    ++piece_.foreign.kept;
    if (text.blank_after) note(kSpace);
  }

  /// Makes room for a separator and a text, or for `letters` letters.
  void make_room(std::size_t letters) {
    const std::size_t needed = size_ + letters + 1 + CharacterRules::Text::kRoom;
    if (needed > piece_.text.size()) piece_.text.resize(needed + needed / 4);
  }

  const CharacterRules* rules_;
  DocumentMark mark_;
  std::string_view text_;
  Piece piece_;
  std::size_t size_ = 0;  // used bytes of piece_.text
  Separator separator_ = kNothing;
  bool document_ = false;
};

LanguageCleaner::LanguageCleaner(const CharacterRules& rules, DocumentMark mark, int threads, CleanSink sink)
    : rules_(&rules),
      mark_(mark),
      sink_(std::move(sink)),
      pieces_(threads, [this](Piece piece) { deliver(std::move(piece)); }) {}

void LanguageCleaner::write(std::string_view bytes) { write_valid(repair_.write_or_pass(bytes, repaired_)); }

std::size_t LanguageCleaner::write_valid(std::string_view valid) {
  std::int64_t count = count_characters(valid);
  if (left_ >= 0 && count > left_) {
    valid = valid.substr(0, bytes_of(valid, left_));
    count = left_;
  }
  const std::size_t fitting = valid.size();
  characters_ += count;
  if (left_ >= 0) left_ -= count;
  while (!valid.empty()) {
    const std::size_t taken = std::min(valid.size(), kPieceBytes - buffer_.size());
    buffer_ += valid.substr(0, taken);
    valid.remove_prefix(taken);
    if (buffer_.size() < kPieceBytes) continue;
    const std::size_t cut = cut_of(buffer_);
    dispatch(cut == 0 ? buffer_.size() : cut);
  }
  return fitting;
}

void LanguageCleaner::dispatch(std::size_t bytes) {
  std::string text = buffer_.substr(0, bytes);
  buffer_.erase(0, bytes);
  const bool at_line_start = at_line_start_;
  const bool brief = bytes < kPieceBytes / 16;
  at_line_start_ = text.ends_with('\n');
  pieces_.add(
      [this, text = std::move(text), at_line_start] { return PieceCleaner(*rules_, mark_, text).clean(at_line_start); },
      brief);
}

void LanguageCleaner::deliver(Piece piece) {
  foreign_.add(piece.foreign);
  separator_ = std::max(separator_, piece.before);
  if (!piece.text.empty()) {
    if (any_ && separator_ != kNothing) sink_(separator_ == kLine ? "\n" : " ", {});
    if (document_ && (piece.documents.empty() || piece.documents.front() != 0)) {
      piece.documents.insert(piece.documents.begin(), 0);
    }
    sink_(piece.text, piece.documents);
    any_ = true;
    document_ = false;
    separator_ = piece.after;
  }
  document_ = document_ || piece.document_after;
}

void LanguageCleaner::finish() {
  repaired_.clear();
  repair_.finish(repaired_);
  write_valid(repaired_);
  if (!buffer_.empty()) dispatch(buffer_.size());
  pieces_.finish();
  at_line_start_ = true;
  any_ = false;
  document_ = true;
  separator_ = kNothing;
}

}  // namespace xlm
