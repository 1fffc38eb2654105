// From token ids to text, piece by piece.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.h"
#include "datasets/tokens/vocabulary.h"

namespace xlm {

/// A byte in GPT-2's files: itself if it is printable, otherwise one of the characters from U+0100 on.
std::string byte_symbol(unsigned char byte);

/// The bytes of each id. A BPE token that is not written in byte symbols stands for its own text.
std::vector<std::string> symbol_bytes(const Vocabulary& vocabulary);

/// Ids to text that can be shown at once: never part of a character; invalid UTF-8 becomes U+FFFD.
class StreamingDecoder {
 public:
  explicit StreamingDecoder(const Vocabulary& vocabulary) : bytes_(symbol_bytes(vocabulary)) {}

  /// The text that `id` completes; empty while a character is incomplete. `id` is one of the vocabulary's.
  std::string take(std::int64_t id);
  /// The text ends: an incomplete character becomes U+FFFD. Another text may follow.
  std::string finish();

 private:
  std::vector<std::string> bytes_;
  Utf8Repair repair_;
};

}  // namespace xlm
