// Keeps what a search has asked for.
#include "experiments/sweeps/search_record.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/first_file.h"
#include "base/json.h"
#include "base/sha256.h"

namespace xlm {
namespace {

constexpr std::size_t kRecordDigits = 16;

/// What of a search decides which settings mean the same.
Json searched_identity(const Search& search) {
  Json keys = Json::array();
  for (const KeyRange& key : search.keys) {
    Json choices = Json::array();
    for (const Yaml& choice : key.choices) choices.push_back(to_json(choice));
    keys.push_back({key.name, std::move(choices), key.low, key.high, key.step, key.log, key.whole});
  }
  return {{"measure", search.measure},
          {"higher", search.higher},
          {"sampler", search.sampler},
          {"generator", search.generator},
          {"keys", std::move(keys)}};
}

}  // namespace

void SearchRecord::open(const Search& search, const std::vector<std::string>& first_runs) {
  Sha256 hash;
  hash.update(searched_identity(search).dump());
  for (const std::string& id : first_runs) hash.update("\n" + id);
  folder_ = searches_ / hash.finish().substr(0, kRecordDigits);
  keys_ = search.keys.size();
}

fs::path SearchRecord::file_of(std::int64_t trial) const { return folder_ / fmt::format("trial-{}.json", trial); }

std::optional<SearchSetting> SearchRecord::find(std::int64_t trial) const {
  if (folder_.empty() || !fs::exists(file_of(trial))) return std::nullopt;
  const auto damaged = [&](const std::string& why) {
    return DataError(fmt::format("{} is damaged: {}\nremove it, and its trial is asked for again",  //
                                 file_of(trial).string(), why));
  };
  try {
    auto setting = read_json(file_of(trial)).at("setting").get<SearchSetting>();
    if (setting.size() == keys_) return setting;
  } catch (const Json::exception& error) {
    throw damaged(reason_of(error));
  }
  throw damaged("it has another number of keys");
}

void SearchRecord::propose(std::int64_t trial, const SearchSetting& setting) {
  if (!folder_.empty() && !fs::exists(file_of(trial))) proposed_[trial] = setting;
}

bool SearchRecord::write() {
  if (proposed_.empty()) return true;
  create_folders(folder_);
  remove_unfinished_files(folder_);
  bool was_first = true;
  for (const auto& [trial, setting] : proposed_) {
    was_first = write_first(file_of(trial), json_text({{"setting", setting}})) && was_first;
  }
  proposed_.clear();
  return was_first;
}

}  // namespace xlm
