// What a table says of its verdicts, in words.
#pragma once

#include <string>
#include <vector>

#include "results/tables/table.h"

namespace xlm {

/// Ours less the printed value, and half of its interval if there is one: "+0.012 ± 0.004".
std::string difference_from_print(const PrintedComparison& compared, const CellOptions& options);

/// The keys in which runs are not the paper's: "model.width=64 (paper: 512), train.steps=300 and 7 more".
std::string keys_in_words(const std::vector<KeyApart>& apart);

/// Whether some cell's runs are not configured as the paper's.
bool any_not_comparable(const Table& table);

/// How many cells agree, differ and so on, with which numbers and on what grounds.
std::vector<std::string> verdict_notes(const Table& table);

/// Whether a star of the paper is a star here, both ways, over cells that show `value`: "Stars: 5 of the paper's 7 are
/// stars here (not Gumbel/text8-en); stars here alone: …". Empty if the paper prints none and there is none.
std::string printed_stars_note(const Table& table, const std::string& value);

}  // namespace xlm
