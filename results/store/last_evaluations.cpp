// Means of the last evaluations.
#include "results/store/last_evaluations.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "results/store/statistics.h"

namespace xlm {
namespace {

/// By the tokens that were scored (0: not said), the values in the order of their steps.
using ByMeasure = std::map<double, std::vector<double>>;

std::optional<double> mean_of_last(const ByMeasure& values, std::int64_t count) {
  const auto most =
      std::ranges::max_element(values, [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  if (most == values.end() || std::ssize(most->second) < count) return std::nullopt;
  return mean({most->second.end() - count, most->second.end()});
}

}  // namespace

std::optional<std::int64_t> last_of_column(const std::string& column) {
  constexpr std::string_view kLast = "@last=";
  const std::size_t at = column.find(kLast);
  if (at == std::string::npos || column.starts_with('=')) return std::nullopt;
  std::int64_t count = 0;
  if (!parse_integer(std::string_view(column).substr(at + kLast.size()), count) || count < 1 ||
      column.find('@') != at) {
    throw UsageError(
        fmt::format("'{}': the mean of the last evaluations is COLUMN@last=K, such as valid.bpc@last=5", column));
  }
  return count;
}

std::map<std::int64_t, double> means_of_last(Store& store, const std::string& split, const std::string& metric,
                                             std::int64_t count) {
  std::map<std::int64_t, ByMeasure> runs;
  store.use([&](SQLite::Database& database) {
    SQLite::Statement query(
        database,
        "SELECT e.number, v.value, (SELECT value FROM json_each(e.\"values\") WHERE key = 'tokens'), "
        "max(e.main) "  // of several at one step SQLite takes the columns of this one
        "FROM stored_numbers n JOIN stored_evaluations e USING (number, split), json_each(e.\"values\") v "
        "WHERE n.split = ?1 AND n.name = ?2 AND v.key = ?2 AND (e.main = 1 OR (e.final = 0 AND e.settings = '{}')) "
        "GROUP BY e.number, e.step ORDER BY e.number, e.step");
    query.bind(1, split);
    query.bind(2, metric);
    while (query.executeStep()) {
      runs[query.getColumn(0).getInt64()][query.getColumn(2).getDouble()].push_back(query.getColumn(1).getDouble());
    }
  });
  std::map<std::int64_t, double> means;
  for (const auto& [run, values] : runs) {
    if (const std::optional<double> mean = mean_of_last(values, count)) means.emplace(run, *mean);
  }
  return means;
}

}  // namespace xlm
