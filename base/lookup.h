// What a container has, and what is made of all of it.
#pragma once

#include <algorithm>
#include <functional>
#include <iterator>
#include <type_traits>
#include <vector>

namespace xlm {

template <class Range, class Value>
bool contains(const Range& range, const Value& value) {
  return std::ranges::find(range, value) != std::ranges::end(range);
}

/// The value of a key in a map; null if there is none.
template <class Map, class Key>
const typename Map::mapped_type* find_in(const Map& map, const Key& key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

/// The value of a key in a map; `otherwise` if there is none.
template <class Map, class Key>
typename Map::mapped_type value_or(const Map& map, const Key& key, typename Map::mapped_type otherwise) {
  const auto* found = find_in(map, key);
  return found == nullptr ? otherwise : *found;
}

/// What `make`, a function or a member, gives for each element.
template <class Range, class Make>
auto mapped(const Range& range, const Make& make) {
  std::vector<std::decay_t<decltype(std::invoke(make, *range.begin()))>> made;
  for (const auto& each : range) made.push_back(std::invoke(make, each));
  return made;
}

}  // namespace xlm
