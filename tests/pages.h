// The pages of the manual, for tests that read all of them.
#pragma once

#include <vector>

#include "base/files.h"

namespace xlm {

/// README, docs/ and the pages of the models next to their recipes.
inline std::vector<fs::path> manual_pages() {
  const fs::path source = XLM_SOURCE_DIR;
  std::vector<fs::path> pages{source / "README.md"};
  for (const char* folder : {"docs", "experiments/recipes"}) {
    for (const auto& entry : fs::recursive_directory_iterator(source / folder)) {
      if (entry.path().extension() == ".md") pages.push_back(entry.path());
    }
  }
  return pages;
}

}  // namespace xlm
