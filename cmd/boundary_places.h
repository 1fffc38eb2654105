// At which bytes of a text boundaries stand: at spaces, at letters, at ends of lines.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace xlm {

/// Bytes of one class, and boundaries at them. A boundary stands at the last byte of its group.
struct BoundaryPlace {
  std::string_view name;
  std::int64_t bytes = 0;
  std::int64_t boundaries = 0;
};

/// Every byte of the text has one class: ends of lines, spaces, letters that begin words, other letters, digits, other
/// signs, and bytes beyond ASCII, which continue words.
using BoundaryPlaces = std::array<BoundaryPlace, 7>;

/// Of a text in groups, of which the first `complete` end with a boundary.
BoundaryPlaces count_boundary_places(const std::vector<std::string>& groups, std::int64_t complete);

/// A table: of each class that the text has, its bytes, the boundaries at them, their share of all boundaries, and the
/// share of its bytes that have one. The last row is the whole text.
std::string boundary_places_as_text(const BoundaryPlaces& places, int width);

/// [{"at": "spaces", "bytes": 3, "boundaries": 3}, …] of all classes.
Json boundary_places_as_json(const BoundaryPlaces& places);

}  // namespace xlm
