// Finds passages of one split in another by a rolling hash (Karp and Rabin), and then compares them.
#include "datasets/prepared/shared_passages.h"

#include <algorithm>
#include <array>
#include <bit>
#include <unordered_map>

#include <fmt/format.h>

#include "base/side_work.h"

namespace xlm {
namespace {

constexpr std::int64_t kPassageSymbols = 200;
constexpr std::int64_t kPassagePairs = 50;
constexpr std::size_t kFewestDistinct = 8;
constexpr std::uint64_t kBase = 0x9E3779B97F4A7C15U;  // odd, so that no token is lost modulo 2^64

/// What each id adds to a hash. Otherwise products of small ids would have equal upper bits.
using Digits = std::vector<std::uint64_t>;
Digits digits_of(std::int64_t symbols) {
  Digits digits(static_cast<std::size_t>(symbols));
  for (std::size_t id = 0; id < digits.size(); ++id) {
    std::uint64_t mixed = id + 0x632BE59BD9B4E019U;
    mixed = (mixed ^ mixed >> 29U) * 0xBF58476D1CE4E5B9U;
    digits[id] = mixed ^ mixed >> 32U;
  }
  return digits;
}

bool has_content(const std::vector<std::int64_t>& ids) {
  std::array<std::int64_t, kFewestDistinct> seen{};
  std::size_t distinct = 0;
  for (auto id = ids.begin(); id != ids.end() && distinct < kFewestDistinct; ++id) {
    const auto* const end = seen.begin() + distinct;
    if (std::find(seen.cbegin(), end, *id) == end) seen.at(distinct++) = *id;
  }
  return distinct == kFewestDistinct;
}

/// Every n-th passage by its hash: its first token.
std::unordered_multimap<std::uint64_t, std::int64_t> passages_of(const TokenFile& file, const Digits& digits,
                                                                 std::int64_t length, std::int64_t every) {
  std::unordered_multimap<std::uint64_t, std::int64_t> passages;
  std::vector<std::int64_t> ids(static_cast<std::size_t>(length));
  for (std::int64_t begin = 0; begin + length <= file.size(); begin += every * length) {
    file.copy(begin, length, ids.data());
    if (!has_content(ids)) continue;
    std::uint64_t hash = 0;
    for (const std::int64_t id : ids) hash = hash * kBase + digits[static_cast<std::size_t>(id)];
    passages.emplace(hash, begin);
  }
  return passages;
}

/// Two bits of one word for every hash, so that nearly all positions need no look into the table.
class HashFilter {
 public:
  explicit HashFilter(std::size_t hashes)
      : words_(std::bit_ceil(hashes * kBitsEach / 64 + 2)),
        shift_((64U - static_cast<unsigned>(std::countr_zero(words_.size()))) & 63U) {}
  void add(std::uint64_t hash) { words_[hash >> shift_] |= bits_of(hash); }
  bool may_hold(std::uint64_t hash) const { return (~words_[hash >> shift_] & bits_of(hash)) == 0; }

 private:
  static constexpr std::size_t kBitsEach = 16;  // one position in a hundred or fewer is looked up in vain
  static std::uint64_t bits_of(std::uint64_t hash) {
    const std::uint64_t mixed = hash * kBase;
    return std::uint64_t{1} << (mixed >> 58U) | std::uint64_t{1} << (mixed >> 52U & 63U);
  }
  std::vector<std::uint64_t> words_;
  unsigned shift_;
};

/// The hash of a stretch, and its first token.
using Stretches = std::vector<std::pair<std::uint64_t, std::int64_t>>;

/// All stretches of `length` tokens that the filter may hold. Each block is read in a few lanes side by side: a hash
/// waits for the one before it, but lanes do not wait for each other.
template <class Id>
Stretches roll(const Id* ids, std::int64_t size, const Digits& digits, std::int64_t length, const HashFilter& filter) {
  Stretches results;
  constexpr std::size_t kLanes = 4;
  constexpr std::int64_t kBlock = 1 << 14;
  std::uint64_t beyond = 1;  // the factor of a token that has left the stretch
  for (std::int64_t i = 0; i < length; ++i) beyond *= kBase;
  const auto digit = [&](std::int64_t place) { return digits[std::min<std::size_t>(ids[place], digits.size() - 1)]; };
  std::vector<std::uint64_t> hashes(kBlock);
  for (std::int64_t begin = 0; begin + length <= size; begin += kBlock) {
    const std::int64_t stretches = std::min(kBlock, size - length + 1 - begin);
    const std::int64_t lane = (stretches + std::int64_t{kLanes} - 1) / std::int64_t{kLanes};
    std::array<std::int64_t, kLanes> at{};
    std::array<std::uint64_t, kLanes> hash{};
    for (std::size_t k = 0; k < kLanes; ++k) {
      at[k] = begin + std::min(static_cast<std::int64_t>(k) * lane, stretches - lane);  // the last may overlap
      for (std::int64_t i = 0; i < length; ++i) hash[k] = hash[k] * kBase + digit(at[k] + i);
      hashes[static_cast<std::size_t>(at[k] - begin)] = hash[k];
    }
    for (std::int64_t i = 1; i < lane; ++i) {
      for (std::size_t k = 0; k < kLanes; ++k) {
        const std::int64_t place = at[k] + i;
        hash[k] = hash[k] * kBase + (digit(place + length - 1) - digit(place - 1) * beyond);
        hashes[static_cast<std::size_t>(place - begin)] = hash[k];
      }
    }
    for (std::int64_t i = 0; i < stretches; ++i) {
      const std::uint64_t found = hashes[static_cast<std::size_t>(i)];
      if (filter.may_hold(found)) results.emplace_back(found, begin + i);
    }
  }
  return results;
}

/// A split whose passages are searched in another one.
struct Search {
  const TokenFile* looked_for = nullptr;
  std::unordered_multimap<std::uint64_t, std::int64_t> passages;
  SharedPassages result;
};

Search search_for(const PreparedData& data, const Digits& digits, const std::string& split, const std::string& other,
                  std::int64_t most) {
  Search search{.looked_for = &data.split(split).tokens, .passages = {}, .result = {.split = split, .other = other}};
  const std::int64_t tokens = search.looked_for->size();
  SharedPassages& result = search.result;
  result.length = data.vocabulary.unit == Vocabulary::Unit::kBpe ? kPassagePairs : kPassageSymbols;
  result.every = std::max<std::int64_t>(1, (tokens / result.length + most - 1) / most);
  search.passages = passages_of(*search.looked_for, digits, result.length, result.every);
  result.passages = static_cast<std::int64_t>(search.passages.size());
  result.example = tokens;
  return search;
}

/// Looks up `hash` of `looked_in` at `place`: all passages that occur there.
void look_up(Search& search, const TokenFile& looked_in, std::uint64_t hash, std::int64_t place) {
  const auto [begin, end] = search.passages.equal_range(hash);
  for (auto passage = begin; passage != end;) {
    if (!search.looked_for->equals(passage->second, looked_in, place, search.result.length)) {
      ++passage;
      continue;
    }
    ++search.result.shared;
    search.result.example = std::min(search.result.example, passage->second);
    passage = search.passages.erase(passage);  // each counts once
  }
}

/// Searches the splits in `names` in `other`, which is read once. All passages have one length.
std::vector<SharedPassages> compare_splits(const PreparedData& data, const Digits& digits,
                                           const std::vector<std::string>& names, const std::string& other,
                                           std::int64_t most, int threads) {
  std::vector<Search> searches;
  std::size_t hashes = 0;
  for (const std::string& name : names) {
    if (!data.splits.contains(name) || !data.splits.contains(other)) continue;
    searches.push_back(search_for(data, digits, name, other, most));
    hashes += searches.back().passages.size();
  }
  if (hashes > 0) {
    HashFilter filter(hashes);
    for (const Search& search : searches) {
      for (const auto& [hash, begin] : search.passages) filter.add(hash);
    }
    const TokenFile& looked_in = data.split(other).tokens;
    const std::int64_t length = searches.front().result.length;
    constexpr std::int64_t kPart = 1 << 22;
    std::int64_t part = 0;  // whose stretches are looked up
    OrderedWork<Stretches> parts(threads, [&](const Stretches& stretches) {
      for (const auto& [hash, place] : stretches) {
        for (Search& search : searches) look_up(search, looked_in, hash, part + place);
      }
      looked_in.release(part += kPart);
    });
    with_id_type(data.vocabulary.id_bytes(), [&]<class Id>(Id) {
      for (std::int64_t begin = 0; begin < looked_in.size(); begin += kPart) {
        const std::int64_t size = std::min(kPart + length - 1, looked_in.size() - begin);
        const Id* const ids = static_cast<const Id*>(looked_in.ids()) + begin;
        parts.add([&, ids, size] { return roll(ids, size, digits, length, filter); });
      }
      parts.finish();
    });
  }
  std::vector<SharedPassages> results;
  for (Search& search : searches) results.push_back(std::move(search.result));
  return results;
}

}  // namespace

std::vector<SharedPassages> shared_passages(const PreparedData& data, std::int64_t most, int threads) {
  const Digits digits = digits_of(data.vocabulary.size());
  std::vector<SharedPassages> results = compare_splits(data, digits, {"valid", "test"}, "train", most, threads);
  for (SharedPassages& found : compare_splits(data, digits, {"test"}, "valid", most, threads))
    results.push_back(std::move(found));
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
