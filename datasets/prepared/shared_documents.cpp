// Finds short documents of one split in another by hashes of their tokens.
#include "datasets/prepared/shared_documents.h"

#include <algorithm>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

namespace xlm {
namespace {

constexpr std::int64_t kFewestSymbols = 20;  // "Yes." is said twice
constexpr std::int64_t kFewestPairs = 5;

/// Calls `use` with the tokens of every document of a split that has at least `fewest` and fewer than `length`.
void for_each_short(const Split& split, std::int64_t fewest, std::int64_t length, std::size_t id_bytes,
                    const std::function<void(std::string_view ids, std::int64_t begin)>& use) {
  constexpr std::int64_t kBetweenReleases = std::int64_t{1} << 22;  // tokens
  std::int64_t released = 0;
  const char* const ids = static_cast<const char*>(split.tokens.ids());
  for (std::size_t i = 0; i < split.documents.size(); ++i) {
    const std::int64_t begin = split.documents[i];
    const std::int64_t end = i + 1 < split.documents.size() ? split.documents[i + 1] : split.tokens.size();
    if (begin - released >= kBetweenReleases) split.tokens.release(released = begin);
    if (end - begin < fewest || end - begin >= length) continue;
    use({ids + static_cast<std::size_t>(begin) * id_bytes, static_cast<std::size_t>(end - begin) * id_bytes}, begin);
  }
}

}  // namespace

std::vector<SharedDocuments> shared_documents(const PreparedData& data, std::int64_t length, std::size_t most) {
  const std::int64_t fewest = data.vocabulary.unit == Vocabulary::Unit::kBpe ? kFewestPairs : kFewestSymbols;
  const auto id_bytes = static_cast<std::size_t>(data.vocabulary.id_bytes());
  std::vector<SharedDocuments> results;
  for (const auto& [name, other] :
       {std::pair("valid", "train"), std::pair("test", "train"), std::pair("test", "valid")}) {
    if (!data.splits.contains(name) || !data.splits.contains(other)) continue;
    struct Known {
      std::int64_t count = 0;
      std::int64_t first = 0;
    };
    std::unordered_map<std::size_t, Known> left;  // by hash, those that are not found yet
    SharedDocuments result{.split = name,
                           .other = other,
                           .documents = std::ssize(data.split(name).documents),
                           .example = data.split(name).tokens.size()};
    for_each_short(data.split(name), fewest, length, id_bytes, [&](std::string_view ids, std::int64_t begin) {
      const std::size_t hash = std::hash<std::string_view>()(ids);
      if (left.size() >= most && !left.contains(hash)) return;
      Known& known = left.try_emplace(hash, Known{.first = begin}).first->second;
      ++known.count;
    });
    for_each_short(data.split(other), fewest, length, id_bytes, [&](std::string_view ids, std::int64_t /*begin*/) {
      const auto found = left.find(std::hash<std::string_view>()(ids));
      if (found == left.end()) return;
      result.shared += found->second.count;
      result.example = std::min(result.example, found->second.first);
      left.erase(found);
    });
    results.push_back(std::move(result));
  }
  return results;
}

std::string shared_documents_text(const SharedDocuments& found) {
  return fmt::format("{:.0f} % of the documents of {} are short and also occur in {} ({} of {})", 100 * found.share(),
                     found.split, found.other, found.shared, found.documents);
}

}  // namespace xlm
