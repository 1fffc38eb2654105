// How several runs become one number.
#include "results/store/aggregate.h"

#include <algorithm>

#include "results/store/statistics.h"

namespace xlm {

double aggregated(const std::vector<double>& values, Aggregate aggregate, Better better) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  switch (aggregate) {
    case Aggregate::kMean:
      return mean(values);
    case Aggregate::kMedian:
      return median(values);
    case Aggregate::kMin:
      return *least;
    case Aggregate::kMax:
      return *most;
    case Aggregate::kBest:
      return better == Better::kLower ? *least : *most;
  }
  return *least;
}

}  // namespace xlm
