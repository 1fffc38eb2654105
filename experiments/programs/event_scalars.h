// The numbers in an event of TensorBoard's event files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace xlm {

struct EventScalars {
  std::int64_t step = 0;
  std::vector<std::pair<std::string, double>> values;  // by tag
  bool goes_back = false;                              // what its folder has of this step and of later ones is void
};

/// The scalars of a serialized Event: simple_value, or a tensor of rank 0, as TensorFlow 2 writes it. Texts,
/// histograms, images and other values are ignored. nullopt if the bytes are not an Event.
std::optional<EventScalars> event_scalars(std::string_view event);

}  // namespace xlm
