// Texts that commands are given: from a file, a pipe or standard input, cleaned as a corpus is.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "base/files.h"

namespace xlm {

/// All of a file; "-" is standard input, and a pipe is read to its end. Throws DataError where there is more than 64 MB
/// or nothing to read.
std::string read_text(const fs::path& file);

/// Whether something is piped or redirected into the program. A terminal, /dev/null and a closed stream are nothing.
bool has_piped_input();

/// All that is piped in. The line end that `echo` and editors put behind a text is not part of it.
std::string read_piped_text();

/// Declares --clean: none, or text8.
void add_clean_option(CLI::App& app, std::string& clean);

/// `text` as --clean says.
std::string cleaned(const std::string& text, const std::string& clean);

}  // namespace xlm
