// Counts the points of a sweep whose run is done.
#include "cmd/points_done.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/error.h"
#include "datasets/prepared/prepared.h"
#include "experiments/configuration/configuration.h"
#include "experiments/sweeps/sweep.h"

namespace xlm {
namespace {

/// Keys whose value in a run differs from that in its point: paths become absolute, models are located, and lengths
/// become steps.
std::set<std::string> rewritten_keys() {
  std::set<std::string> keys{"train.epochs", "train.tokens", "train.eval_every_tokens"};
  for (std::size_t model = 0; model < model_types().size(); ++model) {
    for (const OptionEntry& entry : option_entries(default_run_options(model))) {
      if (entry.content != OptionContent::kValue) keys.insert(entry.key);
    }
  }
  return keys;
}

/// A column and its required value.
using Wanted = std::pair<std::string, Value>;

/// The column and value that identify a data folder in runs: its fingerprint, or its name in the recipe's `corpora`.
/// nullopt if neither is known.
std::optional<Wanted> wanted_data(const Yaml& recipe, const std::string& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    try {
      return Wanted{"data.fingerprint", summarize_prepared(path).fingerprint};
    } catch (const DataError&) {
      // Not a prepared folder here; it may be one on another machine.
    }
  }
  const Yaml* corpora = recipe.find("corpora");
  const Yaml* name = corpora == nullptr ? nullptr : corpora->find(path);
  return name == nullptr ? std::nullopt : std::optional(Wanted{"data.name", name->scalar});
}

/// The columns and values by which a point's run is recognised; nullopt if runs do not record them.
class PointReader {
 public:
  explicit PointReader(const Yaml& recipe) : recipe_(recipe) {}

  std::optional<std::vector<Wanted>> read(const SweepPoint& point) {
    std::vector<Wanted> wanted;
    for (const auto& [key, value] : point) {
      if (rewritten_.contains(key)) return std::nullopt;
      if (key == "data.path") {
        const auto [known, is_new] = data_.try_emplace(value.scalar);
        if (is_new) known->second = wanted_data(recipe_, value.scalar);
        if (!known->second) return std::nullopt;
        wanted.push_back(*known->second);
      } else {
        wanted.emplace_back(key, value.is_scalar() && !value.quoted ? to_value(value.scalar)
                                 : value.is_scalar()                ? Value(value.scalar)
                                                                    : Value(to_json(value).dump()));
      }
    }
    return wanted;
  }

 private:
  const Yaml& recipe_;
  std::set<std::string> rewritten_ = rewritten_keys();
  std::map<std::string, std::optional<Wanted>> data_;  // by path
};

/// The values of runs in some columns, read once for all points that ask for the same columns.
class KnownValues {
 public:
  KnownValues(RunTable& runs, std::vector<std::size_t> rows) : runs_(runs), rows_(std::move(rows)) {}

  bool contain(const std::vector<Wanted>& wanted) {
    std::vector<std::string> columns;
    std::vector<Value> values;
    for (const auto& [column, value] : wanted) {
      columns.push_back(column);
      values.push_back(value);
    }
    const auto [known, is_new] = known_.try_emplace(std::move(columns));
    if (is_new) known->second = values_of(known->first);
    return known->second.contains(values);
  }

 private:
  struct ValuesOrder {
    bool operator()(const std::vector<Value>& a, const std::vector<Value>& b) const {
      return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), value_less);
    }
  };
  using ValueSet = std::set<std::vector<Value>, ValuesOrder>;

  ValueSet values_of(const std::vector<std::string>& columns) {
    ValueSet values;
    for (const std::size_t row : rows_) {
      std::vector<Value> of_row;
      for (const std::string& column : columns) of_row.push_back(runs_.column_or_nothing(column)[row]);
      values.insert(std::move(of_row));
    }
    return values;
  }

  RunTable& runs_;
  std::vector<std::size_t> rows_;
  std::map<std::vector<std::string>, ValueSet> known_;  // by columns
};

}  // namespace

PointsDone points_done(const Yaml& recipe, std::vector<Filter> filters, RunTable& runs) {
  if (recipe.find("model") == nullptr && recipe.find("sweep") == nullptr) return {};
  std::vector<SweepPoint> described;
  try {
    described = expand_sweep(recipe);
  } catch (const UsageError&) {
    return {};  // no such run can be made; existing runs can still be shown
  }
  filters.push_back({"status", Filter::Relation::kEqual, {std::string("done")}});
  PointReader reader(recipe);
  KnownValues done(runs, runs.select(filters));
  PointsDone points{.all = described.size()};
  for (const SweepPoint& point : described) {
    const std::optional<std::vector<Wanted>> wanted = reader.read(point);
    if (!wanted) return {};
    if (done.contain(*wanted)) ++points.done;
  }
  return points;
}

}  // namespace xlm
