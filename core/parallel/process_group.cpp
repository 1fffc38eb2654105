// A ring of processes. Sums travel around it in parts, so that each process sends and receives little more than twice
// the numbers, for any number of processes.
#include "core/parallel/process_group.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "core/parallel/neighbours.h"

namespace xlm {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 18U;  // bytes that are moved at a time, and added while in the cache
constexpr int kRingPoll = 100;                         // milliseconds
/// Processes finish their step when they are asked to stop, and all have the same amount of work.
constexpr std::chrono::seconds kStopGrace{60};

using SteadyTime = std::chrono::steady_clock::time_point;

class Ring final : public ProcessGroup {
 public:
  explicit Ring(const Processes& processes)
      : ProcessGroup(processes.rank, processes.count), processes_(processes), neighbours_(meet(processes)) {}

  void sum(float* values, std::size_t count) override { reduce("sum of floats", values, count, kAdd); }
  void sum(double* values, std::size_t count) override { reduce("sum of doubles", values, count, kAdd); }
  void max(double* values, std::size_t count) override {
    reduce("max of doubles", values, count, [](double& own, double other) { own = std::max(own, other); });
  }

  void gather(const void* own, std::size_t bytes, void* all) override {
    agree("gather", bytes);
    const auto block = [&](std::int64_t owner) {
      return static_cast<char*>(all) + wrap(owner) * static_cast<std::int64_t>(bytes);
    };
    std::copy_n(static_cast<const char*>(own), bytes, block(rank()));
    for (std::int64_t step = 0; step + 1 < size(); ++step) {
      exchange(block(rank() - step), bytes, {block(rank() - step - 1), bytes, bytes}, kTake);
    }
  }

 private:
  static constexpr auto kAdd = [](auto& own, auto other) { own += other; };
  static constexpr auto kTake = [](std::size_t /*bytes*/) {};

  /// The number of incoming bytes. The buffer holds `capacity` of them and is refilled from its beginning.
  struct Incoming {
    void* buffer;
    std::size_t bytes;
    std::size_t capacity;
  };

  static Neighbours meet(const Processes& processes) {
    try {
      return find_neighbours(processes);
    } catch (const LostProcessError& error) {
      throw LostProcessError(
          fmt::format("process {} of {} did not meet the others: {}\nthe log of the run says how they ended",
                      processes.rank + 1, processes.count, error.what()));
    }
  }

  std::int64_t wrap(std::int64_t rank) const { return (rank + size()) % size(); }

  /// Each part of the numbers travels around once while it is summed, and once with its sum.
  template <class Number, class Join>
  void reduce(const char* what, Number* values, std::size_t count, Join join) {
    agree(what, count);
    const auto part = [&](std::int64_t owner) {
      const OwnRows rows = rows_of(wrap(owner), size(), static_cast<std::int64_t>(count));
      return std::pair(values + rows.begin, static_cast<std::size_t>(rows.count));
    };
    constexpr std::size_t kHeld = kPiece / sizeof(Number);
    auto* const arriving = reinterpret_cast<Number*>(piece_.data());
    for (std::int64_t step = 0; step + 1 < size(); ++step) {
      const auto [out, out_count] = part(rank() - step);
      const auto [in, in_count] = part(rank() - step - 1);
      std::size_t joined = 0;
      const auto join_arrived = [&, own = in](std::size_t bytes) {
        const std::size_t more = bytes / sizeof(Number) - joined;  // they are contiguous
        for (std::size_t i = 0; i < more; ++i) join(own[joined + i], arriving[joined % kHeld + i]);
        joined += more;
      };
      exchange(out, out_count * sizeof(Number), {arriving, in_count * sizeof(Number), kPiece}, join_arrived);
    }
    for (std::int64_t step = 0; step + 1 < size(); ++step) {
      const auto [out, out_count] = part(rank() + 1 - step);
      const auto [in, in_count] = part(rank() - step);
      const std::size_t bytes = in_count * sizeof(Number);
      exchange(out, out_count * sizeof(Number), {in, bytes, bytes}, kTake);
    }
  }

  /// Checks that the previous process is about to do the same.
  void agree(const char* what, std::size_t count) {
    struct Call {
      std::array<char, 24> what{};
      std::uint64_t count = 0;
    };
    Call own;
    std::copy_n(what, std::min(std::strlen(what), own.what.size() - 1), own.what.begin());
    own.count = count;
    Call other;
    exchange(&own, sizeof own, {&other, sizeof other, sizeof other}, kTake);
    if (own.what == other.what && own.count == other.count) return;
    other.what.back() = '\0';
    throw Error(fmt::format("the processes of this run do not do the same: one a {} of {}, another a {} of {}", what,
                            count, other.what.data(), other.count));
  }

  /// Sends to the next process while it receives from the previous one; calls `arrived` with the number of bytes
  /// received.
  template <class Arrived>
  void exchange(const void* out, std::size_t out_bytes, const Incoming& in, Arrived arrived) {
    std::size_t sent = 0;
    std::size_t received = 0;
    for (SteadyTime moved = std::chrono::steady_clock::now(); sent < out_bytes || received < in.bytes;) {
      const std::size_t before = sent + received;
      if (sent < out_bytes) {
        sent += moved_bytes(::send(neighbours_.next.descriptor(), static_cast<const char*>(out) + sent,
                                   std::min(out_bytes - sent, kPiece), MSG_NOSIGNAL),
                            false);
      }
      if (received < in.bytes) {
        const std::size_t at = received % in.capacity;
        received += moved_bytes(::recv(neighbours_.previous.descriptor(), static_cast<char*>(in.buffer) + at,
                                       std::min({in.bytes - received, in.capacity - at, kPiece}), 0),
                                true);
        arrived(received);
      }
      if (sent + received > before) {
        moved = std::chrono::steady_clock::now();
      } else {
        wait(sent < out_bytes, received < in.bytes, moved);
      }
    }
  }

  /// The bytes that a system call has moved. Throws LostProcessError if the other end is closed.
  std::size_t moved_bytes(ssize_t result, bool receiving) const {
    if (result > 0) return static_cast<std::size_t>(result);
    if (result < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
    throw LostProcessError(fmt::format("another process of the run has ended: process {} closed its connection: {}",
                                       wrap(rank() + (receiving ? -1 : 1)) + 1,
                                       result == 0 ? "end of data" : std::strerror(errno)));
  }

  void wait(bool sending, bool receiving, SteadyTime moved) {
    std::array<pollfd, 2> ends{{{sending ? neighbours_.next.descriptor() : -1, POLLOUT, 0},
                                {receiving ? neighbours_.previous.descriptor() : -1, POLLIN, 0}}};
    if (::poll(ends.data(), ends.size(), kRingPoll) != 0) return;
    if (processes_.give_up && processes_.give_up()) throw LostProcessError("another process of the run has ended");
    if (!processes_.should_stop || !processes_.should_stop()) return;
    const SteadyTime now = std::chrono::steady_clock::now();
    stopping_since_ = std::min(stopping_since_, now);
    if (now - std::max(stopping_since_, moved) > kStopGrace) {
      throw LostProcessError(
          fmt::format("the run is to stop, and another process of it has done nothing for {} s", kStopGrace.count()));
    }
  }

  Processes processes_;
  Neighbours neighbours_;
  SteadyTime stopping_since_ = SteadyTime::max();
  std::vector<std::byte> piece_ = std::vector<std::byte>(kPiece);
};

}  // namespace

std::unique_ptr<ProcessGroup> join(const Processes& processes) {
  return processes.count <= 1 ? nullptr : std::make_unique<Ring>(processes);
}

OwnRows rows_of(std::int64_t rank, std::int64_t size, std::int64_t rows) {
  const std::int64_t begin = rows * rank / size;
  return {begin, rows * (rank + 1) / size - begin};
}

OwnRows own_rows(const ProcessGroup* group, std::int64_t rows) {
  return group == nullptr ? OwnRows{0, rows} : rows_of(group->rank(), group->size(), rows);
}

}  // namespace xlm
