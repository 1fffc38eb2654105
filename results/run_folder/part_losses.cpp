// Reads the losses of the parts of a split.
#include "results/run_folder/part_losses.h"

#include <algorithm>

namespace xlm {

RunLosses part_losses(const Json& record) {
  const std::string of = record.at("of").get<std::string>();
  RunLosses losses{.step = record.at("step").get<std::int64_t>(),
                   .of_documents = of == kPartNames[0],
                   .each = record.at("each").get<std::int64_t>(),
                   .tokens = record.at("tokens").get<std::vector<std::int64_t>>(),
                   .sums = record.at("sums").get<std::vector<double>>()};
  const bool is_known = losses.of_documents || of == kPartNames[1];
  const bool counts = std::ranges::all_of(losses.tokens, [](std::int64_t n) { return n >= 0; });
  if (is_known && counts && losses.each > 0 && losses.tokens.size() == losses.sums.size()) return losses;
  throw Json::other_error::create(501, "parts must have a number of tokens and a sum each", &record);
}

}  // namespace xlm
