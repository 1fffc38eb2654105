// What a trained model's folder has for other programs and their users: a card and settings for generating text.
#pragma once

#include <string>

#include "results/run_folder/run_folder.h"

namespace xlm {

/// The card of a run's model in the form that model hubs read: its data, its results (as `model-index`), its
/// configuration, how to load it. It leaves the licence open.
std::string model_card(const Run& run);

/// Writes README.md into model/ and replaces an existing one. If the folder has a Hugging Face configuration, also
/// writes generation_config.json, and the token that ends a text into both. Does nothing if there is no model.
void describe_model(const Run& run);

}  // namespace xlm
