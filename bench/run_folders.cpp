// Makes run folders like those of a large sweep, to measure the commands that read them. They hold resolved
// configurations of adaptive spans with several limits, learning rates and seeds, and journals like a worker's.
//   run_folders FOLDER RUNS [METRICS]     METRICS: recorded steps of a run; 40, the default, make 62 journal records
#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>

#include <fmt/format.h>

#include "base/error.h"
#include "base/random.h"
#include "base/text.h"
#include "core/api/adaptive_span_options.h"
#include "experiments/configuration/configuration.h"
#include "experiments/configuration/run_id.h"
#include "results/run_folder/journal.h"
#include "results/run_folder/run_folder.h"

namespace xlm {
namespace {

constexpr std::int64_t kStepsBetweenMetrics = 50;
constexpr std::int64_t kEvaluations = 5;  // during training
constexpr std::uint64_t kLosses = 1;      // a stream of random numbers

/// A run. Its options and results follow from its number.
class SweptRun {
 public:
  SweptRun(std::int64_t number, std::int64_t metrics) : number_(number), metrics_(metrics) {
    options_.experiment = "span-limit";
    options_.data.path = "/data/text8";
    options_.model = AdaptiveSpanOptions{
        .width = 128, .heads = 4, .feed_forward = 512, .layers = 4, .span = std::int64_t{64} << (number / 5 % 7)};
    options_.optimizer.lr = 0.001 * static_cast<double>(1 + number / 35);
    options_.train.steps = metrics * kStepsBetweenMetrics;
    options_.seed = 1 + number % 5;
    inputs_.data.dataset = "text8";
    inputs_.data.language = "en";
    inputs_.data.fingerprint = "cf24240d5bfb4e9c0902c192dca40e9aa7b581c2f65a4f4af7126ec6ef94ee23";
    inputs_.data.symbols = 27;
  }

  void make(const fs::path& runs) const {
    const fs::path folder = runs / run_id(options_, inputs_);
    create_folders(folder);
    // Does not sync each file to the disk: a hundred thousand folders would take an hour.
    std::ofstream(RunPaths{folder}.config()) << to_text(resolved(options_));
    std::ofstream(RunPaths{folder}.environment()) << json_text(environment());
    double time = 1.75e9 + 1000.25 * static_cast<double>(number_);
    Journal submitted(RunPaths{folder}.journal(), [&] { return time += 0.0004872; });
    submitted.append("experiment", {{"name", options_.experiment}});
    submitted.append("state", {{"state", "queued"}, {"experiment", options_.experiment}});
    Journal journal(
        RunPaths{folder}.journal(), [&] { return time += 9.7318462; }, 1);
    journal.append("state", {{"state", "running"}, {"host", "node-17"}, {"pid", 4711 + number_}});
    train(journal);
    for (const char* split : {"valid", "test"}) journal.append("evaluation", evaluation(split, metrics_, true));
    journal.append("costs", costs());
    journal.append("state", {{"state", "done"}});
  }

 private:
  static Json environment() {
    return {{"xlm", "0.1.0"},
            {"commit", "97c0b73e6acd"},
            {"dataset", "text8"},
            {"language", "en"},
            {"fingerprint", "cf24240d5bfb4e9c0902c192dca40e9aa7b581c2f65a4f4af7126ec6ef94ee23"},
            {"symbols", 27}};
  }

  void train(Journal& journal) const {
    for (std::int64_t i = 1; i <= metrics_; ++i) {
      const std::int64_t step = i * kStepsBetweenMetrics;
      const double nats = loss(i);
      journal.append("metric", {{"step", step},
                                {"values",
                                 {{"average_span", 20 + 10 * nats},
                                  {"bpc", nats / std::log(2)},
                                  {"loss", nats},
                                  {"lr", options_.optimizer.lr},
                                  {"max_span", 40 + 10 * nats},
                                  {"tokens_per_second", 7000 + 1000 * nats}}}});
      if (i * kEvaluations % metrics_ >= kEvaluations) continue;
      journal.append("checkpoint", {{"step", step}, {"file", fmt::format("checkpoints/step-{}", step)}});
      journal.append("evaluation", evaluation("valid", i, false));
      journal.append("grid", {{"step", step}, {"name", "spans"}, {"rows", spans(nats)}});
    }
  }

  /// A noisy loss that falls towards a limit, which follows from the options.
  double loss(std::int64_t metric) const {
    const double noise =
        random_unit(random_bits(static_cast<std::uint64_t>(number_), kLosses, static_cast<std::uint64_t>(metric)));
    return 1.2 + 1.5 / std::sqrt(static_cast<double>(metric)) + 0.05 * noise + 0.2 * std::exp(-options_.optimizer.lr);
  }

  Json evaluation(const std::string& split, std::int64_t metric, bool final) const {
    const double nats = loss(metric + (split == "test" ? 1 : 0));
    return {{"step", metric * kStepsBetweenMetrics},
            {"split", split},
            {"tokens", 4999999},
            {"loss", nats},
            {"seconds", 20 * nats},
            {"final", final},
            {"values",
             {{"average_span", 20 + 10 * nats},
              {"bits_per_byte", nats / std::log(2)},
              {"bpc", nats / std::log(2)},
              {"max_span", 40 + 10 * nats}}}};
  }

  static Json spans(double nats) {
    Json rows = Json::array();
    for (int layer = 1; layer <= 4; ++layer) {
      Json row = Json::array();
      for (int head = 1; head <= 4; ++head) row.push_back(layer * head * nats);
      rows.push_back(row);
    }
    return rows;
  }

  Json costs() const {
    const double span = static_cast<double>(options_.model.get_if<AdaptiveSpanOptions>()->span);
    const double nats = loss(metrics_);
    return {{"values",
             {{"params", 833536 + 128 * span},
              {"layers", 4},
              {"flops_per_token", 1.6e6 + 2048 * span * nats},
              {"paper_flops", 3.2e6 + 4096 * span * nats},
              {"peak_memory", 412e6 + 1e4 * span},
              {"step_seconds", 0.02 * nats}}}};
  }

  std::int64_t number_;
  std::int64_t metrics_;
  RunOptions options_;
  RunInputs inputs_;
};

int run(int argc, char** argv) {
  std::int64_t runs = 0;
  std::int64_t metrics = 40;
  if (argc < 3 || argc > 4 || !parse_integer(argv[2], runs) || (argc == 4 && !parse_integer(argv[3], metrics)) ||
      runs < 1 || metrics < 1) {
    fmt::print(stderr, "usage: run_folders FOLDER RUNS [METRICS]\n");
    return kUsage;
  }
  create_folders(argv[1]);
  for (std::int64_t number = 0; number < runs; ++number) SweptRun(number, metrics).make(argv[1]);
  return kDone;
}

}  // namespace
}  // namespace xlm

int main(int argc, char** argv) { return xlm::run(argc, argv); }
