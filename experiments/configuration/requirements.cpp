// What a recipe requires.
#include "experiments/configuration/requirements.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/lookup.h"
#include "base/text.h"
#include "datasets/prepared/prepared.h"

namespace xlm {
namespace {

constexpr const char* kForm = "require must be a list of keys, such as [model.pretrained], and of {KEY: VALUE} of data";

/// Whether a model folder holds weights, in whatever form; which forms are read is said where they are loaded.
bool has_weights(const fs::path& folder) {
  constexpr std::array<std::string_view, 6> kEndings{".safetensors", ".bin", ".pt", ".pth", ".h5", ".msgpack"};
  return std::ranges::any_of(entries_in(folder), [&](const fs::directory_entry& entry) {
    return contains(kEndings, entry.path().extension().string());
  });
}

/// A folder with a configuration alone would give a model of that shape with random weights.
void check_weights(const Yaml& item, const std::string& folder) {
  if (has_weights(folder)) return;
  throw DataError(
      fmt::format("model.pretrained: {} holds no weights, and {} requires a pretrained model\n"
                  "put model.safetensors into it, as Hugging Face's save_pretrained writes it",
                  folder, item.where()));
}

void check_given(const Yaml& item, const std::vector<OptionEntry>& entries) {
  const std::string key = scalar_text(item, "require");
  const auto found = std::ranges::find_if(entries, [&](const OptionEntry& entry) { return entry.key == key; });
  if (found == entries.end()) {
    fail_at(item, fmt::format("require names '{}', which is no option of this run{}", key,
                              did_you_mean(key, mapped(entries, &OptionEntry::key))));
  }
  if (!found->value.is_string()) fail_at(item, fmt::format("require names {}, which always has a value", key));
  const std::string given = found->value.get<std::string>();
  if (!given.empty() && key == "model.pretrained") check_weights(item, given);
  if (!given.empty()) return;
  fail_at(item, fmt::format("{} is missing, and the file requires it\nadd {}=…: {}", key, key, found->help));
}

/// The option of prepare-data that decides a key of meta.json; empty if none does alone.
std::string_view preparing_option(std::string_view key) {
  using Option = std::pair<std::string_view, std::string_view>;
  constexpr auto kOptions = std::to_array<Option>({
      {"books", "--books"},
      {"cleaning", "--clean"},
      {"column", "--column"},
      {"documents_are", "--documents"},
      {"glob", "--glob"},
      {"hebrew_points", "--hebrew-points"},
      {"language", "--lang"},
      {"limit", "--limit"},
      {"name", "--name"},
      {"split", "--split"},
      {"unit", "--unit"},
      {"valid_tokens", "--valid-tokens"},
      {"vocabulary", "--vocabulary"},
  });
  const auto* const found = std::ranges::find_if(kOptions, [&](const Option& option) { return option.first == key; });
  return found == kOptions.end() ? "" : found->second;
}

/// Data without the key were never asked: Finnish text has no Hebrew points.
void check_prepared_as(const Yaml& item, const fs::path& folder) {
  if (!fs::exists(folder / "meta.json")) return;  // said where the data are opened
  const Json meta = read_prepared_meta(folder);
  for (const auto& [key, wanted] : item.entries) {
    if (!meta.contains(key) || meta.at(key) == to_json(wanted)) continue;
    const std::string value = scalar_text(wanted, "what data must have been prepared with");
    const std::string_view option = preparing_option(key);
    throw DataError(fmt::format("{} was prepared with {} {}, and {} requires {}\nprepare it again{}", folder.string(),
                                key, meta.at(key).dump(), item.where(), to_json(wanted).dump(),
                                option.empty() ? " so" : fmt::format(" with {} {}", option, value)));
  }
}

}  // namespace

void check_requirements(const Yaml& required, const RunConfiguration& options) {
  if (required.is_null()) return;
  if (!required.is_sequence()) fail_at(required, kForm);
  const std::vector<OptionEntry> entries = option_entries(options);
  for (const Yaml& item : required.items) {
    if (item.is_map()) {
      check_prepared_as(item, options.data.path);
    } else if (item.is_scalar()) {
      check_given(item, entries);
    } else {
      fail_at(item, kForm);
    }
  }
}

}  // namespace xlm
