// Cleans Wikipedia's XML or any other text to the alphabet of text8 (a–z and single spaces): the semantics of Matt
// Mahoney's published filter, streaming and without regular expressions.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/side_work.h"
#include "datasets/cleaning/foreign_letters.h"

namespace xlm {

/// Takes clean text in pieces.
using TextSink = std::function<void(std::string_view)>;

/// A Wikipedia XML dump becomes the text that a reader of the page sees. The published filter works on records that end
/// in '>', which makes each article one record, and so does this one: memory is bounded by the longest record.
///
/// Kept: what stands between <text …> and </text>, image captions, the anchor text of links, category names. Dropped:
/// redirect pages, tags, references, tables and templates ({…}, {{…}}), addresses, links to other languages. Then upper
/// case becomes lower case, digits are spelt out, and every run of other bytes becomes one space. Each record that has
/// any text begins with a space and ends without one.
class WikipediaFilter {
 public:
  /// `source` names the input in errors.
  WikipediaFilter(std::string source, TextSink sink);

  /// Takes the next bytes of the dump. Throws DataError if a record exceeds 64 MiB: the input is not a dump then.
  void write(std::string_view xml);

  /// The input ends: the rest is the last record.
  void finish();

 private:
  void take_record();

  std::string source_;
  TextSink sink_;
  std::string record_;
  std::string clean_;
  bool inside_text_ = false;
};

/// Any text, cleaned the same way but without markup rules: lower case, digits spelt out, every run of other bytes one
/// space. A document begins with a space and ends without one, so that documents can follow each other; text that is
/// clean already stays as it is (but for the space in front).
class Text8Cleaner {
 public:
  /// Up to `threads` pieces are cleaned at once; `sink` gets them in order, on the thread that calls `write` and
  /// `finish`.
  explicit Text8Cleaner(TextSink sink, int threads = 1)
      : sink_(std::move(sink)), pieces_(threads, [this](const Piece& piece) { deliver(piece); }) {}

  void write(std::string_view text);
  /// The document ends; another may follow.
  void finish();
  /// Letters and digits outside of ASCII, which became spaces. A piece of invalid UTF-8 counts as one.
  const ForeignLetters& foreign() const { return foreign_; }

 private:
  struct Piece {
    std::string clean;
    bool space_pending = false;  // behind it
    ForeignLetters foreign;
  };
  static Piece cleaned(std::string_view text);
  void deliver(const Piece& piece);

  TextSink sink_;
  bool space_pending_ = true;
  std::string begun_;  // an incomplete character
  ForeignLetters foreign_;
  OrderedWork<Piece> pieces_;  // last: it ends before what it uses
};

/// True for the 27 symbols of text8.
constexpr bool is_text8_symbol(char c) { return c == ' ' || (c >= 'a' && c <= 'z'); }

}  // namespace xlm
