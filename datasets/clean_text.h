// The clean text of a corpus on its way to token files: collected once in a temporary file, because vocabulary and
// splits are known only at its end, and then encoded.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "datasets/prepared.h"
#include "datasets/split_plan.h"
#include "datasets/utf8.h"

namespace xlm {

struct PrepareObserver;

/// Collects documents and notes which symbols occur. Memory: one buffer, one flag per symbol, one offset per document.
class CleanText {
 public:
  /// Writes to `file`. With characters as the unit invalid UTF-8 becomes U+FFFD; bytes are kept as they are.
  CleanText(fs::path file, Vocabulary::Unit unit);

  void begin_document();
  void write(std::string_view text);
  /// Completes the file.
  void finish();

  const fs::path& file() const { return file_; }
  Vocabulary::Unit unit() const { return unit_; }
  std::int64_t tokens() const { return tokens_; }
  /// Offset of each document's first token. Documents without text are left out.
  const std::vector<std::int64_t>& documents() const { return documents_; }
  /// How many pieces of invalid UTF-8 became U+FFFD.
  std::int64_t replaced() const { return repair_.replaced(); }
  /// The symbols that occur, in order of code point or byte.
  Vocabulary vocabulary() const;

 private:
  void end_document();
  void count(std::string_view clean);

  fs::path file_;
  Vocabulary::Unit unit_;
  AtomicFile out_;
  Utf8Repair repair_;
  std::string repaired_;
  std::vector<bool> seen_;
  std::int64_t tokens_ = 0;
  std::vector<std::int64_t> documents_;
};

/// What was written of one split.
struct EncodedSplit {
  std::int64_t tokens = 0;
  std::int64_t words = 0;  // runs of anything but ASCII white space; a document's end ends a word
  std::int64_t bytes = 0;
  std::vector<std::int64_t> documents;
};

struct EncodedText {
  std::map<std::string, EncodedSplit> splits;  // those that are not empty
  std::map<std::string, std::string> outputs;  // file: sha256
};

/// Writes train.bin, valid.bin and test.bin (and .txt with `keep_text`) to `folder`.
EncodedText encode(const CleanText& text, const SplitSizes& sizes, bool keep_text, const fs::path& folder,
                   const PrepareObserver& observer);

}  // namespace xlm
