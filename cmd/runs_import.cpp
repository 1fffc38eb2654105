// xlm runs import: runs that another tracker recorded.
#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "base/error.h"
#include "base/stop.h"
#include "base/text.h"
#include "cmd/results_store.h"
#include "experiments/collections/foreign_runs.h"
#include "experiments/collections/run_import.h"

namespace xlm {
namespace {

const std::vector<std::string> foreign_kinds{"wandb", "mlflow", "trackio", "tensorboard",
                                             "csv",   "jsonl",  "neptune", "lm-eval"};

/// An option that the script reads (python/xlm/import_runs.py): it is handed on as it is.
struct ForeignOption {
  const char* name;
  const char* type;
  const char* help;
};
constexpr std::array<ForeignOption, 9> kForeignOptions{
    {{"split", "NAME=PATTERN", "Numbers that are of a split, the last of them final: test='test/*'"},
     {"unit", "PATTERN=UNIT", "The unit of numbers: loss=bits; bits, percent, ms, minutes, hours, MB, …"},
     {"seed", "KEY", "The setting that is the seed"},
     {"data", "NAME", "The corpus of all these runs"},
     {"name", "NAME", "The experiment (default: their project, or PLACE)"},
     {"run", "COLUMN", "csv, jsonl: the column that names the run (default: a file is a run)"},
     {"step", "COLUMN", "csv, jsonl: the column with the step (default: step, iteration, epoch, …)"},
     {"settings", "COLUMN,…", "csv, jsonl: columns with numbers that are settings"},
     {"without", "PATTERN", "Leave out settings and numbers of this name: 'gpu.*'"}}};

struct ImportCommand {
  std::string kind;
  fs::path place;
  std::map<std::string, std::vector<std::string>> options;
};

int import_runs(const ImportCommand& command, const GlobalOptions& global) {
  if (!fs::exists(command.place)) throw DataError(fmt::format("there is no {}", command.place.string()));
  install_stop_handlers();
  const std::string place = fs::absolute(command.place).lexically_normal().string();
  ForeignRuns foreign({{"kind", command.kind}, {"place", place}, {"options", command.options}});
  RunImport import(global.runs);
  std::array<std::size_t, kImportOutcomes.size()> counts{};
  std::string text;
  Json noted = Json::array();
  while (!stop_requested()) {
    const std::optional<Json> run = foreign.next();
    if (!run) break;
    const ImportedRun taken = import.take(*run);
    const std::string_view outcome = kImportOutcomes.at(static_cast<std::size_t>(taken.outcome));
    ++counts.at(static_cast<std::size_t>(taken.outcome));
    if (taken.note.empty()) continue;
    noted.push_back({{"run_id", taken.id}, {"outcome", outcome}, {"note", taken.note}});
    text += fmt::format("{}: {}: {}\n", taken.id, outcome, taken.note);
  }
  import.finish();
  open_store(global);
  for (const std::string& warning : foreign.warnings()) spdlog::warn("{}", warning);
  Json json = {{"noted", std::move(noted)}};
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    json[std::string(kImportOutcomes.at(i))] = counts.at(i);
    if (counts.at(i) > 0) parts.push_back(fmt::format("{} {}", counts.at(i), kImportOutcomes.at(i)));
  }
  text += parts.empty() ? fmt::format("there are no runs in {}\n", command.place.string()) : join(parts, ", ") + "\n";
  print(global.json ? json_text(json) : text);
  if (stop_requested()) return kStopped;
  return counts.at(static_cast<std::size_t>(ImportOutcome::kConflict)) > 0 ? kFailed : kDone;
}

}  // namespace

std::function<int()> declare_runs_import(CLI::App& app, const GlobalOptions& global) {
  const auto command = std::make_shared<ImportCommand>();
  app.add_option("KIND", command->kind, join(foreign_kinds, ", "))
      ->required()
      ->check(CLI::IsMember(foreign_kinds).description(""));
  app.add_option("PLACE", command->place, "Its file or folder")->required();
  for (const ForeignOption& option : kForeignOptions) {
    app.add_option(fmt::format("--{}", option.name), command->options[option.name], option.help)
        ->allow_extra_args(false)
        ->type_name(option.type);
  }
  app.footer(
      "The library of the tracker reads its files, in the Python that XLM_PYTHON names (default: python3). Each run\n"
      "gets a folder. The same command again adds what is new; a run that has changed there is a conflict, and stays\n"
      "as it is here. Nothing of imported runs is trained, resumed or queued. More: docs/import.md\n\n"
      "Exit code: 0, 1 if there are conflicts, 75 stopped.\n\n"
      "Examples:\n"
      "  xlm runs import wandb wandb/ --seed seed --split 'test=test/*'\n"
      "  xlm runs import mlflow mlflow.db --data text8 --split test=test_loss --unit test_loss=bits\n"
      "  xlm runs import csv results.csv --run name --settings lr,width --seed seed\n"
      "  xlm runs import lm-eval results/");
  return [command, &global] { return import_runs(*command, global); };
}

}  // namespace xlm
