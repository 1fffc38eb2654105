// Byte-level byte-pair encoding as GPT-2 has it: its vocabulary and merges, read and checked against each other.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/tokens/vocabulary.h"

namespace xlm {

/// Tables of an encoding. `BpeEncoder` (bpe_encoder.h) applies them, `StreamingDecoder` (decoder.h) goes back.
class Bpe {
 public:
  /// A merge: the earlier its line, the earlier it is applied.
  struct Merge {
    std::uint32_t rank = kNone;  // its place among the lines
    std::uint32_t token = 0;     // what the two become
  };
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  /// `merges` is the text of merges.txt; the names are for errors. Throws DataError when a line is malformed, repeated,
  /// or of tokens that the vocabulary lacks; when a byte has no token; when a token is made by no line, unless it
  /// stands in <…> or […], as those do that no text is encoded to.
  Bpe(Vocabulary vocabulary, std::string_view merges, const std::string& vocabulary_name,
      const std::string& merges_name);

  const Vocabulary& vocabulary() const { return vocabulary_; }
  /// merges.txt with these merges.
  std::string merges_text() const;

  std::uint32_t byte_token(unsigned char byte) const { return byte_tokens_[byte]; }
  /// What two neighbours become; rank kNone where no line merges them.
  Merge find(std::uint32_t left, std::uint32_t right) const;
  /// What the merge of this rank makes.
  std::uint32_t merged(std::uint32_t rank) const { return merged_[rank]; }

 private:
  struct Entry {
    std::uint64_t pair = 0;
    Merge merge;
  };

  static std::uint64_t key(std::uint32_t left, std::uint32_t right) { return std::uint64_t{left} << 32U | right; }
  std::size_t slot_of(std::uint64_t pair) const;
  void read_merges(std::string_view text, const std::string& name);
  void check_tokens(const std::string& vocabulary_name, const std::string& merges_name) const;

  Vocabulary vocabulary_;
  std::array<std::uint32_t, 256> byte_tokens_{};
  std::vector<std::uint64_t> pairs_;   // by rank
  std::vector<std::uint32_t> merged_;  // by rank
  std::vector<Entry> table_;           // open addressing; rank kNone: free
};

/// GPT-2's {"token": id, …}, or the vocabulary of a data or model folder. Throws DataError when ids are not 0, 1, 2, …
Vocabulary parse_bpe_vocabulary(std::string_view json, const std::string& name);

/// Reads vocab.json and merges.txt of a folder: GPT-2's, a Hugging Face model's, or a data or model folder.
Bpe read_bpe(const fs::path& folder);

}  // namespace xlm
