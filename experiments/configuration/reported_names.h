// What a program will report, as far as its configuration says it before any run.
#pragma once

#include <set>
#include <string>

#include "base/yaml.h"

namespace xlm {

/// Names of quantities, without split and `costs.`.
struct ReportedNames {
  std::set<std::string> evaluations;
  std::set<std::string> costs;
  std::set<std::string> series;     // of training
  std::set<std::string> validated;  // by evaluations of `valid` while it trains
  std::set<std::string> own;        // evaluations of the program itself, with the split: "valid.ppl"
  bool may_be_others = false;       // nothing that the configuration says limits them

  /// Adds a name as a program gives it: "valid.ppl", "costs.hours", "ppl".
  void add(const std::string& name);
};

/// The names in the patterns and `names` of `program.metrics` and of the commands of `evaluate`, and those of
/// `program.better`, of which each split and the run itself may have one. None if `tree` has no program. What is wrong
/// in it is left out: reading a run complains of that.
ReportedNames reported_names(const Yaml& tree);

}  // namespace xlm
