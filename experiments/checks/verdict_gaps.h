// Printed values of a table that can get no verdict, whatever the runs measure.
#pragma once

#include <string>
#include <vector>

#include "results/tables/table.h"

namespace xlm {

struct VerdictGap {
  std::string message;
  std::string advice;
};

/// `table` is made of supposed runs, whose numbers differ from seed to seed. A printed value gets no verdict if nothing
/// says how much seeds differ, if the table cannot compare it, and if its margin is not larger than its rounding. A
/// margin or a tolerance wants a reason, which is a note of the table.
std::vector<VerdictGap> verdict_gaps(const TableDescription& description, const Table& table);

}  // namespace xlm
