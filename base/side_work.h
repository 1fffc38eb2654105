// Work on other threads whose results are taken in the order in which it was given.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>
#include <future>
#include <string>
#include <string_view>
#include <utility>

namespace xlm {

/// Up to `threads` pieces of work at once; results wait for their turn. With one thread nothing runs aside: each piece
/// is done when its result is taken.
template <class Result>
class OrderedWork {
 public:
  /// `take` gets each result, on the thread that calls `add` and `finish`, which throw what the work threw.
  OrderedWork(int threads, std::function<void(Result)> take)
      : threads_(static_cast<std::size_t>(std::max(threads, 1))), take_(std::move(take)) {}

  void add(std::function<Result()> work) {
    while (pending_.size() >= threads_) take_next();
    pending_.push_back(std::async(threads_ > 1 ? std::launch::async : std::launch::deferred, std::move(work)));
    if (threads_ == 1) take_next();
  }
  /// Takes the results of all that was added.
  void finish() {
    while (!pending_.empty()) take_next();
  }

 private:
  void take_next() {
    std::future<Result> next = std::move(pending_.front());
    pending_.pop_front();
    take_(next.get());
  }

  std::size_t threads_;
  std::function<void(Result)> take_;
  std::deque<std::future<Result>> pending_;
};

/// Passes bytes on to a sink in large blocks, on another thread if it is `aside`: it works while the next block comes.
class SideSink {
 public:
  SideSink(bool aside, std::function<void(std::string_view)> sink) : aside_(aside), sink_(std::move(sink)) {}

  void write(std::string_view bytes) {
    if (!aside_) return sink_(bytes);
    filling_ += bytes;
    constexpr std::size_t kBlockBytes = std::size_t{512} << 10;
    if (filling_.size() >= kBlockBytes) hand_over();
  }
  /// All has been passed on. Like `write`, it throws what the sink threw.
  void finish() {
    if (!filling_.empty()) hand_over();
    if (running_.valid()) running_.get();
  }

 private:
  void hand_over() {
    if (running_.valid()) running_.get();
    std::swap(filling_, passing_);
    filling_.clear();
    running_ = std::async(std::launch::async, [this] { sink_(passing_); });
  }

  bool aside_;
  std::function<void(std::string_view)> sink_;
  std::string filling_;
  std::string passing_;
  std::future<void> running_;  // last: it ends before what it uses
};

}  // namespace xlm
