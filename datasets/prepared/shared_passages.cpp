// Passages of one split are found in another by a hash that rolls along it (Karp and Rabin's), and then compared.
#include "datasets/prepared/shared_passages.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

namespace xlm {
namespace {

constexpr std::int64_t kPassageSymbols = 200;
constexpr std::int64_t kPassagePairs = 50;
constexpr std::size_t kFewestDistinct = 8;
constexpr std::uint64_t kBase = 0x9E3779B97F4A7C15U;  // odd, so that no token is lost modulo 2^64
constexpr std::int64_t kBlockTokens = 1 << 16;

std::uint64_t digit(std::int64_t id) {
  // Small ids would leave the upper bits of short products alike.
  std::uint64_t mixed = static_cast<std::uint64_t>(id) + 0x632BE59BD9B4E019U;
  mixed = (mixed ^ mixed >> 29U) * 0xBF58476D1CE4E5B9U;
  return mixed ^ mixed >> 32U;
}

std::vector<std::int64_t> tokens_at(const TokenFile& file, std::int64_t begin, std::int64_t count) {
  std::vector<std::int64_t> ids(static_cast<std::size_t>(count));
  file.copy(begin, count, ids.data());
  return ids;
}

/// Every so many-th passage by its hash: where it begins.
std::unordered_multimap<std::uint64_t, std::int64_t> passages_of(const TokenFile& file, std::int64_t length,
                                                                 std::int64_t every) {
  std::unordered_multimap<std::uint64_t, std::int64_t> passages;
  for (std::int64_t begin = 0; begin + length <= file.size(); begin += every * length) {
    const std::vector<std::int64_t> ids = tokens_at(file, begin, length);
    if (std::set<std::int64_t>(ids.begin(), ids.end()).size() < kFewestDistinct) continue;
    std::uint64_t hash = 0;
    for (const std::int64_t id : ids) hash = hash * kBase + digit(id);
    passages.emplace(hash, begin);
  }
  return passages;
}

/// A few bits of every hash, so that most places are passed over without a look into the table.
class HashFilter {
 public:
  explicit HashFilter(const std::unordered_multimap<std::uint64_t, std::int64_t>& passages) : bits_(kSize) {
    for (const auto& [hash, begin] : passages) bits_[place(hash)] = true;
  }
  bool may_hold(std::uint64_t hash) const { return bits_[place(hash)]; }

 private:
  static constexpr std::size_t kSize = std::size_t{1} << 24;
  static std::size_t place(std::uint64_t hash) { return hash >> 40U; }
  std::vector<bool> bits_;
};

/// Calls `each` with the hash of every stretch of `length` tokens and where it begins.
template <class Each>
void roll(const TokenFile& file, std::int64_t length, const Each& each) {
  std::uint64_t last = 1;  // what the first token of a stretch is multiplied by
  for (std::int64_t i = 1; i < length; ++i) last *= kBase;
  std::vector<std::int64_t> window(static_cast<std::size_t>(length));
  std::uint64_t hash = 0;
  for (std::int64_t begin = 0; begin < file.size(); begin += kBlockTokens) {
    const std::vector<std::int64_t> ids = tokens_at(file, begin, std::min(kBlockTokens, file.size() - begin));
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const std::int64_t place = begin + static_cast<std::int64_t>(i);
      std::int64_t& oldest = window[static_cast<std::size_t>(place % length)];
      if (place >= length) hash -= digit(oldest) * last;
      hash = hash * kBase + digit(ids[i]);
      oldest = ids[i];
      if (place + 1 >= length) each(hash, place + 1 - length);
    }
  }
}

SharedPassages compare_splits(const PreparedData& data, const std::string& split, const std::string& other,
                              std::int64_t most) {
  const TokenFile& looked_for = data.split(split).tokens;
  const TokenFile& looked_in = data.split(other).tokens;
  SharedPassages result{.split = split, .other = other};
  result.length = data.vocabulary.unit == Vocabulary::Unit::kBpe ? kPassagePairs : kPassageSymbols;
  result.every = std::max<std::int64_t>(1, (looked_for.size() / result.length + most - 1) / most);
  auto passages = passages_of(looked_for, result.length, result.every);
  result.passages = static_cast<std::int64_t>(passages.size());
  result.example = looked_for.size();
  const HashFilter filter(passages);
  roll(looked_in, result.length, [&](std::uint64_t hash, std::int64_t place) {
    if (!filter.may_hold(hash)) return;
    const auto [begin, end] = passages.equal_range(hash);
    for (auto passage = begin; passage != end;) {
      const bool same =
          tokens_at(looked_for, passage->second, result.length) == tokens_at(looked_in, place, result.length);
      if (!same) {
        ++passage;
        continue;
      }
      ++result.shared;
      result.example = std::min(result.example, passage->second);
      passage = passages.erase(passage);  // each counts once
    }
  });
  return result;
}

}  // namespace

std::vector<SharedPassages> shared_passages(const PreparedData& data, std::int64_t most) {
  std::vector<SharedPassages> results;
  const auto compare = [&](const char* split, const char* other) {
    if (data.splits.contains(split) && data.splits.contains(other)) {
      results.push_back(compare_splits(data, split, other, most));
    }
  };
  compare("valid", "train");
  compare("test", "train");
  compare("test", "valid");
  return results;
}

std::string shared_passages_text(const SharedPassages& found, Vocabulary::Unit unit) {
  const char* tokens = unit == Vocabulary::Unit::kBpe    ? "byte pairs"
                       : unit == Vocabulary::Unit::kByte ? "bytes"
                                                         : "characters";
  return fmt::format("{}{:.0f} % of {} stands in {} too ({} of {} passages of {} {}{})",
                     found.every > 1 ? "about " : "", 100 * found.share(), found.split, found.other, found.shared,
                     found.passages, found.length, tokens,
                     found.every > 1 ? fmt::format(", one in {} was looked for", found.every) : "");
}

}  // namespace xlm
