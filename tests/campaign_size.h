// How much a campaign of docs/reliability.md does, and how it says what it has done.
#pragma once

#include <cstdlib>
#include <iostream>
#include <string>

namespace xlm {

/// How many events a campaign has: a few in a test, all in `make soak`.
inline int campaign_size(int in_a_test, int in_full) {
  const char* asked = std::getenv("XLM_CAMPAIGNS");
  return asked != nullptr && std::string(asked) == "full" ? in_full : in_a_test;
}

/// A line that docs/records.md can be compared with.
inline void report(const std::string& text) { std::cout << "campaign: " << text << std::endl; }

}  // namespace xlm
