// What tests of claims share: a store of two span types, two spans and three seeds, and claims about it.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "base/yaml.h"
#include "results/claims/claim_text.h"
#include "results/exhibits/exhibits.h"
#include "tests/results/run_maker.h"

namespace xlm {

inline ClaimDescription claim_of(const std::string& yaml) {
  return read_claim_description(find_exhibits(parse_yaml(yaml, "claims.yaml"), ExhibitKind::kClaim).front());
}

class Claims : public ::testing::Test {
 protected:
  Claims() {
    maker_.make_sweep({"fixed", "adaptive"}, {64, 128, 256}, {1, 2, 3});
    store_.sync(maker_.runs());
  }

  JudgedClaim judged(const std::string& yaml, const ClaimContext& context = {}) {
    RunTable runs(store_);
    return judge_claim(runs, claim_of(yaml), context);
  }

  Verdict verdict(const std::string& yaml) { return judged(yaml).verdict; }

  /// Adds a run with its own number, of a corpus and in a state.
  void add(const std::string& type, int span, int seed, double bpc, const std::string& corpus = "text8",
           const std::string& state = "done") {
    const std::string id = "adaptive-span-text8-" + std::to_string(20'000'000 + added_++);
    maker_.make({.id = id, .type = type, .span = span, .seed = seed, .bpc = bpc, .state = state});
    if (corpus != "text8") {
      write_file(RunPaths{maker_.folder(id)}.environment(),
                 Json{{"dataset", corpus}, {"language", ""}, {"fingerprint", "beef"}}.dump());
    }
    store_.sync(maker_.runs());
  }

  TemporaryFolder temporary_;
  RunMaker maker_{temporary_.path() / "runs"};
  Store store_ = Store::in_memory();
  int added_ = 0;
};

}  // namespace xlm
