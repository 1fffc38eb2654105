// Small run folders for tests, written the way a worker writes them: a configuration, an environment, a journal.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/files.h"
#include "base/json.h"
#include "results/run_folder/journal.h"
#include "results/run_folder/run_folder.h"
#include "tests/temporary_folder.h"

namespace xlm {

/// The content of a run of an experiment on spans.
struct MadeRun {
  std::string id = "adaptive-span-text8-00000001";
  std::string experiment = "spans";
  std::string type = "adaptive";
  int span = 256;
  int seed = 1;
  double bpc = 1.5;  // of the test split; validation is 0.1 lower
  double flops = 1e6;
  std::string text;  // what a trace of the test split is recorded of; empty: there is none
  std::string state = "done";
  double time = 1000;  // of the first record; each one takes a second
  double lr = 0.07;
  std::string registered;            // the record of claims that it saw when it began
  std::optional<double> valid = {};  // bpc of the validation split at the end; unset: 0.1 below `bpc`
};

/// Writes run folders below one folder of runs.
class RunMaker {
 public:
  explicit RunMaker(fs::path runs) : runs_(std::move(runs)) { create_folders(runs_); }

  fs::path folder(const std::string& id) const { return runs_ / id; }
  const fs::path& runs() const { return runs_; }

  /// A journal of the run that continues where the last one ended.
  Journal journal(const MadeRun& run, std::int64_t token = 1) {
    double& time = times_.try_emplace(run.id, run.time).first->second;
    return Journal(
        RunPaths{folder(run.id)}.journal(), [&time] { return time++; }, token);
  }

  void write_config(const MadeRun& run) {
    create_folders(folder(run.id));
    write_file(RunPaths{folder(run.id)}.config(),
               fmt::format("experiment: {}\ndata: {{path: data/text8}}\n"
                           "model: {{type: adaptive-span, layers: 2, heads: 2, span: {}, span_type: {}}}\n"
                           "optimizer: {{lr: {}}}\ntrain: {{steps: 100, tf32: false}}\neval: {{batch: 8}}\nseed: {}\n",
                           run.experiment, run.span, run.type, run.lr, run.seed));
    write_file(RunPaths{folder(run.id)}.environment(),
               Json{{"dataset", "text8"}, {"language", ""}, {"fingerprint", "f00d"}}.dump());
  }

  static Json evaluation(const std::string& split, double bpc, bool final = true, std::int64_t step = 100) {
    return {{"step", step},
            {"split", split},
            {"tokens", 1000},
            {"loss", bpc * 0.6931},
            {"seconds", 2.5},
            {"final", final},
            {"values", {{"bpc", bpc}, {"average_span", 40.0}}}};
  }

  /// A trace with the spans 10, 20, … plus the seed.
  static Json trace(const MadeRun& run) {
    Json record = {{"step", 100}, {"split", "test"}, {"tokens", Json::array()}, {"values", {{"span", Json::array()}}}};
    for (const char letter : run.text) {
      record["tokens"].push_back(std::string(1, letter));
      record["values"]["span"].push_back(10.0 * static_cast<double>(record["tokens"].size()) + run.seed);
    }
    return record;
  }

  /// A whole run. A run that is not done has no final evaluations.
  fs::path make(const MadeRun& run) {
    write_config(run);
    Journal out = journal(run);
    out.append("state", {{"state", "queued"}, {"experiment", run.experiment}});
    if (run.state == "queued") return folder(run.id);
    out.append("state", {{"state", "running"}, {"host", "here"}, {"pid", 42}, {"registered", run.registered}});
    out.append("metric", {{"step", 50}, {"values", {{"loss", 1.2}, {"bpc", run.bpc + 0.5}}}});
    out.append("evaluation", evaluation("valid", run.bpc + 0.2, false, 50));
    if (run.state == "running") return folder(run.id);
    out.append("metric", {{"step", 100}, {"values", {{"loss", 1.1}, {"bpc", run.bpc}}}});
    if (run.state == "done") {
      out.append("grid", {{"step", 100}, {"name", "spans"}, {"rows", {{32, 40}, {33, run.span}}}});
      out.append("evaluation", evaluation("valid", run.valid.value_or(run.bpc - 0.1)));
      if (!run.text.empty()) out.append("trace", trace(run));
      out.append("evaluation", evaluation("test", run.bpc));
      out.append("costs", {{"values", {{"params", 38.1e6}, {"flops_per_token", run.flops}}}});
      out.append("checkpoint", {{"step", 100}, {"file", "checkpoints/step-100"}});
    }
    out.append("state", {{"state", run.state}});
    return folder(run.id);
  }

  /// An evaluation of an existing run, with its own settings.
  void evaluate(const MadeRun& run, const std::string& split, double bpc, const Json& settings) {
    Json record = evaluation(split, bpc, false);
    record["settings"] = settings;
    record["values"]["flops_per_token"] = 2 * run.flops;
    journal(run).append("evaluation", record);
  }

  /// Makes a made run one of a program: such may report a quantity of a split alone.
  void make_of_program(const std::string& id) const {
    const fs::path config = RunPaths{folder(id)}.config();
    std::string text = read_file(config);
    constexpr std::string_view kType = "adaptive-span";
    write_file(config, text.replace(text.find(kType), kType.size(), "program"));
  }

  /// One run per type, span and seed, with numbers that depend on all three.
  void make_sweep(const std::vector<std::string>& types, const std::vector<int>& spans, const std::vector<int>& seeds) {
    int number = 0;
    for (const std::string& type : types) {
      for (const int span : spans) {
        for (const int seed : seeds) {
          const double better = type == "fixed" ? 0 : 0.1;
          make({.id = fmt::format("adaptive-span-text8-{:08x}", ++number),
                .type = type,
                .span = span,
                .seed = seed,
                .bpc = 2 - 0.001 * span - better + 0.01 * seed + (type == "fixed" ? 0.001 * (seed % 2) : 0),
                .flops = 1e6 * span,
                .time = 1000.0 * number});
        }
      }
    }
  }

 private:
  fs::path runs_;
  std::map<std::string, double> times_;
};

}  // namespace xlm
