// The files of a request.
#include "datasets/request_sources.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "datasets/corpora/split_names.h"

namespace xlm {
namespace {

constexpr const char* kSayTheSplits =
    "name the files of each split: xlm prepare-data text --train FILES --valid FILES --test FILES\n"
    "or divide the whole text: --split 90%,5%,5%";

/// A corpus of one file may be named by its folder, if that has no other file.
void check_folders(const Corpus& corpus, const std::vector<SourceFile>& sources) {
  if (corpus.folders) return;
  const auto in_folder = [](const SourceFile& source) { return !source.named; };
  if (std::count_if(sources.begin(), sources.end(), in_folder) <= 1) return;
  std::vector<std::string> names;
  for (const SourceFile& source : sources) {
    if (names.size() < 5) names.push_back(source.name);
  }
  throw UsageError(fmt::format("{} is one file, but the folder has {}: {}{}\nname the file with --from", corpus.name,
                               sources.size(), join(names, ", "), sources.size() > names.size() ? ", …" : ""));
}

bool is_shard(const std::string& name) {
  return (name.ends_with(".parquet") || name.ends_with(".arrow")) && !name.starts_with("cache-");
}

/// Shards in several folders are several data sets.
void check_one_folder(const std::vector<SourceFile>& shards, const fs::path& root) {
  std::set<std::string> folders;
  for (const SourceFile& shard : shards) folders.insert(shard.path.parent_path().lexically_relative(root).string());
  if (folders.size() <= 1) return;
  throw DataError(fmt::format("{} has several data sets: {}\nname the folder of one", root.string(),
                              join({folders.begin(), folders.end()}, ", ")));
}

/// The Parquet and Arrow shards in the folder of a data set.
std::vector<SourceFile> find_shards(const fs::path& folder, const PrepareObserver& observer) {
  if (!fs::is_directory(folder)) {
    throw DataError(fmt::format("{} is not a folder\nname a folder from `save_to_disk`, or a download from the hub",
                                folder.string()));
  }
  std::vector<SourceFile> shards;
  for (SourceFile& source : find_sources({folder}, "", observer)) {
    if (is_shard(source.path.filename().string())) {
      shards.push_back(std::move(source));
    } else {
      observer.pass_over("files that are no shards", source.name);
    }
  }
  if (!shards.empty()) return shards;
  throw DataError(
      fmt::format("{} has no shards (.parquet or .arrow)\nprepare other files with "
                  "`xlm prepare-data text`",
                  folder.string()));
}

std::vector<SourceFile> sources_of_import(const PrepareRequest& request, const PrepareObserver& observer) {
  const fs::path& folder = request.from.front();
  std::vector<SourceFile> shards = find_shards(folder, observer);
  const SplitNames names = split_names(shards);
  const bool of_training_alone = names.words[1].empty() && names.words[2].empty() && names.unnamed.empty();
  if (request.split || names.named() == 0 || of_training_alone) {
    check_one_folder(shards, folder);
  } else {
    shards = split_by_names(std::move(shards), names, kSayTheSplits);
    for (std::size_t split = 0; split < kSplitNames.size(); ++split) {
      std::vector<SourceFile> of_split;
      std::copy_if(shards.begin(), shards.end(), std::back_inserter(of_split),
                   [&](const SourceFile& shard) { return shard.split == split; });
      check_one_folder(of_split, folder);
    }
  }
  for (SourceFile& shard : shards) {  // as if the user had named each
    shard.name = fs::path(shard.name).filename().string();
    if (shard.split) shard.name = fmt::format("{}/{}", kSplitNames.at(*shard.split), shard.name);
  }
  return shards;
}

/// The files of --train, --valid and --test.
std::vector<SourceFile> given_sources(const PrepareRequest& request, const PrepareObserver& observer) {
  std::vector<SourceFile> all;
  for (std::size_t split = 0; split < request.given.size(); ++split) {
    if (request.given.at(split).empty()) continue;
    for (SourceFile& source : find_sources(request.given.at(split), request.glob, observer)) {
      source.name = fmt::format("{}/{}", kSplitNames.at(split), source.name);
      source.split = split;
      all.push_back(std::move(source));
    }
  }
  return all;
}

/// Gives files of text the splits of their names, if these name two or three.
std::vector<SourceFile> as_names_say(std::vector<SourceFile> sources, const PrepareObserver& observer) {
  const SplitNames names = split_names(sources);
  if (names.named() < 2) {
    const bool some = !names.unnamed.empty() && (names.named() == 1 || names.in_folders > 0);
    if (some) observer.say("some names give a split, and some files have none: --split divides all files as one text");
    return sources;
  }
  sources = split_by_names(std::move(sources), names, kSayTheSplits);
  std::vector<std::string> parts;
  for (std::size_t split = 0; split < kSplitNames.size(); ++split) {
    const auto count =
        std::count_if(sources.begin(), sources.end(), [&](const SourceFile& source) { return source.split == split; });
    if (count > 0) parts.push_back(fmt::format("{} of {}", count, kSplitNames.at(split)));
  }
  observer.say(fmt::format("the file names give the splits: {} (--split divides them as one text)", join(parts, ", ")));
  return sources;
}

}  // namespace

std::vector<SourceFile> request_sources(const Preparation& preparation, const PrepareObserver& observer) {
  const PrepareRequest& request = preparation.request;
  const Corpus& corpus = *preparation.corpus;
  if (request.shards) return sources_of_import(request, observer);
  if (request.has_given_splits()) return given_sources(request, observer);
  std::vector<SourceFile> sources = find_sources(request.from, request.glob, observer);
  check_folders(corpus, sources);
  if (corpus.select != nullptr) sources = corpus.select(sources, preparation.settings, observer);
  return corpus.given_splits && !request.split ? as_names_say(std::move(sources), observer) : sources;
}

}  // namespace xlm
