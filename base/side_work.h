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
#include <vector>

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

/// Passes bytes on to sinks in large blocks, each on another thread if it is `aside`: they work while the next block
/// comes.
class SideSink {
 public:
  using Sink = std::function<void(std::string_view)>;
  SideSink(bool aside, std::vector<Sink> sinks) : aside_(aside), sinks_(std::move(sinks)), running_(sinks_.size()) {}

  void write(std::string_view bytes) {
    if (!aside_) {
      for (const Sink& sink : sinks_) sink(bytes);
      return;
    }
    filling_ += bytes;
    constexpr std::size_t kBlockBytes = std::size_t{512} << 10;
    if (filling_.size() >= kBlockBytes) hand_over();
  }
  /// All has been passed on. Like `write`, it throws what a sink threw.
  void finish() {
    if (!filling_.empty()) hand_over();
    wait();
  }

 private:
  void hand_over() {
    wait();
    std::swap(filling_, passing_);
    filling_.clear();
    for (std::size_t i = 0; i < sinks_.size(); ++i) {
      running_[i] = std::async(std::launch::async, [this, i] { sinks_[i](passing_); });
    }
  }
  void wait() {
    for (std::future<void>& one : running_) {
      if (one.valid()) one.get();
    }
  }

  bool aside_;
  std::vector<Sink> sinks_;
  std::string filling_;
  std::string passing_;
  std::vector<std::future<void>> running_;  // last: it ends before what it uses
};

}  // namespace xlm
