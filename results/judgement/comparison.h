// Two settings compared in one value: what is asked, which runs answer it, and what they say.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/json.h"
#include "results/judgement/pairing.h"
#include "results/judgement/part_comparison.h"
#include "results/judgement/verdict.h"
#include "results/store/equal_budgets.h"
#include "results/store/selection.h"
#include "results/store/shown_runs.h"

namespace xlm {

struct ComparisonQuestion {
  std::string value;          // column to compare
  std::string over = "seed";  // column that pairs runs
  Selection choose;           // which of the settings of a side counts
  double level = kLevel;      // of the interval
};

struct SettingQuestion {
  std::string name;             // as it was asked
  std::vector<Filter> filters;  // conditions on its runs
  std::set<std::string> ids;    // and only these; empty: all
};

/// Runs of one setting, and the numbers of each seed.
struct Setting : SeedValues {
  std::string name;
  SettingChoice choice = {};
  HiddenRuns left_out = {};
};

/// Throws DataError if no run has a number, or if no setting can be chosen.
Setting read_setting(RunTable& runs, const SettingQuestion& side, const ComparisonQuestion& question);

/// Whether the settings differ on one text: a test over its documents instead of seeds.
struct DocumentComparison {
  std::optional<PartComparison> test;
  std::string parts;    // what the parts are: "1,000 stretches of 5,000 tokens"
  std::string problem;  // why there is no test, if some runs kept the losses of parts
};

/// The difference of two settings, A − B.
struct Comparison {
  ComparisonQuestion question;
  Setting a;
  Setting b;
  SeedComparison seeds;
  LimitsTest test;                        // whether the difference is zero
  Verdict verdict = Verdict::kUndecided;  // or that they differ
  std::optional<Verdict> worst_case;      // if the diverged seeds count as the worst; nothing: none, or no direction
  bool ignores_seeds = false;             // a setting is of a program that printed one number with all its seeds
  bool are_the_same = false;              // both are of programs that printed the same numbers, seed by seed
  std::optional<DocumentComparison> documents;
  std::vector<std::string> differ_in;  // keys whose values are others in A than in B, without the one that pairs
  bool is_of_one_corpus = true;        // what is subtracted was measured on the same data
  RunBudgets budgets;
  std::string unfrozen;  // a note on code that is in no copy

  std::int64_t diverged() const { return std::ssize(a.diverged) + std::ssize(b.diverged); }
  std::int64_t pairs() const { return seeds.is_paired ? seeds.difference.seeds : 0; }
};

/// Compares by seed, and by document if `folder`, that of the runs, holds losses of documents. Throws UsageError if the
/// settings share runs, and DataError if nothing can be tested.
Comparison compare_settings(RunTable& runs, Setting a, Setting b, const ComparisonQuestion& question,
                            const fs::path& folder);

/// Lines for a terminal, and JSON.
std::string comparison_text(const Comparison& compared);
Json to_json(const Comparison& compared);

}  // namespace xlm
