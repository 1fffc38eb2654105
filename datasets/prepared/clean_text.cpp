// The clean text of a corpus before it is encoded.
#include "datasets/prepared/clean_text.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/excerpt.h"
#include "base/random.h"
#include "datasets/tokens/bpe_pieces.h"

namespace xlm {
namespace {

constexpr std::size_t kSeenAtOnce = std::size_t{256} << 10;  // at once, on one thread
constexpr std::size_t kBriefBytes = std::size_t{16} << 10;
constexpr std::size_t kLookedAt = std::size_t{4} << 20;  // for special tokens
constexpr std::size_t kFewestOfSpecial = 4;              // bytes: "<s>" may be markup
constexpr std::size_t kMaxSpecials = 64;

}  // namespace

std::vector<SplitPart> split_parts(const SplitSizes& sizes) {
  std::vector<SplitPart> parts;
  for (std::size_t i = 0; i < sizes.size(); ++i) parts.push_back({i, sizes.at(i)});
  return parts;
}

std::vector<SplitPart> sampled_parts(const std::vector<std::int64_t>& documents, std::int64_t tokens,
                                     const SplitSizes& sizes) {
  constexpr std::uint64_t kSeed = 1;
  std::vector<std::uint8_t> split_of(documents.size(), 0);
  const std::vector<std::int64_t> order = random_order(documents.size(), kSeed);
  for (std::int64_t i = 0; i < sizes[1] + sizes[2]; ++i)
    split_of[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])] = i < sizes[1] ? 1 : 2;
  std::vector<SplitPart> parts;
  for (std::size_t i = 0; i < documents.size(); ++i) {
    const std::int64_t begin = i == 0 ? 0 : documents[i];
    const std::int64_t end = i + 1 < documents.size() ? documents[i + 1] : tokens;
    if (parts.empty() || parts.back().split != split_of[i]) parts.push_back({split_of[i], 0});
    parts.back().tokens += end - begin;
  }
  return parts;
}

CleanText::CleanText(fs::path file, Vocabulary::Unit unit, std::shared_ptr<const Bpe> bpe, int threads)
    : file_(std::move(file)),
      unit_(unit),
      out_(file_),
      first_seen_(unit == Vocabulary::Unit::kByte ? 256 : std::size_t{kLastCodePoint} + 1, -1),
      bpe_(std::move(bpe)),
      wait_(kSeenAtOnce),
      // Two have caches of the whole size, more share the memory of them.
      encoders_(
          [this, threads] { return std::make_unique<BpeEncoder>(*bpe_, static_cast<std::size_t>(threads + 1) / 2); }),
      writing_(threads > 1, {[this](std::string_view bytes) { out_.write(bytes); }}),
      blocks_(threads, [this](Seen seen) { take(std::move(seen)); }) {
  if (!bpe_) return;
  for (const std::string& symbol : bpe_->special_tokens()) {
    if (symbol.size() >= kFewestOfSpecial && specials_.size() < kMaxSpecials) specials_.push_back(symbol);
  }
}

void CleanText::begin_split(std::size_t split) {
  finish_blocks();
  if (std::ranges::any_of(splits_, [&](const auto& known) { return known.first == split; })) {
    throw DataError(
        fmt::format("the corpus has two parts that are '{}'\nname one of them with --from", kSplitNames.at(split)));
  }
  splits_.emplace_back(split, tokens_);
}

void CleanText::begin_document(std::int64_t most_tokens) {
  end_document();
  if (unit_ == Vocabulary::Unit::kByte) room_ = most_tokens;
  begun_boundaries_.push_back({begun_.size(), most_tokens});
}

void CleanText::start_document(std::int64_t begin) {
  if (documents_.empty() || documents_.back() != begin) documents_.push_back(begin);
}

void CleanText::end_document() {
  if (unit_ == Vocabulary::Unit::kCharacter) repair_.finish(begun_);
}

void CleanText::finish_blocks() {
  end_document();
  dispatch(begun_.size());
  blocks_.finish();
}

void CleanText::write(std::string_view text) {
  if (unit_ == Vocabulary::Unit::kByte) {
    text = text.substr(0, static_cast<std::size_t>(std::min(room_, static_cast<std::int64_t>(text.size()))));
    room_ -= static_cast<std::int64_t>(text.size());
  }
  if (unit_ == Vocabulary::Unit::kCharacter) {
    text = repair_.write_or_pass(text, repaired_);
    if (repair_.replaced() > 0 && replaced_example_.empty()) {
      const std::size_t place = text.find("\uFFFD");
      if (place != std::string::npos) replaced_example_ = excerpt(text, place);
    }
  }
  if (!specials_.empty() && looked_at_ < kLookedAt) look_for_specials(text);
  collect(text);
}

void CleanText::look_for_specials(std::string_view text) {
  looked_at_ += text.size();
  for (const std::string& special : specials_) {
    if (text.find(special) == std::string_view::npos) continue;
    special_in_text_ = special;
    specials_.clear();
    return;
  }
}

void CleanText::write_clean(std::string_view text, const std::vector<std::size_t>& documents) {
  std::size_t position = 0;
  for (const std::size_t begin : documents) {
    begun_ += text.substr(position, begin - position);
    position = begin;
    begun_boundaries_.push_back({begun_.size(), std::numeric_limits<std::int64_t>::max()});
  }
  collect(text.substr(position));
}

void CleanText::collect(std::string_view text) {
  const std::size_t before = begun_.size();
  begun_ += text;
  if (begun_.size() < wait_) return;
  wait_ = kSeenAtOnce;
  if (const std::size_t bytes = bpe_ ? settled(before) : begun_.size(); bytes > 0) return dispatch(bytes);
  wait_ = 2 * begun_.size();
  if (begun_.size() > BpeEncoder::kMaxPieceBytes) dispatch(begun_.size());  // it says that this is no text
}

/// Bytes of the text that was begun up to a place where a piece ends whatever follows, which is so before a blank
/// behind something else; 0: there is no such place. It is looked for behind `before` first.
std::size_t CleanText::settled(std::size_t before) {
  for (std::size_t cut = begun_.size() - 1; cut > before; --cut) {
    if (begun_[cut] == ' ' && static_cast<signed char>(begun_[cut - 1]) > ' ') return cut;
  }
  // There is none in a text without blanks, or in a very long word.
  const std::size_t begin = begun_boundaries_.empty() ? 0 : begun_boundaries_.back().place;
  return begin + settled_bytes(std::string_view(begun_).substr(begin));
}

void CleanText::dispatch(std::size_t bytes) {
  std::vector<Boundary> boundaries = std::exchange(begun_boundaries_, {});
  const auto later = std::ranges::find_if(boundaries, [&](Boundary b) { return b.place > bytes; });
  for (auto boundary = later; boundary != boundaries.end(); ++boundary) {
    begun_boundaries_.push_back({boundary->place - bytes, boundary->most_tokens});
  }
  boundaries.erase(later, boundaries.end());
  std::string text = begun_.substr(bytes);
  begun_.resize(bytes);
  std::swap(text, begun_);
  if (text.empty() && boundaries.empty()) return;
  blocks_.add(
      [this, text = std::move(text), boundaries = std::move(boundaries)]() mutable {
        return bpe_ ? encode(text, std::move(boundaries)) : look_at(std::move(text), std::move(boundaries));
      },
      bytes < kBriefBytes);
}

CleanText::Seen CleanText::encode(std::string_view text, std::vector<Boundary> boundaries) {
  Seen seen;
  seen.tokens.reserve(text.size() / 3);
  encoders_.with([&](BpeEncoder& encoder) {
    std::size_t begin = 0;
    for (Boundary& boundary : boundaries) {
      encoder.write(text.substr(begin, boundary.place - begin), seen.tokens);
      encoder.finish(seen.tokens);
      begin = boundary.place;
      boundary.place = seen.tokens.size();
    }
    encoder.write(text.substr(begin), seen.tokens);
    encoder.finish(seen.tokens);
  });
  seen.count = seen.tokens.size();
  seen.boundaries = std::move(boundaries);
  return seen;
}

CleanText::Seen CleanText::look_at(std::string text, std::vector<Boundary> boundaries) {
  Seen seen{.has_unseen = has_unseen(text)};
  std::size_t begin = 0;
  const auto count_up_to = [&](std::size_t end) {
    const std::string_view part = std::string_view(text).substr(begin, end - begin);
    const bool bytes = unit_ == Vocabulary::Unit::kByte;
    seen.count += bytes ? part.size() : static_cast<std::size_t>(count_characters(part));
    begin = end;
  };
  for (Boundary& boundary : boundaries) {
    count_up_to(boundary.place);
    boundary.place = seen.count;
  }
  count_up_to(text.size());
  seen.text = std::move(text);
  seen.boundaries = std::move(boundaries);
  return seen;
}

void CleanText::take(Seen seen) {
  if (seen.has_unseen) note_symbols(seen.text);
  std::size_t begin = 0;
  for (const Boundary& boundary : seen.boundaries) {
    if (bpe_) write_tokens(seen.tokens.data() + begin, boundary.place - begin);
    if (bpe_) room_ = boundary.most_tokens;
    start_document(bpe_ ? tokens_ : tokens_ + static_cast<std::int64_t>(boundary.place));
    begin = boundary.place;
  }
  if (bpe_) return write_tokens(seen.tokens.data() + begin, seen.count - begin);
  tokens_ += static_cast<std::int64_t>(seen.count);
  writing_.give(std::move(seen.text));
}

/// Notes where symbols occur first, in the block that begins at the next token.
void CleanText::note_symbols(std::string_view clean) {
  std::int64_t offset = tokens_;
  for (std::size_t position = 0; position < clean.size(); ++offset) {
    const char32_t symbol = unit_ == Vocabulary::Unit::kByte ? static_cast<unsigned char>(clean[position++])
                                                             : next_code_point(clean, position);
    const std::atomic_ref first(first_seen_[symbol]);
    if (first.load(std::memory_order_relaxed) < 0) first.store(offset, std::memory_order_relaxed);
  }
}

/// Whether a symbol occurs that no block had whose symbols were noted: false for nearly all blocks of a text.
bool CleanText::has_unseen(std::string_view clean) {
  std::int64_t signs = 0;  // negative if one of the numbers was
  const auto look = [&](char32_t symbol) {
    signs |= std::atomic_ref(first_seen_[symbol]).load(std::memory_order_relaxed);
  };
  if (unit_ == Vocabulary::Unit::kByte) {
    for (const char c : clean) look(static_cast<unsigned char>(c));
  } else {
    for (std::size_t position = 0; position < clean.size();) {
      const std::size_t ascii = after_ascii(clean, position);
      for (; position < ascii; ++position) look(static_cast<unsigned char>(clean[position]));
      if (position < clean.size()) look(next_code_point(clean, position));
    }
  }
  return signs < 0;
}

std::size_t CleanText::symbol_width() const {
  if (bpe_) return static_cast<std::size_t>(bpe_->vocabulary().id_bytes());
  return unit_ == Vocabulary::Unit::kByte ? 1 : 0;
}

void CleanText::write_tokens(std::uint32_t* tokens, std::size_t count) {
  const std::int64_t kept = std::min(room_, static_cast<std::int64_t>(count));
  const int id_bytes = bpe_->vocabulary().id_bytes();
  char* const ids = reinterpret_cast<char*>(tokens);  // in place: ids are never wider
  with_id_type(id_bytes, [&]<class Id>(Id) {
    for (std::int64_t i = 0; i < kept; ++i) {
      const Id id = static_cast<Id>(tokens[i]);
      std::memcpy(ids + i * std::int64_t{sizeof id}, &id, sizeof id);
    }
  });
  writing_.write({ids, static_cast<std::size_t>(kept * id_bytes)});
  tokens_ += kept;
  room_ -= kept;
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
  finish_blocks();
  writing_.finish();
  if (!documents_.empty() && documents_.back() == tokens_) documents_.pop_back();
  out_.commit_for_now();
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
