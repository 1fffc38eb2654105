// Compares two copies of one run by their journals.
#include "experiments/collections/journal_merge.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "base/lookup.h"
#include "base/text.h"
#include "results/quantities/quantities.h"
#include "results/run_folder/imported.h"
#include "results/run_folder/journal.h"
#include "results/run_folder/remark.h"

namespace xlm {
namespace {

constexpr const char* kDirections = "better";

/// The whole lines of a journal, without a line that a kill cut off.
std::vector<std::string> whole_lines(const fs::path& folder) {
  const fs::path file = RunPaths{folder}.journal();
  if (!fs::exists(file)) return {};
  std::vector<std::string> lines = split(read_file(file), '\n');
  lines.pop_back();  // after the last line end
  return lines;
}

std::string journal_text(const std::vector<std::string>& lines) {
  return lines.empty() ? "" : join(lines, "\n") + "\n";
}

Json record_in(const std::string& line) {
  const std::optional<Json> record = parse_json_if_any(line);
  return record && record->is_object() ? *record : Json::object();
}

double time_in(const Json& record) {
  return record.contains("time") && record["time"].is_number() ? record["time"].get<double>() : 0;
}

/// Records that may follow the end of a run, in any order.
bool may_follow_the_end(const std::string& line) {
  constexpr std::array<std::string_view, 10> kTypes{"evaluation", "wanted", "experiment", "message",   "trace",
                                                    "losses",     "costs",  "choice",     kDirections, kRemark};
  const Json record = record_in(line);
  const std::string type = record.value("type", "");
  return contains(kTypes, type);
}

/// Lines of several journals by their time, each once.
std::vector<std::string> by_time(std::vector<std::string> lines) {
  std::ranges::sort(lines, [](const std::string& a, const std::string& b) {
    const double first = time_in(record_in(a));
    const double second = time_in(record_in(b));
    return std::tie(first, a) < std::tie(second, b);
  });
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  return lines;
}

/// What a record asks of its run, at any time: to belong to an experiment, an evaluation, a remark or directions. It is
/// a separate record, without a worker, so it counts at any stage of the run. Null if it asks for none of them.
Json request_in(const Json& record) {
  static const std::map<std::string, std::vector<const char*>> asked_keys{{"experiment", {"name"}},
                                                                          {"wanted", {"split", "changes", "program"}},
                                                                          {kDirections, {"values"}},
                                                                          {kSettingsRecord, {"values"}},
                                                                          {kRemark, {"tag", "given", "note", "bad"}}};
  const std::string type = record.value("type", "");
  if (type == "state") {  // it says the experiment, too
    return request_in(
        {{"type", "experiment"}, {"time", time_in(record)}, {"name", record.value("experiment", Json())}});
  }
  const auto asked = asked_keys.find(type);
  const Json name = record.value("name", Json());
  if (asked == asked_keys.end() ||
      (type == "experiment" && (!name.is_string() || name.get_ref<const std::string&>().empty()))) {
    return {};
  }
  Json request = {{"type", type}, {"time", time_in(record)}};
  for (const char* key : asked->second) {
    if (record.contains(key)) request[key] = record[key];
  }
  return request;
}

/// Equal for requests that ask for the same, where what people said counts each time. "" for none.
std::string identity_of_request(Json request) {
  if (request.is_null()) return "";
  if (request["type"] == "experiment" || request["type"] == "wanted") request.erase("time");
  return request.dump();
}

/// `lines`, and the requests that only `other` has. Their order at the end does not depend on the order of merges.
std::vector<std::string> with_requests_of(std::vector<std::string> lines, const std::vector<std::string>& other) {
  std::set<std::string> known{""};
  for (const std::string& line : lines) known.insert(identity_of_request(request_in(record_in(line))));
  const std::size_t before = lines.size();
  for (const std::string& line : other) {
    const Json request = request_in(record_in(line));
    if (known.insert(identity_of_request(request)).second) lines.push_back(request.dump());
  }
  if (lines.size() == before) return lines;
  const auto is_request = [](const std::string& line) {
    const Json record = record_in(line);
    return !request_in(record).is_null() && record.value("type", "") != "state";
  };
  auto tail = lines.end();
  while (tail != lines.begin() && is_request(*(tail - 1))) --tail;
  const std::vector<std::string> sorted = by_time({tail, lines.end()});
  lines.erase(tail, lines.end());
  lines.insert(lines.end(), sorted.begin(), sorted.end());
  return lines;
}

/// Which of two runs has come further. At most one of them is done. Two different runs never compare equal.
bool is_further(const Run& run, const std::vector<std::string>& lines, const Run& other,
                const std::vector<std::string>& other_lines) {
  const bool done = run.status == RunStatus::kDone;
  const bool other_done = other.status == RunStatus::kDone;
  return std::tuple(done, run.step, lines.size(), lines) >
         std::tuple(other_done, other.step, other_lines.size(), other_lines);
}

/// What a run says by split (or kind), settings of an evaluation, step and name.
using Results = std::map<std::tuple<std::string, std::string, std::int64_t, std::string>, double>;

/// Whether runs are compared by this number of training: a known measure of a text, or what the program declares to be
/// better one way. Times and memory differ each time.
bool is_judged(const Run& run, const std::string& name) {
  if (const Quantity* known = find_quantity(name)) return known->by == ReportedBy::kEvaluation && name != "seconds";
  return !known_direction(name) && run.param(std::string(kDirectionPrefix) + name) != nullptr;
}

struct RunResults {
  Results own;       // of the run itself, and imported
  Results training;  // that is reported every so many steps, which is no part of what a run is
  Results further;   // evaluations that were asked for, with their settings
};

bool is_imported(const Run& run) { return run.param(kImportedSource) != nullptr; }

RunResults results_of(const Run& run) {
  RunResults results;
  for (const RunEvaluation& evaluation : run.evaluations) {
    Results& all = evaluation.settings.empty() ? results.own : results.further;
    for (const auto& [name, value] : evaluation.values) {
      if (name != "seconds") all[{evaluation.split, at_text(evaluation.at), evaluation.step, name}] = value;
    }
  }
  Results& training = is_imported(run) ? results.own : results.training;
  for (const auto& [name, series] : run.metrics) {
    if (!is_judged(run, name)) continue;
    for (const auto& [step, value] : series) training[{"", "", step, name}] = value;
  }
  for (const auto& [name, value] : run.costs) {
    if (is_judged(run, name)) results.own[{"costs", "", 0, name}] = value;
  }
  return results;
}

/// Whether two runs say nothing else of what both say.
bool agree(const Results& a, const Results& b) {
  return std::ranges::all_of(a, [&](const auto& result) {
    const auto other = b.find(result.first);
    return other == b.end() || other->second == result.second ||
           (std::isnan(other->second) && std::isnan(result.second));
  });
}

/// Whether `more` says all that `less` says.
bool holds(const Results& more, const Results& less) {
  return agree(less, more) && std::ranges::all_of(less, [&](const auto& one) { return more.contains(one.first); });
}

/// What an evaluation is of, with which settings.
std::string evaluation_identity(const Json& split, const Json& step, const Json& settings) {
  return Json::array({split, step, settings}).dump();
}

/// `lines` of `run`, and the evaluations with other settings that `other` alone has. Those that do not count there, as
/// of a worker that had lost its run, do not come along.
std::vector<std::string> with_evaluations_of(std::vector<std::string> lines, const Run& run, const Run& other) {
  std::set<std::string> known;
  for (const RunEvaluation& one : run.evaluations) known.insert(evaluation_identity(one.split, one.step, one.settings));
  std::map<std::string, const RunEvaluation*> wanted;
  for (const RunEvaluation& one : other.evaluations) {
    const std::string identity = evaluation_identity(one.split, one.step, one.settings);
    if (!one.settings.empty() && !known.contains(identity)) wanted[identity] = &one;
  }
  std::vector<std::string> fresh;
  for (const std::string& line : whole_lines(other.folder)) {
    Json record = record_in(line);
    if (record.value("type", "") != "evaluation") continue;
    const auto field = [&](const char* name) { return record.value(name, Json()); };
    const auto found = wanted.find(evaluation_identity(field("split"), field("step"), field("settings")));
    if (found == wanted.end() || time_in(record) != found->second->time) continue;
    for (const char* of_worker : {"token", "crc"}) record.erase(of_worker);
    fresh.push_back(journal_line(record));
  }
  for (std::string& line : by_time(std::move(fresh))) lines.push_back(std::move(line));
  return lines;
}

/// Which of two runs that are done has to be kept; kConflicting if they say different things. A run that was imported
/// may have been no further then.
JournalRelation relation_of_done(const Run& here, const Run& there) {
  const RunResults mine = results_of(here);
  const RunResults theirs = results_of(there);
  if (!agree(mine.further, theirs.further) || !agree(mine.training, theirs.training)) {
    return JournalRelation::kConflicting;
  }
  const bool holds_theirs = holds(mine.own, theirs.own);
  const bool holds_mine = holds(theirs.own, mine.own);
  if (holds_theirs && holds_mine) return JournalRelation::kDoneTwice;
  if (!is_imported(here) || !is_imported(there) || (!holds_theirs && !holds_mine)) return JournalRelation::kConflicting;
  return holds_theirs ? JournalRelation::kShorter : JournalRelation::kLonger;
}

}  // namespace

JournalVerdict compare_runs(const fs::path& here, const fs::path& there) {
  const std::vector<std::string> mine = whole_lines(here);
  const std::vector<std::string> theirs = whole_lines(there);
  const auto [my_tail, their_tail] = std::mismatch(mine.begin(), mine.end(), theirs.begin(), theirs.end());
  if (my_tail == mine.end() && their_tail == theirs.end()) return {};
  if (their_tail == theirs.end()) return {.relation = JournalRelation::kShorter, .text = ""};
  if (my_tail == mine.end()) return {.relation = JournalRelation::kLonger, .text = journal_text(theirs)};
  if (std::all_of(my_tail, mine.end(), may_follow_the_end) &&
      std::all_of(their_tail, theirs.end(), may_follow_the_end)) {
    std::vector<std::string> tail(my_tail, mine.end());
    tail.insert(tail.end(), their_tail, theirs.end());
    std::vector<std::string> all(mine.begin(), my_tail);
    for (std::string& line : by_time(std::move(tail))) all.push_back(std::move(line));
    const bool news = all.size() > mine.size();
    return {.relation = news ? JournalRelation::kUnited : JournalRelation::kShorter,
            .text = news ? journal_text(all) : ""};
  }
  const Run my_run = read_run(here);
  const Run their_run = read_run(there);
  const bool both_done = my_run.status == RunStatus::kDone && their_run.status == RunStatus::kDone;
  JournalVerdict verdict{.relation = both_done                                     ? relation_of_done(my_run, their_run)
                                     : is_further(their_run, theirs, my_run, mine) ? JournalRelation::kLonger
                                                                                   : JournalRelation::kShorter,
                         .text = ""};
  if (verdict.relation == JournalRelation::kConflicting) return verdict;
  const bool taken = verdict.relation == JournalRelation::kLonger;
  std::vector<std::string> kept = taken ? theirs : mine;
  if (both_done) {
    kept = with_evaluations_of(std::move(kept), taken ? their_run : my_run, taken ? my_run : their_run);
  }
  kept = with_requests_of(std::move(kept), taken ? mine : theirs);
  if (taken || kept.size() > mine.size()) verdict.text = journal_text(kept);
  return verdict;
}

}  // namespace xlm
