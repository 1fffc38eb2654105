// The weights with the best validation loss so far, in a separate file.
#pragma once

#include <cstdint>
#include <optional>

#include "core/runtime/safetensors.h"

namespace xlm {

class BestWeights {
 public:
  struct Place {
    std::int64_t step;  // updates done
    double loss;        // on validation, in nats
  };

  explicit BestWeights(fs::path file) : file_(std::move(file)) {}

  /// Reads what an earlier attempt of the run kept. Nothing is known if the file is missing or damaged.
  void recall();

  const fs::path& file() const { return file_; }
  const std::optional<Place>& known() const { return known_; }
  /// Whether a loss is better than that of the kept weights. One that is not finite never is.
  bool beaten_by(double loss) const;
  /// Replaces the kept weights.
  void keep(const Place& place, const NamedTensors& weights);
  /// The same in a process that does not write: another one does.
  void follow(const Place& place) { known_ = place; }
  /// The weights of `known`; nullopt if the file no longer holds them.
  std::optional<NamedTensors> read() const;

 private:
  struct Kept;
  std::optional<Kept> load() const;

  fs::path file_;
  std::optional<Place> known_;
};

}  // namespace xlm
