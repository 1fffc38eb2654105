// Reads a run folder.
#include "results/run_folder/run_folder.h"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "base/error.h"
#include "base/sha256.h"
#include "base/text.h"
#include "base/words.h"
#include "results/run_folder/journal.h"
#include "results/run_folder/main_evaluations.h"
#include "results/run_folder/part_losses.h"
#include "results/run_folder/record_fields.h"
#include "results/run_folder/remark.h"
#include "results/run_folder/run_cost.h"
#include "results/run_folder/run_settings.h"

namespace xlm {
namespace {

/// Numbers that are not finite are null in JSON.
constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

/// Whether a cost of a program's run is known without the program's word.
bool is_measured_cost(std::string_view name) {
  constexpr std::array<std::string_view, 6> kMeasured{
      "wall_seconds", "processor_seconds", "peak_memory", "step_seconds", "energy", "energy_gpu"};
  return std::ranges::find(kMeasured, name) != kMeasured.end();
}

/// A program's run that is done and has no number would look like any other.
void warn_of_no_number(Run& run) {
  if (run.status != RunStatus::kDone || !run.reason.empty() || !run.contents.contains("program.folder")) return;
  const bool reports_costs =
      std::ranges::any_of(run.costs, [](const auto& cost) { return !is_measured_cost(cost.first); });
  if (reports_costs || !run.metrics.empty() || !run.evaluations.empty() || !run.grids.empty()) return;
  run.reason = fmt::format("{}the program reported no number; log.txt says what was looked for", kWarning);
}

/// A number, or one that JSON does not have, as imported runs write them; nullopt for anything else.
std::optional<double> any_number(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (value == "NaN") return kNoNumber;
  if (value == "Infinity") return std::numeric_limits<double>::infinity();
  return value == "-Infinity" ? std::optional(-std::numeric_limits<double>::infinity()) : std::nullopt;
}

/// Builds a run from the records of one journal. Throws Json::exception for a record whose fields have wrong types.
class Assembler {
 public:
  explicit Assembler(Run& run) : run_(run) {}

  void add(const Json& record) {
    if (is_outdated(record)) return;
    const std::string type = record.at("type").get<std::string>();
    const double time = number_field(record, "time");
    if (!run_.created && time > 0) run_.created = time;
    const std::int64_t token = integer_field(record, "token");
    const bool is_of_attempt = !run_.history.empty() && token > 0 && token == newest_token_;
    if (is_of_attempt) run_.history.back().last_sign = std::max(run_.history.back().last_sign, time);
    if (type == "state") add_state(record, time);
    if (type == kReread) add_reread(record);
    if (type == kBack) go_back(record.at("step").get<std::int64_t>(), record.at("names"));
    if (type == "experiment") add_experiment(record.at("name").get<std::string>());
    if (type == "metric") add_metrics(record);
    if (type == "series") add_series(record);
    if (type == "grid") add_grid(record);
    if (type == "evaluation") add_evaluation(record, time);
    if (type == "wanted") add_wanted(record);
    if (type == "choice") add_choice(record);
    if (type == "better") add_directions(record);
    if (type == kSettingsRecord) add_settings(record);
    if (type == "outside") add_outside(record);
    if (type == "trace") add_trace(record);
    if (type == "losses") run_.losses[record.at("split").get<std::string>()] = part_losses(record);
    if (type == "costs") add_numbers(record, run_.costs);
    if (type == "checkpoint") add_checkpoint(record, time);
    if (type == kRemark) remarks_.add(record, time);
  }

  void finish() {
    run_.experiments.assign(experiments_.begin(), experiments_.end());
    run_.tags = remarks_.tags();
    run_.note = remarks_.note();
    run_.bad = remarks_.bad();
    if (!run_.outside.empty()) run_.params.emplace_back(kNotFrozen, not_frozen_text(run_.outside));
    for (auto& [key, evaluation] : evaluations_) run_.evaluations.push_back(std::move(evaluation));
  }

  void add_experiment(const std::string& name) {
    if (name.empty()) return;
    if (run_.experiment.empty()) run_.experiment = name;
    experiments_.insert(name);
  }

 private:
  /// A worker that was taken for dead may continue to write after another has taken its run over.
  bool is_outdated(const Json& record) const {
    const std::int64_t token = integer_field(record, "token");
    return token > 0 && token < newest_token_;
  }

  void add_state(const Json& record, double time) {
    const std::string state = record.at("state").get<std::string>();
    auto lasting = record.value("lasting", std::vector<std::string>());
    const auto known = std::ranges::find(kRunStatusNames, state);
    if (known == kRunStatusNames.end()) throw Json::other_error::create(501, "unknown state", &record);
    if (state == "running") newest_token_ = std::max(newest_token_, integer_field(record, "token"));
    if (state == "running" && !run_.started && time > 0) run_.started = time;
    if (state == "running" && record.value("fresh", false)) forget_results();
    run_.status = static_cast<RunStatus>(known - kRunStatusNames.begin());
    run_.reason = text_field(record, "reason");
    run_.lasting = std::move(lasting);
    run_.finished = has_ended(run_.status) ? std::optional<double>(time) : std::nullopt;
    run_.history.push_back(
        {.time = time,
         .state = state,
         .reason = run_.reason,
         .host = text_field(record, "host"),
         .hosts =
             record.contains("hosts") ? record["hosts"].get<std::vector<std::string>>() : std::vector<std::string>(),
         .pid = integer_field(record, "pid"),
         .job = text_field(record, "job"),
         .cause = text_field(record, "cause"),
         .micro_batch = integer_field(record, "micro_batch"),
         .memory = record.contains("memory") && record["memory"].is_number() ? record["memory"].get<double>() : 0,
         .seconds = record.contains("seconds") && record["seconds"].is_number()
                        ? std::optional(record["seconds"].get<double>())
                        : std::nullopt});
    if (const std::int64_t rows = run_.history.back().micro_batch; rows > 0) run_.micro_batch = rows;
    if (run_.status == RunStatus::kFailed) run_.micro_batch = 0;  // a retry may have more memory
    add_experiment(text_field(record, "experiment"));
  }

  void forget_results() {
    run_.step = 0;
    run_.metrics.clear();
    run_.costs.clear();
    run_.grids.clear();
    run_.traces.clear();
    run_.losses.clear();
    run_.checkpoints.clear();
    run_.outside.clear();
    evaluations_.clear();
  }

  /// What a program has reported is read again from here on, as `metrics` say. What was measured of it stays.
  void add_reread(const Json& record) {
    set_param(std::string(kMetricsParam), record.at("metrics"));
    if (record.value("keeps", false)) return;
    run_.metrics.clear();
    run_.grids.clear();
    std::erase_if(run_.costs, [](const auto& cost) { return !is_measured_cost(cost.first); });
    std::erase_if(evaluations_, [](const auto& entry) { return entry.second.settings.empty(); });
    run_.step = run_.checkpoints.empty() ? 0 : run_.checkpoints.back().step;
    if (run_.status == RunStatus::kDone) run_.reason = record.value("reason", "");
  }

  /// A program's log began again at a step: TensorBoard's purge_step.
  void go_back(std::int64_t step, const Json& names) {
    for (const Json& name : names) {
      const auto series = run_.metrics.find(name.get<std::string>());
      if (series == run_.metrics.end()) continue;
      series->second.erase(series->second.lower_bound(step), series->second.end());
      if (series->second.empty()) run_.metrics.erase(series);
    }
    for (auto& [key, evaluation] : evaluations_) {
      if (evaluation.step < step || !evaluation.settings.empty()) continue;
      const auto is_named = [&, &split = evaluation.split](const std::string& name) {
        return std::find(names.begin(), names.end(), split + "." + name) != names.end();
      };
      std::erase_if(evaluation.values, [&](const auto& value) { return is_named(value.first); });
      std::erase_if(evaluation.not_finite, is_named);
    }
    std::erase_if(evaluations_,
                  [](const auto& entry) { return entry.second.values.empty() && entry.second.not_finite.empty(); });
    run_.step = 0;  // of what is left; a program's checkpoint may be noted at a later step
    for (const auto& [name, series] : run_.metrics) run_.step = std::max(run_.step, series.rbegin()->first);
    for (const auto& [key, evaluation] : evaluations_) run_.step = std::max(run_.step, evaluation.step);
  }

  static const Json& values_of(const Json& record) {
    const Json& values = record.at("values");
    if (!values.is_object()) throw Json::other_error::create(501, "values must be an object", &values);
    return values;
  }

  /// What a run itself reports is finite: other numbers are null in JSON.
  static void add_numbers(const Json& record, std::map<std::string, double>& out) {
    for (const auto& [name, value] : values_of(record).items()) {
      if (const std::optional<double> number = any_number(value)) out[name] = *number;
    }
  }

  std::int64_t step_of(const Json& record) {
    const std::int64_t step = record.at("step").get<std::int64_t>();
    run_.step = std::max(run_.step, step);
    return step;
  }

  void add_metrics(const Json& record) {
    const Json& values = values_of(record);
    const std::int64_t step = step_of(record);
    for (const auto& [name, value] : values.items()) {
      if (value.is_number()) run_.metrics[name][step] = value.get<double>();
    }
  }

  /// Numbers of one name at many steps, as they are imported.
  void add_series(const Json& record) {
    const auto steps = record.at("steps").get<std::vector<std::int64_t>>();
    const Json& values = record.at("values");
    if (values.size() != steps.size()) throw Json::other_error::create(501, "a series has a number per step", &record);
    RunSeries& series = run_.metrics[record.at("name").get<std::string>()];
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (const std::optional<double> number = any_number(values[i])) series[steps[i]] = *number;
      run_.step = std::max(run_.step, steps[i]);
    }
  }

  /// Each number of a row needs its own column, in rising order. Otherwise the store would confuse them.
  static void check_columns(const RunGrid& grid, const Json& record) {
    if (grid.columns.empty()) return;
    const auto not_rising = std::ranges::adjacent_find(grid.columns, std::greater_equal<>());
    const bool fits =
        std::ranges::all_of(grid.rows, [&](const auto& row) { return row.size() <= grid.columns.size(); });
    if (not_rising == grid.columns.end() && fits) return;
    throw Json::other_error::create(501, "columns must be in rising order, one for every number", &record);
  }

  void add_grid(const Json& record) {
    RunGrid grid;
    for (const auto& numbers : record.at("rows").get<std::vector<std::vector<Json>>>()) {
      std::vector<double>& row = grid.rows.emplace_back();
      for (const Json& number : numbers) row.push_back(number.is_null() ? kNoNumber : number.get<double>());
    }
    if (record.contains("columns")) grid.columns = record["columns"].get<std::vector<std::int64_t>>();
    check_columns(grid, record);
    run_.grids[record.at("name").get<std::string>()][step_of(record)] = std::move(grid);
  }

  void add_evaluation(const Json& record, double time) {
    RunEvaluation evaluation;
    evaluation.split = record.at("split").get<std::string>();
    if (evaluation.split.empty()) throw Json::other_error::create(501, "no split", &record);
    evaluation.time = time;
    evaluation.final = record.value("final", false);
    if (record.contains("settings") && record["settings"].is_object()) {
      evaluation.settings = record["settings"];
    }
    if (record.contains("values")) {
      add_numbers(record, evaluation.values);
      for (const auto& [name, value] : record["values"].items()) {
        if (value.is_null()) evaluation.not_finite.insert(name);
      }
    }
    for (const char* name : {"tokens", "loss", "seconds", "flops"}) {
      if (record.contains(name) && record[name].is_number()) evaluation.values[name] = record[name].get<double>();
    }
    if (record.contains("loss") && record["loss"].is_null()) evaluation.not_finite.insert("loss");
    // Programs of before left out a loss that is not finite.
    if (evaluation.values.empty() && evaluation.not_finite.empty()) evaluation.not_finite.insert("loss");
    evaluation.step = step_of(record);
    const std::string doubt = text_field(record, "doubt");
    if (!doubt.empty() && run_.reason.find(doubt) == std::string::npos) {
      add_warning(run_.reason, doubt);
      run_.lasting.push_back(doubt);
    }
    RunEvaluation& known = evaluations_[{evaluation.split, evaluation.step, evaluation.settings.dump()}];
    if (evaluation.settings.empty()) {  // numbers of a program's evaluation may come one after another
      evaluation.final = evaluation.final || known.final;
      for (const std::string& name : evaluation.not_finite) known.values.erase(name);
      for (const auto& [name, value] : evaluation.values) known.not_finite.erase(name);
      evaluation.values.merge(known.values);
      evaluation.not_finite.merge(known.not_finite);
    }
    known = std::move(evaluation);
  }

  void add_wanted(const Json& record) {
    WantedEvaluation wanted{.split = record.at("split").get<std::string>(), .changes = {}};
    flatten(record.at("changes"), "", wanted.changes);
    std::ranges::sort(wanted.changes);
    if (record.contains("program")) wanted.program = record["program"];
    const auto known =
        std::ranges::find_if(run_.wanted, [&](const WantedEvaluation& other) { return is_same_wish(other, wanted); });
    if (known == run_.wanted.end()) {
      run_.wanted.push_back(std::move(wanted));
    } else {
      *known = std::move(wanted);
    }
  }

  /// Of a program's commands the newest counts: it may mend one that fails.
  static bool is_same_wish(const WantedEvaluation& a, const WantedEvaluation& b) {
    const auto name = [](const WantedEvaluation& wanted) {
      return wanted.program.is_null() ? Json() : wanted.program.value("name", Json(""));
    };
    return a.split == b.split && a.changes == b.changes && name(a) == name(b);
  }

  void add_choice(const Json& record) {
    set_param(std::string(kChosenPrefix) + record.at("key").get<std::string>(),
              chosen_by(record.at("runs").get<std::vector<std::string>>()));
  }

  /// The newest declaration counts, of config.yaml or of the journal.
  void add_directions(const Json& record) {
    for (const auto& [name, better] : values_of(record).items()) {
      set_param(std::string(kDirectionPrefix) + name, better.get<std::string>());
    }
  }

  void add_settings(const Json& record) {
    for (const auto& [key, value] : values_of(record).items()) set_param(key, value);
  }

  void set_param(const std::string& key, Json value) {
    std::erase_if(run_.params, [&](const auto& param) { return param.first == key; });
    run_.params.emplace_back(key, std::move(value));
  }

  void add_outside(const Json& record) {
    for (const auto& [file, hash] : record.at("files").items()) run_.outside[file] = hash.get<std::string>();
  }

  void add_trace(const Json& record) {
    RunTrace trace{.tokens = record.at("tokens").get<std::vector<std::string>>(),
                   .values = record.at("values").get<std::map<std::string, std::vector<double>>>()};
    for (const auto& [name, values] : trace.values) {
      if (values.size() != trace.tokens.size()) {
        throw Json::other_error::create(501, "a trace must have a number per token", &record);
      }
    }
    run_.traces[record.at("split").get<std::string>()] = std::move(trace);
  }

  void add_checkpoint(const Json& record, double time) {
    const RunCheckpoint checkpoint{step_of(record), time, text_field(record, "file"), number_field(record, "seconds")};
    std::erase_if(run_.checkpoints, [&](const RunCheckpoint& other) { return other.step >= checkpoint.step; });
    run_.checkpoints.push_back(checkpoint);
  }

  Run& run_;
  std::int64_t newest_token_ = 0;
  std::set<std::string> experiments_;
  Remarks remarks_;
  std::map<std::tuple<std::string, std::int64_t, std::string>, RunEvaluation> evaluations_;
};

}  // namespace

void flatten(const Json& value, const std::string& prefix, SettingList& out) {
  for (const auto& [key, item] : value.items()) {
    const std::string name = prefix.empty() ? key : prefix + "." + key;
    if (item.is_object()) {
      flatten(item, name, out);
    } else {
      out.emplace_back(name, item);
    }
  }
}

std::string at_text(const SettingList& at) {
  std::string text;
  for (const auto& [key, value] : at) {
    const std::string shown = value.is_string() ? as_word(value.get<std::string>()) : value.dump();
    text += fmt::format("{}{}={}", text.empty() ? "" : "@", key, shown);
  }
  return text;
}

std::string chosen_by(const std::vector<std::string>& runs) {
  return runs.empty() ? std::string(kChosenByNone) : join(runs, " ");
}

std::string not_frozen_text(const std::map<std::string, std::string>& files) {
  constexpr std::size_t kDigits = 8;
  std::set<std::string> lines;
  for (const auto& [file, hash] : files) {
    const fs::path above = fs::path(file).parent_path().filename();
    lines.insert((above / fs::path(file).filename()).string() + " " + hash);
  }
  if (lines.empty()) return "";
  const std::string first = lines.begin()->substr(0, lines.begin()->rfind(' '));
  const std::string others = lines.size() < 2    ? ""
                             : lines.size() == 2 ? " and another"
                                                 : fmt::format(" and {} others", lines.size() - 1);
  return fmt::format("{}{} ({})", first, others, sha256(join({lines.begin(), lines.end()}, "\n")).substr(0, kDigits));
}

std::string data_name(const std::string& dataset, const std::string& language) {
  return language.empty() ? dataset : dataset + "-" + language;
}

void add_warning(std::string& reason, const std::string& warning) {
  reason += fmt::format("{}{}{}", reason.empty() ? "" : "; ", kWarning, warning);
}

bool is_of_program(const Run& run) {
  const Json* type = run.param("model.type");
  return type != nullptr && *type == "program";
}

std::string checkpoint_words(std::int64_t step, bool of_program) {
  return fmt::format("step {}{}", step, of_program ? " or before" : "");
}

const Json* Run::param(std::string_view key) const {
  for (const auto& [name, value] : params) {
    if (name == key) return &value;
  }
  return nullptr;
}

Json Run::own_value(const std::string& key) const {
  if (const auto content = contents.find(key); content != contents.end()) return content->second;
  const Json* own = param(key);
  return own != nullptr ? *own : Json();
}

const RunGrid* Run::last_grid(const std::string& name) const {
  const auto named = grids.find(name);
  if (named == grids.end() || named->second.empty()) return nullptr;
  auto last = std::prev(named->second.end());
  for (const RunEvaluation& evaluation : evaluations) {
    const auto found = named->second.find(evaluation.step);
    if (evaluation.main && found != named->second.end()) last = found;
  }
  return &last->second;
}

std::string journal_mark(const fs::path& folder) {
  const fs::path journal = RunPaths{folder}.journal();
  std::error_code error;
  const std::uintmax_t size = fs::file_size(journal, error);
  if (error) return "none";
  return fmt::format("{} {}", size, fs::last_write_time(journal, error).time_since_epoch().count());
}

namespace {

/// `next` is a record that the journal does not have yet, or null.
Run assemble(const fs::path& folder, const Json* next) {
  Run run;
  run.folder = folder;
  run.id = folder.filename().string();
  read_settings(run);
  Assembler assembler(run);
  const auto add = [&](const Json& record) {
    try {
      assembler.add(record);
    } catch (const Json::exception&) {
      ++run.malformed;
    }
  };
  if (fs::exists(RunPaths{folder}.journal())) {
    const JournalContent journal = read_journal(RunPaths{folder}.journal(), add);
    run.malformed += journal.malformed;
    run.journal_bytes = journal.bytes;
  }
  if (next != nullptr) add(*next);
  // The configuration's own experiment comes last: it names the first sweep, and the journal usually has it.
  if (const Json* own = run.param("experiment"); own != nullptr && own->is_string()) {
    assembler.add_experiment(own->get<std::string>());
  }
  std::erase_if(run.params, [](const auto& entry) { return entry.first == "experiment"; });
  assembler.finish();
  choose_main_evaluations(run);
  warn_of_no_number(run);
  add_costs_of_work(run);
  return run;
}

}  // namespace

Run read_run(const fs::path& folder, const AliveCheck& is_alive) {
  Run run = assemble(folder, nullptr);
  if (run.status == RunStatus::kRunning && is_alive && !is_alive(folder)) run.status = RunStatus::kStale;
  return run;
}

Run read_run_with(const fs::path& folder, const Json& record) {
  const Json as_read = Json::parse(record.dump());  // numbers that are not finite become null
  return assemble(folder, &as_read);
}

}  // namespace xlm
