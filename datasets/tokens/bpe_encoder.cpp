// Byte-pair encoding: within a piece, the merge of the lowest rank comes first, and of equal ones the leftmost.
#include "datasets/tokens/bpe_encoder.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "datasets/tokens/bpe_pieces.h"

namespace xlm {
namespace {

constexpr std::size_t kShortPieces = std::size_t{1} << 20;  // 32 MB: nearly all words of a text
constexpr std::size_t kLongPieces = std::size_t{1} << 15;   // 4 MB
constexpr std::size_t kMaxShares = 16;
constexpr std::size_t kFoundPieces = 192;
constexpr std::uint16_t kIsAmongLong = UINT16_MAX;  // in place of a short piece's number of tokens
constexpr std::size_t kScratchTokens = std::size_t{1} << 14;
constexpr std::uint32_t kNoNode = 0xFFFFFFFF;

}  // namespace

BpeEncoder::BpeEncoder(const Bpe& bpe, std::size_t encoders)
    : bpe_(&bpe),
      found_(kFoundPieces),
      short_pieces_(kShortPieces / std::bit_ceil(std::min(encoders, kMaxShares))),
      long_pieces_(kLongPieces / std::bit_ceil(std::min(encoders, std::size_t{4}))),
      scratch_(kScratchTokens) {}

void BpeEncoder::write(std::string_view text, std::vector<std::uint32_t>& tokens) {
  if (!begun_.empty()) {
    // Up to a blank behind something else, where a piece ends whatever follows.
    std::size_t cut = 1;
    while (cut < text.size() && !(text[cut] == ' ' && static_cast<signed char>(text[cut - 1]) > ' ')) ++cut;
    begun_ += text.substr(0, cut);
    const bool is_cut = cut < text.size();
    if (!is_cut && begun_.size() < wait_) return;
    const std::string_view rest = take(begun_, is_cut, tokens);
    begun_.erase(0, begun_.size() - rest.size());
    text.remove_prefix(std::min(cut, text.size()));
  }
  if (begun_.empty()) begun_ = take(text, false, tokens);
  wait_ = 2 * begun_.size();  // does not scan a long piece again at each small block
}

void BpeEncoder::finish(std::vector<std::uint32_t>& tokens) {
  take(begun_, true, tokens);
  begun_.clear();
  wait_ = 0;
}

/// Encodes all settled pieces; returns the rest.
std::string_view BpeEncoder::take(std::string_view text, bool whole, std::vector<std::uint32_t>& tokens) {
  const auto check = [](std::size_t bytes) {
    if (bytes <= kMaxPieceBytes) return;
    throw DataError(fmt::format("more than {} bytes have no place to cut them\nis this text?", kMaxPieceBytes));
  };
  const char* at = text.data();
  const char* const end = at + text.size();
  std::size_t count = 0;
  const auto add = [&](std::size_t bytes) {
    FoundPiece& found = found_[count++];
    found = {.begin = at, .bytes = bytes, .key = {}, .place = nullptr};
    if (bytes <= ShortPiece::kMaxBytes) {
      found.key = short_key(at, bytes, end - at >= static_cast<std::ptrdiff_t>(sizeof found.key));
      found.place = &short_pieces_[2 * slot_of(found.key, short_pieces_.size() / 2)];
      __builtin_prefetch(found.place);
    }
    at += bytes;
  };
  while (true) {
    if (count + kStretchBytes > kFoundPieces) encode_found(std::exchange(count, 0), tokens);
    if (end - at >= static_cast<std::ptrdiff_t>(kStretchBytes + sizeof(TextKey<16>))) {
      std::uint64_t beginnings = piece_beginnings(at);
      const bool any = beginnings != 0;
      for (const char* const from = at; beginnings != 0; beginnings &= beginnings - 1) {
        add(static_cast<std::size_t>(std::countr_zero(beginnings)) - static_cast<std::size_t>(at - from));
      }
      if (any) continue;
    }
    const std::size_t bytes = first_piece({at, end}, whole);
    if (bytes == 0) break;
    check(bytes);
    add(bytes);
  }
  encode_found(count, tokens);
  check(static_cast<std::size_t>(end - at));
  return {at, end};
}

void BpeEncoder::encode_found(std::size_t count, std::vector<std::uint32_t>& tokens) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < count; ++i) bytes += found_[i].bytes;
  if (scratch_.size() < bytes + LongPiece::kMaxTokens) scratch_.resize(bytes + LongPiece::kMaxTokens);
  std::uint32_t* out = scratch_.data();
  for (std::size_t i = 0; i < count; ++i) {
    const FoundPiece& found = found_[i];
    out = found.bytes <= ShortPiece::kMaxBytes ? encode_short_piece(found, out)
                                               : encode_long_piece({found.begin, found.bytes}, out);
  }
  tokens.insert(tokens.end(), scratch_.data(), out);
}

std::uint32_t* BpeEncoder::encode_short_piece(const FoundPiece& found, std::uint32_t* out) {
  ShortPiece& first = found.place[0];
  ShortPiece& second = found.place[1];
  const std::string_view piece(found.begin, found.bytes);
  if (!same(first.key, found.key)) {
    if (same(second.key, found.key)) {
      std::swap(first, second);
    } else {
      std::uint32_t* const behind = merge_short(piece, out);
      const auto count = static_cast<std::size_t>(behind - out);
      const bool fits = count <= ShortPiece::kMaxTokens && *std::max_element(out, behind) <= UINT16_MAX;
      second = first;
      first.key = found.key;
      if (fits) std::copy(out, behind, first.tokens.begin());
      first.tokens.back() = static_cast<std::uint16_t>(fits ? count : kIsAmongLong);
      return behind;
    }
  }
  if (first.tokens.back() == kIsAmongLong) return encode_long_piece(piece, out);
  std::copy(first.tokens.begin(), first.tokens.end(), out);  // all of them, which is faster than as many as there are
  return out + first.tokens.back();
}

std::uint32_t* BpeEncoder::encode_long_piece(std::string_view piece, std::uint32_t* out) {
  if (piece.size() > LongPiece::kMaxBytes) return merge(piece, out);
  TextKey<32> key{};
  std::memcpy(key.data(), piece.data(), piece.size());
  key.back() |= std::uint64_t{piece.size()} << 56U;
  LongPiece& cached = long_pieces_[slot_of(key, long_pieces_.size())];
  if (same(cached.key, key)) return std::copy_n(cached.tokens.begin(), cached.count, out);
  std::uint32_t* const behind = merge_short(piece, out);
  const auto count = static_cast<std::size_t>(behind - out);
  if (count > LongPiece::kMaxTokens) return behind;
  cached.key = key;
  cached.count = static_cast<std::uint32_t>(count);
  std::copy(out, behind, cached.tokens.begin());
  return behind;
}

/// Merges a piece of up to LongPiece::kMaxBytes bytes: looking through a few pairs is faster than a queue.
std::uint32_t* BpeEncoder::merge_short(std::string_view piece, std::uint32_t* out) const {
  std::array<std::uint32_t, LongPiece::kMaxBytes + 1> ranks;  // of the merge of each token with the next
  const auto rank_of = [&](std::size_t i) { return bpe_->rank(out[i], out[i + 1]); };
  std::size_t count = piece.size();
  for (std::size_t i = 0; i < count; ++i) out[i] = bpe_->byte_token(static_cast<unsigned char>(piece[i]));
  for (std::size_t i = 0; i + 1 < count; ++i) ranks[i] = rank_of(i);
  while (count > 1) {
    auto* const end = ranks.begin() + (count - 1);
    auto* const lowest = std::min_element(ranks.begin(), end);
    if (*lowest == Bpe::kNone) break;
    const auto at = static_cast<std::size_t>(lowest - ranks.begin());
    out[at] = bpe_->merged(*lowest);
    std::copy(out + at + 2, out + count, out + at + 1);
    if (lowest + 1 < end) std::copy(lowest + 2, end, lowest + 1);
    --count;
    if (at + 1 < count) ranks[at] = rank_of(at);
    if (at > 0) ranks[at - 1] = rank_of(at - 1);
  }
  return out + count;
}

/// Looks up the merge of the node and its next, and puts it into the queue.
void BpeEncoder::rank_pair(std::uint32_t left) {
  Node& node = nodes_[left];
  node.rank = node.next == kNoNode ? Bpe::kNone : bpe_->rank(node.token, nodes_[node.next].token);
  if (node.rank != Bpe::kNone) queue_.push_back(std::uint64_t{node.rank} << 32U | left);
}

/// Merges a piece of any length: a queue finds the next pair.
std::uint32_t* BpeEncoder::merge(std::string_view piece, std::uint32_t* out) {
  const auto count = static_cast<std::uint32_t>(piece.size());
  nodes_.resize(count);
  queue_.clear();
  for (std::uint32_t i = 0; i < count; ++i) {
    nodes_[i] = {bpe_->byte_token(static_cast<unsigned char>(piece[i])), Bpe::kNone, i - 1, i + 1};
  }
  nodes_.back().next = kNoNode;  // the first one's previous is kNoNode by wrapping around
  for (std::uint32_t i = 0; i < count; ++i) rank_pair(i);
  const std::greater<> later;
  std::make_heap(queue_.begin(), queue_.end(), later);
  while (!queue_.empty()) {
    std::pop_heap(queue_.begin(), queue_.end(), later);
    const auto rank = static_cast<std::uint32_t>(queue_.back() >> 32U);
    const auto left = static_cast<std::uint32_t>(queue_.back());
    queue_.pop_back();
    Node& node = nodes_[left];
    if (node.rank != rank) continue;  // one of the two has become part of another since
    Node& gone = nodes_[node.next];
    node.token = bpe_->merged(rank);
    node.next = gone.next;
    gone.rank = Bpe::kNone;
    if (node.next != kNoNode) nodes_[node.next].previous = left;
    for (const std::uint32_t place : {left, node.previous}) {
      const std::size_t before = queue_.size();
      if (place != kNoNode) rank_pair(place);
      if (queue_.size() > before) std::push_heap(queue_.begin(), queue_.end(), later);
    }
  }
  for (std::uint32_t i = 0; i != kNoNode; i = nodes_[i].next) *out++ = nodes_[i].token;
  return out;
}

}  // namespace xlm
