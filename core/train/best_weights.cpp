// The best weights so far. Their file also holds their step and loss, so that the three always belong together.
#include "core/train/best_weights.h"

#include <cmath>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace xlm {

struct BestWeights::Kept {
  Place place;
  NamedTensors weights;
};

std::optional<BestWeights::Kept> BestWeights::load() const {
  if (!fs::exists(file_)) return std::nullopt;
  try {
    TensorFile file = read_hashed_safetensors(file_);
    Kept kept{.place = {}, .weights = std::move(file.tensors)};
    if (!parse_integer(file.metadata["step"], kept.place.step)) return std::nullopt;
    if (!parse_real(file.metadata["loss"], kept.place.loss)) return std::nullopt;
    return kept;
  } catch (const DataError&) {
    return std::nullopt;
  }
}

void BestWeights::recall() {
  const std::optional<Kept> kept = load();
  known_ = kept ? std::optional(kept->place) : std::nullopt;
}

bool BestWeights::beaten_by(double loss) const { return std::isfinite(loss) && (!known_ || loss < known_->loss); }

void BestWeights::keep(const Place& place, const NamedTensors& weights) {
  write_safetensors(file_, weights,
                    {{"step", fmt::to_string(place.step)}, {"loss", fmt::format("{:.17g}", place.loss)}});
  known_ = place;
}

std::optional<NamedTensors> BestWeights::read() const {
  std::optional<Kept> kept = load();
  if (!kept || !known_ || kept->place.step != known_->step) return std::nullopt;
  return std::move(kept->weights);
}

}  // namespace xlm
