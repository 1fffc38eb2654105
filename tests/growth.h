// How much more time large work takes than small work, for tests of a bound.
#pragma once

#include <algorithm>
#include <ctime>
#include <functional>

namespace xlm {

/// Processor seconds of the whole process, which other programs on the machine do not change much.
inline double processor_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// The time of `large` over the time of `small`; of each the shortest of three. If `large` is 16 times as much work,
/// linear time gives 16 and quadratic time 256. A bound of 64 is as far from one as from the other.
inline double growth(const std::function<void()>& small, const std::function<void()>& large) {
  const auto shortest = [](const std::function<void()>& work) {
    double best = 1e9;
    for (int i = 0; i < 3; ++i) {
      const double begin = processor_seconds();
      work();
      best = std::min(best, processor_seconds() - begin);
    }
    return best;
  };
  const double least = shortest(small);
  return shortest(large) / least;
}

}  // namespace xlm
