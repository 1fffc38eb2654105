// Unigram tokenizers (Kudo 2018) of SentencePiece (Kudo and Richardson 2018): training one, and cutting a word into
// pieces.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/zeroed_array.h"
#include "datasets/tokens/text_key.h"

namespace xlm {

/// Reads the next line of a text into its argument; returns false at the end.
using NextLine = std::function<bool(std::string& line)>;

/// A unigram model of `pieces` pieces trained on a text, in SentencePiece's format: every character covered, pieces of
/// at most 16 characters, split by white space, script and digits, no normalisation (Nawrot et al. 2023, §4.2). It uses
/// one thread: the same text gives the same bytes. Memory is about 28 bytes per character. SentencePiece runs in a
/// child process, which calls `next_line`; `waiting` is called meanwhile, and may throw to stop it. Throws UsageError
/// if the text has too few pieces, or needs more.
std::string train_unigram(const NextLine& next_line, std::int64_t pieces, const std::function<void()>& waiting);

class UnigramTokenizer {
 public:
  /// `model` is the content of a SentencePiece model; `source` names it in errors. Throws DataError if it is not one.
  UnigramTokenizer(const std::string& model, std::string source);
  ~UnigramTokenizer();
  /// The same for another thread. They share what they know of words.
  std::unique_ptr<UnigramTokenizer> for_another_thread() const;

  /// Lengths of the pieces of `word` (UTF-8, not empty, without spaces) in characters, none of them 0, in a text that
  /// has a space before it, and one behind it. Line breaks and tabs inside are separate pieces. Throws DataError with a
  /// character that no piece covers.
  std::vector<int> piece_lengths(const std::string& word, bool before, bool behind) const;

  /// The same of a word of up to kShortBytes bytes: a bit for each character, which is 1 if a piece ends there and
  /// another begins. 16 bytes can be read at `word`.
  struct PieceEnds {
    std::uint32_t bits = 0;
    std::uint32_t characters = 0;
  };
  static constexpr std::size_t kShortBytes = 15;
  PieceEnds piece_ends(const char* word, std::size_t bytes, bool before, bool behind) const;

 private:
  /// One of the recent short words.
  struct KnownWord {
    TextKey<16> key;
    PieceEnds ends;
  };

  struct Model;
  explicit UnigramTokenizer(std::shared_ptr<Model> model);

  std::shared_ptr<Model> model_;
  mutable ZeroedArray<KnownWord> known_short_;
};

}  // namespace xlm
