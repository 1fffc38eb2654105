// The weights that did best on validation so far, in a file of their own.
#pragma once

#include <cstdint>
#include <optional>

#include "core/runtime/safetensors.h"

namespace xlm {

class BestWeights {
 public:
  struct Place {
    std::int64_t step;  // updates behind the weights
    double loss;        // on validation, nats
  };

  explicit BestWeights(fs::path file) : file_(std::move(file)) {}

  /// Learns what an earlier part of the run has left; nothing where the file is not there or damaged.
  void recall();

  const fs::path& file() const { return file_; }
  const std::optional<Place>& known() const { return known_; }
  /// Whether a loss is better than that of the weights that are kept; one that is no number never is.
  bool beaten_by(double loss) const;
  /// Puts these weights in the place of those before.
  void keep(const Place& place, const NamedTensors& weights);
  /// Another process puts them there.
  void follow(const Place& place) { known_ = place; }
  /// The weights of `known`; nothing where they are not there any more.
  std::optional<NamedTensors> read() const;

 private:
  struct Kept;
  std::optional<Kept> load() const;

  fs::path file_;
  std::optional<Place> known_;
};

}  // namespace xlm
