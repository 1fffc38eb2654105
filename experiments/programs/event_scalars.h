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
};

/// What a serialized Event says: a number by itself (simple_value), or a tensor with no dimension, as TensorFlow 2
/// writes it. Texts, histograms, images and what else an event may have are left out. Nothing where it is no Event.
std::optional<EventScalars> event_scalars(std::string_view event);

}  // namespace xlm
