// The tables of docs/configuration.md, made from the schema, so that they cannot be out of date.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/text.h"
#include "experiments/configuration/configuration.h"

namespace xlm {
namespace {

/// What a page has from `begin` up to `end`; "": to its own end.
std::string_view part_of_page(std::string_view page, std::string_view begin, std::string_view end) {
  const std::size_t from = std::min(page.find(begin), page.size());
  const std::size_t to = end.empty() ? page.size() : page.find(end, from);
  return page.substr(from, to - from);
}

std::string shown_value(const OptionEntry& entry) {
  if (entry.key == "data.path" || entry.key == "model.type") return "(required)";
  if (entry.key == "train.steps") return "(required, or epochs, tokens, flops or seconds)";
  if (entry.value.is_string() && entry.value.get<std::string>().empty()) return "(empty)";
  return entry.value.is_string() ? "`" + entry.value.get<std::string>() + "`" : "`" + entry.value.dump() + "`";
}

/// The value with which an option that came later is no part of an id: 0, false, or the first choice.
std::string later_value(const OptionEntry& entry) {
  constexpr std::string_view kChoices = "one of ";
  if (entry.value.is_number()) return "0";
  if (!entry.range.starts_with(kChoices)) return shown_value(entry);
  return "`" + entry.range.substr(kChoices.size(), entry.range.find(',') - kChoices.size()) + "`";
}

/// The defaults that a model changes, whose meaning stands with those of every model.
std::string defaults(const std::vector<OptionEntry>& entries) {
  std::string text = "| key | default |\n| --- | --- |\n";
  for (const OptionEntry& entry : entries) text += fmt::format("| `{}` | {} |\n", entry.key, shown_value(entry));
  return text;
}

constexpr std::string_view kTableHead = "| key | default | meaning | in the run id |\n| --- | --- | --- | --- |\n";

/// A range without an upper bound of a million or more: it keeps accidents out, and the error that refuses a value
/// names it.
std::string_view useful_range(std::string_view range) {
  constexpr std::string_view kUpTo = ", ≤ ";
  const std::size_t bound = range.find(kUpTo);
  if (bound == std::string_view::npos) return range;
  const std::string_view most = range.substr(bound + kUpTo.size());
  return most.size() > 6 || most.find('e') != std::string_view::npos ? range.substr(0, bound) : range;
}

std::string row(const OptionEntry& entry, const std::string& value) {
  const std::string range = entry.range.empty() ? "" : fmt::format(" ({})", useful_range(entry.range));
  return fmt::format("| `{}` | {} | {}{} | {} |\n", entry.key, value, entry.help, range,
                     entry.content != OptionContent::kValue ? "its content"
                     : entry.later                          ? "where not " + later_value(entry)
                     : entry.affects_result                 ? "yes"
                                                            : "no");
}

std::string table(const std::vector<OptionEntry>& entries) {
  std::string text(kTableHead);
  for (const OptionEntry& entry : entries) text += row(entry, shown_value(entry));
  return text;
}

/// Of a program; its data are optional, its command is not.
std::string program_section() {
  RunConfiguration run;
  run.program.emplace();
  run.program->options.emplace_back("KEY", "");
  run.program->code = {""};
  run.program->environment = {{"", ""}};
  run.program->better = {{"NAME", "lower"}};
  const std::map<std::string, std::string> shown{
      {"data.path", "(empty)"},           {"model.type", "`program`"},
      {"program.command", "(required)"},  {"program.code", "what git tracks"},
      {"program.environment", "(empty)"}, {"program.metrics", "(empty)"},
      {"program.better.NAME", "(none)"},  {"train.steps", "`0`"}};
  std::string rows;
  for (OptionEntry entry : option_entries(run)) {
    if (entry.key == "program.folder") entry.content = OptionContent::kModelFolder;
    if (entry.key == "data.path") entry.help = "what the program reads: a prepared folder, or any other file or folder";
    const auto value = shown.find(entry.key);
    rows += row(entry, value == shown.end() ? shown_value(entry) : value->second);
  }
  return std::string(kTableHead) + rows;
}

bool is_own(const OptionEntry& entry) {
  return entry.key.rfind("model.", 0) == 0 && entry.key != "model.type" && entry.key != "model.init_from";
}

/// A model's own options, and the common ones whose default it changes.
std::string model_section(std::size_t index, const std::vector<OptionEntry>& common) {
  const std::vector<OptionEntry> entries = option_entries(default_run_options(index));
  std::vector<OptionEntry> own;
  std::vector<OptionEntry> changed;
  for (const OptionEntry& entry : entries) {
    if (is_own(entry)) {
      own.push_back(entry);
      continue;
    }
    const auto same = std::find_if(common.begin(), common.end(), [&](const auto& c) { return c.key == entry.key; });
    if (entry.key != "model.type" && same != common.end() && same->value != entry.value) changed.push_back(entry);
  }
  const std::string type = model_types()[index];
  const std::string summary = default_model_options(index).summary();
  std::string text = fmt::format("\n## `model.type: {}`\n\nThe {}.\n\n{}", type, summary, table(own));
  if (!changed.empty()) {
    text += fmt::format("\nWith this model these defaults follow the paper:\n\n{}", defaults(changed));
  }
  return text;
}

}  // namespace

std::string configuration_reference(std::string_view page) {
  RunOptions plain;
  const std::vector<OptionEntry> entries = option_entries(plain);
  std::vector<OptionEntry> common;
  std::copy_if(entries.begin(), entries.end(), std::back_inserter(common), [](const auto& e) { return !is_own(e); });
  for (OptionEntry& entry : common) {
    if (entry.key == "model.type") entry.range = "one of " + join(model_types(), ", ");
  }
  std::string text(part_of_page(page, "# Configuration", "## Every model"));
  text += "## Every model\n\n" + table(common);
  for (std::size_t i = 0; i < model_types().size(); ++i) text += model_section(i, common);
  text += part_of_page(page, "\n## A program of your own", "| key |");
  text += program_section();
  return text.append(part_of_page(page, "\n## The run id", ""));
}

}  // namespace xlm
