// Finds passages of one split in another by a rolling hash (Karp and Rabin), and then compares them.
#include "datasets/prepared/shared_passages.h"

#include <algorithm>
#include <bit>
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
  // Otherwise products of small ids would have equal upper bits.
  std::uint64_t mixed = static_cast<std::uint64_t>(id) + 0x632BE59BD9B4E019U;
  mixed = (mixed ^ mixed >> 29U) * 0xBF58476D1CE4E5B9U;
  return mixed ^ mixed >> 32U;
}

std::vector<std::int64_t> tokens_at(const TokenFile& file, std::int64_t begin, std::int64_t count) {
  std::vector<std::int64_t> ids(static_cast<std::size_t>(count));
  file.copy(begin, count, ids.data());
  return ids;
}

/// Every n-th passage by its hash: its first token.
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

/// A few bits of every hash, so that most positions need no look into the table.
class HashFilter {
 public:
  explicit HashFilter(std::size_t hashes)
      : shift_(64U - static_cast<unsigned>(std::bit_width(hashes * kBitsEach))),
        bits_(std::size_t{2} << (63U - shift_)) {}
  void add(std::uint64_t hash) { bits_[hash >> shift_] = true; }
  bool may_hold(std::uint64_t hash) const { return bits_[hash >> shift_]; }

 private:
  static constexpr std::size_t kBitsEach = 32;  // two or three of a hundred positions are looked up in vain
  unsigned shift_;
  std::vector<bool> bits_;
};

/// Calls `each` with the hash of every stretch of `length` tokens and its first token.
template <class Each>
void roll(const TokenFile& file, std::int64_t length, const Each& each) {
  std::uint64_t beyond = 1;  // the factor of a token that has left the stretch
  for (std::int64_t i = 0; i < length; ++i) beyond *= kBase;
  // The digits of a block, behind those of the stretch before it; zeros before the file.
  const auto before = static_cast<std::size_t>(length);
  std::vector<std::uint64_t> digits(before + kBlockTokens);
  std::uint64_t hash = 0;
  for (std::int64_t begin = 0; begin < file.size(); begin += kBlockTokens) {
    const std::vector<std::int64_t> ids = tokens_at(file, begin, std::min(kBlockTokens, file.size() - begin));
    std::transform(ids.begin(), ids.end(), digits.begin() + length, digit);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      hash = hash * kBase + digits[before + i] - digits[i] * beyond;
      const std::int64_t end = begin + static_cast<std::int64_t>(i) + 1;
      if (end >= length) each(hash, end - length);
    }
    std::copy(digits.end() - length, digits.end(), digits.begin());
  }
}

/// A split whose passages are searched in another one.
struct Search {
  const TokenFile* looked_for = nullptr;
  std::unordered_multimap<std::uint64_t, std::int64_t> passages;
  SharedPassages result;
};

Search search_for(const PreparedData& data, const std::string& split, const std::string& other, std::int64_t most) {
  Search search{.looked_for = &data.split(split).tokens, .passages = {}, .result = {.split = split, .other = other}};
  const std::int64_t tokens = search.looked_for->size();
  SharedPassages& result = search.result;
  result.length = data.vocabulary.unit == Vocabulary::Unit::kBpe ? kPassagePairs : kPassageSymbols;
  result.every = std::max<std::int64_t>(1, (tokens / result.length + most - 1) / most);
  search.passages = passages_of(*search.looked_for, result.length, result.every);
  result.passages = static_cast<std::int64_t>(search.passages.size());
  result.example = tokens;
  return search;
}

/// Looks up `hash` of `looked_in` at `place`: all passages that occur there.
void look_up(Search& search, const TokenFile& looked_in, std::uint64_t hash, std::int64_t place) {
  const auto [begin, end] = search.passages.equal_range(hash);
  for (auto passage = begin; passage != end;) {
    const std::int64_t length = search.result.length;
    if (tokens_at(*search.looked_for, passage->second, length) != tokens_at(looked_in, place, length)) {
      ++passage;
      continue;
    }
    ++search.result.shared;
    search.result.example = std::min(search.result.example, passage->second);
    passage = search.passages.erase(passage);  // each counts once
  }
}

/// Searches the splits in `names` in `other`, which is read once. All passages have one length.
std::vector<SharedPassages> compare_splits(const PreparedData& data, const std::vector<std::string>& names,
                                           const std::string& other, std::int64_t most) {
  std::vector<Search> searches;
  std::size_t hashes = 0;
  for (const std::string& name : names) {
    if (!data.splits.contains(name) || !data.splits.contains(other)) continue;
    searches.push_back(search_for(data, name, other, most));
    hashes += searches.back().passages.size();
  }
  if (hashes > 0) {
    HashFilter filter(hashes);
    for (const Search& search : searches) {
      for (const auto& [hash, begin] : search.passages) filter.add(hash);
    }
    const TokenFile& looked_in = data.split(other).tokens;
    roll(looked_in, searches.front().result.length, [&](std::uint64_t hash, std::int64_t place) {
      if (!filter.may_hold(hash)) return;
      for (Search& search : searches) look_up(search, looked_in, hash, place);
    });
  }
  std::vector<SharedPassages> results;
  for (Search& search : searches) results.push_back(std::move(search.result));
  return results;
}

}  // namespace

std::vector<SharedPassages> shared_passages(const PreparedData& data, std::int64_t most) {
  std::vector<SharedPassages> results = compare_splits(data, {"valid", "test"}, "train", most);
  for (SharedPassages& found : compare_splits(data, {"test"}, "valid", most)) results.push_back(std::move(found));
  return results;
}

std::string shared_passages_text(const SharedPassages& found, Vocabulary::Unit unit) {
  const char* tokens = unit == Vocabulary::Unit::kBpe    ? "byte pairs"
                       : unit == Vocabulary::Unit::kByte ? "bytes"
                                                         : "characters";
  return fmt::format("{}{:.0f} % of {} also occurs in {} ({} of {} passages of {} {}{})",
                     found.every > 1 ? "about " : "", 100 * found.share(), found.split, found.other, found.shared,
                     found.passages, found.length, tokens,
                     found.every > 1 ? fmt::format(", one in {} was searched", found.every) : "");
}

}  // namespace xlm
