// How far back attention heads compute, in sizes that change as rarely as possible.
#pragma once

#include <cstdint>
#include <vector>

namespace xlm {

/// Positions that a head computes which reaches back `reach` positions: whole steps of 32, so that heads of similar
/// reach share one product; at most `limit`.
std::int64_t band_of(std::int64_t reach, std::int64_t limit);

/// The bands of heads that learn how far they reach. A band grows if its head needs more, and shrinks if it needs much
/// less: a reach that wavers about a whole step changes nothing.
class HeldBands {
 public:
  /// By layer and head, in positions.
  using Reaches = std::vector<std::vector<std::int64_t>>;

  bool empty() const { return bands_.empty(); }
  const std::vector<std::int64_t>& of_layer(std::size_t index) const { return bands_.at(index); }

  /// Makes the bands fit `reaches`; the first call begins to hold them. A band shrinks if a step and `spare` positions
  /// of it are not needed.
  void fit(const Reaches& reaches, std::int64_t limit, std::int64_t spare = 16);

  /// All of them, layer by layer, for checkpoints.
  std::vector<std::int64_t> sizes() const;
  /// Takes them back. Nothing happens if there are not as many as are held.
  void set_sizes(const std::vector<std::int64_t>& sizes);

 private:
  Reaches bands_;
};

}  // namespace xlm
