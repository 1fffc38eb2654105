// Systems that start workers later and elsewhere, such as the scheduler of a cluster: a sweep is put into their queue,
// and the command that did so may end. The workers take their runs from a work list.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "experiments/launchers/resources.h"
#include "experiments/launchers/site.h"
#include "experiments/launchers/work_list.h"

namespace xlm {

/// What is asked of a queue. The list says which runs; `asked` is what the sweep's file says of resources.
struct QueueRequest {
  WorkList list;
  Resources asked;
  Site site;
  fs::path program;  // that the workers run
  double save = 0;   // seconds before a worker's time is over at which it is told to save; set by the queue
  std::vector<std::string> exclude = {};  // machines that workers are not to have; set by the queue
};

/// A worker that waits or runs, as its queue sees it.
struct QueuedWorker {
  std::string id;      // by which the queue knows it: "12_3"
  std::string state;   // in the queue's own word: PENDING
  std::string reason;  // why it waits, or nothing
  std::string host;    // where it runs, or nothing
  bool waits = false;
};

class WorkerQueue {
 public:
  virtual ~WorkerQueue() = default;

  /// What `count` workers would be asked for with, for people, and when they would start where that is known. Throws
  /// Error where the queue would not take them. Nothing is queued.
  virtual std::string preview(std::int64_t count) = 0;

  /// Workers of the same list that wait or run; nothing where nobody knows.
  virtual std::optional<std::vector<QueuedWorker>> workers() = 0;

  /// Puts `count` workers into the queue and says what was done, for people. The list has been written.
  virtual std::string add(std::int64_t count) = 0;
};

}  // namespace xlm
