// The output format of table, pareto and other commands, from --format or the ending of --out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cmd/command.h"
#include "results/tables/table_text.h"

namespace xlm {

inline constexpr std::string_view kHtml = "html";  // a page

/// The formats that render_table writes: "text", "markdown", "csv", "json", "latex".
std::vector<std::string> table_formats();

/// The same, and a page.
std::vector<std::string> formats_with_pages();

/// The format called `name`, which is one of table_formats().
TableFormat table_format(const std::string& name);

void add_output_options(CLI::App& app, std::string& format, fs::path& out, const std::vector<std::string>& formats);

/// The output format: JSON with --json, else `format`, else that of the ending of `out`, else text. Throws UsageError
/// if the ending of `out` is not one of `formats`, or contradicts `format`.
std::string output_format(const std::string& format, const fs::path& out, const std::vector<std::string>& formats,
                          const GlobalOptions& global);

}  // namespace xlm
