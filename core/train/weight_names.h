// What the names of weights say about their place in a model.
#pragma once

#include <string>

namespace xlm {

/// Whether the weight belongs to a numbered layer, such as layers.0.ff.fc1.weight.
bool is_of_numbered_layer(const std::string& weight);

/// The layer of a weight: its name up to the numbers, "layers.0"; without numbers, the name without its last word, and
/// a name of one word as it is: "in_emb" of in_emb.weight, "key_pe".
std::string layer_of(const std::string& weight);

}  // namespace xlm
