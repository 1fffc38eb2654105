// How long simulations are: short in tests, long with XLM_SIMULATIONS=full (make soak).
#pragma once

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string_view>
#include <vector>

namespace xlm {

inline bool simulate_in_full() {
  const char* wanted = std::getenv("XLM_SIMULATIONS");
  return wanted != nullptr && std::string_view(wanted) == "full";
}

/// Normal numbers, always the same ones.
class NormalNumbers {
 public:
  explicit NormalNumbers(std::uint64_t seed) : engine_(seed) {}

  double next() { return normal_(engine_); }

  std::vector<double> next(std::size_t count, double mean, double deviation) {
    std::vector<double> numbers(count);
    for (double& number : numbers) number = mean + deviation * next();
    return numbers;
  }

 private:
  std::mt19937_64 engine_;
  std::normal_distribution<double> normal_;
};

}  // namespace xlm
