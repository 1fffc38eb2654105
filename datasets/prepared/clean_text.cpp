// The clean text of a corpus before it is encoded.
#include "datasets/prepared/clean_text.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/excerpt.h"

namespace xlm {
std::vector<SplitPart> split_parts(const SplitSizes& sizes) {
  std::vector<SplitPart> parts;
  for (std::size_t i = 0; i < sizes.size(); ++i) parts.push_back({i, sizes.at(i)});
  return parts;
}

CleanText::CleanText(fs::path file, Vocabulary::Unit unit, std::shared_ptr<const Bpe> bpe)
    : file_(std::move(file)),
      unit_(unit),
      out_(file_),
      first_seen_(unit == Vocabulary::Unit::kByte ? 256 : std::size_t{kLastCodePoint} + 1, -1),
      bpe_(std::move(bpe)) {
  if (unit == Vocabulary::Unit::kBpe) encoder_.emplace(*bpe_);
}

void CleanText::begin_split(std::size_t split) {
  end_document();
  if (std::any_of(splits_.begin(), splits_.end(), [&](const auto& known) { return known.first == split; })) {
    throw DataError(
        fmt::format("the corpus has two parts that are '{}'\nname one of them with --from", kSplitNames.at(split)));
  }
  splits_.emplace_back(split, tokens_);
}

void CleanText::begin_document(std::int64_t most_tokens) {
  end_document();
  room_ = most_tokens;
  if (documents_.empty() || documents_.back() != tokens_) documents_.push_back(tokens_);
}

void CleanText::end_document() {
  if (unit_ == Vocabulary::Unit::kByte) return;
  if (encoder_) {
    encoder_->finish(encoded_);
    write_tokens();
    return;
  }
  repaired_.clear();
  repair_.finish(repaired_);
  count(repaired_);
}

void CleanText::write(std::string_view text) {
  if (encoder_) {
    encoder_->write(text, encoded_);
    write_tokens();
    return;
  }
  if (unit_ == Vocabulary::Unit::kByte) {
    text = text.substr(0, static_cast<std::size_t>(std::min(room_, static_cast<std::int64_t>(text.size()))));
    room_ -= static_cast<std::int64_t>(text.size());
    count(text);
    return;
  }
  repaired_.clear();
  repair_.write(text, repaired_);
  if (repair_.replaced() > 0 && replaced_example_.empty()) {
    const std::size_t place = repaired_.find("\uFFFD");
    if (place != std::string::npos) replaced_example_ = excerpt(repaired_, place);
  }
  count(repaired_);
}

void CleanText::write_clean(std::string_view text, const std::vector<std::size_t>& documents) {
  std::size_t position = 0;
  for (const std::size_t begin : documents) {
    count(text.substr(position, begin - position));
    position = begin;
    if (documents_.empty() || documents_.back() != tokens_) documents_.push_back(tokens_);
  }
  count(text.substr(position));
}

void CleanText::count(std::string_view clean) {
  const auto note = [this](std::size_t symbol) {
    if (first_seen_[symbol] < 0) first_seen_[symbol] = tokens_;
    ++tokens_;
  };
  if (unit_ == Vocabulary::Unit::kByte) {
    for (const char c : clean) note(static_cast<unsigned char>(c));
  } else {
    for (std::size_t position = 0; position < clean.size();) note(next_code_point(clean, position));
  }
  out_.write(clean);
}

std::size_t CleanText::symbol_width() const {
  if (bpe_) return static_cast<std::size_t>(bpe_->vocabulary().id_bytes());
  return unit_ == Vocabulary::Unit::kByte ? 1 : 0;
}

void CleanText::write_tokens() {
  const std::int64_t kept = std::min(room_, static_cast<std::int64_t>(encoded_.size()));
  std::string ids;
  for (std::int64_t i = 0; i < kept; ++i) {
    append_id(ids, encoded_[static_cast<std::size_t>(i)], bpe_->vocabulary().id_bytes());
  }
  out_.write(ids);
  tokens_ += kept;
  room_ -= kept;
  encoded_.clear();
}

std::vector<SplitPart> CleanText::parts() const {
  std::vector<SplitPart> parts;
  for (std::size_t i = 0; i < splits_.size(); ++i) {
    const std::int64_t end = i + 1 < splits_.size() ? splits_[i + 1].second : tokens_;
    parts.push_back({splits_[i].first, end - splits_[i].second});
  }
  return parts;
}

void CleanText::finish() {
  end_document();
  if (!documents_.empty() && documents_.back() == tokens_) documents_.pop_back();
  out_.commit();
}

Vocabulary CleanText::vocabulary(std::int64_t end) const {
  if (bpe_) return bpe_->vocabulary();
  Vocabulary vocabulary;
  vocabulary.unit = unit_;
  for (std::size_t symbol = 0; symbol < first_seen_.size(); ++symbol) {
    if (first_seen_[symbol] < 0 || first_seen_[symbol] >= end) continue;
    std::string text;
    if (unit_ == Vocabulary::Unit::kByte) {
      text += static_cast<char>(symbol);
    } else {
      append_utf8(text, static_cast<char32_t>(symbol));
    }
    vocabulary.symbols.push_back(std::move(text));
  }
  return vocabulary;
}

}  // namespace xlm
