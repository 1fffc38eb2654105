// The training text as batches.
//
// B rows, M tokens of a block (T where the model calls it so).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <torch/torch.h>

#include "base/json.h"
#include "core/models/language_model.h"
#include "datasets/prepared/prepared.h"
#include "datasets/tokens/token_flags.h"

namespace xlm {

/// Token ids of a split as a model numbers them, and the flags beside them.
class TokenSource {
 public:
  /// `reencoding` maps ids of the data to ids of the model; empty: they are the same. `flags`: boundaries of the
  /// tokens; null where the data have none.
  TokenSource(const TokenFile& file, std::vector<std::int64_t> reencoding,
              std::shared_ptr<const TokenFlags> flags = nullptr)
      : file_(&file), reencoding_(std::move(reencoding)), flags_(std::move(flags)) {}
  /// The same of a split, which lives on and knows its documents.
  TokenSource(const Split& split, std::vector<std::int64_t> reencoding,
              std::shared_ptr<const TokenFlags> flags = nullptr)
      : TokenSource(split.tokens, std::move(reencoding), std::move(flags)) {
    documents_ = &split.documents;
  }

  /// What the ids stand for, as `bytes` needs to know.
  void set_vocabulary(const Vocabulary& vocabulary);

  std::int64_t size() const { return file_->size(); }
  /// Copies the ids [begin, begin + count) to `out`.
  void copy(std::int64_t begin, std::int64_t count, std::int64_t* out) const;
  /// Rows of `count` ids that begin at `first`, `first + stride`, …: [rows, count].
  torch::Tensor rows(std::int64_t rows, std::int64_t first, std::int64_t stride, std::int64_t count) const;
  /// The flags of the same tokens: [rows, count]; undefined where there are none.
  torch::Tensor flag_rows(std::int64_t rows, std::int64_t first, std::int64_t stride, std::int64_t count) const;
  /// {first token, tokens} of every document; one where none are known.
  std::vector<std::pair<std::int64_t, std::int64_t>> documents() const;
  /// Bytes of the text that ids stand for, negative ones left out; 0 where no vocabulary is known.
  std::int64_t bytes(const torch::Tensor& ids) const;
  /// The id of <|endoftext|>. Throws UsageError if the vocabulary has no such symbol, or is not known.
  std::int64_t end_of_text() const;
  /// Flags beside the text; null where there are none.
  const TokenFlags* flags() const { return flags_.get(); }

 private:
  const TokenFile* file_;
  std::vector<std::int64_t> reencoding_;
  std::shared_ptr<const TokenFlags> flags_;
  const std::vector<std::int64_t>* documents_ = nullptr;
  std::vector<std::int64_t> symbol_bytes_;  // by id
  std::optional<std::int64_t> end_of_text_;
};

/// The tokens of a split as a model with the vocabulary of the data wants them, with the flags that it asks for.
TokenSource token_source(const PreparedData& data, const std::string& split, const LanguageModel& model);

struct Batch {
  ModelInput input;       // [B, M]
  torch::Tensor targets;  // [B, M], the token after each
  bool fresh = false;     // the rows do not go on from the batch before: start from the initial state
};

/// An endless sequence of batches, the same for the same seed.
class BatchStream {
 public:
  virtual ~BatchStream() = default;
  virtual Batch next() = 0;
  /// Where the stream stands, for checkpoints.
  virtual Json state() const = 0;
  /// Throws DataError for a place that this text does not have.
  virtual void restore(const Json& state) = 0;
};

struct BatchShape {
  std::int64_t batch;
  std::int64_t block;
};

/// The stream of a model's scheme. Throws DataError when the text is too short for it.
std::unique_ptr<BatchStream> make_batch_stream(LanguageModel::Scheme scheme, const TokenSource& source,
                                               BatchShape shape, std::int64_t seed);

/// B contiguous rows of ⌊N/B⌋ tokens; blocks advance along the rows; a short last block is skipped, and the rows start
/// again at a random offset in [0, M) (docs/models.md#the-past-of-a-stream). Random numbers follow from the seed and
/// the round.
class StreamingBatches final : public BatchStream {
 public:
  /// Throws DataError when the text is too short for one block per row.
  StreamingBatches(const TokenSource& source, BatchShape shape, std::int64_t seed);

  Batch next() override;
  Json state() const override;
  void restore(const Json& state) override;

 private:
  const TokenSource* source_;
  BatchShape shape_;
  std::int64_t seed_;
  std::int64_t row_length_;
  std::int64_t position_ = 0;
  std::int64_t round_ = 0;
  bool fresh_ = true;
};

}  // namespace xlm
