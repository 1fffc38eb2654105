// The size of a campaign of tests/campaigns/README.md, and its report.
#pragma once

#include <cstdlib>
#include <iostream>
#include <string>

namespace xlm {

/// The number of a campaign's events: a few in a test, all in `make soak`.
inline int campaign_size(int in_a_test, int in_full) {
  const char* asked = std::getenv("XLM_CAMPAIGNS");
  return asked != nullptr && std::string(asked) == "full" ? in_full : in_a_test;
}

/// Prints a line to compare with bench/records/README.md.
inline void report(const std::string& text) { std::cout << "campaign: " << text << std::endl; }

}  // namespace xlm
