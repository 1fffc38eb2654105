// The runs behind a page: their data for its script.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "results/store/store.h"

namespace xlm {

class RunAppendix {
 public:
  explicit RunAppendix(Store& store) : store_(store) {}

  /// Adds runs, those that are new.
  void add(const std::vector<std::string>& runs);

  std::size_t size() const { return order_.size(); }

  /// The ids of the runs, in the order in which they were added.
  std::vector<std::string> ids() const;

  /// RunLister's description of an added run.
  const Json& run(const std::string& id) const { return order_[places_.at(id)]; }

  /// All runs by id, each with its main results.
  Json json() const;

 private:
  Store& store_;
  std::vector<Json> order_;
  std::map<std::string, std::size_t> places_;
};

}  // namespace xlm
