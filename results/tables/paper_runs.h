// The runs that a recipe's profile `paper` would make, and in which keys other runs are not as these.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "results/store/run_table.h"

namespace xlm {

/// A key of the resolved configuration in which runs are not as the paper's.
struct KeyApart {
  std::string key;
  std::string ours;   // one value of ours that no run of the paper has; empty: none is given
  std::string paper;  // the paper's value; empty: it has several
};

/// "model.width=64 (paper: 512)", "model.layers=[1,2,1]", "no model.pretrained".
std::string to_text(const KeyApart& apart);

/// What is known of the paper's runs without making them.
struct PaperRunsKnown {
  std::vector<Run> runs;           // done, with made-up numbers
  std::set<std::string> keys;      // that change what a run is
  std::set<std::string> required;  // of these, keys that the recipe leaves to the user and that must be given
  std::set<std::string> unnamed;   // names of corpora of which nothing says what they hold
  std::string length;              // how long they train, in words: "600,000 steps (19.7G tokens)"
};

/// Compares resolved configurations with those of the paper. What is compared: every option that changes the result of
/// a run (sizes, optimiser, steps, batches, precision), the settings that an evaluation was made with, and the names of
/// the corpora of training and evaluation. What is not: the seed, how often a run is evaluated, and options that only
/// say where or how a run is done (device, threads, processes, results.*).
class PaperRuns {
 public:
  explicit PaperRuns(PaperRunsKnown known);
  PaperRuns(const PaperRuns&) = delete;
  PaperRuns& operator=(const PaperRuns&) = delete;
  ~PaperRuns() = default;

  /// To choose rows among them by the conditions of a table.
  RunTable& table() { return runs_; }
  const std::string& length() const { return known_.length; }

  /// The keys, in the order of the alphabet, in which some of `rows` of `runs` has a value that none of `of_paper`
  /// (rows of `table`; empty: all) has. `may_differ`: keys that are left out. A key that `runs` do not know, because
  /// they were made before it was, is not compared, but for model.type.
  std::vector<KeyApart> keys_apart(RunTable& runs, const std::vector<std::size_t>& rows,
                                   const std::vector<std::size_t>& of_paper, const std::set<std::string>& may_differ);

 private:
  PaperRunsKnown known_;
  RunTable runs_;
};

}  // namespace xlm
