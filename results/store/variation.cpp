// What the runs behind one number differ in.
#include "results/store/variation.h"

#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "results/quantities/quantities.h"
#include "results/store/formula.h"
#include "results/store/run_writer.h"

namespace xlm {
namespace {

constexpr std::size_t kMaxKeys = 4;            // that a caption names
constexpr std::size_t kFingerprintDigits = 8;  // that tell contents of one name apart

bool all_alike(const std::vector<Value>& values, const std::vector<std::size_t>& rows) {
  return std::ranges::all_of(rows, [&](std::size_t row) { return same_value(values[row], values[rows.front()]); });
}

/// A run for each group of those that differ in the seed alone: hundreds of thousands of settings need not be counted
/// where a few thousand say the same.
std::set<std::string> one_of_each_group(RunTable& runs, const std::vector<std::size_t>& rows) {
  const std::vector<Value>& groups = runs.column("seed_group");
  std::unordered_set<std::string> seen;
  std::set<std::string> ids;
  for (const std::size_t row : rows) {
    if (seen.insert(to_text(groups[row])).second) ids.insert(runs.id(row));
  }
  return ids;
}

/// Keys whose value is not the same in all of these runs. Settings that runs share are looked at once.
std::vector<std::string> differing_parameters(RunTable& runs, const std::set<std::string>& ids) {
  return runs.store().use([&](SQLite::Database& database) {
    SQLite::Statement query(database,
                            "WITH used AS MATERIALIZED (SELECT settings, count(*) AS runs FROM stored_runs "
                            "JOIN stored_run_settings USING (number) "
                            "WHERE run_id IN (SELECT value FROM json_each(?)) GROUP BY settings) "
                            "SELECT key FROM used JOIN stored_settings USING (settings) GROUP BY key "
                            "HAVING sum((value IS NOT NULL) * runs) BETWEEN 1 AND ? OR min(value) <> max(value) "
                            "ORDER BY key");
    query.bind(1, Json(ids).dump());
    query.bind(2, static_cast<std::int64_t>(ids.size()) - 1);
    std::vector<std::string> keys;
    while (query.executeStep()) {
      std::string key = query.getColumn(0).getString();
      if (!says_how_it_ran(key)) keys.push_back(std::move(key));
    }
    return keys;
  });
}

/// Whether the numbers of a column were measured on the corpus of their row: train.batch was set, costs follow from the
/// configuration, and COLUMN@data.name=… says itself which corpus it means. A formula may have any column in it.
bool is_of_corpus_of_row(RunTable& runs, const std::string& column) {
  if (!runs.is_measured(column)) return false;
  if (is_formula(column)) return true;
  return column.find("@data.") == std::string::npos && evaluation_column(column).has_value();
}

/// What is known of the content behind a name: nothing if a run was evaluated on other data than its own.
std::string known_fingerprint(RunTable& runs, std::size_t row) {
  const bool own = same_value(runs.column_or_nothing("at.data.name")[row], runs.column_or_nothing("data.name")[row]);
  return own ? to_text(runs.column_or_nothing("at.data.fingerprint")[row]) : "";
}

/// The split whose text alone matters: of columns that are measured for each byte of it; empty if others are, too.
std::string split_of_bytes(RunTable& runs, const std::vector<std::string>& columns) {
  std::string split;
  for (const std::string& column : columns) {
    if (!is_of_corpus_of_row(runs, column)) continue;
    const std::size_t dot = column.find('.');
    if (dot == std::string::npos || column.substr(dot + 1) != "bits_per_byte") return "";
    if (!split.empty() && split != column.substr(0, dot)) return "";
    split = column.substr(0, dot);
  }
  return split;
}

/// The text of a split by data.fingerprint, of those that know it: data of several units may hold one text.
std::map<std::string, std::string> texts_of_contents(RunTable& runs, const std::vector<std::size_t>& rows,
                                                     const std::string& split) {
  std::map<std::string, std::string> texts;
  if (split.empty()) return texts;
  const std::vector<Value>& known = runs.column_or_nothing(std::string(kTextOf) + split);
  for (const std::size_t row : rows) {
    if (!is_missing(known[row])) texts[to_text(runs.column_or_nothing("data.fingerprint")[row])] = to_text(known[row]);
  }
  return texts;
}

/// What an evaluation of the beginning of a text is of; empty if it is of all.
std::string part_of_corpus(RunTable& runs, std::size_t row) {
  const double windows = as_number(runs.column_or_nothing("at.eval.max_windows")[row]).value_or(0);
  return windows > 0 ? fmt::format(" (its first {:g} windows)", windows) : "";
}

/// Whether rows of one data.name have one data.fingerprint.
bool names_tell_contents(RunTable& runs, const std::vector<std::size_t>& rows) {
  std::map<std::string, std::string> contents;
  return std::ranges::all_of(rows, [&](std::size_t row) {
    const std::string content = to_text(runs.column_or_nothing("data.fingerprint")[row]);
    return contents.try_emplace(to_text(runs.column_or_nothing("data.name")[row]), content).first->second == content;
  });
}

}  // namespace

NumberOrigin origin_of(RunTable& runs, const std::string& column) {
  NumberOrigin least = NumberOrigin::kConfigured;
  for (const std::string& name : columns_behind(column)) {
    const Quantity* quantity = find_quantity(quantity_in(name));
    NumberOrigin origin = NumberOrigin::kConfigured;
    if (quantity == nullptr ? runs.is_measured(name) : !quantity->exact) {
      origin = NumberOrigin::kMeasured;
    } else if (quantity != nullptr && quantity->learnable) {
      origin = NumberOrigin::kLearnable;
    }
    least = std::min(least, origin);
  }
  return least;
}

std::string counted_over(std::int64_t count, std::string_view over) {
  return over == "seed" ? counted(count, "seed") : fmt::format("{} of {}", counted(count, "value"), over);
}

std::vector<std::string> differing_keys(RunTable& runs, const std::vector<std::size_t>& rows) {
  if (rows.size() < 2) return {};
  if (all_alike(runs.column("seed_group"), rows)) {  // the usual case, at no cost
    return all_alike(runs.column_or_nothing("seed"), rows) ? std::vector<std::string>{}
                                                           : std::vector<std::string>{"seed"};
  }
  std::vector<std::string> keys = differing_parameters(runs, one_of_each_group(runs, rows));
  const auto content = std::ranges::find(keys, "data.fingerprint");
  if (content != keys.end() && names_tell_contents(runs, rows)) keys.erase(content);
  if (!all_alike(runs.column_or_nothing("seed"), rows)) {
    const auto place = std::lower_bound(keys.begin(), keys.end(), "seed");
    if (place == keys.end() || *place != "seed") keys.insert(place, "seed");
  }
  const bool of_evaluations = std::ranges::any_of(rows, [&](std::size_t row) { return row >= runs.size(); });
  if (!of_evaluations) return keys;
  for (const std::string& name : runs.column_names()) {
    if (!name.starts_with(kSettingPrefix) || all_alike(runs.column(name), rows)) continue;
    const std::string key = name.substr(kSettingPrefix.size());
    if (std::ranges::find(keys, key) == keys.end()) keys.push_back(name);
  }
  return keys;
}

std::vector<std::string> keys_between(RunTable& runs, const std::vector<std::size_t>& a,
                                      const std::vector<std::size_t>& b, const std::string& over) {
  std::vector<std::size_t> both = a;
  both.insert(both.end(), b.begin(), b.end());
  std::vector<std::string> keys = differing_keys(runs, both);
  std::erase_if(keys,
                [&](const std::string& key) { return key == over || runs.texts_in(a, key) == runs.texts_in(b, key); });
  return keys;
}

bool says_which_text(std::string_view key) {
  if (key.starts_with(kSettingPrefix)) key.remove_prefix(kSettingPrefix.size());
  return key.starts_with("data.") || key == "eval.max_windows";
}

std::vector<std::string> corpora_of(RunTable& runs, const std::vector<std::size_t>& rows,
                                    const std::vector<std::string>& columns) {
  std::vector<std::string> corpora(rows.size());
  const auto is_of_row = [&](const std::string& column) { return is_of_corpus_of_row(runs, column); };
  if (std::ranges::none_of(columns, is_of_row)) return corpora;
  const std::map<std::string, std::string> texts = texts_of_contents(runs, rows, split_of_bytes(runs, columns));
  std::vector<std::string> content(rows.size());          // a text, or a fingerprint
  std::map<std::string, std::string> names;               // of equal texts: that of the first
  std::map<std::string, std::set<std::string>> contents;  // by name
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string part = part_of_corpus(runs, rows[i]);
    corpora[i] = to_text(runs.column_or_nothing("at.data.name")[rows[i]]) + part;
    content[i] = known_fingerprint(runs, rows[i]);
    if (const auto text = texts.find(content[i]); text != texts.end() && part.empty()) {
      content[i] = text->second;
      corpora[i] = names.try_emplace(text->second, corpora[i]).first->second;
    }
    if (!content[i].empty()) contents[corpora[i]].insert(content[i]);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (contents[corpora[i]].size() < 2) continue;  // one content, also of those that do not say it
    corpora[i] += content[i].empty() ? " (of unknown content)"
                                     : fmt::format(" ({} {})", names.contains(content[i]) ? "text" : "data.fingerprint",
                                                   content[i].substr(0, kFingerprintDigits));
  }
  return corpora;
}

bool are_per_other_token(RunTable& runs, const std::vector<std::size_t>& a, const std::vector<std::size_t>& b,
                         const std::string& column) {
  constexpr double kAlike = 0.01;  // of a count: settings of evaluations leave some tokens out
  const auto most = [&](const std::vector<std::size_t>& rows, const std::string& key) {
    double largest = 0;
    for (const std::size_t row : rows) {
      largest = std::max(largest, as_number(runs.column_or_nothing(key)[row]).value_or(0));
    }
    return largest;
  };
  return std::ranges::any_of(columns_behind(column), [&](const std::string& name) {
    const auto evaluation = evaluation_column(name);
    const Quantity* const quantity = evaluation ? find_quantity(evaluation->name) : nullptr;
    if (quantity == nullptr || !quantity->per_token) return false;
    const std::string text = std::string(kTextOf) + evaluation->split;
    const std::set<std::string> texts = runs.texts_in(a, text);
    const std::string tokens = evaluation->split + ".tokens";
    const double of_a = most(a, tokens);
    const double of_b = most(b, tokens);
    return texts.size() == 1 && !texts.contains("") && texts == runs.texts_in(b, text) && of_a > 0 && of_b > 0 &&
           std::abs(of_a - of_b) > kAlike * std::max(of_a, of_b);
  });
}

const Variation::Found& Variation::found(const std::vector<std::size_t>& rows) {
  const auto [place, is_new] = known_.try_emplace(rows);
  Found& found = place->second;
  if (!is_new) return found;
  runs_.column(over_);  // complains of a name that is not known
  found.groups = runs_.texts_in(rows, over_).size();
  found.over_differs = found.groups > 1;
  found.beside_over = differing_keys(runs_, rows);
  std::erase(found.beside_over, over_);
  return found;
}

std::vector<std::string> Variation::add(const std::vector<std::size_t>& rows) {
  most_ = std::max(most_, rows.size());
  least_ = std::min(least_, rows.size());
  const Found& these = found(rows);
  mixed_ = mixed_ || these.groups < rows.size() || !these.beside_over.empty();
  keys_.insert(these.beside_over.begin(), these.beside_over.end());
  if (these.over_differs) keys_.insert(over_);
  return these.beside_over;
}

std::string Variation::text() const {
  if (most_ < 2) return "";
  const std::string up_to = least_ < most_ ? "up to " : "";
  if (!mixed_) return up_to + counted_over(static_cast<std::int64_t>(most_), over_);
  const std::string which =
      keys_.empty() ? "" : " that differ in " + listed_names({keys_.begin(), keys_.end()}, kMaxKeys);
  return fmt::format("{}{} runs{}", up_to, most_, which);
}

}  // namespace xlm
