// Options of what a window of GPT-2 keeps for the windows after it, in place of a pooled state: keys and values, or
// memory tokens (Dai et al. 2019; Bulatov et al. 2022).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/options.h"

namespace xlm {

struct WindowMemoryOptions {
  enum class Type { kNone, kCache, kTokens };
  static constexpr std::array<std::string_view, 3> kTypeNames{"none", "cache", "tokens"};

  Type type = Type::kNone;
  std::int64_t windows = 0;
  std::int64_t tokens = 0;
  bool detach = false;

  /// Lists them as `memory`, `memory_windows`, `memory_tokens`, `memory_detach`.
  void visit(OptionVisitor& v);

  bool caches() const { return type == Type::kCache; }
  bool has_tokens() const { return type == Type::kTokens; }

  /// Fills in the number that the type uses, if it is 0. The other one stays: it may not change run ids.
  void complete();
};

}  // namespace xlm
