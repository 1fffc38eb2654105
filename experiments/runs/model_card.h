// What a trained model's folder has for other programs and their users: a card, and how text is made with it.
#pragma once

#include <string>

#include "results/run_folder/run_folder.h"

namespace xlm {

/// The card of a run's model, as model hubs read it: what it was trained on, what was measured (in the form of a
/// `model-index`), its configuration, how it is loaded. The licence is left open.
std::string model_card(const Run& run);

/// Writes README.md into model/, in place of one that is there. Where the folder has a configuration of Hugging Face's,
/// also generation_config.json, and the token that ends a text into both. Nothing where there is no model.
void describe_model(const Run& run);

}  // namespace xlm
