// Real texts that are too large to be part of the project: Wikipedia in several languages, books, GPT-2's encoding. The
// tests that read them are named "…RealTexts" and are skipped where they are not there; all others bring what they
// read.
#pragma once

#include <cstdlib>
#include <filesystem>

namespace xlm {

/// The folder of real texts: the one that XLM_REAL_TEXTS names, otherwise ../shared/data beside the checkout.
inline std::filesystem::path real_texts() {
  const char* named = std::getenv("XLM_REAL_TEXTS");
  if (named != nullptr) return named;
  return std::filesystem::path(XLM_SOURCE_DIR) / "../shared/data";
}

/// Skips the test where `path` of the real texts is not there.
#define XLM_NEEDS_REAL_TEXT(path) \
  if (!std::filesystem::exists(real_texts() / (path))) GTEST_SKIP() << (real_texts() / (path)) << " is not there"

}  // namespace xlm
