// tokenizer.json, the single file of Hugging Face's tokenizers: read if it is a byte-pair encoding of GPT-2's kind,
// whose rules BpeEncoder implements.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "datasets/tokens/bpe.h"

namespace xlm {

/// Adds a token to {"token": id, …} that no text is encoded to; `name` is its file. Throws DataError if the token may
/// be text, or has another id already.
void add_token(SortedJson& ids, const SortedJson& token, const SortedJson& id, std::uint64_t rows,
               const std::string& name);

struct TokenizerJson {
  Vocabulary vocabulary;  // model.vocab, followed by the added tokens
  std::vector<Bpe::Line> merges;
};

/// Throws DataError with the tokenizer's kind if it is not GPT-2's: other models, cuts and normalizers, or added tokens
/// that may be text. Added tokens from id `rows` on are left out, because no embedding belongs to them.
TokenizerJson parse_tokenizer_json(std::string_view text, const std::string& name, std::uint64_t rows);

}  // namespace xlm
