// Claims and the records of them.
#include "results/claims/registered_claim.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "results/claims/side_formula.h"

namespace xlm {
namespace {

constexpr std::size_t kMaxNamed = 3;
constexpr const char* kRegistered = "registered";

/// Whatever the order of keys: maps of a file have none.
bool is_same(const Json& a, const Json& b) { return nlohmann::json(a) == nlohmann::json(b); }

std::vector<std::string> keys_apart(const Json& a, const Json& b) {
  std::set<std::string> keys;
  for (const Json* one : {&a, &b}) {
    for (const auto& [key, value] : one->items()) keys.insert(key);
  }
  std::erase_if(keys, [&](const std::string& key) { return is_same(a.value(key, Json()), b.value(key, Json())); });
  return {keys.begin(), keys.end()};
}

using Chain = std::vector<Registration>;

/// What is to be said of the test split of a claim about it, if it is sealed in some of its runs.
std::string word_on_test(RunTable& runs, const JudgedClaim& judged, const Chain& chain, const fs::path& folder) {
  const std::vector<std::string> columns = columns_of_value(judged.description.value);
  const auto is_of_test = [](const std::string& column) { return column.starts_with("test."); };
  if (std::ranges::none_of(columns, is_of_test)) return "";
  const std::vector<std::string> used = runs_of(judged);
  std::vector<std::string> openings;  // of one of its runs
  for (const Registration& one : chain) {
    const auto is_opened = [&](const std::string& id) { return one.opens(id); };
    if (std::ranges::any_of(used, is_opened)) openings.push_back(one.hash);
  }
  std::vector<std::string> open;   // whose configuration seals nothing
  std::vector<std::string> early;  // that began when the test of others had been measured
  const std::vector<Value>& seals = runs.column_or_nothing(kSealedKey);
  for (std::size_t row = 0; row < runs.size(); ++row) {
    if (std::ranges::find(used, runs.id(row)) == used.end()) continue;
    if (to_text(seals[row]) != "test") open.push_back(runs.id(row));
    const std::string seen = seen_by_run(folder / runs.id(row)).value_or("");
    const auto was_open = [&](const std::string& opening) { return is_after(chain, seen, opening); };
    if (!seen.empty() && std::ranges::any_of(openings, was_open)) early.push_back(runs.id(row));
  }
  if (openings.empty() || open.size() == used.size()) return "";
  if (!open.empty()) return fmt::format("test was not sealed in {}", listed_names(open, kMaxNamed));
  if (!early.empty()) return fmt::format("test was open before {} began", listed_names(early, kMaxNamed));
  return openings.size() == 1 ? "test opened once" : fmt::format("test opened {} times", openings.size());
}

/// `places`: of the records that have the claim as it is.
class RecordedClaim {
 public:
  RecordedClaim(RunTable& runs, const JudgedClaim& judged, const std::vector<Registration>& chain,
                std::vector<std::size_t> places, const ClaimContext& context, const fs::path& folder)
      : runs_(runs), claim_(judged.description), chain_(chain), places_(std::move(places)), context_(context) {
    for (const std::string& id : runs_of(judged)) seen_by_used_.emplace(id, seen_by_run(folder / id));
  }

  /// By the runs that the record at a place plans. In folders that were merged, some may have seen another record of
  /// the same plan.
  std::string word(std::size_t place) const {
    std::vector<std::string> changes;
    const Json& recorded = chain_[place].record["runs"];
    if (!is_after(chain_, chain_[place].hash, "")) changes.emplace_back("the chain of records");
    for (const auto& [id, seen] : seen_by_used_) {
      if (recorded.contains(id)) continue;
      if (std::string why = why_other(id, recorded); !why.empty()) changes.push_back(std::move(why));
    }
    for (const auto& [id, run] : recorded.items()) {
      if (const std::string why = why_dropped(id, run); !why.empty()) changes.push_back(why);
    }
    std::vector<std::size_t> of_plan;  // records of the same plan
    for (const std::size_t one : places_) {
      if (one == place || is_same(chain_[one].record["runs"], recorded)) of_plan.push_back(one);
    }
    std::vector<std::string> late;
    bool is_proved = true;
    for (const auto& [id, seen] : seen_by_used_) {
      if (!seen) {
        is_proved = false;
        continue;
      }
      if (!seen->empty() && !has_record(chain_, *seen))
        changes.push_back(fmt::format("the chain of records ({} saw another)", id));
      const auto has_seen = [&, &hash = *seen](std::size_t one) { return is_after(chain_, hash, chain_[one].hash); };
      if (std::ranges::none_of(of_plan, has_seen)) late.push_back(id);
    }
    if (!changes.empty()) return "changed since: " + listed_names(changes, kMaxNamed);
    if (!late.empty())
      return fmt::format("registered late: {} began without the record", listed_names(late, kMaxNamed));
    return is_proved ? kRegistered : "registered, order unproved";
  }

 private:
  /// Why a run is not among those of the record; empty if `xlm decide` added its seed, for which the verdict pays.
  std::string why_other(const std::string& id, const Json& recorded) const {
    for (const auto& [what, column] : {std::pair("data", "data.fingerprint"), std::pair("code", kProgramFingerprint)}) {
      const std::string own = to_text(runs_.column_or_nothing(column)[*runs_.row_of(id)]);
      const auto has_it = [&own, key = what](const Json& run) { return run.value(key, "") == own; };
      if (!recorded.empty() && std::none_of(recorded.begin(), recorded.end(), has_it))
        return fmt::format("{} (of {})", what, id);
    }
    return look_of(runs_, *runs_.row_of(id)) > 0 ? "" : fmt::format("runs ({} was not planned)", id);
  }

  /// Whether the claim is about a run of the record, as far as what its point sets says it.
  bool is_of_claim(const Json& run) const {
    PlannedPoint point;
    for (const auto& [key, value] : run["point"].items()) {
      if (value.is_string()) point[key] = value.get<std::string>();
    }
    return fulfils(point, claim_.where, true) &&
           (claim_.sides.empty() ||
            std::ranges::any_of(claim_.sides, [&](const ClaimSide& side) { return fulfils(point, side.where, true); }));
  }

  /// Why a run of the record is missing where all others are there; empty if it is not.
  std::string why_dropped(const std::string& id, const Json& run) const {
    if (seen_by_used_.empty() || seen_by_used_.contains(id) || !is_of_claim(run)) return "";
    const std::optional<std::size_t> row = runs_.row_of(id);
    if (!row) return fmt::format("seeds ({} is not there)", id);
    if (!is_missing(runs_.column("bad")[*row])) return fmt::format("seeds ({} is marked as bad)", id);
    const std::vector<std::size_t> shown = runs_.select(context_.filters);
    const bool is_left_out = std::ranges::find(shown, *row) == shown.end();
    return is_left_out ? fmt::format("seeds (a condition leaves {} out)", id) : "";
  }

  RunTable& runs_;
  const ClaimDescription& claim_;
  const std::vector<Registration>& chain_;
  std::vector<std::size_t> places_;
  const ClaimContext& context_;
  /// The record that each run saw whose numbers went in; nothing: it does not say.
  std::map<std::string, std::optional<std::string>> seen_by_used_;
};

}  // namespace

namespace {

std::string recorded_word(RunTable& runs, const JudgedClaim& judged, const Json& form,
                          const std::vector<Registration>& chain, std::size_t counted, const ClaimContext& context,
                          const fs::path& folder) {
  const std::string& name = judged.description.name;
  std::vector<std::size_t> places;
  std::string changed;  // since the newest record of it in another form
  for (std::size_t place = 0; place < counted; ++place) {
    const Json& claims = chain[place].record["claims"];
    if (!claims.contains(name) || chain[place].is_opening()) continue;
    if (is_same(claims[name], form)) {
      places.push_back(place);
    } else {
      changed = "changed since: " + listed_names(keys_apart(claims[name], form), kMaxNamed);
    }
  }
  if (places.empty()) return changed;
  const RecordedClaim recorded(runs, judged, chain, places, context, folder);
  std::string first;
  for (const std::size_t place : places) {
    std::string word = recorded.word(place);
    if (word == kRegistered) return word;
    if (first.empty()) first = std::move(word);
  }
  return first;
}

}  // namespace

std::string registration_of(RunTable& runs, const JudgedClaim& judged, const Json& form,
                            const std::vector<Registration>& chain, std::size_t counted, const ClaimContext& context,
                            const fs::path& folder) {
  const std::string word = recorded_word(runs, judged, form, chain, counted, context, folder);
  const std::string test = word_on_test(runs, judged, chain, folder);
  return word.empty() || test.empty() ? word + test : word + "; " + test;
}

}  // namespace xlm
