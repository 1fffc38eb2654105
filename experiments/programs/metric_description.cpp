// Reading `program.metrics`.
#include "experiments/programs/metric_description.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/error.h"
#include "base/lookup.h"
#include "base/text.h"
#include "experiments/programs/line_pattern.h"
#include "experiments/programs/number_text.h"
#include "experiments/programs/quantity_name.h"

namespace xlm {
namespace {

struct KindWord {
  std::string_view word;
  MetricKind kind;
};
constexpr std::array<KindWord, 4> kKinds{{{"lines", MetricKind::kLines},
                                          {"csv", MetricKind::kCsv},
                                          {"jsonl", MetricKind::kJsonLines},
                                          {"tensorboard", MetricKind::kTensorBoard}}};
constexpr std::string_view kNamesWord = "names";
constexpr std::string_view kThousandsWord = "thousands";
constexpr std::string_view kStepName = "step";

const KindWord* find_kind(std::string_view word) {
  for (const KindWord& kind : kKinds) {
    if (kind.word == word) return &kind;
  }
  return nullptr;
}

/// `where` is the entry in the configuration: "program.metrics[2]", counted from 1.
std::vector<std::pair<std::string, std::string>> names_in(const Json& map, const std::string& where) {
  if (!map.is_object() || map.empty()) {
    throw UsageError(
        fmt::format("{}: names says what the program calls a number and what it is: {{train_loss: loss}}", where));
  }
  std::vector<std::pair<std::string, std::string>> names;
  for (const auto& [theirs, value] : map.items()) {
    if (!value.is_string()) throw UsageError(fmt::format("{}: the name for '{}' is a text", where, theirs));
    const std::string ours = value.get<std::string>();
    if (!is_quantity_name(ours)) throw UsageError(fmt::format("{}: {}", where, wrong_quantity_name(ours)));
    const auto same = std::ranges::find_if(names, [&](const auto& other) { return other.second == ours; });
    if (same != names.end()) {
      throw UsageError(fmt::format("{}: '{}' and '{}' are both called '{}'", where, same->first, theirs, ours));
    }
    names.emplace_back(theirs, ours);
  }
  if (std::ranges::all_of(names, [](const auto& name) { return name.second == kStepName; })) {
    throw UsageError(fmt::format("{}: names has a step and no numbers", where));
  }
  return names;
}

char thousands_in(const Json& value, const std::string& where) {
  const std::string sign = value.is_string() ? value.get<std::string>() : "";
  const bool is_one = sign.size() == 1 && (sign == "." || kThousandsSigns.find(sign) != std::string_view::npos);
  if (!is_one) throw UsageError(fmt::format("{}.{} is one of , . ' _ and a blank, in quotes", where, kThousandsWord));
  return sign.front();
}

MetricDescription description_of(const Json& entry, const std::string& where) {
  auto words = mapped(kKinds, [](const KindWord& kind) { return std::string(kind.word); });
  if (!entry.is_object()) throw UsageError(fmt::format("{} is a map with one of {}", where, join(words, ", ")));
  MetricDescription description;
  const KindWord* found = nullptr;
  for (const auto& [key, value] : entry.items()) {
    const KindWord* kind = find_kind(key);
    if (kind != nullptr) {
      if (found != nullptr)
        throw UsageError(fmt::format("{} has both {} and {}: make it two entries", where, found->word, key));
      found = kind;
      if (!value.is_string() || value.get<std::string>().empty())
        throw UsageError(fmt::format("{}.{} is a text", where, key));
      description.kind = kind->kind;
      description.target = value.get<std::string>();
    } else if (key == kNamesWord) {
      description.names = names_in(value, where);
    } else if (key == kThousandsWord) {
      description.thousands = thousands_in(value, where);
    } else {
      words.emplace_back(kNamesWord);
      words.emplace_back(kThousandsWord);
      throw UsageError(fmt::format("{}: unknown key '{}'{}", where, key, which_instead(key, words)));
    }
  }
  if (found == nullptr) throw UsageError(fmt::format("{} has none of {}", where, join(words, ", ")));
  if (description.kind != MetricKind::kLines && description.thousands != 0)
    throw UsageError(fmt::format("{}: {} belongs to lines; files print numbers without", where, kThousandsWord));
  if (description.kind != MetricKind::kLines) return description;
  if (!description.names.empty())
    throw UsageError(fmt::format("{}: a pattern has its names inside: (?<loss>…)", where));
  try {
    const LinePattern pattern(description.target);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: {}", where, error.what()));
  }
  return description;
}

}  // namespace

std::vector<MetricDescription> metric_descriptions(const Json& list) {
  if (list.is_null()) return {};
  if (!list.is_array()) throw UsageError("program.metrics is a list");
  std::vector<MetricDescription> descriptions;
  for (const Json& entry : list) {
    descriptions.push_back(description_of(entry, fmt::format("program.metrics[{}]", descriptions.size() + 1)));
  }
  return descriptions;
}

}  // namespace xlm
