// How long runs train, in words: what a table says of runs that are smaller than the paper's.
#pragma once

#include <cstdint>
#include <set>
#include <string>

namespace xlm {

/// The lengths of several runs, from the shortest to the longest.
class RunLengths {
 public:
  /// `tokens` are those of all steps together; 0: not known.
  void add(std::int64_t steps, double tokens);
  /// A length that follows from data that are not there, in words: "2 epochs".
  void add(const std::string& words) { others_.insert(words); }
  /// A length that is spent while training: FLOPs or seconds; 0: not that.
  void add_budget(double flops, double seconds);

  /// "2,000 steps (4.1M tokens)", "600,000 to 900,000 steps (20G to 29G tokens)"; empty: none was added.
  std::string text() const;

 private:
  std::set<std::int64_t> steps_;
  std::set<double> tokens_;
  std::set<std::string> others_;
};

}  // namespace xlm
