// The values that `sweep.random` and `sweep.search` may give a key: a range {low, high} with log: true or a step, or a
// list of choices.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/yaml.h"

namespace xlm {

struct KeyRange {
  std::string name;
  std::vector<Yaml> choices;  // empty: a range
  double low = 0;             // both ends belong to the range
  double high = 0;
  double step = 0;  // 0: none
  bool log = false;
  bool whole = false;  // whole numbers
};

/// Throws UsageError with file:line.
KeyRange read_key_range(const std::string& name, const Yaml& node);

/// A value for the configuration from a number of the range, or a place in the list. Real numbers have six digits (more
/// in a narrow range), so that they are readable, and equal on machines whose logarithms differ in the last bit.
Yaml value_of_key(const KeyRange& key, double value, const std::string& source);

/// A number of the range, or a place in the list: all are equally likely, with `log` all orders of magnitude.
double random_value(const KeyRange& key, std::uint64_t bits);

}  // namespace xlm
