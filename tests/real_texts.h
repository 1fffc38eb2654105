// Real texts that are too large for the project: Wikipedia in several languages, books, GPT-2's encoding. Tests that
// read them are named "…RealTexts" and are skipped if they are missing. All other tests contain their texts.
#pragma once

#include <cstdlib>
#include <filesystem>

#include "tests/needs.h"

namespace xlm {

/// The folder of real texts: XLM_REAL_TEXTS, otherwise ../shared/data next to the checkout.
inline std::filesystem::path real_texts() {
  const char* named = std::getenv("XLM_REAL_TEXTS");
  if (named != nullptr) return named;
  return std::filesystem::path(XLM_SOURCE_DIR) / "../shared/data";
}

/// Skips the test if `path` of the real texts is missing.
#define XLM_NEEDS_REAL_TEXT(path) \
  if (!std::filesystem::exists(real_texts() / (path))) GTEST_SKIP() << needs::kTexts

}  // namespace xlm
