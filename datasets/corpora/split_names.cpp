// Names of splits.
#include "datasets/corpora/split_names.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <re2/re2.h>

#include "base/error.h"
#include "base/text.h"
#include "datasets/prepared/split_plan.h"

namespace xlm {
namespace {

constexpr auto kWords = std::to_array<std::pair<std::string_view, std::size_t>>({
    {"train", 0},
    {"training", 0},
    {"validation", 1},
    {"valid", 1},
    {"val", 1},
    {"dev", 1},
    {"development", 1},
    {"devel", 1},
    {"heldout", 1},
    {"holdout", 1},
    {"testa", 1},
    {"test", 2},
    {"testing", 2},
    {"eval", 2},
    {"evaluation", 2},
    {"testb", 2},
    {"devtest", 2},
});

/// The words of a name: "wiki40b-train.tfrecord-00000-of-00032" → wiki, b, train, tfrecord, of. Bytes of letters
/// outside of ASCII belong to words, too.
std::vector<std::string> words_of(std::string_view name) {
  static const RE2 letters(R"(([A-Za-z\x80-\xff]+))", RE2::Latin1);
  std::vector<std::string> words;
  re2::StringPiece rest(name.data(), name.size());
  for (std::string word; RE2::FindAndConsume(&rest, letters, &word);) words.push_back(lower_case(word));
  return words;
}

/// The one split that the words name; nullopt if they name none or two.
std::optional<NamedSplit> one_split(const std::vector<std::string>& words) {
  std::optional<NamedSplit> found;
  for (const std::string& word : words) {
    const std::optional<std::size_t> split = split_of_word(word);
    if (!split) continue;
    if (found && found->split != *split) return std::nullopt;
    if (!found) found = NamedSplit{*split, word};
  }
  return found;
}

/// Whether a name contains "00000-of-00005".
bool is_of_shard(const std::string& name) {
  static const RE2 numbers(R"(\d-of-\d)");
  return RE2::PartialMatch(name, numbers);
}

std::optional<NamedSplit> nearest_folder(const SourceFile& source, bool several_roots) {
  if (source.named) return split_of_folder(fs::absolute(source.path).parent_path().filename().string());
  for (fs::path folder = fs::path(source.name).parent_path(); folder.has_filename(); folder = folder.parent_path()) {
    if (auto found = split_of_folder(folder.filename().string())) return found;
  }
  if (!several_roots) return std::nullopt;
  const fs::path root = (fs::absolute(source.root) / "x").lexically_normal().parent_path();
  return split_of_folder(root.filename().string());
}

/// The split of a file whose own name has no word for one: of the nearest folder below the one that the user named
/// whose name has a word for one split among others (heldout-monolingual.tokenized.shuffled).
std::optional<NamedSplit> split_in_folders(const SourceFile& source) {
  const std::vector<std::string> own = words_of(source.path.filename().string());
  if (source.named || std::any_of(own.begin(), own.end(), split_of_word)) return std::nullopt;
  for (fs::path folder = fs::path(source.name).parent_path(); folder.has_filename(); folder = folder.parent_path()) {
    if (auto found = one_split(words_of(folder.filename().string()))) return found;
  }
  return std::nullopt;
}

/// The names of splits, where words among others in the names of folders count for files that name none if
/// `by_folders`.
SplitNames names_of(const std::vector<SourceFile>& sources, bool by_folders) {
  std::set<fs::path> roots;
  for (const SourceFile& source : sources) roots.insert(source.named ? source.path : source.root);
  SplitNames names;
  for (const SourceFile& source : sources) {
    std::optional<NamedSplit> found = named_split(source, roots.size() > 1);
    if (!found && by_folders) found = split_in_folders(source);
    names.of.push_back(found);
    if (!found) {
      if (source.size > 0) names.unnamed.push_back(source.name);  // _SUCCESS marks a folder as whole
      continue;
    }
    std::vector<std::string>& words = names.words.at(found->split);
    if (std::ranges::find(words, found->word) == words.end()) words.push_back(found->word);
  }
  return names;
}

}  // namespace

std::optional<std::size_t> split_of_word(std::string_view word) {
  std::string lower = lower_case(word);
  for (const std::string_view end : {"set", "data", "split"}) {  // trainset
    if (lower.size() > end.size() && lower.ends_with(end)) lower.resize(lower.size() - end.size());
  }
  const auto* const found = std::ranges::find_if(kWords, [&](const auto& known) { return known.first == lower; });
  if (found == kWords.end()) return std::nullopt;
  return found->second;
}

std::optional<NamedSplit> split_of_folder(std::string_view name) {
  std::vector<std::string> words = words_of(name);
  std::erase_if(words, [](const std::string& word) {
    return word == "of" || word == "set" || word == "data" || word == "split";
  });
  return words.size() == 1 ? one_split(words) : std::nullopt;
}

std::optional<NamedSplit> named_split(const SourceFile& source, bool several_roots) {
  const std::string name = source.path.filename().string();
  const std::vector<std::string> words = words_of(name);
  std::optional<NamedSplit> file = one_split(words);
  const std::optional<NamedSplit> folder = nearest_folder(source, several_roots);
  const bool exact = file && (is_of_shard(name) || split_of_folder(name.substr(0, name.find('.'))));
  if (file && folder && file->split != folder->split) {
    if (source.named) return file;
    if (exact) return std::nullopt;
  }
  return folder ? folder : file;
}

int SplitNames::named() const {
  return static_cast<int>(std::ranges::count_if(words, [](const auto& names) { return !names.empty(); }));
}

SplitNames split_names(const std::vector<SourceFile>& sources) {
  SplitNames names = names_of(sources, false);
  if (names.unnamed.empty()) return names;
  SplitNames by_folders = names_of(sources, true);
  if (by_folders.unnamed.empty() && by_folders.named() > 1) return by_folders;
  names.in_folders = by_folders.named();
  return names;
}

std::vector<SourceFile> split_by_names(std::vector<SourceFile> sources, const SplitNames& names,
                                       const std::string& way_out) {
  if (!names.unnamed.empty()) {
    const std::size_t more = names.unnamed.size() - 1;
    throw DataError(fmt::format("{}{}: the name gives no split, or two, but other names give one\n{}",
                                names.unnamed.front(), more == 0 ? "" : fmt::format(" (and {} more)", more), way_out));
  }
  for (std::size_t split = 0; split < names.words.size(); ++split) {
    if (names.words.at(split).size() < 2) continue;
    throw DataError(
        fmt::format("two names mean {}: {}\n{}", kSplitNames.at(split), join(names.words.at(split), ", "), way_out));
  }
  std::vector<SourceFile> of_splits;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (!names.of[i]) continue;  // it is empty
    of_splits.push_back(std::move(sources[i]));
    of_splits.back().split = names.of[i]->split;
  }
  std::ranges::stable_sort(of_splits, [](const SourceFile& a, const SourceFile& b) { return a.split < b.split; });
  return of_splits;
}

}  // namespace xlm
