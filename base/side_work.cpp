// Threads that take pieces of work.
#include "base/side_work.h"

namespace xlm {

Workers::~Workers() {
  {
    const std::lock_guard lock(lock_);
    ends_ = true;
    waiting_.clear();
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Workers::add(std::function<void()> work) {
  {
    const std::lock_guard lock(lock_);
    waiting_.push_back(std::move(work));
  }
  changed_.notify_one();
  if (threads_.size() < most_threads_) threads_.emplace_back([this] { this->work(); });
}

void Workers::work() {
  while (true) {
    std::function<void()> next;
    {
      std::unique_lock lock(lock_);
      changed_.wait(lock, [this] { return ends_ || !waiting_.empty(); });
      if (ends_) return;
      next = std::move(waiting_.front());
      waiting_.pop_front();
    }
    next();
  }
}

}  // namespace xlm
