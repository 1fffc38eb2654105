// tokenizer.json, in which Hugging Face's tokenizers have everything: read where it is a byte-pair encoding of GPT-2's
// kind, whose rules are the ones that BpeEncoder has.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "datasets/tokens/bpe.h"

namespace xlm {

/// Adds to {"token": id, …} a token that no text is encoded to; `name` is the file that says so. Throws DataError where
/// the token may be text, or has another id already.
void add_token(SortedJson& ids, const SortedJson& token, const SortedJson& id, std::uint64_t rows,
               const std::string& name);

struct TokenizerJson {
  Vocabulary vocabulary;  // model.vocab, behind it the added tokens
  std::vector<Bpe::Line> merges;
};

/// Throws DataError that says what the tokenizer is, where it is not of GPT-2's kind: other models, cuts and
/// normalizers, or added tokens that may be text. Added tokens from id `rows` on are left out: no embedding is theirs.
TokenizerJson parse_tokenizer_json(std::string_view text, const std::string& name, std::uint64_t rows);

}  // namespace xlm
