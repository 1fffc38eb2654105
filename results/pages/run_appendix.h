// The runs behind a page: their data for its script, numbers to refer to them, and a section about each.
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

  /// Adds runs. A new run gets the next number.
  void add(const std::vector<std::string>& runs);

  std::size_t size() const { return order_.size(); }

  /// The ids of the runs, in the order of their numbers.
  std::vector<std::string> ids() const;

  /// RunLister's description of an added run.
  const Json& run(const std::string& id) const { return order_[numbers_.at(id) - 1]; }

  /// The numbers of `runs` as links to their places in the section: "1–3, 7".
  std::string references(const std::vector<std::string>& runs) const;

  /// All runs by id, each with its number and main results.
  Json json() const;

  /// HTML: a table of all runs in the order of their numbers. Each has status, steps, main results, the differences
  /// from other runs of its experiment, and its configuration, folded.
  std::string section() const;

 private:
  Store& store_;
  std::vector<Json> order_;
  std::map<std::string, std::size_t> numbers_;  // from 1
};

/// The anchor for links to the run of this number.
std::string run_anchor(std::size_t number);

/// "valid bpc 2.0483, test bpc 2.0395": the final evaluation of each split, in the measure that papers print.
std::string main_results(const Json& run);

}  // namespace xlm
