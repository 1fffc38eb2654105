// The small GPT-2 whose golden numbers are in tests/golden/gpt2.json and window_memory.json.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/api/gpt2_options.h"
#include "core/models/capabilities.h"
#include "core/schemes/windows_loss.h"
#include "tests/core/models/golden_values.h"

namespace xlm {

inline constexpr std::int64_t kGptSymbols = 11;
inline constexpr std::int64_t kGptBatch = 3;
inline constexpr std::int64_t kGptLength = 23;

inline Gpt2Options gpt2_options(std::int64_t window = kGptLength, std::int64_t overlap = 0,
                                const WindowMemoryOptions& memory = {}) {
  return {.width = 16,
          .heads = 4,
          .layers = 3,
          .feed_forward = 24,
          .positions = 32,
          .dropout = 0,
          .attention_dropout = 0,
          .window = window,
          .overlap = overlap,
          .memory = memory};
}

/// Weights by a formula, with the alphabetical place of a name as its index; in double.
inline std::shared_ptr<LanguageModel> gpt2_golden_model(const Gpt2Options& options) {
  auto model = make_model(options, kGptSymbols);
  model->to(torch::kDouble);
  fill_golden_weights(*model, [](const std::string& name) -> GoldenScale {
    if (name.find("ln_") != std::string::npos && name.ends_with("weight")) return {.mean = 1, .scale = 0.2};
    return {.scale = name == "wte.weight" || name == "recurrence.alpha" ? 1.0 : 0.3};
  });
  return model;
}

inline torch::Tensor gpt2_text() { return golden_text(kGptBatch, kGptLength + 1, kGptSymbols); }
inline torch::Tensor gpt2_tokens() { return gpt2_text().narrow(1, 0, kGptLength); }
inline torch::Tensor gpt2_targets() { return gpt2_text().narrow(1, 1, kGptLength); }

/// Logits of every scored prediction, window by window, in the order of the text: [B, N, V].
inline torch::Tensor scored_logits(LanguageModel& model, const torch::Tensor& tokens) {
  const torch::NoGradGuard no_grad;
  const WindowShape shape = windows_of(model);
  State state = model.initial_state(tokens.size(0));
  std::vector<torch::Tensor> parts;
  std::int64_t scored_to = 0;
  for (std::int64_t begin = 0; scored_to < tokens.size(1); begin += shape.window - shape.overlap) {
    const std::int64_t end = std::min(begin + shape.window, tokens.size(1));
    ModelOutput output =
        model.forward(ModelInput{.tokens = tokens.narrow(1, begin, end - begin), .scored = end - scored_to}, state);
    parts.push_back(output.logits());
    state = std::move(output.state);
    scored_to = end;
  }
  return torch::cat(parts, 1);
}

/// A reader, token by token behind prompts of several lengths, predicts what whole windows predict.
/// `recorder`: for single tokens.
inline void expect_reading_equals_windows(LanguageModel& model, const MakeRecorder& recorder = {}) {
  const torch::Tensor row = gpt2_tokens().narrow(0, 1, 1);
  const torch::Tensor expected = scored_logits(model, row)[0];  // [N, V]
  for (const std::int64_t prompt : {1, 4, 7, 12}) {
    const auto reader = capability<ReadsIncrementally>(model)->reader({.context = kGptLength, .recorder = recorder});
    torch::Tensor logits = reader->read(row[0].narrow(0, 0, prompt));
    for (std::int64_t t = prompt; t <= kGptLength; ++t) {
      EXPECT_TRUE(torch::allclose(logits, expected[t - 1], 1e-9, 1e-10)) << prompt << " " << t;
      if (t < kGptLength) logits = reader->read(row[0].narrow(0, t, 1));
    }
  }
}

}  // namespace xlm
