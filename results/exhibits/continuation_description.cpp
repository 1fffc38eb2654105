// Reads the description of continuations.
#include "results/exhibits/continuation_description.h"

#include <fmt/format.h>

#include "base/text.h"

namespace xlm {
namespace {

const Yaml& list_of(const Yaml& node, std::string_view key, std::string_view example) {
  const Yaml* list = node.find(key);
  if (list == nullptr) fail_at(node, fmt::format("continuations need '{}', such as {}", key, example));
  if (!list->is_sequence() || list->items.empty()) {
    fail_at(*list, fmt::format("'{}' must be a list, such as {}", key, example));
  }
  for (const Yaml& item : list->items) {
    if (!item.is_map()) fail_at(item, fmt::format("each item of '{}' must be a map, as in {}", key, example));
  }
  return *list;
}

ContinuationDescription::Row read_row(const Yaml& item) {
  refuse_unknown(item, {"label", "where"});
  const Yaml* label = item.find("label");
  if (label == nullptr) fail_at(item, "a row of 'rows' has no label");
  const Yaml* where = item.find("where");
  return {scalar_text(*label, "label"), where == nullptr ? std::vector<Filter>{} : read_filters(*where)};
}

ContinuationDescription::Prompt read_prompt(const Yaml& item) {
  ContinuationDescription::Prompt prompt;
  OptionReader reader(item);
  prompt.visit(reader);
  reader.finish();
  return prompt;
}

}  // namespace

const std::vector<std::string>& continuation_keys() {
  static const std::vector<std::string> keys = [] {
    std::vector<std::string> names{"continuation", "where", "rows", "prompts"};
    OptionLister lister;
    ContinuationDescription().visit(lister);
    for (const OptionEntry& entry : lister.entries()) names.push_back(entry.key);
    return names;
  }();
  return keys;
}

ContinuationDescription read_continuation_description(const Yaml& node) {
  refuse_unknown(node, continuation_keys());
  ContinuationDescription description;
  description.place = node.where();
  const Yaml* title = node.find("continuation");
  if (title == nullptr) fail_at(node, "the continuations have no title (continuation: TITLE)");
  description.title = scalar_text(*title, "continuation");
  if (const Yaml* where = node.find("where")) description.where = read_filters(*where);
  for (const Yaml& row : list_of(node, "rows", "[{label: GPT-2, where: {model.type: gpt2}}]").items) {
    description.rows.push_back(read_row(row));
  }
  for (const Yaml& prompt : list_of(node, "prompts", "[{document: 1, first: 1}]").items) {
    description.prompts.push_back(read_prompt(prompt));
  }
  Yaml options = node;
  for (const char* key : {"continuation", "where", "rows", "prompts"}) options.take(key);
  OptionReader reader(options);
  description.visit(reader);
  reader.finish();
  if (description.name.empty()) description.name = name_from_title(description.title);
  return description;
}

}  // namespace xlm
