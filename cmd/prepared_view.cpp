// Sizes of a prepared data folder.
#include "cmd/prepared_view.h"

#include <fmt/format.h>

#include "base/terminal.h"
#include "datasets/prepared/split_plan.h"

namespace xlm {

std::string symbols_text(const Vocabulary& vocabulary) {
  return fmt::format("{} symbols ({})", vocabulary.size(), units_name(vocabulary.unit));
}

std::string splits_table(const PreparedData& data, int width) {
  TextTable table({{"split"}, {"tokens", true}, {"words", true}, {"bytes", true}, {"documents", true}});
  for (const char* name : kSplitNames) {
    const auto found = data.splits.find(name);
    if (found == data.splits.end()) continue;
    const Split& split = found->second;
    table.add({name, fmt::format("{}", split.tokens.size()), fmt::format("{}", split.words),
               fmt::format("{}", split.bytes), fmt::format("{}", split.documents.size())});
  }
  return table.render(TextTable::Format::kText, width);
}

Json splits_json(const PreparedData& data) {
  Json json = Json::object();
  for (const auto& [name, split] : data.splits) {
    json[name] = {{"tokens", split.tokens.size()},
                  {"words", split.words},
                  {"bytes", split.bytes},
                  {"documents", split.documents.size()}};
  }
  return json;
}

}  // namespace xlm
