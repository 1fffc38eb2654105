// What comes instead of a table or a figure that no run has numbers for.
#pragma once

#include <string>

namespace xlm {

struct NothingToShow {
  std::string title;    // of the table or figure
  std::string reason;   // one line, as a page shows it: "no run fulfils its conditions"
  std::string message;  // the whole of it, with what to do, as a terminal shows it
};

}  // namespace xlm
