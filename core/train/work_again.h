// In place of a recorder of a GPU, where there is none.
#pragma once

#include <functional>

#include "core/train/captured_steps.h"

namespace xlm {

/// Replays by doing the work again: it sees only what a recording would read, as a GPU does.
class WorkAgain final : public StepRecorder {
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
