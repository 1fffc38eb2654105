// The training text as batches of blocks.
#include "core/batches/batch_stream.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "base/error.h"
#include "base/random.h"
#include "core/batches/document_sequences.h"
#include "core/batches/rotated_chunks.h"
#include "core/models/capabilities.h"
#include "core/runtime/random_streams.h"
#include "datasets/prepared/segmentation.h"
#include "datasets/tokens/decoder.h"

namespace xlm {
namespace {

constexpr std::string_view kEndOfText = "<|endoftext|>";

}  // namespace

torch::Tensor TokenSource::rows(std::int64_t rows, std::int64_t first, std::int64_t stride, std::int64_t count) const {
  torch::Tensor ids = torch::empty({rows, count}, torch::kLong);
  std::int64_t* out = ids.data_ptr<std::int64_t>();
  for (std::int64_t row = 0; row < rows; ++row) copy(first + row * stride, count, out + row * count);
  return ids;
}

torch::Tensor TokenSource::flag_rows(std::int64_t rows, std::int64_t first, std::int64_t stride,
                                     std::int64_t count) const {
  if (flags_ == nullptr) return {};
  torch::Tensor flags = torch::empty({rows, count}, torch::kBool);
  bool* out = flags.data_ptr<bool>();
  for (std::int64_t row = 0; row < rows; ++row) flags_->copy(first + row * stride, count, out + row * count);
  return flags;
}

void TokenSource::copy(std::int64_t begin, std::int64_t count, std::int64_t* out) const {
  file_->copy(begin, count, out);
  if (reencoding_.empty()) return;
  for (std::int64_t i = 0; i < count; ++i) out[i] = reencoding_[static_cast<std::size_t>(out[i])];
}

void TokenSource::set_vocabulary(const Vocabulary& vocabulary) {
  symbol_bytes_.clear();
  for (const std::string& bytes : symbol_bytes(vocabulary))
    symbol_bytes_.push_back(static_cast<std::int64_t>(bytes.size()));
  const auto end = std::find(vocabulary.symbols.begin(), vocabulary.symbols.end(), kEndOfText);
  end_of_text_.reset();
  if (end != vocabulary.symbols.end()) end_of_text_ = end - vocabulary.symbols.begin();
}

std::int64_t TokenSource::end_of_text() const {
  if (end_of_text_) return *end_of_text_;
  throw UsageError(
      fmt::format("eval.first_token=score: the vocabulary has no symbol {} to begin a document with\n"
                  "leave first tokens out: eval.first_token=skip",
                  kEndOfText));
}

std::int64_t TokenSource::bytes(const torch::Tensor& ids) const {
  if (symbol_bytes_.empty()) return 0;
  const torch::Tensor flat = ids.contiguous();
  const std::int64_t* id = flat.data_ptr<std::int64_t>();
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < flat.numel(); ++i) {
    if (id[i] >= 0) sum += symbol_bytes_[static_cast<std::size_t>(id[i])];
  }
  return sum;
}

TokenSource token_source(const PreparedData& data, const std::string& split, const LanguageModel& model) {
  const std::string tokenizer = tokenizer_of(model);
  TokenSource source(data.split(split), {}, tokenizer.empty() ? nullptr : open_segmentation(data, split, tokenizer));
  source.set_vocabulary(data.vocabulary);
  return source;
}

std::vector<std::pair<std::int64_t, std::int64_t>> TokenSource::documents() const {
  if (documents_ == nullptr || documents_->empty()) return {{0, size()}};
  std::vector<std::pair<std::int64_t, std::int64_t>> all;
  for (std::size_t i = 0; i < documents_->size(); ++i) {
    const std::int64_t end = i + 1 < documents_->size() ? (*documents_)[i + 1] : size();
    all.emplace_back((*documents_)[i], end - (*documents_)[i]);
  }
  return all;
}

std::unique_ptr<BatchStream> make_batch_stream(LanguageModel::Scheme scheme, const TokenSource& source,
                                               BatchShape shape, std::int64_t seed) {
  if (scheme == LanguageModel::Scheme::kRotatedChunks) return std::make_unique<RotatedChunks>(source, shape, seed);
  if (scheme == LanguageModel::Scheme::kWindows) return std::make_unique<DocumentSequences>(source, shape, seed);
  return std::make_unique<StreamingBatches>(source, shape, seed);
}

StreamingBatches::StreamingBatches(const TokenSource& source, BatchShape shape, std::int64_t seed)
    : source_(&source), shape_(shape), seed_(seed), row_length_(source.size() / shape.batch) {
  if (row_length_ <= shape.block) {
    throw DataError(
        fmt::format("the training split has {} tokens; train.batch={} rows of train.block={} need at least {}",
                    source.size(), shape.batch, shape.block, shape.batch * (shape.block + 1)));
  }
}

Batch StreamingBatches::next() {
  const torch::Tensor tokens = source_->rows(shape_.batch, position_, row_length_, shape_.block + 1);
  Batch batch{.input = {.tokens = tokens.narrow(1, 0, shape_.block).contiguous(), .positions = {}, .boundaries = {}},
              .targets = tokens.narrow(1, 1, shape_.block).contiguous(),
              .fresh = fresh_};
  fresh_ = false;
  position_ += shape_.block;
  if (position_ >= row_length_ - shape_.block) {
    ++round_;
    position_ = random_below(
        std::min(shape_.block, row_length_ - shape_.block),
        random_bits(static_cast<std::uint64_t>(seed_), kStreamOffsets, static_cast<std::uint64_t>(round_)));
    fresh_ = true;
  }
  return batch;
}

Json StreamingBatches::state() const { return {{"position", position_}, {"round", round_}, {"fresh", fresh_}}; }

void StreamingBatches::restore(const Json& state) {
  position_ = state.at("position").get<std::int64_t>();
  round_ = state.at("round").get<std::int64_t>();
  fresh_ = state.at("fresh").get<bool>();
  if (position_ < 0 || position_ >= row_length_ - shape_.block)
    throw DataError("a checkpoint's place in the text lies outside it");
}

}  // namespace xlm
