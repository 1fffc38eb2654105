// Continuations of a text, one token after the other (Yoshida et al. 2020, §5.3).
//
// V symbols.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/api/interface.h"
#include "core/schemes/scheme.h"

namespace xlm {

/// How the next token is chosen.
struct TokenChoice {
  double temperature = 0;
  std::int64_t top_k = 0;
  double top_p = 1;
  std::int64_t seed = 1;
};

/// Chooses a token by logits [V]. Temperature 0 is greedy: the most likely one, the first of equals. Otherwise draws
/// from softmax(logits / temperature), cut to the top_k most likely tokens and then to the first of these that together
/// reach top_p. The draw depends only on the seed and `place`.
std::int64_t choose_token(const torch::Tensor& logits, const TokenChoice& choice, std::int64_t place);

/// The model's own reader if it has one (ReadsIncrementally), else that of its scheme.
std::unique_ptr<TextReader> make_reader(const std::shared_ptr<LanguageModel>& model, const ReaderSettings& settings);

/// As Core::sample.
Sample sample(const SampleJob& job, const std::function<bool(const std::string&)>& show);

}  // namespace xlm
