// Common parts of reading corpora.
#pragma once

#include "datasets/cleaning/foreign_letters.h"
#include "datasets/corpora/registry.h"

namespace xlm {

/// Calls `each` for every piece of `file`. The first piece has about 64 KiB or more unless the file is shorter.
void for_each_block(const TextFile& file, const std::function<void(std::string_view block)>& each,
                    LineEnds line_ends = LineEnds::kUnix);
/// The same until `each` returns false; with `strict` invalid UTF-8 is a DataError. Returns whether a line end changed.
bool for_each_block_until(const TextFile& file, bool strict, const std::function<bool(std::string_view block)>& each,
                          LineEnds line_ends = LineEnds::kUnix);

/// Replaces the line ends of every system by Unix's, in a text that comes in pieces.
class UnixLineEnds {
 public:
  /// Takes the next piece. A CR at its end is one line end, whether or not the next piece begins with LF.
  std::string_view write(std::string_view block);
  bool changed() const { return changed_; }

 private:
  std::string clean_;
  bool changed_ = false;
  bool after_return_ = false;  // the last piece ended with CR
};

/// Refuses invalid UTF-8 in a text that comes in pieces.
class StrictUtf8 {
 public:
  explicit StrictUtf8(std::string label) : label_(std::move(label)) {}
  /// Throws DataError with the position of the invalid bytes.
  void write(std::string_view bytes);
  void finish();

 private:
  void check() const;

  std::string label_;
  Utf8Repair repair_;
  std::string scratch_;
};

/// Refuses a column that holds the printed form of bytes (b'…'): its first row, or more than one row in a hundred.
class PrintedRows {
 public:
  /// Takes the next row of the file `label`.
  void take(std::string_view row, const std::string& label);
  /// The column ends.
  void finish(const std::string& label) const;

 private:
  std::int64_t rows_ = 0;
  std::int64_t printed_ = 0;
  std::string example_;
};

/// Records in `text` what a cleaner removed; `language` is null for text8.
void set_thrown_away(const ForeignLetters& foreign, const Language* language, CleanText& text);

/// For corpora that are one file: throws DataError at the second file of an archive.
void check_single(const TextFile& file, std::string_view corpus);

}  // namespace xlm
