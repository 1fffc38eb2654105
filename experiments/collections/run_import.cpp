// Puts runs of another tracker into a folder of runs.
#include "experiments/collections/run_import.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/lookup.h"
#include "base/sha256.h"
#include "base/text.h"
#include "base/yaml.h"
#include "experiments/configuration/run_id.h"
#include "experiments/programs/quantity_name.h"
#include "results/run_folder/imported.h"
#include "results/run_folder/journal.h"
#include "results/run_folder/run_folder.h"

namespace xlm {
namespace {

constexpr const char* kImportPrefix = ".import";
constexpr std::size_t kRunsAtOnce = 1000;  // are written, and then appear together

/// What a number is of: its split, the settings of its evaluation, its name and its step.
using NumberKey = std::tuple<std::string, std::string, std::string, std::int64_t>;
using Numbers = std::map<NumberKey, Json>;

constexpr const char* kOfCosts = "costs";  // in the place of a split

std::string with_dots(std::string text) {
  std::ranges::replace(text, '/', '.');
  return text;
}

/// The numbers that a journal has.
Numbers numbers_in(const std::vector<Json>& records) {
  Numbers numbers;
  for (const Json& record : records) {
    const Json& type = record.at("type");
    if (type == "series") {
      for (std::size_t i = 0; i < record.at("steps").size(); ++i) {
        numbers[{"", "", record.at("name"), record["steps"][i]}] = record.at("values").at(i);
      }
    } else if (type == "evaluation" || type == "costs") {
      const bool of_costs = type == "costs";
      for (const auto& [name, value] : record.at("values").items()) {
        numbers[of_costs ? NumberKey(kOfCosts, "", name, 0)
                         : NumberKey(record.at("split"), record.at("settings").dump(), name, record.at("step"))] =
            value;
      }
    }
  }
  return numbers;
}

/// The numbers of a run of another tracker.
class ForeignNumbers {
 public:
  explicit ForeignNumbers(const Json& foreign) {
    for (const Json& given : foreign.at("numbers")) add(given);
  }

  Numbers numbers;
  std::set<NumberKey> final;
  std::set<std::string> left_out;  // as the tracker calls them
  std::string diverged;            // a final number that is not finite; empty: there is none

 private:
  void add(const Json& given) {
    const auto place = place_of(given.at("name"), given.value("split", ""));
    if (!place) return;
    const std::string settings = place->split.empty() ? "" : given.value("settings", Json::object()).dump();
    const std::size_t count = given.at("steps").size();
    for (std::size_t i = 0; i < count; ++i) {
      if (place->kind == QuantityPlace::Kind::kRun) {  // the last counts
        numbers[{kOfCosts, "", place->name, 0}] = given.at("values").at(i);
        continue;
      }
      const NumberKey key(place->split, settings, place->name, given["steps"][i]);
      numbers[key] = given.at("values").at(i);
      if (!given.value("final", false) || i + 1 != count) continue;
      final.insert(key);
      if (!numbers[key].is_number()) diverged = fmt::format("{}.{}", place->split, place->name);
    }
  }

  /// Of two names that become one, the second keeps what says of which split it is; nothing if no name is left.
  std::optional<QuantityPlace> place_of(const std::string& theirs, const std::string& split) {
    QuantityPlace place = quantity_place(quantity_name_from(theirs));
    if (!split.empty()) place = {QuantityPlace::Kind::kEvaluation, split, place.name};
    for (const std::string& name : {place.name, with_dots(theirs)}) {
      if (!is_quantity_name(name)) continue;
      place.name = name;
      if (owners_.try_emplace({place.split, name}, theirs).first->second == theirs) return place;
    }
    left_out.insert(theirs);
    return std::nullopt;
  }

  std::map<std::pair<std::string, std::string>, std::string> owners_;  // of a split and name: what it is there
};

/// Those that the journal has as final ones.
std::set<NumberKey> final_in(const std::vector<Json>& records) {
  std::set<NumberKey> final;
  for (const Json& record : records) {
    if (record.at("type") != "evaluation" || !record.value("final", false)) continue;
    for (const auto& [key, value] : numbers_in({record})) final.insert(key);
  }
  return final;
}

/// The records that say these numbers.
std::vector<Json> records_of(const Numbers& numbers, const std::set<NumberKey>& final) {
  std::map<std::string, Json> series;
  std::map<std::tuple<std::string, std::int64_t, std::string, bool>, Json> evaluations;
  std::vector<Json> records;
  for (const auto& [key, value] : numbers) {
    const auto& [split, settings, name, step] = key;
    if (split == kOfCosts) {
      records.push_back({{"type", "costs"}, {"values", {{name, value}}}});
    } else if (split.empty()) {
      Json& record = series.try_emplace(name, Json{{"type", "series"}, {"name", name}}).first->second;
      record["steps"].push_back(step);
      record["values"].push_back(value);
    } else {
      evaluations[{split, step, settings, final.contains(key)}][name] = value;
    }
  }
  for (auto& [name, record] : series) records.push_back(std::move(record));
  for (auto& [key, values] : evaluations) {
    const auto& [split, step, settings, is_final] = key;
    records.push_back({{"type", "evaluation"},
                       {"split", split},
                       {"step", step},
                       {"final", is_final},
                       {"settings", Json::parse(settings)},
                       {"values", std::move(values)}});
  }
  return records;
}

/// A tracker calls a run done whose numbers are finite no more: it has diverged.
Json ending_of(const Json& foreign, const ForeignNumbers& numbers) {
  const bool has_diverged = foreign.at("state") == name_of(RunStatus::kDone) && !numbers.diverged.empty();
  if (!has_diverged) return {{"type", "state"}, {"state", foreign.at("state")}, {"reason", foreign.at("reason")}};
  return {{"type", "state"},
          {"state", name_of(RunStatus::kDiverged)},
          {"reason", fmt::format("{} is not finite at its end", numbers.diverged)}};
}

/// The numbers of tasks whose versions are told apart, without these: one was there before (lm-eval).
std::set<NumberKey> without_versions(const Numbers& numbers) {
  constexpr const char* kVersion = "task_version";
  std::set<NumberKey> keys;
  for (const auto& [key, value] : numbers) {
    auto [split, settings, name, step] = key;
    if (settings.find(kVersion) == std::string::npos) continue;
    Json without = Json::parse(settings);
    without.erase(kVersion);
    keys.emplace(split, without.dump(), name, step);
  }
  return keys;
}

/// What of a run has changed at its source; empty: nothing. `is_part`: what is not there may be in another file.
std::string change_of_numbers(const Numbers& here, const Numbers& there, bool is_part) {
  const auto name_of_key = [](const NumberKey& key) {
    const auto& [split, settings, name, step] = key;
    return fmt::format("{}{} at step {}", split.empty() ? "" : split + ".", name, step);
  };
  const std::set<NumberKey> versions_there = without_versions(there);
  for (const auto& [key, value] : here) {
    const Json* const found = find_in(there, key);
    if (found != nullptr && *found == value) continue;
    const std::string what = name_of_key(key);
    if (found != nullptr) return fmt::format("{} is {} here and {} there", what, value.dump(), found->dump());
    if (versions_there.contains(key)) return what + " is of one version of its task here, and of several there";
    if (!is_part) return fmt::format("{} is {} here and missing there", what, value.dump());
  }
  const std::set<NumberKey> versions_here = without_versions(here);
  for (const auto& [key, value] : there) {
    if (here.contains(key) || !versions_here.contains(key)) continue;
    return name_of_key(key) + " is of several versions of its task here, and of one there";
  }
  return "";
}

using Settings = std::map<std::string, Json>;

/// The settings of a run's folder, with what came later.
Settings settings_in(const Json& config, const std::vector<Json>& records) {
  SettingList list;
  flatten(config, "", list);
  Settings settings(list.begin(), list.end());
  for (const Json& record : records) {
    if (record.at("type") != kSettingsRecord) continue;
    for (const auto& [key, value] : record.at("values").items()) settings[key] = value;
  }
  return settings;
}

Json settings_record(Json values) { return {{"type", kSettingsRecord}, {"values", std::move(values)}}; }

/// Which way numbers of a run are better, as settings.
Json directions_of(const Json& foreign) {
  Json directions = Json::object();
  for (const auto& [theirs, better] : foreign.at("better").items()) {
    const std::string name = quantity_place(quantity_name_from(theirs)).name;
    if (is_quantity_name(name)) directions[std::string(kDirectionPrefix) + name] = better;
  }
  return directions;
}

/// `before` with what of `now` it does not have: "3fa9, 77c1".
std::string with_further(const std::string& before, const std::string& now) {
  std::string all = before;
  for (const std::string& word : split(now, ',')) {
    const auto is_it = [&](const std::string& known) { return trim(known) == trim(word); };
    if (std::ranges::none_of(split(all, ','), is_it)) all += fmt::format(", {}", trim(word));
  }
  return all;
}

/// What is new of the settings at their source.
struct SettingNews {
  Json values = Json::object();
  std::string conflict;  // what has changed or is gone, but for where it is from; empty: nothing
};
SettingNews news_of_settings(const Settings& here, const Settings& there, const Json& foreign) {
  const bool is_part = foreign.at("is_part").get<bool>();
  const Json& no_settings = foreign.at("no_settings");
  SettingNews news;
  for (const auto& [key, value] : here) {
    const Json* const found = find_in(there, key);
    const bool is_same = found == nullptr ? is_part || contains(no_settings, Json(key)) : *found == value;
    if (is_same || key.starts_with(kImportedPrefix) || (is_part && key == "experiment")) continue;
    news.conflict =
        fmt::format("{} is {} here and {} there", key, value.dump(), found == nullptr ? "missing" : found->dump());
    return news;
  }
  for (const auto& [key, value] : there) {
    const auto known = here.find(key);
    if (known != here.end() && (key == kImportedTime || key == "experiment" || known->second == value)) continue;
    const bool adds = known != here.end() && (is_part || key == kImportedCode);
    const Json all = adds ? Json(with_further(known->second.get<std::string>(), value.get<std::string>())) : value;
    if (known == here.end() || known->second != all) news.values[key] = all;
  }
  return news;
}

/// Whether a run belongs to an experiment already.
bool belongs_to(const std::string& experiment, const Json& config, const std::vector<Json>& records) {
  const auto names_it = [&](const Json& record) {
    return record.at("type") == "experiment" && record.at("name") == experiment;
  };
  return config.value("experiment", "") == experiment || std::ranges::any_of(records, names_it);
}

std::string note_of_left_out(const ForeignNumbers& there) {
  const std::vector<std::string> names(there.left_out.begin(), there.left_out.end());
  return names.empty() ? "" : "left out, as their names are those of others or none: " + listed_names(names, 3);
}

/// Not flushed to the disk: all runs are, at once.
void write_plainly(const fs::path& file, const std::string& text) {
  std::ofstream out(file, std::ios::binary);
  if (!(out << text).flush()) throw_file_error("write", file, errno);
}

/// The id of a run: its source, its project there, and a hash of its id there.
std::string imported_id(const Json& foreign, const std::string& id) {
  const std::string source = foreign.at("config").at("imported").at("source").get<std::string>();
  return run_name(source, foreign.at("project").get<std::string>(), sha256(source + "\n" + id));
}

}  // namespace

RunImport::RunImport(fs::path runs) : runs_(std::move(runs)) {
  create_folders(runs_);
  remove_left_folders(runs_, kImportPrefix);
}

ImportedRun RunImport::take(const Json& foreign) {
  const std::string id = imported_id(foreign, foreign.at("config").at("imported").at("id").get<std::string>());
  if (fs::exists(runs_ / id)) return update(id, foreign);
  if (const std::string formerly = foreign.at("formerly").get<std::string>(); !formerly.empty()) {
    const std::string before = imported_id(foreign, formerly);
    ImportedRun known = fs::exists(runs_ / before) ? update(before, foreign) : ImportedRun{};
    if (!known.id.empty() && known.outcome != ImportOutcome::kConflict) return known;
  }
  if (contains(written_, id)) {
    return {.id = id, .outcome = ImportOutcome::kConflict, .note = "two runs there have this id; the first counts"};
  }
  const std::string note = write(id, foreign);
  if (written_.size() >= kRunsAtOnce) finish();
  return {.id = id, .outcome = ImportOutcome::kAdded, .note = note};
}

std::string RunImport::write(const std::string& id, const Json& foreign) {
  if (!staged_) staged_ = std::make_unique<StagedFolder>(runs_ / "imported", kImportPrefix);
  const RunPaths paths{staged_->path() / id};
  create_folders(paths.folder);
  write_plainly(paths.config(), to_text(yaml_from_json(foreign.at("config"), "")));
  const ForeignNumbers made(foreign);
  std::vector<Json> records = records_of(made.numbers, made.final);
  for (Json remark : foreign.at("remarks")) records.push_back(std::move(remark));
  if (const Json better = directions_of(foreign); !better.empty()) records.push_back(settings_record(better));
  records.push_back(ending_of(foreign, made));
  std::string journal = journal_line({{"type", "state"}, {"time", foreign.at("created")}, {"state", "running"}}) + "\n";
  for (Json& record : records) {
    record["time"] = foreign.at("ended");
    journal += journal_line(record) + "\n";
  }
  write_plainly(paths.journal(), journal);
  written_.push_back(id);
  return note_of_left_out(made);
}

ImportedRun RunImport::update(const std::string& id, const Json& foreign) const {
  const RunPaths paths{runs_ / id};
  const JournalContent journal = read_journal(paths.journal());
  const Json known = to_json(read_yaml(paths.config()));
  const Json config = to_json(parse_yaml(to_text(yaml_from_json(foreign.at("config"), "")), ""));
  const SettingNews settings = news_of_settings(
      settings_in(known, journal.records), settings_in(config, {settings_record(directions_of(foreign))}), foreign);
  if (!settings.conflict.empty()) return {.id = id, .outcome = ImportOutcome::kConflict, .note = settings.conflict};
  const Numbers here = numbers_in(journal.records);
  ForeignNumbers there(foreign);
  const std::string other = change_of_numbers(here, there.numbers, foreign.at("is_part").get<bool>());
  if (!other.empty()) return {.id = id, .outcome = ImportOutcome::kConflict, .note = other};
  const std::set<NumberKey> final = final_in(journal.records);
  for (const auto& [key, value] : here) {
    if (final.contains(key) || !there.final.contains(key))
      there.numbers.erase(key);  // --split may say that it is final
  }
  const Json ending = ending_of(foreign, there);
  std::vector<Json> news = records_of(there.numbers, there.final);
  if (!settings.values.empty()) news.push_back(settings_record(settings.values));
  if (const std::string name = config.value("experiment", ""); !belongs_to(name, known, journal.records)) {
    news.push_back({{"type", "experiment"}, {"name", name}});
  }
  const auto state = std::find_if(journal.records.rbegin(), journal.records.rend(),
                                  [](const Json& record) { return record["type"] == "state"; });
  if (!news.empty() || state == journal.records.rend() ||
      state->value("state", "") != ending.at("state").get<std::string>() ||
      state->value("reason", "") != ending.at("reason").get<std::string>()) {
    news.push_back(ending);
  }
  if (news.empty()) return {.id = id, .outcome = ImportOutcome::kSame, .note = ""};
  Journal appended(paths.journal());
  for (Json& record : news) {
    record["time"] = foreign.at("ended");
    appended.append(record.at("type").get<std::string>(), record);
  }
  return {.id = id, .outcome = ImportOutcome::kGrown, .note = note_of_left_out(there)};
}

void RunImport::finish() {
  if (!staged_) return;
  const Descriptor folder(::open(staged_->path().c_str(), O_RDONLY | O_CLOEXEC));
  if (!folder.is_open() || ::syncfs(folder.get()) != 0) throw_file_error("write", staged_->path(), errno);
  for (const std::string& id : written_) {
    std::error_code error;
    fs::rename(staged_->path() / id, runs_ / id, error);
    if (error) throw_file_error("create", runs_ / id, error.value());
  }
  sync_folder(runs_);
  written_.clear();
  staged_.reset();
}

}  // namespace xlm
