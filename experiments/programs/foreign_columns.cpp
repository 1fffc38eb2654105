// Rows of foreign files.
#include "experiments/programs/foreign_columns.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "base/lookup.h"
#include "base/text.h"
#include "experiments/programs/number_text.h"
#include "results/quantities/quantities.h"

namespace xlm {
namespace {

constexpr std::string_view kStepColumn = "step";
constexpr std::size_t kMaxColumns = 10'000;
constexpr std::size_t kShownColumns = 20;

}  // namespace

/// Empty if it is not read.
std::string ForeignColumns::name_of(std::string_view theirs, const std::string& from, Column& column) const {
  const std::string whole = from.empty() ? std::string(theirs) : fmt::format("{}/{}", from, theirs);
  if (names_.empty()) return lower_case(theirs) == kStepColumn ? std::string(kStepColumn) : quantity_name_from(whole);
  auto named = names_.find(whole);
  const bool is_whole = named != names_.end();
  if (!is_whole) named = names_.find(theirs);
  if (named == names_.end()) return "";
  column.named = named->first;
  const bool says_all =
      is_whole || from.empty() || quantity_place(named->second).kind != QuantityPlace::Kind::kTraining;
  return says_all ? named->second : quantity_name_from(fmt::format("{}/{}", from, named->second));
}

std::string ForeignColumns::from_row(const std::string& theirs, const std::string& split) const {
  if (split.empty() || split == "train") return "";  // a column that another row has without a split
  const std::string ours = value_or(names_, theirs, quantity_name_from(theirs));
  const bool says_all = ours == kStepColumn || quantity_place(ours).kind != QuantityPlace::Kind::kTraining;
  return says_all ? "" : split;
}

ForeignColumns::Column& ForeignColumns::column_of(std::string_view theirs, const LinePlace& place,
                                                  const std::string& from) {
  const std::string key = from.empty() ? std::string() : fmt::format("{}/{}", from, theirs);
  const std::string_view whole = from.empty() ? theirs : std::string_view(key);
  if (const auto known = columns_.find(whole); known != columns_.end()) return known->second;
  if (columns_.size() == kMaxColumns) return unwanted_ = {};
  Column& column = columns_[std::string(whole)];
  const std::string ours = name_of(theirs, from, column);
  column.is_step = ours == kStepColumn;
  if (ours.empty() || column.is_step) return column;
  const auto [owner, is_first] = owners_.emplace(ours, whole);
  if (!is_first) {
    records_.fault(place, fmt::format("'{}' and '{}' are both called '{}'\nsay what each is called with names:",
                                      owner->second, whole, ours));
    return column;
  }
  column.name = records_.name(ours, place);
  return column;
}

void ForeignColumns::add(std::string_view theirs, const ForeignCell& cell, const LinePlace& place,
                         std::string_view line, const std::string& from) {
  Column& column = column_of(theirs, place, from);
  if (!column.is_step && column.name == nullptr) return;
  const std::optional<double> number = cell.number ? cell.number : printed_number(cell.text);
  if (!number) {
    // A column may hold texts unless `names` says that it holds numbers, or it has had one.
    has_wrong_step_ = has_wrong_step_ || column.is_step;
    const bool is_wanted_number = !names_.empty() || column.is_known || column.is_step;
    if (is_wanted_number) {
      records_.fault(place, no_number(theirs, cell.text), line);
    } else if (column.texts++ == 0) {
      column.first_text = cell.text;
    }
    return;
  }
  column.is_known = true;
  if (!column.is_step) {
    row_.emplace_back(column.name, *number);
    return;
  }
  row_step_ = whole_step(*number);
  if (row_step_) return;
  has_wrong_step_ = true;
  records_.fault(place, no_step(theirs, cell.number ? fmt::format("{}", *number) : std::string(cell.text)), line);
}

void ForeignColumns::end_row(const LinePlace& place, const std::string* log) {
  ++rows_;
  if (std::exchange(has_wrong_step_, false)) return;  // its numbers are of no step that is known
  if (row_step_) {
    set_step(row_step_);
    records_.seen_step(*row_step_);
  }
  note_kind();
  for (const auto& [name, value] : row_) {
    if (log != nullptr) records_.note_log(*name, *log);
    records_.number(*name, step_.in(records_.attempt()).value_or(records_.newest_step()), value, place);
  }
}

void ForeignColumns::note_kind() {
  std::set<std::string_view> kind;
  for (const auto& [name, value] : row_) kind.insert(name->as_given);
  constexpr std::size_t kMaxKinds = 32;
  if (kinds_.size() < kMaxKinds || kinds_.contains(kind)) ++kinds_[std::move(kind)];
}

/// Of columns that have numbers later on, or whose texts are nearly numbers.
std::vector<std::string> ForeignColumns::passed_texts(const std::string& source) const {
  std::vector<std::string> passed;
  for (const auto& [name, column] : columns_) {
    std::string plain = column.first_text;
    std::erase_if(plain, [](char c) { return c == ',' || c == '%'; });
    if (column.texts == 0 || (!column.is_known && !printed_number(plain))) continue;
    passed.push_back(fmt::format("{}: {} of '{}' left out, first '{}', which is no number", source,
                                 counted(static_cast<std::size_t>(column.texts), "cell"), name, column.first_text));
  }
  return passed;
}

std::vector<std::string> ForeignColumns::doubts(const std::string& source) const {
  constexpr std::size_t kShown = 3;
  std::vector<std::string> doubts = passed_texts(source);
  for (auto one = kinds_.begin(); one != kinds_.end(); ++one) {
    for (auto other = std::next(one); other != kinds_.end(); ++other) {
      if (one->second < 2 || other->second < 2) continue;
      const auto beyond = [](const std::set<std::string_view>& names, const std::set<std::string_view>& others) {
        std::vector<std::string> rest;
        for (const std::string_view name : names) {
          if (!others.contains(name)) rest.emplace_back(name);
        }
        return rest;
      };
      const std::vector<std::string> of_one = beyond(one->first, other->first);
      const std::vector<std::string> of_other = beyond(other->first, one->first);
      const auto is_measure = [&](std::string_view name) {
        const Quantity* known = quantity_of_column(name);
        return other->first.contains(name) && known != nullptr && known->by == ReportedBy::kEvaluation;
      };
      const auto shared = std::ranges::find_if(one->first, is_measure);
      if (of_one.empty() || of_other.empty() || shared == one->first.end()) continue;
      doubts.push_back(fmt::format(
          "{}: rows of two kinds have '{}', those with {} and those with {}; if they are of two things, give them two "
          "names",
          source, *shared, listed_names(of_one, kShown), listed_names(of_other, kShown)));
      return doubts;
    }
  }
  return doubts;
}

std::vector<std::string> ForeignColumns::warnings(const std::string& source) const {
  std::vector<std::string> warnings;
  std::vector<std::string> missing;
  for (const auto& [theirs, ours] : names_) {
    const bool came = std::ranges::any_of(columns_, [&name = theirs](const auto& column) {
      return column.second.named == name && column.second.is_known;
    });
    if (!came) missing.push_back(theirs);
  }
  if (!missing.empty()) {
    std::vector<std::string> there = mapped(columns_, [](const auto& column) { return column.first; });
    there.resize(std::min<std::size_t>(there.size(), kShownColumns));
    warnings.push_back(fmt::format("{}: no number of {} came{}", source, join(missing, ", "),
                                   there.empty() ? "" : "; it has " + join(there, ", ")));
  }
  if (rows_ > 0 && !step_.last()) {
    warnings.push_back(fmt::format(
        "{}: no row says its step\nsay which column does, as in names: {{iteration: step, train_loss: loss}}", source));
  }
  return warnings;
}

}  // namespace xlm
