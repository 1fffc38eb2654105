// Work on other threads whose results are taken in the order in which it was given.
#pragma once

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace xlm {

/// Threads that take pieces of work in the order in which it was given. They begin with the first piece. At the end,
/// pieces that were not begun are left out.
class Workers {
 public:
  explicit Workers(std::size_t threads) : most_threads_(threads) {}
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  ~Workers();

  template <class Result>
  std::future<Result> begin(std::function<Result()> work) {
    const auto task = std::make_shared<std::packaged_task<Result()>>(std::move(work));
    add([task] { (*task)(); });
    return task->get_future();
  }

 private:
  void add(std::function<void()> work);
  void work();

  std::size_t most_threads_;
  std::mutex lock_;  // of the next three
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  bool ends_ = false;
  std::vector<std::thread> threads_;
};

/// Up to `threads` pieces of work at once, and as many that wait; results wait for their turn. With one thread nothing
/// runs aside: each piece is done when it is added.
template <class Result>
class OrderedWork {
 public:
  /// `take` gets each result, on the thread that calls `add` and `finish`, which throw what the work threw.
  OrderedWork(int threads, std::function<void(Result)> take)
      : threads_(static_cast<std::size_t>(std::max(threads, 1))), take_(std::move(take)), workers_(threads_) {}

  /// Work that is `brief` is done at once if nothing waits: handing it over would take longer.
  void add(std::function<Result()> work, bool brief = false) {
    if (threads_ == 1 || (brief && pending_.empty())) return take_(work());
    while (pending_.size() >= 2 * threads_) take_next();
    pending_.push_back(workers_.begin(std::move(work)));
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
  Workers workers_;  // last: its threads end before what they use
};

/// Objects that pieces of work use one after the other, each by one thread at a time.
template <class T>
class Spares {
 public:
  explicit Spares(std::function<std::unique_ptr<T>()> make) : make_(std::move(make)) {}

  /// Calls use(T&) with an object that no other thread uses.
  template <class Use>
  void with(const Use& use) {
    std::unique_ptr<T> taken;
    {
      const std::lock_guard lock(lock_);
      if (!idle_.empty()) {
        taken = std::move(idle_.back());
        idle_.pop_back();
      }
    }
    if (!taken) taken = make_();
    use(*taken);
    const std::lock_guard lock(lock_);
    idle_.push_back(std::move(taken));
  }

 private:
  std::function<std::unique_ptr<T>()> make_;
  std::mutex lock_;
  std::vector<std::unique_ptr<T>> idle_;
};

/// Passes bytes on to sinks in large blocks, each on another thread if it is `aside`: they work while the next blocks
/// come.
class SideSink {
 public:
  using Sink = std::function<void(std::string_view)>;
  SideSink(bool aside, std::vector<Sink> sinks) : aside_(aside), sinks_(std::move(sinks)) {
    for (std::size_t i = 0; aside && i < sinks_.size(); ++i) workers_.emplace_back(1);
  }

  void write(std::string_view bytes) {
    if (!aside_) {
      for (const Sink& sink : sinks_) sink(bytes);
      return;
    }
    filling_ += bytes;
    if (filling_.size() >= kBlockBytes) hand_over();
  }
  /// The same of bytes that the caller needs no more: large blocks are not copied.
  void give(std::string bytes) {
    if (!aside_ || bytes.size() < kBlockBytes / 4) return write(bytes);
    if (!filling_.empty()) hand_over();
    filling_ = std::move(bytes);
    hand_over();
  }
  /// All has been passed on. Like `write`, it throws what a sink threw.
  void finish() {
    if (!filling_.empty()) hand_over();
    for (Block& block : blocks_) block.wait();
  }

 private:
  static constexpr std::size_t kBlockBytes = std::size_t{512} << 10;

  struct Block {
    std::string bytes;
    std::vector<std::future<void>> passing;  // to each sink

    void wait() {
      for (std::future<void>& one : std::exchange(passing, {})) one.get();
    }
  };

  void hand_over() {
    Block& block = blocks_[next_++ % blocks_.size()];
    block.wait();
    std::swap(filling_, block.bytes);
    filling_.clear();
    for (std::size_t i = 0; i < sinks_.size(); ++i) {
      block.passing.push_back(workers_[i].begin(std::function<void()>([this, i, &block] { sinks_[i](block.bytes); })));
    }
  }

  bool aside_;
  std::vector<Sink> sinks_;
  std::string filling_;
  std::array<Block, 3> blocks_;
  std::size_t next_ = 0;
  std::deque<Workers> workers_;  // one for each sink; last: they end before what they use
};

}  // namespace xlm
