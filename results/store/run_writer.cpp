// Puts runs into the tables of the store.
#include "results/store/run_writer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "base/sha256.h"
#include "base/text.h"
#include "results/run_folder/imported.h"
#include "results/store/packed_values.h"
#include "results/store/schema.h"

namespace xlm {
namespace {

std::string json_line(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

template <class Value>
void bind_one(SQLite::Statement& statement, int index, const std::optional<Value>& value) {
  if (value) {
    statement.bind(index, *value);
  } else {
    statement.bind(index);
  }
}

void bind_one(SQLite::Statement& statement, int index, const Json& value) {
  if (value.is_number_integer()) {
    statement.bind(index, value.get<std::int64_t>());
  } else if (value.is_number()) {
    statement.bind(index, value.get<double>());
  } else if (value.is_null()) {
    statement.bind(index);
  } else {
    statement.bind(index, value.is_string() ? value.get<std::string>() : json_line(value));
  }
}

/// Text is there until the row is inserted.
void bind_one(SQLite::Statement& statement, int index, const std::string& text) { statement.bindNoCopy(index, text); }

template <class Value>
void bind_one(SQLite::Statement& statement, int index, const Value& value) {
  statement.bind(index, value);
}

/// Inserts one row.
template <class... Values>
void insert(SQLite::Statement& statement, const Values&... values) {
  int index = 0;
  (bind_one(statement, ++index, values), ...);
  statement.exec();
  statement.reset();
}

/// Empty text is no value.
Json or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

using SettingTexts = RunWriter::SettingTexts;

/// Of a key that is there twice the later counts.
SettingTexts setting_texts(const Run& run) {
  SettingTexts texts;
  for (const auto& [key, value] : run.params) texts[key] = {json_line(value), &value};
  return texts;
}

/// A name for all runs that differ from this one in the seed alone, or in where and how they ran. Of a path what lies
/// there counts.
std::string seed_group(const Run& run, const SettingTexts& settings) {
  std::string text;
  for (const auto& [key, value] : settings) {
    if (key == "seed" || says_how_it_ran(key)) continue;
    const auto content = run.contents.find(std::string(key));
    text.append(key).append("=").append(content == run.contents.end() ? value.first : content->second).append("\n");
  }
  return sha256(text).substr(0, 12);
}

/// Settings that are stored together, because runs of a sweep share them: those of one part of the configuration.
std::string_view group_of(std::string_view key) { return key.substr(0, key.find('.')); }

/// The name of settings in the store: 60 bits of a hash of what they are.
std::int64_t name_of_settings(std::string_view text) {
  constexpr std::size_t kDigits = 15;
  std::int64_t name = 0;
  const std::string hash = sha256(text);
  std::from_chars(hash.data(), hash.data() + kDigits, name, 16);
  return name;
}

}  // namespace

bool says_how_it_ran(std::string_view key) {
  constexpr std::array<std::string_view, 27> kWaysOfRunning{"data.path",
                                                            "device",
                                                            "eval.by_document",
                                                            "eval.sealed",
                                                            "program.code",
                                                            "program.folder",
                                                            "program.grace",
                                                            "program.metrics",
                                                            "program.name",
                                                            kPackages,
                                                            "program.resume",
                                                            "program.stop",
                                                            kVariables,
                                                            kThreads,
                                                            "results.tensorboard",
                                                            "train.checkpoint_every",
                                                            "train.checkpoint_windows",
                                                            "train.cuda_graph",
                                                            "train.deterministic",
                                                            "train.keep_every",
                                                            "train.debug",
                                                            "train.log_every",
                                                            "train.log_norms",
                                                            "train.max_hours",
                                                            "train.micro_batch",
                                                            "train.processes",
                                                            "train.threads"};
  return std::ranges::find(kWaysOfRunning, key) != kWaysOfRunning.end() || key == kTrainTokens ||
         key.starts_with(kTextOf) || key.starts_with(kChosenPrefix) || key.starts_with(kDirectionPrefix) ||
         key.starts_with(kImportedPrefix);
}

RunWriter::RunWriter(SQLite::Database& database)
    : database_(database),
      transaction_(database, SQLite::TransactionBehavior::IMMEDIATE),
      find_(database, "SELECT number FROM stored_runs WHERE run_id = ?"),
      settings_of_(database, "SELECT settings FROM stored_run_settings WHERE number = ?"),
      forget_settings_(database,
                       "DELETE FROM stored_settings WHERE settings = ?1 "
                       "AND NOT EXISTS (SELECT 1 FROM stored_run_settings WHERE settings = ?1)"),
      status_(database,
              "UPDATE stored_runs SET status = ? WHERE run_id = ? AND journal_bytes = ? AND journal_time = ? "
              "AND status IN ('running', 'stale')"),
      run_(database, "INSERT INTO stored_runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
      setting_(database, "INSERT OR IGNORE INTO stored_settings VALUES (?, ?, ?)"),
      run_settings_(database, "INSERT INTO stored_run_settings VALUES (?, ?)"),
      series_(database, "INSERT INTO stored_series VALUES (?, ?, ?)"),
      evaluation_(database, "INSERT INTO stored_evaluations VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"),
      evaluation_setting_(database, "INSERT OR REPLACE INTO stored_evaluation_settings VALUES (?, ?, ?, ?)"),
      number_(database, "INSERT OR REPLACE INTO stored_numbers VALUES (?, ?, ?, ?)"),
      grid_(database, "INSERT INTO stored_grids VALUES (?, ?, ?, ?)"),
      trace_(database, "INSERT INTO stored_traces VALUES (?, ?, ?, ?)"),
      experiment_(database, "INSERT INTO stored_experiments VALUES (?, ?)") {
  // They are found by name alone, so what has the names goes after them.
  removals_.emplace_back(
      database,
      "DELETE FROM stored_numbers WHERE (split, name, number) IN ("
      "SELECT '', c.key, r.number FROM stored_runs r, json_each(r.costs) c WHERE r.number = ?1 "
      "UNION ALL SELECT e.split, v.key, e.number FROM stored_evaluations e, json_each(e.\"values\") v "
      "WHERE e.number = ?1 AND e.at = '')");
  for (const std::string_view table : stored_tables()) {
    if (table != "stored_numbers")
      removals_.emplace_back(database, fmt::format("DELETE FROM {} WHERE number = ?", table));
  }
}

std::optional<std::int64_t> RunWriter::number_of(const std::string& run_id) {
  std::optional<std::int64_t> number;
  find_.bind(1, run_id);
  if (find_.executeStep()) number = find_.getColumn(0).getInt64();
  find_.reset();
  return number;
}

void RunWriter::remove_rows(std::int64_t number) {
  settings_of_.reset();
  settings_of_.bind(1, number);
  while (settings_of_.executeStep()) left_settings_.insert(settings_of_.getColumn(0).getInt64());
  for (SQLite::Statement& removal : removals_) insert(removal, number);
}

void RunWriter::remove(const std::string& run_id) {
  if (const std::optional<std::int64_t> number = number_of(run_id)) remove_rows(*number);
}

void RunWriter::set_liveness(const std::string& run_id, const std::string& status, std::int64_t bytes,
                             std::int64_t time) {
  insert(status_, status, run_id, bytes, time);
}

void RunWriter::finish() {
  for (const std::int64_t settings : left_settings_) insert(forget_settings_, settings);
  transaction_.commit();
}

void RunWriter::replace(const Run& run, std::int64_t bytes, std::int64_t time) {
  const std::optional<std::int64_t> known = number_of(run.id);
  if (known) remove_rows(*known);
  const SettingTexts settings = setting_texts(run);
  insert(run_, known, run.id, or_null(run.experiment), std::string(name_of(run.status)), or_null(run.reason),
         run.created, run.started, run.finished, run.step, seed_group(run, settings), bytes, time,
         run.is_evaluation ? 1 : 0, packed_numbers(run.costs), or_null(run.parent),
         run.parent.empty() ? Json() : Json(run.parent_step), or_null(join(run.tags, ", ")), or_null(run.note),
         or_null(run.bad));
  const std::int64_t number = known ? *known : database_.getLastInsertRowid();
  insert_settings(settings, number);
  for (const auto& [name, series] : run.metrics) insert(series_, number, name, packed_series(series));
  for (const RunEvaluation& evaluation : run.evaluations) insert_evaluation(evaluation, number);
  for (const auto& [name, value] : run.costs) insert(number_, std::string(), name, number, value);
  for (const auto& [name, by_step] : run.grids) {
    for (const auto& [step, grid] : by_step) insert(grid_, number, name, step, packed_grid(grid));
  }
  for (const auto& [split, trace] : run.traces) {
    for (const auto& [name, values] : trace.values) {
      insert(trace_, number, split, name, packed_trace(trace.tokens, values));
    }
  }
  for (const std::string& experiment : run.experiments) insert(experiment_, experiment, number);
}

void RunWriter::insert_settings(const SettingTexts& settings, std::int64_t number) {
  for (auto first = settings.begin(); first != settings.end();) {
    const auto end = std::find_if(
        first, settings.end(), [&](const auto& setting) { return group_of(setting.first) != group_of(first->first); });
    std::string text;
    for (auto one = first; one != end; ++one)
      text.append(one->first).append("=").append(one->second.first).append("\n");
    const auto [place, is_new] = written_settings_.try_emplace(std::move(text), 0);
    std::int64_t& name = place->second;
    if (is_new) {
      name = name_of_settings(place->first);
      for (auto one = first; one != end; ++one) insert(setting_, name, std::string(one->first), *one->second.second);
    }
    insert(run_settings_, number, name);
    first = end;
  }
}

void RunWriter::insert_evaluation(const RunEvaluation& evaluation, std::int64_t number) {
  const std::string at = at_text(evaluation.at);
  insert(evaluation_, number, evaluation.split, evaluation.step, json_line(evaluation.settings),
         evaluation.final ? 1 : 0, evaluation.main ? 1 : 0, evaluation.time, at, packed_numbers(evaluation.values));
  for (const auto& [key, value] : evaluation.at) insert(evaluation_setting_, number, at, key, value);
  if (!evaluation.main) return;
  for (const auto& [metric, value] : evaluation.numbers()) {
    if (!std::isnan(value)) insert(number_, evaluation.split, metric, number, value);
  }
}

}  // namespace xlm
