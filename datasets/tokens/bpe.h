// Byte-level byte-pair encoding as in GPT-2: its vocabulary and merges, read and checked against each other.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "datasets/tokens/vocabulary.h"

namespace xlm {

/// Tables of an encoding. `BpeEncoder` (bpe_encoder.h) applies them; `StreamingDecoder` (decoder.h) reverses it.
class Bpe {
 public:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;
  /// A merge in a file.
  struct Line {
    std::string left, right;
    std::int64_t number = 0;  // from 1, of the line or of the merge in its list
  };

  /// The names are for errors. Throws DataError if a merge is repeated, or has tokens that the vocabulary lacks; if a
  /// byte has no token; if no merge makes a token that is not special.
  Bpe(Vocabulary vocabulary, const std::vector<Line>& merges, const std::string& vocabulary_name,
      const std::string& merges_name);
  /// The same with the text of merges.txt. Throws DataError also for a malformed line.
  Bpe(Vocabulary vocabulary, std::string_view merges, const std::string& vocabulary_name,
      const std::string& merges_name);

  const Vocabulary& vocabulary() const { return vocabulary_; }
  /// Those to which no text is encoded, such as <|endoftext|>.
  std::vector<std::string> special_tokens() const;
  /// merges.txt with these merges.
  std::string merges_text() const;

  std::uint32_t byte_token(unsigned char byte) const { return byte_tokens_[byte]; }
  /// The place among the lines of the merge of two neighbours, of which earlier ones are applied first; kNone if no
  /// line merges them.
  std::uint32_t rank(std::uint32_t left, std::uint32_t right) const {
    return table_[slot_of(std::uint64_t{left} << 32U | right)].rank;
  }
  /// The token that the merge of this rank makes.
  std::uint32_t merged(std::uint32_t rank) const { return merged_[rank]; }

 private:
  /// Small, so that nearly all stay in the processor's caches.
  struct Entry {
    std::uint32_t hash = 0;
    std::uint32_t rank = kNone;  // kNone: free
  };

  static std::uint32_t hash_of(std::uint64_t pair) {
    return static_cast<std::uint32_t>(pair * 0x9E3779B97F4A7C15U >> 32U);
  }
  std::size_t slot_of(std::uint64_t pair) const {
    const std::uint32_t hash = hash_of(pair);
    for (std::size_t slot = hash;; ++slot) {
      const Entry& entry = table_[slot &= table_.size() - 1];
      if (entry.rank == kNone || (entry.hash == hash && pairs_[entry.rank] == pair)) return slot;
    }
  }
  void add_merges(const std::vector<Line>& merges, const std::string& name);
  std::vector<bool> tokens_of_texts() const;
  void check_tokens(const std::string& vocabulary_name, const std::string& merges_name) const;

  Vocabulary vocabulary_;
  std::array<std::uint32_t, 256> byte_tokens_{};
  std::vector<std::uint64_t> pairs_;   // by rank
  std::vector<std::uint32_t> merged_;  // by rank
  std::vector<Entry> table_;           // open addressing
};

/// Whether a token is in <…> or […], as those that no text is encoded to, such as <|endoftext|>.
bool is_special_token(std::string_view symbol);

/// The vocabulary of {"token": id, …}. Throws DataError if ids are not 0, 1, 2, …
Vocabulary vocabulary_of_ids(const SortedJson& ids, const std::string& name);

/// GPT-2's vocab.json, or that of a data or model folder.
Vocabulary parse_bpe_vocabulary(std::string_view json, const std::string& name);

/// Reads the encoding of a folder: vocab.json and merges.txt, tokenizer.json, or all of them, which then must agree
/// (experiments/recipes/recurrence/README.md#hugging-faces-folders). It may be GPT-2's, a Hugging Face model's, or a
/// data or model folder.
Bpe read_bpe(const fs::path& folder);

/// The vocabulary of the same folder, which needs no merges.
Vocabulary read_bpe_vocabulary(const fs::path& folder);

/// Throws DataError if the merges of prepared data and of a model differ: the same symbols stand for other parts of a
/// text then. A model's are in merges.txt or in tokenizer.json; a folder without both says nothing.
void check_same_merges(const fs::path& data, const fs::path& model);

/// Whether a folder has a vocabulary file.
bool has_vocabulary(const fs::path& folder);

}  // namespace xlm
