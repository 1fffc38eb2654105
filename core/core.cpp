// The implementation of core's interface (core/api/interface.h).
#include <unistd.h>

#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <torch/version.h>

#include <cmath>

#include <fmt/format.h>

#include "base/error.h"
#include "base/memory_limit.h"
#include "base/random.h"
#include "base/text.h"
#include "core/api/interface.h"
#include "core/eval/evaluation.h"
#include "core/eval/measure.h"
#include "core/eval/sampling.h"
#include "core/eval/segment.h"
#include "core/eval/trace.h"
#include "core/kernels/kernel_table.h"
#include "core/kernels/packed_operands.h"
#include "core/models/capabilities.h"
#include "core/models/language_model.h"
#include "core/models/model_folder.h"
#include "core/runtime/device.h"
#include "core/runtime/memory_reserve.h"
#include "core/runtime/random_streams.h"
#include "core/train/trainer.h"
#include "datasets/prepared/segmentation.h"
#include "datasets/tokens/bpe.h"
#include "datasets/tokens/symbols.h"

namespace xlm {
namespace {

/// The segmentation that the model learnt from, which only the figures of its predictor need. Null if the data folder
/// has none.
std::shared_ptr<const TokenFlags> known_flags(const PreparedData& data, const std::string& split,
                                              const LanguageModel& model) {
  const std::string tokenizer = tokenizer_of(model);
  if (tokenizer.empty() || !find_tokenizer(data.path, tokenizer)) return nullptr;
  return open_segmentation(data, split, tokenizer);
}

/// Does the work of one call. Turns libtorch's out-of-memory error, which has a backtrace, into a MemoryLimitError.
template <class Work>
auto within_memory(const Work& work) {
  try {
    return work();
  } catch (const c10::Error& error) {
    if (!is_out_of_memory(error)) throw;
    throw MemoryLimitError(fmt::format("out of memory: {}\nuse a smaller model or eval.batch",
                                       first_line(error.what_without_backtrace())));
  }
}

class CoreLibrary final : public Core {
 public:
  TrainOutcome train(const TrainJob& job, TrainSink& sink) override {
    return within_memory([&] {
      const std::string pretrained = job.options.model.pretrained().value_or("");
      if (!pretrained.empty()) check_same_merges(job.options.data.path, pretrained);
      return xlm::train(job, sink);
    });
  }

  Evaluation evaluate(const EvalJob& job, const std::function<void(double, double)>& progress) override {
    return within_memory([&] { return evaluate_now(job, progress); });
  }

  Segmented segment(const SegmentJob& job) override {
    return within_memory([&] { return segment_now(job); });
  }

  Sample sample(const SampleJob& job, const std::function<bool(const std::string&)>& show) override {
    return within_memory([&] { return xlm::sample(job, show); });
  }

  NamedValues costs(const RunOptions& options, std::int64_t symbols) override {
    return model_costs(options.model, symbols, options.train.block);
  }

  bool costs_are_measured(const RunOptions& options, std::int64_t symbols) override {
    return model_costs_are_measured(options.model, symbols);
  }

  std::map<std::string, std::string> environment(const std::string& device) override {
    const torch::Device chosen = choose_device(device);
    std::map<std::string, std::string> found = describe_device(chosen);
    found["libtorch"] = TORCH_VERSION;
    found["device"] = chosen.str();
    found["cpu_capability"] = at::get_cpu_capability();
    found["cpu_products"] = uses_register_gemm() ? "own" : "libtorch";
    found["cpu_bfloat16"] = has_bfloat16_products() ? "multiplied" : "values only, multiplied in float32";
    if (device == "auto" && !chosen.is_cuda()) found["gpu"] = "none: " + cuda_state().reason;
    return found;
  }

  std::vector<KernelUse> kernels(const std::string& device, Precision precision) override {
    return within_memory([&] {
      std::vector<KernelUse> uses;
      for (KernelChoice& choice : kernel_choices(choose_device(device), precision == Precision::kBfloat16)) {
        uses.push_back({std::move(choice.operation), std::move(choice.version), std::move(choice.gain),
                        std::move(choice.passed_over)});
      }
      return uses;
    });
  }

 private:
  static Evaluation evaluate_now(const EvalJob& job, const std::function<void(double, double)>& progress) {
    const RunOptions& options = job.options;
    const torch::Device device = prepare_device(options);
    const PreparedData data = open_prepared(options.data.path);
    const Split& split = data.split(job.split);
    const LoadedModel loaded = load_model_folder(job.model, options.model, &data.vocabulary);
    check_same_merges(data.path, job.model);
    loaded.model->to(device);
    TokenSource source(split, reencoding(data.vocabulary, loaded.vocabulary),
                       known_flags(data, job.split, *loaded.model));
    source.set_vocabulary(loaded.vocabulary);
    SplitSettings settings = split_settings(options, device);
    settings.recorder = evaluation_recorder(options, device);
    const auto go_on = [&](std::int64_t done, std::int64_t total) {
      progress(static_cast<double>(done), static_cast<double>(total));
      return true;
    };
    Evaluation evaluation = measure(*loaded.model, {job.split, split, source, loaded.vocabulary}, settings,
                                    options.seed, Traced::kYes, go_on)
                                .value();
    if (!std::isfinite(evaluation.loss)) {
      throw DataError(
          fmt::format("the loss of {} is {}: it is not a model of these data", job.model.string(), evaluation.loss));
    }
    evaluation.values.merge(loaded.model->costs(options.train.block));
    return evaluation;
  }

  static Segmented segment_now(const SegmentJob& job) {
    const RunOptions& options = job.options;
    const torch::Device device = prepare_device(options);
    const LoadedModel loaded = load_model_folder(job.model, options.model);
    const std::vector<std::int64_t> ids = encode_symbols(loaded.vocabulary, job.text);
    loaded.model->to(device);
    torch::manual_seed(random_bits(static_cast<std::uint64_t>(options.seed), kEvaluation, 0));
    const std::vector<bool> ends = draw_boundaries(*loaded.model, ids, split_settings(options, device));
    Segmented result{.groups = {}, .tokens = static_cast<std::int64_t>(ids.size()), .boundaries = 0};
    std::string group;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      group += loaded.vocabulary.symbols[static_cast<std::size_t>(ids[i])];
      if (!ends[i]) continue;
      result.groups.push_back(std::move(group));
      group.clear();
      ++result.boundaries;
    }
    if (!group.empty()) result.groups.push_back(std::move(group));
    return result;
  }
};

}  // namespace

extern "C" Core* xlm_core() {
  keep_freed_memory();
  keep_memory_reserve();
  check_memory_room();
  static CoreLibrary library;
  return &library;
}

}  // namespace xlm
