// Further options of sbatch in a site file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace xlm {

/// Splits what follows #SBATCH into words as sbatch does: at blanks, but not within quotes or after a backslash. # ends
/// the line.
std::vector<std::string> directive_words(std::string_view line);

/// Whether sbatch takes a word, such as "--gres=gpu:1", "--gre" or "-n4", as this option. Options may be abbreviated.
bool gives_option(std::string_view word, std::string_view option);

/// A line of a site file as one word with one option and its value: "--exclude=node7", "-xnode7". Throws UsageError for
/// anything else, and for an option that the worker's script gives or relies on.
std::string read_directive(std::string_view line);

}  // namespace xlm
