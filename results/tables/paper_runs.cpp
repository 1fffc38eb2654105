// The paper's runs, and how others differ from them.
#include "results/tables/paper_runs.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace xlm {
namespace {

/// Keys of results that make no other experiment of it.
constexpr std::array<std::string_view, 3> kNotCompared{"seed", "train.eval_every", "train.eval_every_tokens"};

constexpr std::string_view kAlwaysThere = "model.type";

bool is_not_compared(const std::string& key) { return std::ranges::find(kNotCompared, key) != kNotCompared.end(); }

Store filled_with(const std::vector<Run>& runs) {
  Store store = Store::in_memory();
  store.add(runs);
  return store;
}

/// The different values of rows, without missing ones.
std::vector<Value> values_at(RunTable& runs, const std::vector<std::size_t>& rows, const std::string& column) {
  std::vector<Value> values;
  const std::vector<Value>& all = runs.column_or_nothing(column);
  for (const std::size_t row : rows) {
    const Value& value = all[row];
    const auto is_same = [&](const Value& other) { return same_value(value, other); };
    if (!is_missing(value) && std::ranges::none_of(values, is_same)) values.push_back(value);
  }
  return values;
}

}  // namespace

std::string to_text(const KeyApart& apart) {
  if (apart.ours.empty()) return "no " + apart.key;
  const std::string ours = fmt::format("{}={}", apart.key, apart.ours);
  return apart.paper.empty() ? ours : fmt::format("{} (paper: {})", ours, apart.paper);
}

PaperRuns::PaperRuns(PaperRunsKnown known) : known_(std::move(known)), runs_(filled_with(known_.runs)) {}

std::vector<KeyApart> PaperRuns::keys_apart(RunTable& runs, const std::vector<std::size_t>& rows,
                                            const std::vector<std::size_t>& of_paper,
                                            const std::set<std::string>& may_differ) {
  std::vector<std::size_t> all(runs_.size());
  for (std::size_t row = 0; row < all.size(); ++row) all[row] = row;
  const std::vector<std::size_t>& paper_rows = of_paper.empty() ? all : of_paper;
  std::vector<KeyApart> apart;
  for (const std::string& key : known_.keys) {
    if (is_not_compared(key) || may_differ.contains(key)) continue;
    const std::string column = std::string(kSettingPrefix) + key;  // as a row's evaluation was made
    const std::vector<Value> own = values_at(runs, rows, column);
    if (known_.required.contains(key)) {
      const auto is_empty = [](const Value& value) { return to_text(value).empty(); };
      if (own.empty() || std::ranges::any_of(own, is_empty)) apart.push_back({key, "", ""});
      continue;
    }
    const std::vector<Value> papers = values_at(runs_, paper_rows, column);
    if (papers.empty()) continue;
    if (own.empty() && key == kAlwaysThere) apart.push_back({key, "", ""});
    const auto is_of_paper = [&](const Value& value) {
      return std::ranges::any_of(papers, [&](const Value& other) {
        return same_value(value, other) || known_.unnamed.contains(to_text(other));
      });
    };
    const auto other = std::ranges::find_if_not(own, is_of_paper);
    if (other != own.end()) {
      apart.push_back({key, to_text(*other), papers.size() == 1 ? to_text(papers.front()) : ""});
    }
  }
  return apart;
}

}  // namespace xlm
