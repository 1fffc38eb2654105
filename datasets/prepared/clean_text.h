// The clean text of a corpus before it is encoded (encoding.h). It is collected once in a temporary file, because
// vocabulary and splits are known only at its end.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/side_work.h"
#include "base/utf8.h"
#include "datasets/prepared/prepared.h"
#include "datasets/prepared/split_plan.h"
#include "datasets/tokens/bpe_encoder.h"

namespace xlm {

/// A stretch of the text that is one split.
struct SplitPart {
  std::size_t split;  // its place in kSplitNames
  std::int64_t tokens;
};

/// Training, validation and test, in this order.
std::vector<SplitPart> split_parts(const SplitSizes& sizes);

/// A fixed sample of the documents, which begin at these tokens of a text of `tokens`: `sizes` documents of each split,
/// in the order of the text. The same documents belong to the same splits whatever a token is.
std::vector<SplitPart> sampled_parts(const std::vector<std::int64_t>& documents, std::int64_t tokens,
                                     const SplitSizes& sizes);

/// What a cleaner removed: letters and digits that the alphabet lacks.
struct ThrownAway {
  std::int64_t lost = 0;
  std::int64_t kept = 0;
  double usual = 0;                   // the largest share that is lost of a text in the right language
  std::vector<std::string> examples;  // of what was lost

  double share() const { return lost == 0 ? 0.0 : static_cast<double>(lost) / static_cast<double>(lost + kept); }
  /// Whether it is more than a small share and more than a few letters.
  bool is_much() const {
    constexpr std::int64_t kFew = 5;
    return lost >= kFew && share() > usual;
  }
};

/// Collects documents and records which symbols occur. Memory: one buffer, one number per symbol (9 MB for characters),
/// one offset per document. BPE is encoded here, because splits are counted in tokens; the file then contains ids, and
/// each thread needs some 5 MB more.
///
/// Text is looked at in blocks, several at a time: what is told of it is known at the end, and where a split begins.
class CleanText {
 public:
  /// Writes to `file`. If characters are the unit, invalid UTF-8 becomes U+FFFD; bytes are kept. Only BPE needs `bpe`,
  /// and keeps bytes too.
  CleanText(fs::path file, Vocabulary::Unit unit, std::shared_ptr<const Bpe> bpe = nullptr, int threads = 1);

  /// For corpora with their own splits: begins the split at place `split` of kSplitNames. Throws DataError if it began
  /// before.
  void begin_split(std::size_t split);
  /// Of byte pairs and of bytes only the first `most_tokens` of the document are kept.
  void begin_document(std::int64_t most_tokens = std::numeric_limits<std::int64_t>::max());
  void write(std::string_view text);
  /// The same for valid UTF-8; `documents` are offsets in `text` at which documents begin.
  void write_clean(std::string_view text, const std::vector<std::size_t>& documents);
  /// Completes the file.
  void finish();

  const fs::path& file() const { return file_; }
  /// Bytes of a symbol in the file; 0 for characters, whose lengths differ.
  std::size_t symbol_width() const;
  /// Of the whole text.
  std::int64_t tokens() const { return tokens_; }
  /// Offset of each document's first token. Documents without text are left out.
  const std::vector<std::int64_t>& documents() const { return documents_; }
  /// The corpus's own splits, in the order in which they were written.
  std::vector<SplitPart> parts() const;
  /// How many pieces of invalid UTF-8 became U+FFFD, here or before.
  std::int64_t replaced() const { return repair_.replaced() + replaced_before_; }
  /// The text around the first piece that was replaced here; "" if it is unknown.
  const std::string& replaced_example() const { return replaced_example_; }
  void add_replaced(std::int64_t pieces) { replaced_before_ += pieces; }
  /// A special token of the byte pairs that stands in the first megabytes as text, which it stays; "" if none does.
  const std::string& special_in_text() const { return special_in_text_; }
  /// What the cleaner removed of the whole text.
  const ThrownAway& thrown_away() const { return thrown_away_; }
  void set_thrown_away(ThrownAway thrown_away) { thrown_away_ = std::move(thrown_away); }
  /// The symbols that occur before offset `end`, in order of code point or byte.
  Vocabulary vocabulary(std::int64_t end) const;

 private:
  /// Where a document ends and the next one begins: bytes of a text, and then its tokens.
  struct Boundary {
    std::size_t place;
    std::int64_t most_tokens;  // of the document that begins
  };
  /// A block that was looked at.
  struct Seen {
    std::string text;                   // unless it is
    std::vector<std::uint32_t> tokens;  // byte pairs
    std::size_t count = 0;              // of tokens
    bool has_unseen = false;            // symbols that no block before had
    std::vector<Boundary> boundaries;
  };

  void end_document();
  void finish_blocks();
  void look_for_specials(std::string_view text);
  void start_document(std::int64_t begin);
  void collect(std::string_view text);
  std::size_t settled(std::size_t before);
  void dispatch(std::size_t bytes);
  Seen look_at(std::string text, std::vector<Boundary> boundaries);
  Seen encode(std::string_view text, std::vector<Boundary> boundaries);
  void take(Seen seen);
  bool has_unseen(std::string_view clean);
  void note_symbols(std::string_view clean);
  void write_tokens(std::uint32_t* tokens, std::size_t count);

  fs::path file_;
  Vocabulary::Unit unit_;
  AtomicFile out_;
  Utf8Repair repair_;
  std::string repaired_;
  std::string replaced_example_;
  std::vector<std::string> specials_;  // to look for
  std::size_t looked_at_ = 0;          // bytes
  std::string special_in_text_;
  std::vector<std::int64_t> first_seen_;  // per symbol: its first offset; -1 if it does not occur. Several threads look
  std::shared_ptr<const Bpe> bpe_;
  std::string begun_;                       // text that was not looked at yet
  std::vector<Boundary> begun_boundaries_;  // in it
  std::size_t wait_;                        // bytes of it before it is
  Spares<BpeEncoder> encoders_;
  std::int64_t room_ = std::numeric_limits<std::int64_t>::max();  // tokens that the document may still have
  std::int64_t replaced_before_ = 0;
  ThrownAway thrown_away_;
  std::int64_t tokens_ = 0;
  std::vector<std::int64_t> documents_;
  std::vector<std::pair<std::size_t, std::int64_t>> splits_;  // split, and its first token
  SideSink writing_;                                          // these two last: they end before what they use
  OrderedWork<Seen> blocks_;
};

}  // namespace xlm
