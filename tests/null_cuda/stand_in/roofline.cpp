// The model of times. Its constants are counts of instructions and estimates, and await a calibration on a GPU.
#include "tests/null_cuda/stand_in/roofline.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "tests/null_cuda/stand_in/generations.h"
#include "tests/null_cuda/stand_in/ledger.h"

namespace null_cuda {
namespace {

constexpr double kStart = 2.0e-6;        // of a kernel, seconds; also what a short one takes
constexpr double kOverhead = 1.0e-6;     // of one that takes longer: filling and draining the GPU
constexpr double kForwardCycles = 1100;  // instructions of a warp for a tile of keys (docs/performance.md)
constexpr double kBackwardQueriesCycles = 1490;
constexpr double kBackwardKeysCycles = 1215;
constexpr double kLargeProduct = 2.0 * 132 * 64 * 64;  // results below which a product leaves multiprocessors idle
constexpr double kSmallShare = 0.35;                   // of the rate, for such a product

void add(double seconds) { counts().modelled_seconds += std::max(kStart, seconds + kOverhead); }

/// The number that follows `what` in a mangled name, or 0.
int number_after(std::string_view name, std::string_view what) {
  const std::size_t at = name.find(what);
  return at == std::string_view::npos ? 0 : std::atoi(std::string(name.substr(at + what.size(), 4)).c_str());
}

/// Bytes that an elementwise kernel of libtorch moves for each element; 0 for other kernels.
double bytes_of_element(std::string_view name) {
  const int operands = std::max(2, number_after(name, "St5arrayIPcLm"));
  if (const int width = number_after(name, "29vectorized_elementwise_kernelILi"); width > 0) {
    return 16.0 / width * operands;  // libtorch loads 16 bytes at a time
  }
  const double size = name.find("BFloat16") != std::string_view::npos ? 2 : 4;
  if (name.find("27unrolled_elementwise_kernel") != std::string_view::npos) return 3.0 * operands;  // mixed types
  if (name.find("18elementwise_kernelILi128") != std::string_view::npos) return size * 3;
  return 0;
}

}  // namespace

void model_copy(double bytes) { add(bytes / generation().bandwidth); }

void model_product(double m, double n, double k, double batch, int element_bytes) {
  const double rate = element_bytes == 2 ? generation().half_products : generation().single_products;
  const double share = m * n * batch < kLargeProduct ? kSmallShare : 1;
  const double arithmetic = 2 * m * n * k * batch / (rate * share);
  const double moved = (m * k + k * n + m * n) * batch * element_bytes / generation().bandwidth;
  add(std::max(arithmetic, moved));
}

void model_kernel(const std::string& name, double threads, double elements) {
  constexpr double kBytesOfThread = 24;  // of kernels that are not known: some elements in, some out
  const double each = bytes_of_element(name);
  add((each > 0 ? each * elements : kBytesOfThread * threads) / generation().bandwidth);
}

void model_attention(BandPass pass, const xlm::band::Arguments& arguments, int heads) {
  constexpr int kTile = xlm::band::kTile;
  double steps = 0;
  for (int first = 0; first < arguments.queries; first += kTile) {  // as the kernels' BlockOfQueries
    const int last = std::min(first + kTile, arguments.queries) - 1;
    const int first_key = std::max(0, first - arguments.key_offset);
    const int last_key = std::min(last + arguments.band - 1 - arguments.key_offset, arguments.keys - 1);
    if (last_key >= first_key) steps += (last_key - first_key) / kTile + 1;
  }
  const double cycles = pass == BandPass::kForward           ? kForwardCycles
                        : pass == BandPass::kBackwardQueries ? kBackwardQueriesCycles
                                                             : kBackwardKeysCycles;
  add(steps * heads * cycles / (generation().multiprocessors * generation().clock));
}

}  // namespace null_cuda
