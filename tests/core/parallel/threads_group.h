// A process group whose processes are threads of a test.
#pragma once

#include <barrier>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "core/parallel/process_group.h"

namespace xlm {

class ThreadsGroup {
 public:
  explicit ThreadsGroup(std::int64_t count) : barrier_(count), parts_(static_cast<std::size_t>(count)) {}

  /// Calls `work` in a thread for each rank. Returns their errors by rank ("" for none).
  std::vector<std::string> run(const std::function<void(ProcessGroup&)>& work) {
    std::vector<std::string> errors(parts_.size());
    std::vector<std::thread> threads;
    for (std::size_t rank = 0; rank < parts_.size(); ++rank) {
      threads.emplace_back([&, rank] {
        try {
          Member group(*this, static_cast<std::int64_t>(rank));
          work(group);
        } catch (const std::exception& error) {
          errors[rank] = error.what();
          barrier_.arrive_and_drop();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    return errors;
  }

 private:
  class Member final : public ProcessGroup {
   public:
    Member(ThreadsGroup& all, std::int64_t rank) : ProcessGroup(rank, std::ssize(all.parts_)), all_(&all) {}
    using ProcessGroup::max;
    using ProcessGroup::sum;
    void sum(const torch::Tensor& values) override { values.copy_(gather(values).sum(0)); }
    void max(const torch::Tensor& values) override { values.copy_(gather(values).amax(0)); }
    torch::Tensor gather(const torch::Tensor& own) override {
      EXPECT_TRUE(own.is_contiguous());
      all_->parts_[static_cast<std::size_t>(rank())] = own.detach().clone();
      all_->barrier_.arrive_and_wait();
      torch::Tensor all = torch::stack(all_->parts_);
      all_->barrier_.arrive_and_wait();
      return all;
    }

   private:
    ThreadsGroup* all_;
  };

  std::barrier<> barrier_;
  std::vector<torch::Tensor> parts_;
};

}  // namespace xlm
