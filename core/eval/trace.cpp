// Traces of single tokens.
#include "core/eval/trace.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/models/capabilities.h"
#include "core/runtime/device.h"

namespace xlm {
namespace {

constexpr std::int64_t kTracedTokens = 512;
constexpr std::int64_t kMaxColumns = 128;

/// A symbol as text that JSON can hold.
std::string token_text(Vocabulary::Unit unit, const std::string& symbol) {
  const auto byte = static_cast<unsigned char>(symbol.front());
  return unit == Vocabulary::Unit::kByte && byte >= 0x80 ? fmt::format("<0x{:02X}>", byte) : symbol;
}

/// Means over neighbouring distances: [rows, distances] becomes at most kMaxColumns columns.
Grid by_columns(const std::string& name, const torch::Tensor& values) {
  const std::int64_t distances = values.size(1);
  const std::int64_t width = (distances + kMaxColumns - 1) / kMaxColumns;
  Grid grid{.name = name, .rows = {}};
  grid.rows.resize(static_cast<std::size_t>(values.size(0)));
  for (std::int64_t begin = 0; begin < distances; begin += width) {
    const std::int64_t end = std::min(begin + width, distances);
    grid.columns.push_back(end);
    const torch::Tensor means = values.narrow(1, begin, end - begin).mean(1).to(torch::kDouble).cpu().contiguous();
    for (std::size_t row = 0; row < grid.rows.size(); ++row) {
      grid.rows[row].push_back(means.const_data_ptr<double>()[row]);
    }
  }
  return grid;
}

}  // namespace

std::vector<Grid> trace_heads(LanguageModel& model, const TokenSource& source, const SplitSettings& settings) {
  const auto* heads = capability<TracesHeads>(model);
  if (heads == nullptr) return {};
  const torch::NoGradGuard no_grad;
  const bool was_training = model.is_training();
  model.eval();
  const std::int64_t piece = std::min(settings.block, source.size());
  const std::int64_t pieces = std::min(source.size() / piece, 1 + (heads->head_reach() + piece - 1) / piece);
  State state = model.initial_state(1);
  ModelOutput output;
  for (std::int64_t i = 0; i < pieces; ++i) {
    const ModelInput input{.tokens = source.rows(1, i * piece, 0, piece), .heads_traced = i + 1 == pieces};
    const PrecisionScope precision(settings.precision, settings.device);
    output = model.forward(input.to(settings.device), state);
    state = std::move(output.state);
  }
  model.train(was_training);
  std::vector<Grid> grids;
  for (const auto& [name, values] : output.head_values) grids.push_back(by_columns(name, values));
  return grids;
}

TokenTrace trace_tokens(LanguageModel& model, const TokenSource& source, const Vocabulary& vocabulary,
                        const SplitSettings& settings) {
  const auto* traces = capability<TracesTokens>(model);
  if (traces == nullptr || !traces->has_token_values()) return {};
  const torch::NoGradGuard no_grad;
  const bool was_training = model.is_training();
  model.eval();
  TracedTokens traced = scheme_of(model).trace(model, source, settings, kTracedTokens);
  model.train(was_training);
  TokenTrace trace{.values = std::move(traced.values)};
  std::vector<std::int64_t> ids(static_cast<std::size_t>(traced.tokens));
  source.copy(0, traced.tokens, ids.data());
  for (const std::int64_t id : ids) {
    trace.tokens.push_back(token_text(vocabulary.unit, vocabulary.symbols.at(static_cast<std::size_t>(id))));
  }
  return trace;
}

}  // namespace xlm
