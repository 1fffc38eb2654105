// The schemes by kind, and what several of them share.
#include "core/schemes/scheme.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "core/runtime/device.h"

namespace xlm {

#define XLM_SCHEME(kind, name, ...) const Scheme& name##_scheme();
#include "core/api/schemes.def"
#undef XLM_SCHEME

const Scheme& scheme_of(TextScheme kind) {
  switch (kind) {
#define XLM_SCHEME(kind, name, ...) \
  case TextScheme::kind:            \
    return name##_scheme();
#include "core/api/schemes.def"
#undef XLM_SCHEME
  }
  throw Error("a scheme that is not in core/api/schemes.def");
}

TrainingLoss Scheme::loss(LanguageModel& model, const ModelInput& input, const torch::Tensor& targets,
                          const State& state, ActivationPolicy /*policy*/) const {
  ModelOutput output = model.forward(input, state);
  const torch::Tensor loss = output.mean_loss(targets);
  return {.language_model = loss,
          .total = output.auxiliary_loss.defined() ? loss + output.auxiliary_loss : loss,
          .state = std::move(output.state),
          .needed = output.needed};
}

void Scheme::check_split(const TokenSource& source, const SplitSettings& settings, const std::string& name) const {
  if (source.size() >= 2 * settings.rows) return;
  throw DataError(fmt::format("{} has {} tokens; an evaluation needs {}: 2 for each of eval.batch={} rows", name,
                              source.size(), 2 * settings.rows, settings.rows));
}

std::unique_ptr<TextReader> Scheme::reader(std::shared_ptr<LanguageModel> /*model*/,
                                           const ReaderSettings& /*settings*/) const {
  throw UsageError("such a model reads no growing text: it cannot be sampled");
}

TracedTokens Scheme::trace(LanguageModel& model, const TokenSource& source, const SplitSettings& settings,
                           std::int64_t limit) const {
  const std::int64_t length = std::min({limit, source.size(), settings.context});
  return trace_row(model, source, settings, settings.context, length);
}

TracedTokens Scheme::trace_row(LanguageModel& model, const TokenSource& source, const SplitSettings& settings,
                               std::int64_t piece, std::int64_t length) {
  TracedTokens trace{.tokens = length};
  State state = model.initial_state(1);
  for (std::int64_t begin = 0; begin < length; begin += piece) {
    const std::int64_t count = std::min(piece, length - begin);
    const ModelInput input{.tokens = source.rows(1, begin, 0, count),  // [1, count]
                           .positions = torch::arange(begin, begin + count, torch::kLong).unsqueeze(0),
                           .boundaries = source.flag_rows(1, begin, 0, count),
                           .traced = true};
    const PrecisionScope precision(settings.precision, settings.device);
    ModelOutput output = model.forward(input.to(settings.device), state);
    state = std::move(output.state);
    append_values(output, trace);
  }
  return trace;
}

void Scheme::append_values(const ModelOutput& output, TracedTokens& trace) {
  for (const auto& [name, values] : output.token_values) {
    const torch::Tensor row = values[0].detach().to(torch::kDouble).cpu().contiguous();
    std::vector<double>& all = trace.values[name];
    all.insert(all.end(), row.const_data_ptr<double>(), row.const_data_ptr<double>() + row.numel());
  }
}

}  // namespace xlm
