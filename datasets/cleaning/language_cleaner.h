// Cleans any text to the alphabet of a language (letters, single spaces and line breaks) by the rules of
// docs/corpora.md, streaming and in several threads. The result depends neither on how the text is cut into pieces nor
// on the number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/side_work.h"
#include "base/utf8.h"
#include "datasets/cleaning/character_rules.h"
#include "datasets/cleaning/foreign_letters.h"

namespace xlm {

/// What marks the beginning of a document.
enum class DocumentMark { kNone, kArticle, kBlankLine };

/// Takes clean text in pieces; `documents` are offsets in it at which documents begin.
using CleanSink = std::function<void(std::string_view clean, const std::vector<std::size_t>& documents)>;

class LanguageCleaner {
 public:
  /// `rules` and `sink` outlive the cleaner. Up to `threads` pieces are cleaned at once; `sink` is called in order, by
  /// the thread that calls `write` and `finish`. Memory: about 4 MB for each thread.
  LanguageCleaner(const CharacterRules& rules, DocumentMark mark, int threads, CleanSink sink);

  /// Takes the next bytes. Invalid UTF-8 is repaired (base/utf8.h). Characters after the `limit`th are dropped.
  void write(std::string_view bytes);
  /// The same for valid UTF-8. Returns how many bytes of it fit the limit.
  std::size_t write_valid(std::string_view text);
  /// The text ends; another text may follow.
  void finish();

  /// Sets how many raw characters the text may still have; negative: no limit.
  void set_limit(std::int64_t characters) { left_ = characters; }
  /// True if the text has reached its limit: further text would be dropped.
  bool full() const { return left_ == 0; }
  /// Raw characters read, of all texts.
  std::int64_t characters() const { return characters_; }
  /// Pieces of invalid UTF-8, of all texts.
  std::int64_t replaced() const { return repair_.replaced(); }
  /// Letters that the alphabet lacks, of all finished texts.
  const ForeignLetters& foreign() const { return foreign_; }

 private:
  /// The separator between two pieces of clean text; of several the largest counts.
  enum Separator : std::uint8_t { kNothing, kSpace, kLine };

  /// A cleaned piece, without separators at its ends.
  struct Piece {
    std::string text;
    Separator before = kNothing;
    Separator after = kNothing;
    std::vector<std::size_t> documents;
    bool document_after = false;  // a document begins, but none of its letters is in this piece
    ForeignLetters foreign;
  };
  class PieceCleaner;

  void dispatch(std::size_t bytes);
  void deliver(Piece piece);

  const CharacterRules* rules_;
  DocumentMark mark_;
  CleanSink sink_;

  Utf8Repair repair_;
  std::string repaired_;
  std::string buffer_;
  bool at_line_start_ = true;
  std::int64_t left_ = -1;
  std::int64_t characters_ = 0;

  OrderedWork<Piece> pieces_;
  bool any_ = false;  // this text has passed some text on
  bool document_ = true;
  Separator separator_ = kNothing;
  ForeignLetters foreign_;
};

}  // namespace xlm
