// GPT-2's division of a text into pieces, each of which byte-pair encoding encodes separately:
//   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
// Letters, numbers and white space are Unicode's. A byte outside of any UTF-8 character counts as none of the three,
// like the U+FFFD of a decoder, but keeps its value.
#pragma once

#include <cstddef>
#include <string_view>

namespace xlm {

/// Bytes of the first piece of `text`. 0 if following text could change it, or if there is no text. `whole`: no text
/// follows.
std::size_t first_piece(std::string_view text, bool whole);

}  // namespace xlm
