// At which bytes of a text boundaries stand.
#include "cmd/boundary_places.h"

#include <fmt/format.h>

#include "base/terminal.h"

namespace xlm {
namespace {

/// In the order of BoundaryPlaces.
enum PlaceClass : std::size_t {
  kAtLineEnd,
  kAtSpace,
  kAtFirstLetter,
  kAtOtherLetter,
  kAtDigit,
  kAtOtherSign,
  kAtByteBeyondAscii
};

bool is_ascii_letter(unsigned char byte) { return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z'); }

bool is_in_word(unsigned char byte) { return byte >= 0x80 || is_ascii_letter(byte); }

PlaceClass place_class(unsigned char byte, unsigned char before) {
  if (byte == '\n' || byte == '\r') return kAtLineEnd;
  if (byte == ' ' || byte == '\t' || byte == '\v' || byte == '\f') return kAtSpace;
  if (byte >= 0x80) return kAtByteBeyondAscii;
  if (is_ascii_letter(byte)) return is_in_word(before) ? kAtOtherLetter : kAtFirstLetter;
  return byte >= '0' && byte <= '9' ? kAtDigit : kAtOtherSign;
}

std::string percent_of(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? fmt::format("{:.1f} %", 100 * static_cast<double>(part) / static_cast<double>(whole)) : "–";
}

}  // namespace

BoundaryPlaces count_boundary_places(const std::vector<std::string>& groups, std::int64_t complete) {
  BoundaryPlaces places{{{"ends of lines"},
                         {"spaces"},
                         {"first letters of words"},
                         {"other letters"},
                         {"digits"},
                         {"other signs"},
                         {"bytes beyond ASCII"}}};
  unsigned char before = ' ';
  for (std::size_t i = 0; i < groups.size(); ++i) {
    PlaceClass last = kAtOtherSign;
    for (const char c : groups[i]) {
      const auto byte = static_cast<unsigned char>(c);
      last = place_class(byte, before);
      ++places[last].bytes;
      before = byte;
    }
    if (static_cast<std::int64_t>(i) < complete && !groups[i].empty()) ++places[last].boundaries;
  }
  return places;
}

std::string boundary_places_as_text(const BoundaryPlaces& places, int width) {
  BoundaryPlace all{.name = "all"};
  for (const BoundaryPlace& place : places) {
    all.bytes += place.bytes;
    all.boundaries += place.boundaries;
  }
  TextTable table(
      {{"at"}, {"bytes", true}, {"boundaries", true}, {"of all boundaries", true}, {"of these bytes", true}});
  const auto add = [&](const BoundaryPlace& place) {
    if (place.bytes == 0) return;
    table.add({std::string(place.name), fmt::format("{}", place.bytes), fmt::format("{}", place.boundaries),
               percent_of(place.boundaries, all.boundaries), percent_of(place.boundaries, place.bytes)});
  };
  for (const BoundaryPlace& place : places) add(place);
  add(all);
  return table.render(TextTable::Format::kText, width);
}

Json boundary_places_as_json(const BoundaryPlaces& places) {
  Json list = Json::array();
  for (const BoundaryPlace& place : places) {
    list.push_back({{"at", place.name}, {"bytes", place.bytes}, {"boundaries", place.boundaries}});
  }
  return list;
}

}  // namespace xlm
