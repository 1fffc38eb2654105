// Muon's update of matrices (Jordan et al. 2024; docs/models.md#muon).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <torch/torch.h>

#include "core/api/options.h"

namespace xlm {

/// Whether Muon updates this weight: a matrix of a layer, with at least two rows and columns. Layers have numbers in
/// their names, such as layers.0.ff.fc1.weight; embeddings and the output layer have none.
bool is_matrix_of_layer(const std::string& name, const torch::Tensor& weight);

/// Matrices [n, rows, columns] whose singular values are moved towards 1, between 0.68 and 1.13 after five `steps` of
/// Newton and Schulz's iteration if they were not tiny. In the type of the matrices.
torch::Tensor orthogonalized(const torch::Tensor& matrices, std::int64_t steps);

/// What the learning rate of a matrix of this shape is multiplied by.
double muon_scale(OptimizerOptions::AdjustLr adjust, std::int64_t rows, std::int64_t columns);

/// One update of `weights`, each with its gradient and its average of gradients. `rate` is the learning rate.
void muon_together(const std::vector<torch::Tensor>& weights, const std::vector<torch::Tensor>& gradients,
                   const std::vector<torch::Tensor>& averages, double rate, const OptimizerOptions& options);

}  // namespace xlm
