// Names of quantities.
#include "experiments/programs/quantity_name.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <re2/re2.h>

#include "base/text.h"
#include "experiments/programs/shown_line.h"
#include "results/quantities/quantities.h"

namespace xlm {
namespace {

constexpr std::size_t kMaxNameBytes = 100;

/// What a name may hold of a text.
std::string name_of_signs(std::string_view theirs) {
  static const RE2 around(R"(^[^\w-]+|[^\w-]+$)", RE2::Latin1);
  static const RE2 gap_of_folders(R"([^\w-]*[/.][^\w-]*)", RE2::Latin1);
  static const RE2 gap(R"([^\w.-]+)", RE2::Latin1);
  std::string name(theirs);
  RE2::GlobalReplace(&name, around, "");
  RE2::GlobalReplace(&name, gap_of_folders, ".");
  RE2::GlobalReplace(&name, gap, "_");
  static const RE2 begins_otherwise(R"(^[\d-])", RE2::Latin1);
  RE2::Replace(&name, begins_otherwise, R"(_\0)");
  name.resize(std::min(name.size(), kMaxNameBytes));
  while (name.ends_with('.')) name.pop_back();
  return name;
}

}  // namespace

bool is_quantity_name(std::string_view name) {
  static const RE2 form(R"([A-Za-z_][\w-]*(?:\.[\w-]+)*)", RE2::Latin1);
  return name.size() <= kMaxNameBytes && RE2::FullMatch({name.data(), name.size()}, form);
}

std::string wrong_quantity_name(std::string_view name) {
  const std::string better = quantity_name_from(name);
  return fmt::format(
      "no quantity can be called '{}'\na name has letters, digits, '_', '-' and dots, begins with a letter, and has {} "
      "bytes at most{}",
      shown_line(name), kMaxNameBytes, better.empty() ? "" : fmt::format(" (for example '{}')", better));
}

std::string_view split_called(std::string_view word) {
  struct Word {
    std::string_view word;
    std::string_view split;
  };
  constexpr std::array<Word, 10> kWords{{{"train", "train"},
                                         {"training", "train"},
                                         {"valid", "valid"},
                                         {"validation", "valid"},
                                         {"val", "valid"},
                                         {"eval", "valid"},
                                         {"evaluation", "valid"},
                                         {"dev", "valid"},
                                         {"test", "test"},
                                         {"testing", "test"}}};
  const std::string lower = lower_case(word);
  const auto found = std::ranges::find_if(kWords, [&](const Word& one) { return one.word == lower; });
  return found == kWords.end() ? std::string_view() : found->split;
}

std::string quantity_name_from(std::string_view theirs) {
  std::string_view rest;
  std::string_view split;
  if (const std::size_t end = theirs.find_first_of("/_."); end != std::string_view::npos) {
    split = split_called(theirs.substr(0, end));
    rest = theirs.substr(end + 1);
    // "train.loss" is an evaluation of that split, and a Trainer's "train_loss" is no loss of a step.
    if (split == "train" && theirs[end] != '/') split = {};
  }
  if (const std::size_t last = theirs.rfind('/'); split.empty() && last != std::string_view::npos) {
    split = split_called(theirs.substr(last + 1));
    rest = theirs.substr(0, last);
  }
  const std::string name = split.empty() ? "" : name_of_signs(lower_case(rest));
  if (name.empty()) return name_of_signs(theirs);
  return split == "train" ? name : name_of_signs(fmt::format("{}.{}", split, name));
}

QuantityPlace quantity_place(std::string_view name) {
  using Kind = QuantityPlace::Kind;
  if (auto evaluation = evaluation_column(name)) {
    return {Kind::kEvaluation, std::move(evaluation->split), std::move(evaluation->name)};
  }
  constexpr std::string_view kOfTheRun = "costs.";
  if (name.starts_with(kOfTheRun)) return {Kind::kRun, "", std::string(name.substr(kOfTheRun.size()))};
  const Quantity* known = find_quantity(name);
  return {known != nullptr && known->by == ReportedBy::kRun ? Kind::kRun : Kind::kTraining, "", std::string(name)};
}

std::string quantity_of_group(const std::string& group) {
  return quantity_place(group).kind == QuantityPlace::Kind::kEvaluation ? group : quantity_name_from(group);
}

bool is_split(std::string_view name) {
  const auto column = evaluation_column(fmt::format("{}.loss", name));
  return column && column->split == name;
}

}  // namespace xlm
