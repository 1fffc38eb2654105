// The shards of a data set's folder.
#include "datasets/dataset_folder.h"

#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "datasets/corpora/reading.h"

namespace xlm {
namespace {

bool is_shard(const SourceFile& source) {
  const std::string name = source.path.filename().string();
  return (name.ends_with(".parquet") || name.ends_with(".arrow")) && !name.starts_with("cache-");
}

void check_one_folder(const std::vector<fs::path>& files, const fs::path& root) {
  std::set<std::string> folders;
  for (const fs::path& file : files) folders.insert(file.parent_path().lexically_relative(root).string());
  if (folders.size() <= 1) return;
  throw DataError(fmt::format("{} holds several data sets: {}\nname the folder of one", root.string(),
                              join({folders.begin(), folders.end()}, ", ")));
}

/// Where some shards say their split, what the others are for is not to be guessed.
void check_all_named(const std::vector<std::string>& of_none, const fs::path& root) {
  if (of_none.empty()) return;
  throw DataError(fmt::format(
      "{}{} of {} names no split, as others do: neither the file nor its folder is called train, validation "
      "or test\nrename or remove it, or name the files of each split: xlm prepare-data text --train FILES "
      "--valid FILES --test FILES",
      of_none.front(), of_none.size() > 1 ? fmt::format(" (and {} more)", of_none.size() - 1) : "", root.string()));
}

}  // namespace

void find_shards(const fs::path& folder, PrepareRequest& request) {
  if (!fs::is_directory(folder)) {
    throw DataError(
        fmt::format("{} is no folder\nname what `save_to_disk` made, or a download from the hub", folder.string()));
  }
  std::vector<SourceFile> shards = find_sources({folder}, "");
  std::erase_if(shards, [](const SourceFile& source) { return !is_shard(source); });
  if (shards.empty()) {
    throw DataError(
        fmt::format("{} holds no shards (.parquet or .arrow)\nof other files a folder is made by "
                    "`xlm prepare-data text`",
                    folder.string()));
  }
  std::array<std::vector<fs::path>, 3> splits;
  std::vector<fs::path> all;
  std::vector<std::string> of_none;
  for (const SourceFile& shard : shards) {
    all.push_back(shard.path);
    if (const auto split = named_split(shard)) {
      splits.at(*split).push_back(shard.path);
    } else {
      of_none.push_back(shard.name);
    }
  }
  for (const std::vector<fs::path>& files : splits) check_one_folder(files, folder);
  if (splits[1].empty() && splits[2].empty()) {
    check_one_folder(all, folder);
    request.from = std::move(all);
  } else {
    check_all_named(of_none, folder);
    request.given = std::move(splits);
  }
}

}  // namespace xlm
