// A stand-in on the CPU for a block of GPU threads. Every thread is a fiber that runs until a barrier or an instruction
// of its warp; the next fiber is drawn. A missing barrier gives a wrong result in some order. A barrier that a thread
// misses is an error. Shared memory begins as NaN.
//
// The warp's instructions pass values between lanes as NVIDIA documents their fragments (PTX ISA 8: mma.m16n8k16,
// ldmatrix), under the names of core/cuda/kernels/gpu_block.cuh, which this replaces.
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

#include "base/random.h"

#define XLM_DEVICE inline
#define XLM_UNROLL

namespace xlm::band {

using Half = unsigned short;

constexpr int kMultiplyAdd = 5;  // which of a warp's instructions it is, for BlockOfFibers::exchange

class BlockOfFibers {
 public:
  BlockOfFibers(int threads, std::size_t shared_bytes, std::uint64_t order)
      : shared_(shared_bytes / sizeof(std::uint64_t)), order_(order), fibers_(static_cast<std::size_t>(threads)) {
    for (Fiber& fiber : fibers_) fiber.stack = std::make_unique<char[]>(kStack);
    warps_.resize(fibers_.size() / kLanes);
  }

  /// Runs the threads of one block to their ends.
  void run(int block_x, int block_y, const std::function<void()>& thread) {
    std::fill(shared_.begin(), shared_.end(), ~std::uint64_t{0});
    ++blocks_;
    x_ = block_x;
    y_ = block_y;
    thread_ = thread;
    error_ = nullptr;
    block_ = {};
    for (Warp& warp : warps_) warp = {};
    for (Fiber& fiber : fibers_) start(fiber);
    here() = this;
    std::size_t left = fibers_.size();
    std::vector<std::size_t> ready;
    while (left > 0) {
      ready.clear();
      for (std::size_t i = 0; i < fibers_.size(); ++i) {
        if (!fibers_[i].done && !fibers_[i].waits) ready.push_back(i);
      }
      if (ready.empty()) throw std::logic_error("a barrier is not reached by all of its threads");
      now_ = one_of(ready);
      enter(fibers_[now_]);
      if (error_) std::rethrow_exception(error_);
      if (fibers_[now_].done) --left;
    }
    here() = nullptr;
  }

  static BlockOfFibers*& here() {
    static BlockOfFibers* block = nullptr;
    return block;
  }

  int thread() const { return static_cast<int>(now_); }
  int x() const { return x_; }
  int y() const { return y_; }
  void* shared() { return shared_.data(); }
  /// How many products of matrices its warps have computed, in all runs.
  std::int64_t multiplications() const { return multiplications_; }

  /// A copy of 16 bytes is made when it is awaited, the latest that it can be.
  void begin_copy(void* to, const void* from) { fibers_[now_].copies.push_back({to, from}); }
  void await_copies() {
    for (const Copy& copy : fibers_[now_].copies) {
      if (copy.from != nullptr) {
        std::memcpy(copy.to, copy.from, 16);
      } else {
        std::memset(copy.to, 0, 16);
      }
    }
    fibers_[now_].copies.clear();
  }

  void sync_block() {
    if (++block_.arrived < fibers_.size()) return wait();
    block_.arrived = 0;
    for (Fiber& fiber : fibers_) fiber.waits = false;
  }

  /// Collects a value from every lane of the warp, and waits for all. `kind`, the instruction, must be the same in all.
  template <class Given>
  const std::array<Given, 32>& exchange(int kind, const Given& given) {
    static_assert(sizeof(Given) <= sizeof(Slot::bytes) / kLanes);
    Warp& warp = warps_[now_ / kLanes];
    Slot& slot = warp.slots[warp.turn];
    if (warp.arrived == 0) slot.kind = kind;
    if (slot.kind != kind) throw std::logic_error("the lanes of a warp do different things");
    std::memcpy(slot.bytes + (now_ % kLanes) * sizeof(Given), &given, sizeof(Given));
    if (++warp.arrived < kLanes) {
      wait();
    } else {
      warp.arrived = 0;
      warp.turn = 1 - warp.turn;
      if (kind == kMultiplyAdd) ++multiplications_;
      for (std::size_t lane = 0; lane < kLanes; ++lane) fibers_[now_ / kLanes * kLanes + lane].waits = false;
    }
    return *reinterpret_cast<const std::array<Given, kLanes>*>(slot.bytes);
  }

 private:
  static constexpr std::size_t kLanes = 32;
  static constexpr std::size_t kStack = 1 << 18;

  struct Copy {
    void* to;
    const void* from;  // null: the bytes are cleared
  };
  struct Fiber {
    std::unique_ptr<char[]> stack;
    ucontext_t context{};
    bool done = false;
    bool waits = false;
    std::vector<Copy> copies;  // begun and not awaited
  };
  struct Slot {
    int kind = 0;
    alignas(16) char bytes[kLanes * 32]{};
  };
  struct Warp {
    std::array<Slot, 2> slots;  // used in turn: a lane may give its next value before another has read the last one
    std::size_t turn = 0;
    std::size_t arrived = 0;
  };
  struct Barrier {
    std::size_t arrived = 0;
  };

  /// The next fiber to run. In every other block one warp runs as long as it can, which shows if it does not wait for
  /// another's work. Otherwise any thread may be next.
  std::size_t one_of(const std::vector<std::size_t>& ready) {
    std::vector<std::size_t> of_warp;
    if (blocks_ % 2 == 0) {
      std::copy_if(ready.begin(), ready.end(), std::back_inserter(of_warp),
                   [&](std::size_t i) { return i / kLanes == now_ / kLanes; });
    }
    const std::vector<std::size_t>& choice = of_warp.empty() ? ready : of_warp;
    const auto draw = random_below(static_cast<std::int64_t>(choice.size()), random_bits(order_, 0, ++draws_));
    return choice[static_cast<std::size_t>(draw)];
  }

  void start(Fiber& fiber) {
    fiber.done = false;
    fiber.waits = false;
    fiber.copies.clear();
    ::getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.get();
    fiber.context.uc_stack.ss_size = kStack;
    fiber.context.uc_link = nullptr;
    ::makecontext(&fiber.context, &BlockOfFibers::run_thread, 0);
  }

  static void run_thread() {
    BlockOfFibers& block = *here();
    block.arrived_in_fiber();
    try {
      block.thread_();
    } catch (...) {
      block.error_ = std::current_exception();
    }
    block.fibers_[block.now_].done = true;
    block.leave(/*for_good=*/true);
  }

  void enter(Fiber& fiber) {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(&own_stack_, fiber.stack.get(), kStack);
#endif
    ::swapcontext(&scheduler_, &fiber.context);
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(own_stack_, nullptr, nullptr);
#endif
  }

  void leave([[maybe_unused]] bool for_good) {
    Fiber& fiber = fibers_[now_];
#if defined(__SANITIZE_ADDRESS__)
    void* fake = nullptr;
    __sanitizer_start_switch_fiber(for_good ? nullptr : &fake, scheduler_stack_, scheduler_size_);
#endif
    ::swapcontext(&fiber.context, &scheduler_);
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(fake, &scheduler_stack_, &scheduler_size_);
#endif
  }

  void arrived_in_fiber() {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(nullptr, &scheduler_stack_, &scheduler_size_);
#endif
  }

  void wait() {
    fibers_[now_].waits = true;
    leave(false);
  }

  std::vector<std::uint64_t> shared_;
  std::uint64_t order_;
  std::int64_t multiplications_ = 0;
  std::uint64_t draws_ = 0;
  std::uint64_t blocks_ = 0;
  std::vector<Fiber> fibers_;
  std::vector<Warp> warps_;
  Barrier block_;
  std::function<void()> thread_;
  std::exception_ptr error_;
  ucontext_t scheduler_{};
  std::size_t now_ = 0;
  int x_ = 0;
  int y_ = 0;
#if defined(__SANITIZE_ADDRESS__)
  void* own_stack_ = nullptr;
  const void* scheduler_stack_ = nullptr;
  std::size_t scheduler_size_ = 0;
#endif
};

inline BlockOfFibers& this_block() { return *BlockOfFibers::here(); }
inline int thread_index() { return this_block().thread(); }
inline int block_x() { return this_block().x(); }
inline int block_y() { return this_block().y(); }
inline void* shared_memory() { return this_block().shared(); }
inline void sync_block() { this_block().sync_block(); }
inline void sync_warp() { this_block().exchange(1, 0); }

inline float shuffle_xor(float x, int mask) {
  return this_block().exchange(2, x)[static_cast<std::size_t>((thread_index() % 32) ^ mask)];
}

inline void begin_copy(void* to, const void* from, bool there) {
  if (reinterpret_cast<std::uintptr_t>(to) % 16 != 0 || (there && reinterpret_cast<std::uintptr_t>(from) % 16 != 0)) {
    throw std::logic_error("cp.async: a place is not at 16 bytes");
  }
  this_block().begin_copy(to, there ? from : nullptr);
}
inline void await_copies() { this_block().await_copies(); }

inline Half to_half(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  if (std::isnan(x)) return 0x7FFF;
  return static_cast<Half>((bits + 0x7FFFU + ((bits >> 16U) & 1U)) >> 16U);
}
inline float to_float(Half x) { return std::bit_cast<float>(static_cast<std::uint32_t>(x) << 16U); }
inline unsigned pack(float low, float high) {
  return static_cast<unsigned>(to_half(low)) | static_cast<unsigned>(to_half(high)) << 16U;
}
inline float part_of(unsigned pair, int which) {
  return to_float(static_cast<Half>(pair >> (16U * static_cast<unsigned>(which))));
}
inline void store_pair(Half* to, unsigned pair) { std::memcpy(to, &pair, sizeof(pair)); }
inline void store_pair(float* to, float first, float second) {
  if (reinterpret_cast<std::uintptr_t>(to) % 8 != 0) throw std::logic_error("st.v2: a pair is not at 8 bytes");
  to[0] = first;
  to[1] = second;
}
inline unsigned load_pair(const Half* from) {
  unsigned pair = 0;
  std::memcpy(&pair, from, sizeof(pair));
  return pair;
}
inline void load_pair(const float* from, float& first, float& second) {
  if (reinterpret_cast<std::uintptr_t>(from) % 8 != 0) throw std::logic_error("ld.v2: a pair is not at 8 bytes");
  first = from[0];
  second = from[1];
}
inline void load_piece(const Half* from, unsigned (&pairs)[4]) {
  if (reinterpret_cast<std::uintptr_t>(from) % 16 != 0) throw std::logic_error("ld.v4: a piece is not at 16 bytes");
  std::memcpy(pairs, from, sizeof(pairs));
}
inline void store_piece(Half* to, const unsigned (&pairs)[4]) {
  if (reinterpret_cast<std::uintptr_t>(to) % 16 != 0) throw std::logic_error("st.v4: a piece is not at 16 bytes");
  std::memcpy(to, pairs, sizeof(pairs));
}
inline Half lower_of(unsigned pair) { return static_cast<Half>(pair); }
inline Half upper_of(unsigned pair) { return static_cast<Half>(pair >> 16U); }
inline unsigned bits_of(float x) { return std::bit_cast<std::uint32_t>(x); }
inline float float_of(unsigned bits) { return std::bit_cast<float>(bits); }

inline float larger(float a, float b) { return std::fmax(a, b); }
inline float exponential_2(float x) { return std::exp2(x); }
inline float inverse_root(float x) { return 1 / std::sqrt(x); }
inline float natural_logarithm(float x) { return std::log(x); }
inline void add_pair_to(float* to, float x, float y) {
  if (reinterpret_cast<std::uintptr_t>(to) % 8 != 0) throw std::logic_error("red.v2: a pair is not at 8 bytes");
  to[0] += x;
  to[1] += y;
}

/// Rows of the four matrices by lane; element (row, column) of matrix m is rows[8·m + row][column].
inline const std::array<const Half*, 32>& matrices_of_warp(int kind, const Half* row) {
  if (reinterpret_cast<std::uintptr_t>(row) % 16 != 0) throw std::logic_error("ldmatrix: a row is not at 16 bytes");
  return this_block().exchange(kind, row);
}

inline void load_matrices(unsigned (&to)[4], const Half* row) {
  const std::array<const Half*, 32> rows = matrices_of_warp(3, row);
  const auto lane = static_cast<std::size_t>(thread_index() % 32);
  for (std::size_t m = 0; m < 4; ++m) std::memcpy(&to[m], rows[8 * m + lane / 4] + 2 * (lane % 4), sizeof(to[m]));
  sync_warp();  // the instruction ends when every lane has its values
}

inline void load_matrices_transposed(unsigned (&to)[4], const Half* row) {
  const std::array<const Half*, 32> rows = matrices_of_warp(4, row);
  const auto lane = static_cast<std::size_t>(thread_index() % 32);
  for (std::size_t m = 0; m < 4; ++m) {
    const Half* first = rows[8 * m + 2 * (lane % 4)];
    const Half* second = rows[8 * m + 2 * (lane % 4) + 1];
    to[m] = static_cast<unsigned>(first[lane / 4]) | static_cast<unsigned>(second[lane / 4]) << 16U;
  }
  sync_warp();
}

inline void multiply_add(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  struct Given {
    unsigned a[4], b[2];
  };
  const std::array<Given, 32>& all = this_block().exchange(kMultiplyAdd, Given{{a[0], a[1], a[2], a[3]}, {b0, b1}});
  const int lane = thread_index() % 32;
  for (int i = 0; i < 4; ++i) {
    const int row = lane / 4 + 8 * (i / 2);
    const int column = 2 * (lane % 4) + i % 2;
    double total = sum[i];
    for (int k = 0; k < 16; ++k) {
      // A's rows of 8 are registers 0 and 1, its next 8 columns registers 2 and 3; B's next 8 rows register 1.
      const Given& of_row = all[static_cast<std::size_t>(row % 8 * 4 + k % 8 / 2)];
      const Given& of_column = all[static_cast<std::size_t>(column * 4 + k % 8 / 2)];
      total += static_cast<double>(part_of(of_row.a[row / 8 + 2 * (k / 8)], k % 2)) *
               static_cast<double>(part_of(of_column.b[k / 8], k % 2));
    }
    sum[i] = static_cast<float>(total);
  }
}

}  // namespace xlm::band
