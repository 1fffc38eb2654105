// From token ids back to text, as they come.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.h"
#include "datasets/tokens/vocabulary.h"

namespace xlm {

/// How GPT-2's files write a byte: itself where it is printable, otherwise one of the characters from U+0100 on.
std::string byte_symbol(unsigned char byte);

/// The bytes that each id stands for. A BPE token that is not written in byte symbols stands for its own text.
std::vector<std::string> symbol_bytes(const Vocabulary& vocabulary);

/// Ids to text that can be shown at once: no character is ever given in part, and what is no UTF-8 becomes U+FFFD.
class StreamingDecoder {
 public:
  explicit StreamingDecoder(const Vocabulary& vocabulary) : bytes_(symbol_bytes(vocabulary)) {}

  /// The text that `id` completes; empty while a character still lacks bytes. `id` is one of the vocabulary's.
  std::string take(std::int64_t id);
  /// The text ends: a character that was begun becomes U+FFFD. A new text may follow.
  std::string finish();

 private:
  std::vector<std::string> bytes_;
  Utf8Repair repair_;
};

}  // namespace xlm
