// What table, pareto and others share: in which format they write, said by --format or by how --out ends.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cmd/command.h"
#include "results/tables/table_text.h"

namespace xlm {

inline constexpr std::string_view kHtml = "html";  // a page

/// "text", "markdown", "csv", "json", "latex": what render_table writes.
std::vector<std::string> table_formats();

/// The one of that name, which is one of them.
TableFormat table_format(const std::string& name);

/// Declares --format with one of `formats`, and --out.
void add_output_options(CLI::App& app, std::string& format, fs::path& out, const std::vector<std::string>& formats);

/// The format that is asked for: JSON by --json, otherwise `format`, otherwise what the ending of `out` stands for, and
/// text where it has none. Throws UsageError where `out` ends in what is none of `formats`, or contradicts `format`.
std::string output_format(const std::string& format, const fs::path& out, const std::vector<std::string>& formats,
                          const GlobalOptions& global);

}  // namespace xlm
