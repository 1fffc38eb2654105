// Which values of a column are one size.
#include "results/fits/sizes.h"

#include <algorithm>

namespace xlm {

std::vector<double> different_sizes(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  std::vector<double> sizes;
  for (const double value : values) {
    if (sizes.empty() || value > sizes.back() * kOneSize) sizes.push_back(value);
  }
  return sizes;
}

}  // namespace xlm
