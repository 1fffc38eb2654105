// Input texts of commands: from a file, a pipe or standard input, cleaned like a corpus.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "base/files.h"

namespace xlm {

/// Whether input is piped or redirected into the program. A terminal, /dev/null and a closed stream do not count.
bool has_piped_input();

/// The text of a file: in UTF-8 without a byte-order mark, with Unix's line ends, and without the last one, which
/// editors and `echo` add. "-" is standard input, and a pipe is read to its end. Throws DataError if there are more
/// than 64 MB or nothing to read.
std::string read_plain_text(const fs::path& file);

/// Declares --clean: none, or text8.
void add_clean_option(CLI::App& app, std::string& clean);

std::string cleaned(const std::string& text, const std::string& clean);

}  // namespace xlm
