// Traces of single tokens.
#include "core/eval/trace.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/models/capabilities.h"
#include "core/runtime/device.h"

namespace xlm {
namespace {

constexpr std::int64_t kTracedTokens = 512;

/// A symbol as text that JSON can hold.
std::string token_text(Vocabulary::Unit unit, const std::string& symbol) {
  const auto byte = static_cast<unsigned char>(symbol.front());
  return unit == Vocabulary::Unit::kByte && byte >= 0x80 ? fmt::format("<0x{:02X}>", byte) : symbol;
}

void append(const torch::Tensor& values, std::vector<double>& out) {
  const torch::Tensor row = values[0].detach().to(torch::kDouble).cpu().contiguous();
  out.insert(out.end(), row.data_ptr<double>(), row.data_ptr<double>() + row.numel());
}

}  // namespace

TokenTrace trace_tokens(LanguageModel& model, const TokenSource& source, const Vocabulary& vocabulary,
                        const SplitSettings& settings) {
  TokenTrace trace;
  const auto* traces = capability<TracesTokens>(model);
  if (traces == nullptr || !traces->has_token_values()) return trace;
  const torch::NoGradGuard no_grad;
  const bool was_training = model.is_training();
  model.eval();
  const bool streaming = model.scheme() == LanguageModel::Scheme::kStreaming;
  const std::int64_t piece = streaming ? settings.block : settings.context;
  const std::int64_t length = std::min({kTracedTokens, source.size(), streaming ? kTracedTokens : piece});
  State state = model.initial_state(1);
  for (std::int64_t begin = 0; begin < length; begin += piece) {
    const std::int64_t count = std::min(piece, length - begin);
    const torch::Tensor tokens = source.rows(1, begin, 0, count);  // [1, count]
    const std::int64_t* ids = tokens.data_ptr<std::int64_t>();
    for (std::int64_t i = 0; i < count; ++i) {
      trace.tokens.push_back(token_text(vocabulary.unit, vocabulary.symbols.at(static_cast<std::size_t>(ids[i]))));
    }
    const ModelInput input{.tokens = tokens,
                           .positions = torch::arange(begin, begin + count, torch::kLong).unsqueeze(0),
                           .boundaries = source.flag_rows(1, begin, 0, count),
                           .traced = true};
    const PrecisionScope precision(settings.precision, settings.device);
    ModelOutput output = model.forward(input.to(settings.device), state);
    state = std::move(output.state);
    for (const auto& [name, values] : output.token_values) append(values, trace.values[name]);
  }
  model.train(was_training);
  return trace;
}

}  // namespace xlm
