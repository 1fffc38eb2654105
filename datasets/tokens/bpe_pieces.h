// How GPT-2 cuts a text into pieces before byte-pair encoding, each of which is encoded by itself:
//   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
// Letters, numbers and white space are Unicode's. A byte that is part of no UTF-8 character counts as none of the
// three, like the U+FFFD that a decoder would put in its place; but it stays what it is.
#pragma once

#include <cstddef>
#include <string_view>

namespace xlm {

/// Bytes of the first piece of `text`. 0 when what follows could change it (or there is no text), which cannot be where
/// `whole` says that nothing follows.
std::size_t first_piece(std::string_view text, bool whole);

}  // namespace xlm
