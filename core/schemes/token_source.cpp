// A split's text as token ids of a model.
#include "core/schemes/token_source.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "base/error.h"
#include "core/models/capabilities.h"
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

TokenSource TokenSource::first(std::int64_t count) const {
  TokenSource part = *this;
  part.limit_ = std::min(count, size());
  return part;
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
  const auto end = std::ranges::find(vocabulary.symbols, kEndOfText);
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
  for (std::size_t i = 0; i < documents_->size() && (*documents_)[i] < size(); ++i) {
    const std::int64_t end = i + 1 < documents_->size() ? std::min((*documents_)[i + 1], size()) : size();
    all.emplace_back((*documents_)[i], end - (*documents_)[i]);
  }
  return all;
}

}  // namespace xlm
