// A split's text as token ids of a model, with the boundary flags that the model asks for.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <torch/torch.h>

#include "core/models/language_model.h"
#include "datasets/prepared/prepared.h"
#include "datasets/tokens/token_flags.h"

namespace xlm {

/// Token ids of a split as a model numbers them, and their flags.
class TokenSource {
 public:
  /// `reencoding` maps ids of the data to ids of the model; empty: they are the same. `flags`: boundaries of the
  /// tokens; null if there are none.
  TokenSource(const TokenFile& file, std::vector<std::int64_t> reencoding,
              std::shared_ptr<const TokenFlags> flags = nullptr)
      : file_(&file), reencoding_(std::move(reencoding)), flags_(std::move(flags)) {}
  /// The same for a split with its documents. The split must outlive this.
  TokenSource(const Split& split, std::vector<std::int64_t> reencoding,
              std::shared_ptr<const TokenFlags> flags = nullptr)
      : TokenSource(split.tokens, std::move(reencoding), std::move(flags)) {
    documents_ = &split.documents;
  }

  /// The symbols of the ids, which `bytes` and `end_of_text` need.
  void set_vocabulary(const Vocabulary& vocabulary);

  /// The first `count` tokens alone.
  TokenSource first(std::int64_t count) const;

  std::int64_t size() const { return limit_.value_or(file_->size()); }
  /// Copies the ids [begin, begin + count) to `out`.
  void copy(std::int64_t begin, std::int64_t count, std::int64_t* out) const;
  /// Rows of `count` ids that begin at `first`, `first + stride`, …: [rows, count].
  torch::Tensor rows(std::int64_t rows, std::int64_t first, std::int64_t stride, std::int64_t count) const;
  /// The flags of the same tokens: [rows, count]; undefined if there are none.
  torch::Tensor flag_rows(std::int64_t rows, std::int64_t first, std::int64_t stride, std::int64_t count) const;
  /// {first token, tokens} of every document. If none are known, the whole text is one.
  std::vector<std::pair<std::int64_t, std::int64_t>> documents() const;
  /// Bytes of the text that ids stand for; a negative id has none. 0 if no vocabulary is known.
  std::int64_t bytes(const torch::Tensor& ids) const;
  /// The id of <|endoftext|>. Throws UsageError if the vocabulary has no such symbol, or is not known.
  std::int64_t end_of_text() const;
  /// The flags of the text; null if there are none.
  const TokenFlags* flags() const { return flags_.get(); }

 private:
  const TokenFile* file_;
  std::optional<std::int64_t> limit_;  // tokens that count, from the beginning on
  std::vector<std::int64_t> reencoding_;
  std::shared_ptr<const TokenFlags> flags_;
  const std::vector<std::int64_t>* documents_ = nullptr;
  std::vector<std::int64_t> symbol_bytes_;  // by id
  std::optional<std::int64_t> end_of_text_;
};

/// The text of a split, for a model with the vocabulary of the data.
TokenSource token_source(const PreparedData& data, const std::string& split, const LanguageModel& model);

}  // namespace xlm
