// Byte-pair encoding: within a piece, the merge of the lowest rank comes first, and of equal ones the leftmost.
#include "datasets/tokens/bpe_encoder.h"

#include <algorithm>
#include <cstring>
#include <functional>

#include <fmt/format.h>

#include "base/error.h"
#include "datasets/tokens/bpe_pieces.h"

namespace xlm {
namespace {

constexpr std::size_t kCachedPieces = std::size_t{1}
                                      << 15;  // 2 MB: most words of a text are among the last few thousand
constexpr std::size_t kMaxPieceBytes = std::size_t{1} << 27;  // merging takes some 30 times that memory
constexpr std::uint32_t kNoNode = 0xFFFFFFFF;

std::size_t cache_slot(const std::array<std::uint64_t, 4>& words) {
  constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15;
  std::uint64_t hash = 0;
  for (const std::uint64_t word : words) hash = (hash ^ word) * kOdd ^ hash >> 29U;
  return hash >> 32U & (kCachedPieces - 1);
}

}  // namespace

BpeEncoder::BpeEncoder(const Bpe& bpe) : bpe_(&bpe), cache_(kCachedPieces) {}

void BpeEncoder::write(std::string_view text, std::vector<std::uint32_t>& tokens) {
  begun_ += text;
  if (begun_.size() < wait_) return;
  const std::string_view rest = take(begun_, false, tokens);
  begun_.erase(0, begun_.size() - rest.size());
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
  while (const std::size_t bytes = first_piece(text, whole)) {
    check(bytes);
    encode_piece(text.substr(0, bytes), tokens);
    text.remove_prefix(bytes);
  }
  check(text.size());
  return text;
}

void BpeEncoder::encode_piece(std::string_view piece, std::vector<std::uint32_t>& tokens) {
  if (piece.size() > CachedPiece::kMaxBytes) {
    merge(piece, tokens);
    return;
  }
  std::array<std::uint64_t, 4> words{};
  std::memcpy(words.data(), piece.data(), piece.size());
  reinterpret_cast<char*>(words.data())[CachedPiece::kMaxBytes] = static_cast<char>(piece.size());
  CachedPiece& cached = cache_[cache_slot(words)];
  static_assert(offsetof(CachedPiece, length) == CachedPiece::kMaxBytes);
  if (std::memcmp(&cached, words.data(), sizeof words) == 0) {
    tokens.insert(tokens.end(), cached.tokens.begin(), cached.tokens.begin() + cached.count);
    return;
  }
  const std::size_t before = tokens.size();
  merge(piece, tokens);
  const std::size_t count = tokens.size() - before;
  if (count > CachedPiece::kMaxTokens) return;
  std::memcpy(&cached, words.data(), sizeof words);
  cached.count = static_cast<std::uint32_t>(count);
  std::copy(tokens.end() - static_cast<std::ptrdiff_t>(count), tokens.end(), cached.tokens.begin());
}

/// Looks up the merge of the node and its next, and puts it into the queue.
void BpeEncoder::rank_pair(std::uint32_t left) {
  Node& node = nodes_[left];
  node.rank = node.next == kNoNode ? Bpe::kNone : bpe_->find(node.token, nodes_[node.next].token).rank;
  if (node.rank != Bpe::kNone) queue_.push_back(std::uint64_t{node.rank} << 32U | left);
}

void BpeEncoder::merge(std::string_view piece, std::vector<std::uint32_t>& tokens) {
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
  for (std::uint32_t i = 0; i != kNoNode; i = nodes_[i].next) tokens.push_back(nodes_[i].token);
}

}  // namespace xlm
