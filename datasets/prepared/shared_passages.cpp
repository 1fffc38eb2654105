// Finds passages of one split in another by hashes of parts of them, and then compares them.
#include "datasets/prepared/shared_passages.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <future>
#include <span>

#include <fmt/format.h>

#include "base/side_work.h"

namespace xlm {
namespace {

constexpr std::int64_t kPassageSymbols = 200;
constexpr std::int64_t kPassagePairs = 50;
constexpr std::size_t kFewestDistinct = 8;
constexpr std::int64_t kBeginning = 32;                           // of a passage: nearly always there are as many in it
constexpr std::int64_t kBetweenReleases = std::int64_t{1} << 20;  // tokens, which are in memory until then
constexpr std::int64_t kStep = 20;  // of windows: beyond, they do not fit into a core's cache
constexpr std::uint64_t kOddFactor = 0x9E3779B97F4A7C15U;

/// Where a passage is looked for: at every kStep-th token of a text. Wherever the text has the passage, one of these
/// tokens is among the first kStep of it, and begins a window of `length - kStep + 1` tokens within it. So the windows
/// of each passage are known by their hashes, and the text is hashed at few places.
struct Windows {
  std::int64_t tokens = 0;  // of a window
  std::size_t id_bytes = 1;

  /// Of the window that begins there: of words spread over it, the last of which ends with it.
  std::uint64_t hash(const char* begin) const {
    constexpr std::size_t kWords = 4;
    const std::size_t apart = (static_cast<std::size_t>(tokens) * id_bytes - sizeof(std::uint64_t)) / (kWords - 1);
    std::uint64_t sum = 0;
    std::uint64_t factor = kOddFactor;
    for (std::size_t i = 0; i < kWords; ++i) {
      std::uint64_t word = 0;
      std::memcpy(&word, begin + i * apart, sizeof word);
      sum += (word ^ word >> 31U) * factor;
      factor *= kOddFactor;
    }
    return (sum ^ sum >> 32U) * kOddFactor;
  }
};

bool has_content(std::span<const std::int64_t> ids) {
  std::array<std::int64_t, kFewestDistinct> seen{};
  std::size_t distinct = 0;
  for (auto id = ids.begin(); id != ids.end() && distinct < kFewestDistinct; ++id) {
    const auto* const end = seen.begin() + distinct;
    if (std::find(seen.cbegin(), end, *id) == end) seen.at(distinct++) = *id;
  }
  return distinct == kFewestDistinct;
}

/// Two bits of one word for every hash, so that nearly all positions need no look into the table.
class HashFilter {
 public:
  explicit HashFilter(std::size_t hashes)
      : words_(std::bit_ceil(hashes * kBitsEach / 64 + 2)),
        shift_((64U - static_cast<unsigned>(std::countr_zero(words_.size()))) & 63U) {}
  void add(std::uint64_t hash) { words_[hash >> shift_] |= bits_of(hash); }
  bool may_hold(std::uint64_t hash) const { return (~words_[hash >> shift_] & bits_of(hash)) == 0; }
  /// Adds what `other`, a filter for as many hashes, holds.
  void add(const HashFilter& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
  }

 private:
  static constexpr std::size_t kBitsEach = 16;  // one position in a hundred or fewer is looked up in vain
  static std::uint64_t bits_of(std::uint64_t hash) {
    const std::uint64_t mixed = hash * kOddFactor;
    return std::uint64_t{1} << (mixed >> 58U) | std::uint64_t{1} << (mixed >> 52U & 63U);
  }
  std::vector<std::uint64_t> words_;
  unsigned shift_;
};

/// A split whose passages are searched in another one. Its windows are in lists, one for each value of the upper bits
/// of a hash.
class Search {
 public:
  /// `passages`: at most, of all searches whose filters are joined.
  Search(const TokenFile& looked_for, SharedPassages result, const Windows& windows, std::int64_t passages)
      : looked_for_(&looked_for), result_(std::move(result)), filter_(static_cast<std::size_t>(passages * kStep)) {
    std::vector<std::int64_t> ids(static_cast<std::size_t>(result_.length));
    const std::int64_t apart = result_.every * result_.length;
    for (std::int64_t begin = 0; begin + result_.length <= looked_for.size(); begin += apart) {
      const auto is_enough = [&](std::int64_t tokens) {
        looked_for.copy(begin, tokens, ids.data());
        return has_content(std::span(ids).first(static_cast<std::size_t>(tokens)));
      };
      if (is_enough(kBeginning) || is_enough(result_.length)) begins_.push_back(begin);
      release_behind(begin);
    }
    is_found_.resize(begins_.size());
    result_.passages = static_cast<std::int64_t>(begins_.size());
    result_.example = looked_for.size();
    released_ = 0;
    add_windows(windows);
  }

  const SharedPassages& result() const { return result_; }
  const HashFilter& filter() const { return filter_; }
  /// The same in another split; nothing was found yet.
  void search_in(const std::string& other) { result_.other = other; }
  /// Whether all passages were found.
  bool is_over() const { return result_.shared == result_.passages; }

  /// What was compared need not stay in memory.
  void release() const { looked_for_->release(looked_for_->size()); }

  /// Looks up a window with this hash that begins at `place` of `looked_in`: notes all passages that occur there.
  void look_up(const TokenFile& looked_in, std::uint64_t hash, std::int64_t place) {
    constexpr int kMaxOthers = 64;  // with the same window, as of rules in tables: beyond, a text would take days
    int others = 0;
    for (std::uint32_t* link = &firsts_[list_of(hash)]; *link != kNone && others < kMaxOthers;) {
      const std::uint32_t window = *link;
      const std::size_t passage = window / kStep;
      if (!is_found_[passage] && !is_at(passage, looked_in, place - window % kStep)) {
        ++others;
        link = &nexts_[window];
        continue;
      }
      if (!is_found_[passage]) note(passage);
      *link = nexts_[window];  // each counts once
    }
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  void release_behind(std::int64_t place) {
    if (place - released_ >= kBetweenReleases) looked_for_->release(released_ = place);
  }
  void add_windows(const Windows& windows) {
    const std::size_t count = begins_.size() * static_cast<std::size_t>(kStep);
    firsts_.assign(std::bit_ceil(count + 2), kNone);
    nexts_.resize(count);
    const char* const ids = static_cast<const char*>(looked_for_->ids());
    for (std::uint32_t window = 0; window < count; ++window) {
      const std::int64_t place = begins_[window / kStep] + window % kStep;
      const std::uint64_t hash = windows.hash(ids + place * static_cast<std::int64_t>(windows.id_bytes));
      filter_.add(hash);
      nexts_[window] = std::exchange(firsts_[list_of(hash)], window);
      release_behind(place);
    }
  }
  std::size_t list_of(std::uint64_t hash) const {
    return hash >> ((64U - static_cast<unsigned>(std::countr_zero(firsts_.size()))) & 63U);
  }
  bool is_at(std::size_t passage, const TokenFile& looked_in, std::int64_t begin) {
    constexpr std::int64_t kCompared = 256;  // each may bring 64 KB into memory
    if (++compared_ % kCompared == 0) release();
    return begin >= 0 && begin + result_.length <= looked_in.size() &&
           looked_for_->equals(begins_[passage], looked_in, begin, result_.length);
  }
  void note(std::size_t passage) {
    is_found_[passage] = true;
    ++result_.shared;
    result_.example = std::min(result_.example, begins_[passage]);
  }

  const TokenFile* looked_for_;
  SharedPassages result_;
  HashFilter filter_;  // of the windows
  std::int64_t released_ = 0;
  std::int64_t compared_ = 0;
  std::vector<std::int64_t> begins_;  // of the passages
  std::vector<bool> is_found_;
  std::vector<std::uint32_t> firsts_;  // window of a list: the number of its passage times the step, and its place
  std::vector<std::uint32_t> nexts_;
};

/// The hash of a window, and its first token.
using FoundWindows = std::vector<std::pair<std::uint64_t, std::int64_t>>;

/// The windows from `begin` up to `end` that the filter may hold.
FoundWindows find_windows(const TokenFile& file, std::int64_t begin, std::int64_t end, const Windows& windows,
                          const HashFilter& filter) {
  FoundWindows found;
  const char* const ids = static_cast<const char*>(file.ids());
  const std::int64_t last = std::min(end - 1, file.size() - windows.tokens);
  for (std::int64_t place = begin; place <= last; place += kStep) {
    const std::uint64_t hash = windows.hash(ids + place * static_cast<std::int64_t>(windows.id_bytes));
    if (filter.may_hold(hash)) found.emplace_back(hash, place);
  }
  return found;
}

/// Looks for the passages of all searches in a split, which is read once.
void look_in(const TokenFile& looked_in, std::vector<Search>& searches, const Windows& windows, int threads) {
  HashFilter filter = searches.front().filter();
  for (const Search& search : searches) filter.add(search.filter());
  const std::int64_t part = kStep << 16U;
  std::int64_t done = 0;
  OrderedWork<FoundWindows> parts(threads, [&](const FoundWindows& found) {
    for (const auto& [hash, place] : found) {
      for (Search& search : searches) search.look_up(looked_in, hash, place);
    }
    looked_in.release(done += part);
    for (const Search& search : searches) search.release();
  });
  const auto is_over = [](const Search& search) { return search.is_over(); };
  for (std::int64_t begin = 0; begin < looked_in.size(); begin += part) {
    if (std::ranges::all_of(searches, is_over)) break;  // such as for a text that is there twice
    parts.add([&, begin] { return find_windows(looked_in, begin, begin + part, windows, filter); });
  }
  parts.finish();
}

}  // namespace

std::vector<SharedPassages> shared_passages(const PreparedData& data, std::int64_t most, int threads) {
  const std::int64_t length = data.vocabulary.unit == Vocabulary::Unit::kBpe ? kPassagePairs : kPassageSymbols;
  const Windows windows{.tokens = length - kStep + 1, .id_bytes = static_cast<std::size_t>(data.vocabulary.id_bytes())};
  std::vector<SharedPassages> wanted;
  std::int64_t passages = 0;
  for (const char* name : {"valid", "test"}) {
    if (!data.splits.contains(name)) continue;
    const std::int64_t stretches = data.split(name).tokens.size() / length;
    const std::int64_t every = std::max<std::int64_t>(1, (stretches + most - 1) / most);
    wanted.push_back({.split = name, .other = "train", .every = every, .length = length});
    passages += stretches / every + 1;
  }
  std::vector<std::future<Search>> made;
  for (const SharedPassages& result : wanted) {
    made.push_back(std::async(threads > 1 ? std::launch::async : std::launch::deferred,
                              [&] { return Search(data.split(result.split).tokens, result, windows, passages); }));
  }
  std::vector<Search> in_train;
  for (std::future<Search>& search : made) in_train.push_back(search.get());
  std::vector<Search> in_valid;
  if (in_train.size() == 2) in_valid.push_back(in_train.back());
  for (Search& search : in_valid) search.search_in("valid");
  if (!data.splits.contains("train")) in_train.clear();
  std::vector<SharedPassages> results;
  for (std::vector<Search>* searches : {&in_train, &in_valid}) {
    if (searches->empty()) continue;
    look_in(data.split(searches->front().result().other).tokens, *searches, windows, threads);
    for (const Search& search : *searches) results.push_back(search.result());
  }
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
