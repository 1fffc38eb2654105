// docs/configuration.md, made from the schema, so that it cannot be out of date.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/text.h"
#include "experiments/configuration/configuration.h"

namespace xlm {
namespace {

constexpr std::string_view kHead = R"(# Configuration

One YAML file describes a run. It is read strictly: an unknown key, a wrong type or a value out of range ends the program
with exit code 2 and the file and line. A small one is

```yaml
data: {path: data/text8}
model: {type: adaptive-span}
optimizer: {warmup_steps: 1000}
train: {steps: 10000}
```

Training is as long as one of `train.steps`, `train.epochs` and `train.tokens` says. Epochs and tokens are resolved into
steps, so two epochs and as many steps are the same run. In their place, `train.flops` or `train.seconds` is a budget
([sweeps.md](sweeps.md#equal-arithmetic)).

A default gives way to what the file says. A warm-up that is not written takes at most a tenth of the steps; with
`schedule: constant` the default of `min_lr_ratio` is 0.

Everything else has a default; `xlm train CONFIG.yaml --print-config` prints all of them filled in. `KEY=VALUE` after the
file replaces a value by its dotted path: `xlm train CONFIG.yaml optimizer.lr=0.01 model.span=512`. A file may hold
`profiles:`, named maps of the same keys; `--profile NAME` lays one over the file, before the overrides. Sweeps, tables
and figures can stand in the same file ([sweeps.md](sweeps.md)).

This page is made from the program's own schema: `xlm train --print-reference > docs/configuration.md`.

## YAML

A file is YAML 1.2, core schema: `true` and `false` (`True`, `TRUE`), `null` (`~`), whole numbers (`12`, `0o17`, `0xF`; `017` is
17, and an error in `options`) and real numbers (`0.1`, `1e-3`). `yes`, `on`, `1_000` and `1:30`, which are other things in YAML 1.1, are text: an option
that wants a number or a truth value refuses them. `<<`, which merges maps in YAML 1.1, is refused, as are tags, several
documents, and numbers that are not finite.

Every file of a command line that is read once may be a pipe (`/dev/stdin`, `-`, `<(…)`). Its experiment is `pipe`, unless
the file or `experiment=NAME` says another. What is read more than once must be a file, and says so.

## Quotes

One rule holds for values in `KEY=VALUE`, in conditions (`--where`), behind `@KEY=` in columns, and in lists of columns. It is
that of YAML, and the shell takes its own quotes away first:

| value | what it is |
| --- | --- |
| `"…"` | the text between; a backslash begins an escape: `\"`, `\\`, `\n` |
| `'…'` | the text between; a quote in it is written twice |
| anything else | a number, `true`, `false`, `null`, a list `[…]`, or text, without the blanks around it |

Quotes are needed for a comma in a condition or a column, for `#` behind a blank, for blanks at the ends, and for `@` in a
column. Text that begins with a sign of YAML needs them, too: `xlm train c.yaml 'experiment="spans, v2 #3"'`,
`xlm runs ls --where 'experiment="spans, v2 #3"' --columns 'seed,test.bpc@data.name="a,b"'`. In a condition
`data.name=2023` finds the number and the name, `experiment="null"` the name alone. In a file YAML's own quotes do. In `where:`
a text that begins with a sign of comparison has `=` before it: `{data.name: "=<x"}`.

)";

constexpr std::string_view kIdentity = R"(
## The run id

A run is called `MODEL-DATASET-HASH`, for example `adaptive-span-text8-3fa9c1d240b7e115`, and a program's run
`NAME-DATASET-HASH`, or `NAME-HASH` without data. The hash is the first 16 digits of a sha256 over

- every key that the tables mark "yes", with its value, and those marked "where not …" that are not;
- the fingerprint of the prepared data: tokens, vocabulary, documents and counts;
- the content of what the keys marked "its content" name, such as weights that training starts from.

The keys marked "no" say where or how a run is done, or how it is called: changing them finds the same run again. So the same
work has the same id everywhere and is never done twice, and experiments that share a run share its folder. A folder that
holds other work than its name says is an error.

The thread count changes the last bits of a result on a CPU. It is no part of the id, but it is fixed when a run starts, and
kept when the run is resumed. The number of [processes](sweeps.md#one-run-by-several-processes) may change between the parts of
a run.
)";

constexpr std::string_view kProgram = R"(
## A program of your own

A file with `program` describes the run of a program ([programs.md](programs.md)). It has these keys, no others of this page,
and `options`: free keys for numbers, texts, booleans, and lists of these. Nested maps and dotted keys are the same.

)";

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

std::string configuration_reference() {
  RunOptions plain;
  const std::vector<OptionEntry> entries = option_entries(plain);
  std::vector<OptionEntry> common;
  std::copy_if(entries.begin(), entries.end(), std::back_inserter(common), [](const auto& e) { return !is_own(e); });
  for (OptionEntry& entry : common) {
    if (entry.key == "model.type") entry.range = "one of " + join(model_types(), ", ");
  }
  std::string text(kHead);
  text += "## Every model\n\n" + table(common);
  for (std::size_t i = 0; i < model_types().size(); ++i) text += model_section(i, common);
  text += std::string(kProgram) + program_section();
  return text + std::string(kIdentity);
}

}  // namespace xlm
