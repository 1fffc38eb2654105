// Continuations of a text.
#include "core/eval/sampling.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include "base/error.h"
#include "base/progress.h"
#include "base/random.h"
#include "base/text.h"
#include "core/eval/evaluation.h"
#include "core/models/model_folder.h"
#include "core/runtime/device.h"
#include "core/runtime/random_streams.h"
#include "datasets/tokens/bpe_encoder.h"
#include "datasets/tokens/decoder.h"
#include "datasets/tokens/symbols.h"

namespace xlm {
namespace {

using torch::Tensor;

std::vector<std::int64_t> encode_bpe(const std::string& text, const fs::path& folder) {
  const Bpe bpe = read_bpe(folder);
  BpeEncoder encoder(bpe);
  std::vector<std::uint32_t> tokens;
  encoder.write(text, tokens);
  encoder.finish(tokens);
  return {tokens.begin(), tokens.end()};
}

/// The ids of a passage as the model numbers them. Throws DataError if the data have no such passage.
std::vector<std::int64_t> read_passage(const Passage& passage, const PreparedData& data, const Vocabulary& model) {
  const TokenSource source(data.split(passage.split), reencoding(data.vocabulary, model));
  const auto documents = source.documents();
  const auto count = static_cast<std::int64_t>(documents.size());
  if (passage.document < 1 || passage.document > count) {
    throw DataError(fmt::format("{}: there is no document {}: the {} split has {}", data.path.string(),
                                passage.document, passage.split, count));
  }
  const auto& [begin, tokens] = documents[static_cast<std::size_t>(passage.document - 1)];
  if (passage.first < 1 || passage.tokens < 1 || passage.first - 1 + passage.tokens > tokens) {
    throw DataError(fmt::format("{}: document {} of the {} split has {} tokens; the passage asks for {} to {}",
                                data.path.string(), passage.document, passage.split, tokens, passage.first,
                                passage.first - 1 + passage.tokens));
  }
  std::vector<std::int64_t> ids(static_cast<std::size_t>(passage.tokens));
  source.copy(begin + passage.first - 1, passage.tokens, ids.data());
  return ids;
}

/// A model, and the prompt that it continues.
struct PromptedModel {
  LoadedModel loaded;
  std::vector<std::int64_t> prompt;
};

/// The token that stands for an empty prompt: the end of a text, a line's end or a blank, else the first symbol.
std::int64_t token_before_text(const Vocabulary& vocabulary) {
  for (const char* symbol : {"<|endoftext|>", "\n", " "}) {
    const auto found = std::ranges::find(vocabulary.symbols, symbol);
    if (found != vocabulary.symbols.end()) return found - vocabulary.symbols.begin();
  }
  return 0;
}

PromptedModel load_prompted(const SampleJob& job) {
  if (job.passage) {
    const PreparedData data = open_prepared(job.options.data.path);
    LoadedModel loaded = load_model_folder(job.model, job.options.model, &data.vocabulary);
    check_same_merges(data.path, job.model);
    std::vector<std::int64_t> prompt = read_passage(*job.passage, data, loaded.vocabulary);
    return {std::move(loaded), std::move(prompt)};
  }
  LoadedModel loaded = load_model_folder(job.model, job.options.model);
  std::vector<std::int64_t> prompt = loaded.vocabulary.unit == Vocabulary::Unit::kBpe
                                         ? encode_bpe(job.prompt, job.model)
                                         : encode_symbols(loaded.vocabulary, job.prompt);
  if (prompt.empty()) prompt.push_back(token_before_text(loaded.vocabulary));
  return {std::move(loaded), std::move(prompt)};
}

std::string decoded(const std::vector<std::int64_t>& tokens, const Vocabulary& vocabulary) {
  StreamingDecoder decoder(vocabulary);
  std::string text;
  for (const std::int64_t token : tokens) text += decoder.take(token);
  return text + decoder.finish();
}

/// How many of the most likely tokens together reach top_p; `sorted` are probabilities in descending order.
std::int64_t nucleus(const double* sorted, std::int64_t count, double top_p) {
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    sum += sorted[i];
    if (sum >= top_p) return i + 1;
  }
  return count;
}

}  // namespace

std::int64_t choose_token(const Tensor& logits, const TokenChoice& choice, std::int64_t place) {
  const Tensor values = logits.detach().to(torch::kCPU, torch::kDouble);
  if (choice.temperature == 0) return values.argmax().item<std::int64_t>();
  const std::int64_t kept = choice.top_k > 0 ? std::min(choice.top_k, values.size(0)) : values.size(0);
  const auto [sorted, ids] = values.sort(/*stable=*/true, /*dim=*/0, /*descending=*/true);
  const Tensor probabilities = torch::softmax(sorted.narrow(0, 0, kept) / choice.temperature, 0).contiguous();
  const double* share = probabilities.const_data_ptr<double>();
  const std::int64_t count = nucleus(share, kept, choice.top_p);
  double total = 0;
  for (std::int64_t i = 0; i < count; ++i) total += share[i];
  double left = total * random_unit(random_bits(static_cast<std::uint64_t>(choice.seed), kSampling,
                                                static_cast<std::uint64_t>(place)));
  std::int64_t chosen = 0;
  while (chosen + 1 < count && left >= share[chosen]) left -= share[chosen++];
  return ids[chosen].item<std::int64_t>();
}

std::unique_ptr<TextReader> make_reader(const std::shared_ptr<LanguageModel>& model, const ReaderSettings& settings) {
  if (auto* reads = capability<ReadsIncrementally>(*model)) return reads->reader(settings);
  return scheme_of(*model).reader(model, settings);
}

Sample sample(const SampleJob& job, const std::function<bool(const std::string&)>& show) {
  const RunOptions& options = job.options;
  const torch::NoGradGuard no_grad;
  const torch::Device device = prepare_device(options);
  const auto [loaded, prompt] = load_prompted(job);
  loaded.model->to(device);
  loaded.model->eval();
  const TokenChoice choice{
      .temperature = job.temperature, .top_k = job.top_k, .top_p = job.top_p, .seed = options.seed};
  const auto reader = make_reader(loaded.model, {.block = options.train.block,
                                                 .context = options.eval.context,
                                                 .recorder = evaluation_recorder(options, device)});
  const auto read = [&](const std::vector<std::int64_t>& tokens) {
    return reader->read(torch::tensor(tokens, torch::kLong).to(device));
  };
  Sample result{.prompt = job.passage ? decoded(prompt, loaded.vocabulary) : job.prompt,
                .prompt_tokens = static_cast<std::int64_t>(prompt.size())};
  StreamingDecoder decoder(loaded.vocabulary);
  Tensor logits = read(prompt);
  const double start = monotonic_seconds();
  for (std::int64_t place = 0; place < job.tokens; ++place) {
    if (!std::isfinite(logits.max().item<double>())) {
      throw DataError(fmt::format("what the model predicts behind {} is not finite: its weights may have diverged",
                                  counted(result.tokens.size() + prompt.size(), "token")));
    }
    const std::int64_t token = choose_token(logits, choice, place);
    result.tokens.push_back(token);
    const std::string text = decoder.take(token);
    result.text += text;
    if (!text.empty() && !show(text)) break;
    if (place + 1 < job.tokens) logits = read({token});
  }
  const std::string rest = decoder.finish();
  result.text += rest;
  if (!rest.empty()) show(rest);
  result.seconds = monotonic_seconds() - start;
  return result;
}

}  // namespace xlm
