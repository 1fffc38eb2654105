// Text to the tokens of a byte-pair encoding, as it comes.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/tokens/bpe.h"

namespace xlm {

/// Encodes texts one after the other, each in pieces of any size: the tokens do not depend on the pieces. Any bytes are
/// a text, and their tokens stand for exactly these bytes. Text that looks like <|endoftext|> is plain text.
class BpeEncoder {
 public:
  /// `bpe` must outlive the encoder.
  explicit BpeEncoder(const Bpe& bpe);

  /// Appends the tokens that `text` settles. Like `finish`, it throws DataError for 128 MiB without a place to cut
  /// them.
  void write(std::string_view text, std::vector<std::uint32_t>& tokens);
  /// The text ends here; appends its last tokens. Another text may follow.
  void finish(std::vector<std::uint32_t>& tokens);

 private:
  /// A place in the piece being merged: a token, or none if it was merged into the one before.
  struct Node {
    std::uint32_t token;
    std::uint32_t rank;  // of the merge with the next node; Bpe::kNone: there is none
    std::uint32_t previous;
    std::uint32_t next;
  };
  /// The tokens of a recent short piece. One cache line.
  struct alignas(64) CachedPiece {
    static constexpr std::size_t kMaxBytes = 31;
    static constexpr std::size_t kMaxTokens = 7;
    std::array<char, kMaxBytes> bytes;  // zeros behind the piece
    std::uint8_t length;                // 0: free
    std::array<std::uint32_t, kMaxTokens> tokens;
    std::uint32_t count;
  };

  std::string_view take(std::string_view text, bool whole, std::vector<std::uint32_t>& tokens);
  void encode_piece(std::string_view piece, std::vector<std::uint32_t>& tokens);
  void merge(std::string_view piece, std::vector<std::uint32_t>& tokens);
  void rank_pair(std::uint32_t left);

  const Bpe* bpe_;
  std::string begun_;     // text whose pieces are not settled
  std::size_t wait_ = 0;  // pending bytes before it is scanned again
  std::vector<Node> nodes_;
  std::vector<std::uint64_t> queue_;  // rank and place of merges, the next on top
  std::vector<CachedPiece> cache_;
};

}  // namespace xlm
