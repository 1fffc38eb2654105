// The model that another has inside (HoldsInnerModel): its weights, and what follows from it on the data.
#pragma once

#include <cstdint>
#include <string>

#include "core/models/language_model.h"
#include "core/schemes/token_source.h"

namespace xlm {

/// Whether the options of a model name one that it has inside.
bool needs_inner_model(const LanguageModel& model);

/// Loads the weights of that model, and lets `model` choose what follows from it on the first windows of `text`, of
/// `block` inputs with a beginning. Returns a note about it. Throws DataError if the inner model has other symbols than
/// the data, or another shape or other options than `model` says.
std::string take_inner_model(LanguageModel& model, const PreparedData& data, const TokenSource& text,
                             std::int64_t block);

}  // namespace xlm
