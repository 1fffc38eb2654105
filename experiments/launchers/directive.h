// What may stand in a site file as a further option of sbatch.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace xlm {

/// The words that sbatch makes of what follows #SBATCH: blanks part them, quotes and backslashes hold them together,
/// and # ends the line.
std::vector<std::string> directive_words(std::string_view line);

/// Whether sbatch takes a word, such as "--gres=gpu:1", "--gre" or "-n4", for this option, which may be abbreviated.
bool gives_option(std::string_view word, std::string_view option);

/// A line of a site file as one word that is one option, with its value behind it: "--exclude=node7", "-xnode7". Throws
/// UsageError for anything else, and for an option that a worker's script says itself or lives by.
std::string read_directive(std::string_view line);

}  // namespace xlm
