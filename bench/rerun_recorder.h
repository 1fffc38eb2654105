// A recorder for machines without a GPU: tests and bench use it.
#pragma once

#include <functional>

#include "core/models/captured_steps.h"

namespace xlm {

/// Replays by running the work again. Like a GPU's recording, it reads only the tensors that were recorded.
class RerunRecorder final : public StepRecorder {
 public:
  void warm_up(const std::function<void()>& work) override {
    ++warm_ups;
    work();
  }
  void record(const std::function<void()>& work) override {
    work_ = work;
    work_();
  }
  void replay() override {
    ++replays;
    work_();
  }
  void forget() override { work_ = nullptr; }

  int warm_ups = 0;
  int replays = 0;

 private:
  std::function<void()> work_;
};

}  // namespace xlm
