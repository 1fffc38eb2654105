// Text to the tokens of a byte-pair encoding, as it comes.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/zeroed_array.h"
#include "datasets/tokens/bpe.h"
#include "datasets/tokens/text_key.h"

namespace xlm {

/// Encodes texts one after the other, each in pieces of any size: the tokens do not depend on the pieces. Any bytes are
/// a text, and their tokens stand for exactly these bytes. Text that looks like <|endoftext|> is plain text.
class BpeEncoder {
 public:
  static constexpr std::size_t kMaxPieceBytes = std::size_t{1} << 27;  // without a place to cut them

  /// `bpe` must outlive the encoder. Several encoders of one text share the memory of caches, 36 MB in all or 3 MB
  /// each.
  explicit BpeEncoder(const Bpe& bpe, std::size_t encoders = 1);

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
  /// The tokens of a recent piece of up to 15 bytes, for all texts of the encoder. Two share a cache line.
  struct alignas(32) ShortPiece {
    static constexpr std::size_t kMaxBytes = 15;
    static constexpr std::size_t kMaxTokens = 7;
    TextKey<16> key;
    std::array<std::uint16_t, kMaxTokens + 1> tokens;  // the last is their number
  };
  /// The same for up to 31 bytes, more tokens, and tokens of large vocabularies.
  struct alignas(128) LongPiece {
    static constexpr std::size_t kMaxBytes = 31;
    static constexpr std::size_t kMaxTokens = 23;
    TextKey<32> key;
    std::array<std::uint32_t, kMaxTokens> tokens;
    std::uint32_t count;
  };
  /// Found in the text, and looked up when the cache's line has come.
  struct FoundPiece {
    const char* begin;
    std::size_t bytes;
    TextKey<16> key;    // of a short one
    ShortPiece* place;  // likewise: of two
  };

  std::string_view take(std::string_view text, bool whole, std::vector<std::uint32_t>& tokens);
  void encode_found(std::size_t count, std::vector<std::uint32_t>& tokens);
  std::uint32_t* encode_short_piece(const FoundPiece& found, std::uint32_t* out);
  std::uint32_t* encode_long_piece(std::string_view piece, std::uint32_t* out);
  std::uint32_t* merge(std::string_view piece, std::uint32_t* out);
  std::uint32_t* merge_short(std::string_view piece, std::uint32_t* out) const;
  void rank_pair(std::uint32_t left);

  const Bpe* bpe_;
  std::string begun_;     // text whose pieces are not settled
  std::size_t wait_ = 0;  // pending bytes before it is scanned again
  std::vector<Node> nodes_;
  std::vector<std::uint64_t> queue_;  // rank and place of merges, the next on top
  std::vector<FoundPiece> found_;
  ZeroedArray<ShortPiece> short_pieces_;
  ZeroedArray<LongPiece> long_pieces_;
  std::vector<std::uint32_t> scratch_;  // tokens before they are appended
};

}  // namespace xlm
