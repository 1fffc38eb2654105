// xlm runs diff: two runs side by side, only what differs.
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/command.h"
#include "base/error.h"
#include "base/json.h"
#include "base/terminal.h"
#include "base/text.h"
#include "cmd/results_store.h"
#include "cmd/run_results.h"
#include "experiments/configuration/program_inputs.h"
#include "experiments/runs/run_lock.h"
#include "results/quantities/quantities.h"
#include "results/run_folder/run_folder.h"

namespace xlm {
namespace {

struct DiffOptions {
  std::string a;
  std::string b;
};

using ValuesByName = std::map<std::string, Json>;

ValuesByName environment_of_run(const Run& run) {
  SettingList list;
  flatten(run.environment, "", list);
  ValuesByName values(list.begin(), list.end());
  values.erase("command");  // it names the run's folder, so it differs always
  return values;
}

/// The hash of a program's frozen code; empty: it has none.
std::string code_of(const Run& run) {
  const auto code = run.contents.find("program.folder");
  return code == run.contents.end() ? "" : code->second;
}

/// What came out, and what people say of it.
ValuesByName results_of_run(const Run& run) {
  ValuesByName values{{"status", name_of(run.status)}, {"step", run.step}};
  const auto add = [&](const char* name, const std::string& text) {
    if (!text.empty()) values[name] = text;
  };
  add("reason", run.reason);
  add("experiments", join(run.experiments, ", "));
  add("parent", run.parent);
  add("tag", join(run.tags, ", "));
  add("note", run.note);
  add("bad", run.bad);
  for (const RunEvaluation& evaluation : run.evaluations) {
    if (!evaluation.main) continue;
    for (const auto& [name, value] : evaluation.numbers()) values[evaluation.split + "." + name] = value;
  }
  for (const auto& [name, value] : run.costs) values[name] = value;
  return values;
}

struct DiffPart {
  std::string title;
  std::map<std::string, std::pair<Json, Json>> values;  // that differ, by name; null: the run has none
};

DiffPart differing_part(const std::string& title, const ValuesByName& a, const ValuesByName& b) {
  DiffPart part{.title = title, .values = {}};
  const auto value_in = [](const ValuesByName& values, const std::string& name) {
    const auto found = values.find(name);
    return found == values.end() ? Json() : found->second;
  };
  for (const ValuesByName* values : {&a, &b}) {
    for (const auto& [name, value] : *values) {
      const std::pair<Json, Json> both{value_in(a, name), value_in(b, name)};
      if (both.first != both.second) part.values[name] = both;
    }
  }
  return part;
}

/// A value in one line. Of several lines, as a diff of sources has, the number.
std::string value_in_a_line(const std::string& name, const Json& value) {
  if (value.is_null()) return "–";
  if (value.is_number_float()) return column_number(name, value.get<double>());
  const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  const std::size_t lines = split(trim(text), '\n').size();
  return lines > 1 ? fmt::format("{} lines, which --json prints", lines) : text;
}

/// Numbers that a list rounds to the same text are shown in full.
std::pair<std::string, std::string> texts_of(const std::string& name, const std::pair<Json, Json>& both) {
  std::pair<std::string, std::string> texts{value_in_a_line(name, both.first), value_in_a_line(name, both.second)};
  if (texts.first == texts.second && both.first.is_number() && both.second.is_number()) {
    texts = {both.first.dump(), both.second.dump()};
  }
  return texts;
}

std::string part_text(const DiffPart& part, const std::vector<std::string>& ids, int width) {
  if (part.values.empty()) return part.title + ": the same\n";
  std::vector<TextTable::Column> columns;
  columns.push_back({part.title});
  for (const std::string& id : ids) columns.push_back({id});
  TextTable table(std::move(columns));
  for (const auto& [name, both] : part.values) {
    const auto [a, b] = texts_of(name, both);
    table.add({name, a, b});
  }
  return table.render(TextTable::Format::kText, width);
}

/// How the code of two programs differs, as `diff -u` prints it; empty if it does not, or if one of both has none.
std::string code_difference(const Run& a, const Run& b, const GlobalOptions& global) {
  const std::string before = code_of(a);
  const std::string after = code_of(b);
  if (before.empty() || after.empty() || before == after) return "";
  const fs::path place = frozen_programs(global.runs);
  check_frozen_code(place, before);
  check_frozen_code(place, after);
  const std::string folder_a = code_folder(place, before).string() + "/";
  const std::string folder_b = code_folder(place, after).string() + "/";
  const std::vector<std::string> words{"diff", "-ruN", folder_a, folder_b};
  const CommandResult compared = xlm::run_command(words, "");
  if (compared.code == kNoProgram) throw Error("the code differs, and diff, which shows how, is not installed");
  if (compared.code > 1) throw Error("diff of the code: " + first_line(compared.err));
  std::string text;
  for (const std::string& line : split(trim(compared.out), '\n')) {
    if (line.starts_with("diff -ruN ")) continue;
    const bool is_head = line.starts_with("--- ") || line.starts_with("+++ ");
    std::string shown = is_head ? line.substr(0, line.find('\t')) : line;
    for (const auto& [folder, name] : {std::pair(folder_a, "a/"), std::pair(folder_b, "b/")}) {
      if (const std::size_t at = shown.find(folder); is_head && at != std::string::npos) {
        shown.replace(at, folder.size(), name);
      }
    }
    text += shown + "\n";
  }
  return text;
}

Run read_named_run(RunTable& runs, const std::string& name, const GlobalOptions& global) {
  const std::string id = find_run(runs, name, global);
  if (!fs::exists(global.runs / id)) {
    throw DataError(fmt::format("the folder of {} is not in {}\nname the folder of runs with --runs DIR", id,
                                global.runs.string()));
  }
  return read_run(global.runs / id, has_live_worker);
}

int diff_runs(const DiffOptions& options, const GlobalOptions& global) {
  RunTable runs = open_runs(global);
  const Run a = read_named_run(runs, options.a, global);
  const Run b = read_named_run(runs, options.b, global);
  if (a.id == b.id) throw UsageError(fmt::format("'{}' and '{}' are one run: name two", options.a, options.b));
  const auto settings_of = [](const Run& run) { return ValuesByName(run.params.begin(), run.params.end()); };
  const std::vector<DiffPart> parts{differing_part("configuration", settings_of(a), settings_of(b)),
                                    differing_part("environment", environment_of_run(a), environment_of_run(b)),
                                    differing_part("results", results_of_run(a), results_of_run(b))};
  const std::string code = code_difference(a, b, global);
  if (global.json) {
    Json json = {{"a", a.id}, {"b", b.id}, {"code", code}};
    for (const DiffPart& part : parts) {
      json[part.title] = Json::object();
      for (const auto& [name, both] : part.values) json[part.title][name] = Json::array({both.first, both.second});
    }
    print(json_text(json));
    return kDone;
  }
  const std::vector<std::string> ids = short_ids({a.id, b.id});
  std::string text;
  for (const DiffPart& part : parts) {
    text += (text.empty() ? "" : "\n") + part_text(part, ids, global.width());
  }
  print(code.empty() ? text : text + "\ncode:\n" + code);
  return kDone;
}

}  // namespace

std::function<int()> declare_runs_diff(CLI::App& app, const GlobalOptions& global) {
  const auto options = std::make_shared<DiffOptions>();
  app.add_option("A", options->a, "Run id, the beginning of one or of its hash, or a run folder")->required();
  app.add_option("B", options->b, "The run to compare it with")->required();
  app.footer(
      "Shows values that differ: of the configuration, of the environment (program, machine, code, packages) and\n"
      "of the results, and how the frozen code of programs differs. With --json: {\"configuration\": {KEY: [A, B]}, "
      "\"environment\": …, \"results\": …}, null for\n"
      "what a run lacks.\n\n"
      "Example:\n  xlm runs diff adaptive-span-text8-3fa9c1d240b7e115 adaptive-span-text8-90ab12cd5c02ffe8");
  return [options, &global] { return diff_runs(*options, global); };
}

}  // namespace xlm
