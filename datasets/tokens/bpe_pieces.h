// GPT-2's division of a text into pieces, each of which byte-pair encoding encodes separately:
//   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
// Letters, numbers and white space are Unicode's. A byte outside of any UTF-8 character counts as none of the three,
// like the U+FFFD of a decoder, but keeps its value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace xlm {

/// Bytes of the first piece of `text`. 0 if following text could change it, or if there is no text. `whole`: no text
/// follows.
std::size_t first_piece(std::string_view text, bool whole);

/// Bytes of the pieces at the beginning of `text` that following text cannot change.
std::size_t settled_bytes(std::string_view text);

/// Bytes that `piece_beginnings` may read.
constexpr std::size_t kStretchBytes = 66;

/// Where pieces begin in the next 64 bytes of a text that begins with one: bit i for text[i], but for the first. It is
/// 0 behind what first_piece has to tell: white space beyond ASCII, or a piece that has not ended. `text` has
/// kStretchBytes or more.
std::uint64_t piece_beginnings(const char* text);

}  // namespace xlm
