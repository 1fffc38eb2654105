// A core without torch. Its "training" is a number per step, its "weights" the last of them; like the real one it
// saves, resumes, stops when asked, diverges and fails. What goes wrong is said by the member `orders` or, where that
// is empty, by the variable XLM_FAKE_CORE, as words with a space between them:
//   diverge-at=5           the loss becomes NaN at step 5
//   fail-at=5              an error is thrown
//   slip-at=5              a mistake of the program: an exception of the standard library, at 0 in every evaluation
//   kill-at=5              the process kills itself
//   memory-for=2           memory is too small for more than two rows of the batch at once, from step 2 on
//   chooses=7              at most seven rows are computed at once, which StepMemoryError then says
//   memory-limit-at=5      memory is too small for step 5, however few rows are computed at once
//   memory-limit-of=1      the same of the process with rank 1, before the processes of a run have met
//   best-at=2              the weights of step 2 become the model, as those that did best on validation
//   fail-at-overlap=5      an evaluation with model.overlap 5 throws an error
//   pace=20                every step takes 20 milliseconds
//   seed=2:fail-at=5       the same, of the run with seed 2 alone
// It evaluates every train.eval_every steps: the loss is 2 + the learning rate + 0.01 · the seed, and 1 / step more.
// With train.keep_every it also keeps files that are named as the real checkpoints, each with its step.
// From step 3 on it waits while the file that XLM_FAKE_HOLD names exists.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>

#include "base/error.h"
#include "base/memory_limit.h"
#include "core/api/checkpoint_files.h"
#include "core/api/gpt2_options.h"
#include "core/api/interface.h"

namespace xlm {

class FakeCore : public Core {
 public:
  TrainOutcome train(const TrainJob& job, TrainSink& sink) override {
    const std::int64_t steps = job.options.train.steps;
    std::int64_t step = saved_step(job);
    std::int64_t evaluated = job.options.train.eval_every > 0 ? step : steps;
    if (job.processes.count > 1) meet(job);
    sink.costs({{"params", 1000}, {"flops_per_token", 2000}});
    while (step < steps) {
      if (sink.should_stop()) {
        save(job, step, sink);
        return TrainOutcome::kStopped;
      }
      if (step > evaluated && step % std::max<std::int64_t>(job.options.train.eval_every, 1) == 0) {
        evaluated = step;
        sink.evaluation({.split = "valid", .step = step, .tokens = 99, .loss = loss_at(step, job), .seconds = 0.1});
        if (sink.should_stop()) continue;
      }
      one_step(job, ++step, sink);
      if (step % job.options.train.checkpoint_every == 0) save(job, step, sink);
      keep(job, step);
    }
    const auto orders_here = orders_of(job.options.seed);
    const auto best = orders_here.find("best-at");
    const bool goes_back = best != orders_here.end();
    if (goes_back) {
      sink.evaluation({.split = "valid", .step = steps, .tokens = 99, .loss = loss_at(steps, job), .seconds = 0.1});
    }
    for (const std::string split : {"valid", "test"}) {
      sink.evaluation({.split = split,
                       .step = goes_back ? best->second : steps,
                       .tokens = 99,
                       .loss = goes_back ? loss_at(best->second, job) : 1.5,
                       .seconds = 0.1,
                       .final = true,
                       .values = {{"bpc", loss_of(job.options)}}});
    }
    sink.check_owner();
    create_folders(job.folder / "model");
    write_file(job.folder / "model" / "config.yaml", job.model_yaml);
    write_file(job.folder / "model" / "model.safetensors", std::to_string(loss_of(job.options)));
    return TrainOutcome::kDone;
  }

  Evaluation evaluate(const EvalJob& job, const std::function<void(double, double)>& progress) override {
    const auto* windows = job.options.model.get_if<Gpt2Options>();
    const std::int64_t overlap = windows == nullptr ? 0 : windows->overlap;
    std::ofstream(job.model.parent_path() / "evaluations.log", std::ios::app) << job.split << ' ' << overlap << '\n';
    progress(50, 100);
    const auto orders_here = orders_of(job.options.seed);
    const auto failing = orders_here.find("fail-at-overlap");
    if (failing != orders_here.end() && failing->second == overlap) throw Error("no such overlap");
    if (orders_here.contains("slip-at") && orders_here.at("slip-at") == 0) throw std::out_of_range("map::at");
    return {.split = job.split,
            .tokens = 100,
            .loss = 2.5,
            .seconds = 0.25,
            .values = {{"bpc", measured(job, overlap)},
                       {"bits_per_byte", 3.25},
                       {"average_span", 12.0 + static_cast<double>(job.options.eval.batch)},
                       {"flops_per_token", 2000.0 + static_cast<double>(overlap)}}};
  }

  Segmented segment(const SegmentJob& job) override {
    return {.groups = {job.text}, .tokens = static_cast<std::int64_t>(job.text.size()), .boundaries = 0};
  }

  Sample sample(const SampleJob& job, const std::function<bool(const std::string&)>& show) override {
    Sample sample{.prompt = job.prompt, .prompt_tokens = static_cast<std::int64_t>(job.prompt.size()), .seconds = 0.5};
    if (job.passage) {  // says which passage it was given, and with which weights it goes on
      if (job.passage->document > 2) throw DataError("no document " + std::to_string(job.passage->document));
      sample.prompt = job.passage->split + " " + std::to_string(job.passage->document) + "/" +
                      std::to_string(job.passage->first) + " of " + job.options.data.path;
      sample.prompt_tokens = job.passage->tokens;
      sample.text = read_file(job.model / "model.safetensors") + "\n";
    }
    for (std::int64_t i = 0; i < job.tokens; ++i) {
      const std::string piece = job.prompt == "the end" && i == 1 ? "<|endoftext|>" : "ab ";
      sample.text += piece;
      sample.tokens.push_back(i);
      if (!show(piece)) break;
    }
    return sample;
  }

  NamedValues costs(const RunOptions& /*options*/, std::int64_t symbols) override {
    ++cost_calls;
    return {{"params", 1000.0 + static_cast<double>(symbols)}, {"flops_per_token", 10}};
  }

  std::vector<KernelUse> kernels(const std::string& /*device*/, Precision /*precision*/) override { return {}; }

  std::map<std::string, std::string> environment(const std::string& asked) override {
    return {{"libtorch", "none"}, {"device", asked == "cuda" ? "cuda:0" : device}};
  }

  std::string orders;
  int cost_calls = 0;
  std::string device = "cpu";

 private:
  /// The weights, less a thousandth for each token of overlap, plus a tenth for each letter that the data begin later.
  static double measured(const EvalJob& job, std::int64_t overlap) {
    const std::string weights = read_file(job.model / "model.safetensors");
    const std::string data = read_file(fs::path(job.options.data.path) / (job.split + ".bin"));
    return std::strtod(weights.c_str(), nullptr) - 0.001 * static_cast<double>(overlap) + 0.1 * data.front();
  }

  static double loss_at(std::int64_t step, const TrainJob& job) {
    return 2 + job.options.optimizer.lr + 0.01 * static_cast<double>(job.options.seed) +
           1.0 / static_cast<double>(step);
  }

  static double loss_of(const RunOptions& options) { return 2.0 + 0.01 * static_cast<double>(options.seed); }

  static std::int64_t saved_step(const TrainJob& job) {
    const fs::path folder = job.folder / "checkpoints";
    const bool begins = !fs::exists(folder / "step") && job.options.continues.at > 0;
    std::ifstream file(begins ? folder / "start.safetensors" : folder / "step");
    std::int64_t step = 0;
    file >> step;
    if (begins && step != job.options.continues.at) throw DataError("the start is missing or of another step");
    return step;
  }

  /// What the real core calls its checkpoints, at the steps of train.keep_every.
  static void keep(const TrainJob& job, std::int64_t step) {
    const std::int64_t every = job.options.train.keep_every;
    if (every == 0 || step % every != 0) return;
    create_folders(job.folder / "checkpoints");
    write_file(job.folder / "checkpoints" / checkpoint_name(step), std::to_string(step));
  }

  void save(const TrainJob& job, std::int64_t step, TrainSink& sink) const {
    sink.check_owner();
    sink.saving();
    create_folders(job.folder / "checkpoints");
    write_file(job.folder / "checkpoints" / "step", std::to_string(step));
    const auto orders_here = orders_of(job.options.seed);
    const auto halt = orders_here.find("halt-saved");
    if (halt != orders_here.end() && halt->second == step) ::raise(SIGSTOP);
    sink.checkpoint(step, job.folder / "checkpoints" / "step");
  }

  /// The orders for the run of `seed`: what happens at which step.
  std::map<std::string, std::int64_t> orders_of(std::int64_t seed) const {
    const char* variable = std::getenv("XLM_FAKE_CORE");
    std::istringstream words(orders.empty() && variable != nullptr ? variable : orders);
    std::map<std::string, std::int64_t> found;
    for (std::string word; words >> word;) {
      const std::string own = "seed=" + std::to_string(seed) + ":";
      if (word.starts_with("seed=") && !word.starts_with(own)) continue;
      if (word.starts_with(own)) word = word.substr(own.size());
      const std::size_t equals = word.find('=');
      const std::string name = word.substr(0, equals);
      const std::set<std::string> known{"diverge-at",      "fail-at",    "slip-at",         "kill-at",
                                        "halt-saved",      "memory-for", "memory-limit-at", "memory-limit-of",
                                        "fail-at-overlap", "pace",       "best-at",         "chooses"};
      if (!known.contains(name)) throw Error("no such order: " + word);
      found[name] = std::stoll(word.substr(equals + 1));
    }
    return found;
  }

  /// It cannot use several processes. One may run out of memory before they meet, and then the first is alone.
  void meet(const TrainJob& job) const {
    const auto orders_here = orders_of(job.options.seed);
    const auto lacking = orders_here.find("memory-limit-of");
    if (lacking == orders_here.end()) throw Error("one process does a run here");
    if (lacking->second == job.processes.rank) throw MemoryLimitError("out of memory: however few rows");
    while (!job.processes.is_to_leave()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    throw LostProcessError("another process of the run has ended");
  }

  void one_step(const TrainJob& job, std::int64_t step, TrainSink& sink) const {
    const char* hold = std::getenv("XLM_FAKE_HOLD");
    while (step >= 3 && hold != nullptr && fs::exists(hold) && !sink.should_stop()) {
      // Another process removes the file when it has seen enough.
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    const NamedValues values{{"loss", 1.5}, {"bpc", loss_of(job.options)}, {"average_span", 31}, {"max_span", 45}};
    sink.metrics(step, values);
    sink.progress(step, values);
    std::ofstream(job.folder / "steps.log", std::ios::app) << step << '\n';
    const auto orders_here = orders_of(job.options.seed);
    const auto pace = orders_here.find("pace");
    if (pace != orders_here.end()) std::this_thread::sleep_for(std::chrono::milliseconds(pace->second));
    const auto has = [&](const char* what) { return orders_here.contains(what) && orders_here.at(what) == step; };
    if (has("diverge-at")) throw DivergedError("the loss became NaN at step " + std::to_string(step));
    if (has("fail-at")) throw Error("something broke");
    if (has("memory-limit-at")) throw MemoryLimitError("out of memory: however few rows");
    if (has("slip-at")) throw std::out_of_range("map::at");
    if (has("kill-at")) ::kill(::getpid(), SIGKILL);
    const TrainOptions& train = job.options.train;
    std::int64_t rows = train.micro_batch > 0 ? train.micro_batch : train.batch;
    const auto chosen = orders_here.find("chooses");
    if (chosen != orders_here.end()) rows = std::min(rows, chosen->second);
    const auto memory = orders_here.find("memory-for");
    if (memory == orders_here.end() || step <= 1 || rows <= memory->second) return;
    if (chosen != orders_here.end()) throw StepMemoryError("out of memory", rows);
    throw MemoryError("out of memory");
  }
};

}  // namespace xlm
