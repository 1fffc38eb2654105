// Options of what a window of GPT-2 keeps for the windows after it.
#include "core/api/window_memory_options.h"

namespace xlm {

void WindowMemoryOptions::visit(OptionVisitor& v) {
  v.field({.name = "memory",
           .help = "what a window keeps for the next ones, instead of recurrence.pool: nothing, keys and values of its "
                   "tokens (cache), or memory tokens that it reads and writes (tokens)",
           .later = true},
          type, kTypeNames);
  v.field({.name = "memory_windows",
           .help = "cache: earlier windows whose keys and values are kept; 0: 1",
           .min = 0,
           .max = 1e6,
           .later = true},
          windows);
  v.field({.name = "memory_tokens",
           .help = "tokens: memory tokens in front of a window, and as many behind it; 0: 10",
           .min = 0,
           .max = 1e5,
           .later = true},
          tokens);
  v.field({.name = "memory_detach",
           .help = "no gradient flows through what is kept into earlier windows, as in Transformer-XL",
           .later = true,
           .of_learning = true},
          detach);
}

void WindowMemoryOptions::complete() {
  if (caches() && windows == 0) windows = 1;
  if (has_tokens() && tokens == 0) tokens = 10;
}

}  // namespace xlm
