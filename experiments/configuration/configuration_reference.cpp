// The tables of docs/configuration.md, made from the schema, so that they cannot be out of date.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/lookup.h"
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

constexpr std::string_view kChoices = "one of ";

/// The value with which an option that came later is no part of an id: 0, false, or the first choice.
std::string later_value(const OptionEntry& entry) {
  if (entry.value.is_number()) return "0";
  if (!entry.range.starts_with(kChoices)) return shown_value(entry);
  return "`" + entry.range.substr(kChoices.size(), entry.range.find(',') - kChoices.size()) + "`";
}

/// The defaults that a model changes, whose meaning stands with those of every model.
std::string defaults(const std::vector<OptionEntry>& entries) {
  std::string text;
  for (const OptionEntry& entry : entries) {
    text += fmt::format("{}={}\n", entry.key,
                        entry.value.is_string() ? entry.value.get<std::string>() : entry.value.dump());
  }
  return "```\n" + text + "```\n";
}

constexpr std::string_view kTableHead = "| key | default | meaning | in the run id |\n| --- | --- | --- | --- |\n";

/// A range without what a reader expects: counts from 0 or 1, and an upper bound of a million or more, which keeps
/// accidents out. The error that refuses a value names both.
std::string_view useful_range(std::string_view range) {
  constexpr std::string_view kUpTo = ", ≤ ";
  const std::size_t bound = range.find(kUpTo);
  if (bound != std::string_view::npos) {
    const std::string_view most = range.substr(bound + kUpTo.size());
    if (most.size() <= 6 && most.find('e') == std::string_view::npos) return range;
    range = range.substr(0, bound);
  }
  return range == "≥ 0" || range == "≥ 1" ? "" : range;
}

/// Whether the help has every choice, so that the range need not list them again.
bool explains_choices(const OptionEntry& entry) {
  if (!entry.range.starts_with(kChoices)) return false;
  const std::vector<std::string> choices = split(entry.range.substr(kChoices.size()), ',');
  return std::ranges::all_of(
      choices, [&](const std::string& choice) { return entry.help.find(trim(choice)) != std::string::npos; });
}

std::string row(const OptionEntry& entry, const std::string& value) {
  std::string range(explains_choices(entry) ? "" : useful_range(entry.range));
  if (!range.empty()) range = fmt::format(" ({})", range);
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
std::string program_section(const std::vector<OptionEntry>& common) {
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
    const auto is_same = [&](const auto& c) { return c.key == entry.key && c.help == entry.help; };
    if (entry.key != "data.path" && std::ranges::any_of(common, is_same)) continue;
    if (entry.key == "program.folder") entry.content = OptionContent::kModelFolder;
    if (entry.key == "data.path") entry.help = "what the program reads: a prepared folder, or any other file or folder";
    rows += row(entry, value_or(shown, entry.key, shown_value(entry)));
  }
  return std::string(kTableHead) + rows;
}

bool is_own(const OptionEntry& entry) {
  return entry.key.rfind("model.", 0) == 0 && entry.key != "model.type" && entry.key != "model.init_from";
}

/// A model's own options, and the common ones whose default it changes. `blocks` are those of transformer, once it was
/// there: what a later model shares with it is not explained again.
std::string model_section(std::size_t index, const std::vector<OptionEntry>& common, std::vector<OptionEntry>& blocks) {
  const std::vector<OptionEntry> entries = option_entries(default_run_options(index));
  std::vector<OptionEntry> own;
  std::vector<OptionEntry> shared;
  std::vector<OptionEntry> changed;
  for (const OptionEntry& entry : entries) {
    if (is_own(entry)) {
      const auto is_same = [&](const auto& block) { return block.key == entry.key && block.help == entry.help; };
      (std::ranges::any_of(blocks, is_same) ? shared : own).push_back(entry);
      continue;
    }
    const auto same = std::ranges::find_if(common, [&](const auto& c) { return c.key == entry.key; });
    if (entry.key != "model.type" && same != common.end() && same->value != entry.value) changed.push_back(entry);
  }
  const std::string type = model_types()[index];
  const std::string summary = default_model_options(index).summary();
  std::string text = fmt::format("\n## `model.type: {}`\n\nThe {}.\n\n{}", type, summary, table(own));
  if (!shared.empty())
    text += "\nIt has these of `model.type: transformer`, too, with these defaults:\n\n" + defaults(shared);
  if (type == "transformer") blocks = own;
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
  std::vector<OptionEntry> blocks;
  for (std::size_t i = 0; i < model_types().size(); ++i) text += model_section(i, common, blocks);
  text += part_of_page(page, "\n## A program of your own", "| key |");
  text += program_section(common);
  return text.append(part_of_page(page, "\n## The run id", ""));
}

}  // namespace xlm
