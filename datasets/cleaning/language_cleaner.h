// Text in the alphabet of a language (letters, single spaces and line breaks) from any text: the rules of docs/data.md,
// in a streaming pass, with the work spread over threads. What comes out depends neither on how the text is cut into
// pieces nor on the number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.h"
#include "datasets/cleaning/character_rules.h"
#include "datasets/cleaning/foreign_letters.h"

namespace xlm {

/// Where a new document begins.
enum class DocumentMark { kNone, kArticle, kBlankLine };

/// Takes clean text in pieces; `documents` are offsets in it at which a document begins.
using CleanSink = std::function<void(std::string_view clean, const std::vector<std::size_t>& documents)>;

class LanguageCleaner {
 public:
  /// `rules` and `sink` outlive the cleaner. Up to `threads` pieces are cleaned at once; `sink` is called in order, by
  /// the thread that calls `write` and `finish`. Memory: about 4 MB for each thread.
  LanguageCleaner(const CharacterRules& rules, DocumentMark mark, int threads, CleanSink sink);

  /// The next bytes. Invalid UTF-8 is repaired (base/utf8.h). Characters after the `limit`th are dropped.
  void write(std::string_view bytes);
  /// The same for valid UTF-8; says how many bytes of it fit the limit.
  std::size_t write_valid(std::string_view text);
  /// The text ends; what is written next is another one.
  void finish();

  /// Raw characters that a text may have from now on; negative: any number.
  void set_limit(std::int64_t characters) { left_ = characters; }
  /// True when a text has used up its limit: there is no need to go on.
  bool full() const { return left_ == 0; }
  /// Raw characters taken, of all texts.
  std::int64_t characters() const { return characters_; }
  /// Pieces of invalid UTF-8, of all texts.
  std::int64_t replaced() const { return repair_.replaced(); }
  /// What the alphabet lacks, of all texts that are finished.
  const ForeignLetters& foreign() const { return foreign_; }

 private:
  /// What stands between two pieces of clean text; of several the largest counts.
  enum Separator : std::uint8_t { kNothing, kSpace, kLine };

  /// A cleaned piece: no separator at either end.
  struct Piece {
    std::string text;
    Separator before = kNothing;
    Separator after = kNothing;
    std::vector<std::size_t> documents;
    bool document_after = false;  // one begins, but none of its letters is in this piece
    ForeignLetters foreign;
  };
  class PieceCleaner;

  void dispatch(std::size_t bytes);
  void deliver();

  const CharacterRules* rules_;
  DocumentMark mark_;
  std::size_t threads_;
  CleanSink sink_;

  Utf8Repair repair_;
  std::string repaired_;
  std::string buffer_;
  bool at_line_start_ = true;
  std::int64_t left_ = -1;
  std::int64_t characters_ = 0;

  std::deque<std::future<Piece>> pieces_;
  bool any_ = false;  // text of this one has been handed out
  bool document_ = true;
  Separator separator_ = kNothing;
  ForeignLetters foreign_;
};

}  // namespace xlm
