// Lines of tries.
#include "experiments/sweeps/try_line.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "experiments/runs/run_lock.h"
#include "results/judgement/screen.h"
#include "results/run_folder/journal.h"

namespace xlm {
namespace {

constexpr const char* kTry = "try";
constexpr const char* kRuns = "runs";
constexpr const char* kConfirmation = "confirmation";
constexpr const char* kOutcome = "outcome";
constexpr const char* kAgain = "again";  // it was broken by something outside it
constexpr const char* kClosing = "closing";

fs::path lines_folder(const fs::path& runs) { return runs / "lines"; }

/// Commands hold a line for milliseconds.
std::unique_ptr<RunLock> lock_of_line(const fs::path& folder) {
  constexpr int kAttempts = 600;
  constexpr std::chrono::milliseconds kBetween(50);
  for (int attempt = 1;; ++attempt) {
    try {
      return std::make_unique<RunLock>(folder);
    } catch (const RunLockedError&) {
      if (attempt == kAttempts) throw;
    }
    std::this_thread::sleep_for(kBetween);
  }
}

}  // namespace

Json TryQuestion::json() const {
  return {{"change", change},     {"base", base},   {"value", value},
          {"min_gain", min_gain}, {"seeds", seeds}, {"noise", noise}};
}

TryLine::TryLine(const fs::path& runs, const std::string& name)
    : name_(name), runs_(runs), folder_(lines_folder(runs) / name) {
  const bool is_single = name.starts_with(kSingleTry);
  if (name.empty() || name.find_first_of("/ \t\r\n") != std::string::npos || (name.front() == '.' && !is_single)) {
    throw UsageError(fmt::format("'{}' is no name of a line\nuse letters, digits and dashes", name));
  }
  read();
}

bool TryLine::exists() const { return fs::exists(folder_ / "journal.jsonl"); }

void TryLine::read() {
  tries_.clear();
  best_.clear();
  closing_ = Json();
  is_closing_ = false;
  if (!exists()) return;
  read_journal(folder_ / "journal.jsonl", [this](const Json& record) { add(record); });
}

TryRecord& TryLine::numbered(std::int64_t number) {
  if (number < 1 || number > std::ssize(tries_)) {
    throw DataError(fmt::format("{} has no try {}", (folder_ / "journal.jsonl").string(), number));
  }
  return tries_[static_cast<std::size_t>(number - 1)];
}

void TryLine::add(const Json& record) {
  const std::string type = record.value("type", "");
  if (type == kTry) {
    tries_.push_back({.number = std::ssize(tries_) + 1,
                      .question = record.value("question", Json::object()),
                      .time = record.value("time", 0.0),
                      .note = record.value("note", ""),
                      .differ_in = record.value("differ_in", std::vector<std::string>())});
    return;
  }
  if (type == kClosing) {
    is_closing_ = true;
    if (closing_.is_null()) closing_ = record.value("outcome", Json());
    return;
  }
  TryRecord& tried = numbered(record.value("try", std::int64_t{0}));
  if (type == kRuns) {
    for (const std::string& id : record.value("ids", std::vector<std::string>())) {
      if (id.find('/') == std::string::npos) tried.runs.insert(id);  // a line may be of others, and these are folders
    }
  } else if (type == kConfirmation) {
    tried.confirmation = {record.value("seeds", std::vector<std::int64_t>()), record.value("level", 0.0)};
  } else if (type == kAgain) {
    tried.outcome = Json();
  } else if (type == kOutcome && tried.outcome.is_null()) {
    tried.outcome = record.value("outcome", Json::object());
    const std::string before = best();
    tried.moved_best = tried.is_kept() && tried.base() == before && !is_closing_;
    if (tried.moved_best) best_ = tried.change();
  }
}

std::string TryLine::best() const { return best_.empty() ? first_base() : best_; }

std::string TryLine::first_base() const {
  if (tries_.empty()) return "";
  const auto ended = std::ranges::find_if(tries_, [](const TryRecord& one) { return one.outcome.is_object(); });
  return (ended == tries_.end() ? tries_.front() : *ended).base();
}

TryCost TryLine::cost() const {
  std::set<fs::path> folders;
  TryCost all;
  for (const TryRecord& tried : tries_) {
    const Json known = tried.outcome.is_object() ? tried.outcome.value("cost", Json::object()) : Json::object();
    const TryCost told = cost_from_json(known);
    if (tried.runs.empty()) all += told;
    for (const std::string& id : tried.runs) {
      const bool is_new = folders.insert(runs_ / id).second;
      if (!is_new || fs::exists(runs_ / id)) continue;
      const double share = told.runs > 0 ? 1 / static_cast<double>(told.runs) : 0;  // it was removed, and had its cost
      all += {1, told.seconds * share, told.flops * share, told.tokens * share};
    }
  }
  all += cost_since(folders, 0);
  return all;
}

template <typename Work>
void TryLine::change_journal(const Work& work) {
  create_folders(folder_);
  const std::unique_ptr<RunLock> lock = lock_of_line(folder_);
  read();
  Journal journal(folder_ / "journal.jsonl");
  work(journal);
  read();
}

TryRecord TryLine::begin(const TryQuestion& question, const std::string& note,
                         const std::vector<std::string>& differ_in) {
  const Json asked = question.json();
  std::int64_t number = 0;
  change_journal([&](Journal& journal) {
    const auto same = std::ranges::find_if(tries_, [&](const auto& one) { return one.question == asked; });
    number = same == tries_.end() ? std::ssize(tries_) + 1 : same->number;
    if (same != tries_.end()) return;
    if (is_closing_) {
      throw UsageError(
          fmt::format("the line {} is closed, for its test is measured\nbegin another line with --line", name_));
    }
    const std::string chosen_by = tries_.empty() ? question.value : tries_.front().question.value("value", "");
    if (chosen_by != question.value) {
      throw UsageError(fmt::format("the line {} chooses by {}, and not by {}\nbegin another line with --line", name_,
                                   chosen_by, question.value));
    }
    journal.append(kTry, {{"question", asked}, {"note", note}, {"differ_in", differ_in}}, true);
  });
  return numbered(number);
}

void TryLine::note_runs(std::int64_t number, const std::vector<std::string>& ids) {
  change_journal([&](Journal& journal) {
    Json fresh = Json::array();
    for (const std::string& id : ids) {
      if (!numbered(number).runs.contains(id)) fresh.push_back(id);
    }
    if (!fresh.empty()) journal.append(kRuns, {{"try", number}, {"ids", std::move(fresh)}}, true);
  });
}

TryConfirmation TryLine::confirm(std::int64_t number, std::int64_t seeds, std::int64_t highest) {
  change_journal([&](Journal& journal) {
    if (numbered(number).confirmation) return;
    std::int64_t not_kept = 0;
    for (const TryRecord& tried : tries_) {
      if (!tried.confirmation) continue;
      not_kept += tried.is_kept() ? 0 : 1;
      for (const std::int64_t seed : tried.confirmation->seeds) highest = std::max(highest, seed);
    }
    std::vector<std::int64_t> fresh;
    for (std::int64_t seed = 1; seed <= seeds; ++seed) fresh.push_back(highest + seed);
    journal.append(kConfirmation, {{"try", number}, {"seeds", fresh}, {"level", level_of_confirmation(not_kept)}},
                   true);
  });
  return *numbered(number).confirmation;
}

TryRecord TryLine::end(std::int64_t number, const Json& outcome) {
  change_journal([&](Journal& journal) {
    if (numbered(number).outcome.is_null()) journal.append(kOutcome, {{"try", number}, {"outcome", outcome}}, true);
  });
  return numbered(number);
}

TryRecord TryLine::ask_again(std::int64_t number) {
  change_journal([&](Journal& journal) {
    if (numbered(number).outcome.is_object()) journal.append(kAgain, {{"try", number}}, true);
  });
  return numbered(number);
}

void TryLine::begin_closing() {
  change_journal([&](Journal& journal) {
    if (!is_closing_) journal.append(kClosing, Json::object(), true);
  });
}

void TryLine::close(const Json& outcome) {
  change_journal([&](Journal& journal) {
    if (closing_.is_null()) journal.append(kClosing, {{"outcome", outcome}}, true);
  });
}

std::vector<std::string> line_names(const fs::path& runs) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : entries_in(lines_folder(runs))) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with('.') && fs::exists(entry.path() / "journal.jsonl")) names.push_back(name);
  }
  return names;
}

}  // namespace xlm
