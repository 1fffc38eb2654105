// The format in which commands write.
#include "cmd/output_format.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace xlm {
namespace {

/// A file ending and its format. The help names the first ending of a format.
struct Ending {
  std::string_view ending;
  std::string_view format;
};
constexpr std::array<Ending, 8> kEndings{{{".txt", "text"},
                                          {".md", "markdown"},
                                          {".markdown", "markdown"},
                                          {".csv", "csv"},
                                          {".json", "json"},
                                          {".tex", "latex"},
                                          {".html", "html"},
                                          {".htm", "html"}}};

/// The format of an ending; empty if the ending is unknown.
std::string_view format_of(std::string_view ending) {
  const auto* const found = std::ranges::find_if(kEndings, [&](const Ending& each) { return each.ending == ending; });
  return found == kEndings.end() ? "" : found->format;
}

/// "text (.txt), markdown (.md), csv (.csv)".
std::string with_endings(const std::vector<std::string>& formats) {
  std::vector<std::string> parts;
  for (const std::string& format : formats) {
    const auto* const found = std::ranges::find_if(kEndings, [&](const Ending& each) { return each.format == format; });
    parts.push_back(found == kEndings.end() ? format : fmt::format("{} ({})", format, found->ending));
  }
  return join(parts, ", ");
}

bool is_one_of(const std::vector<std::string>& formats, std::string_view format) {
  return std::ranges::find(formats, format) != formats.end();
}

}  // namespace

std::vector<std::string> table_formats() { return {kTableFormatNames.begin(), kTableFormatNames.end()}; }

std::vector<std::string> formats_with_pages() {
  std::vector<std::string> names = table_formats();
  names.emplace_back(kHtml);
  return names;
}

TableFormat table_format(const std::string& name) {
  const auto* const found = std::ranges::find(kTableFormatNames, name);
  return static_cast<TableFormat>(found - kTableFormatNames.begin());
}

void add_output_options(CLI::App& app, std::string& format, fs::path& out, const std::vector<std::string>& formats) {
  app.add_option("--format", format, join(formats, ", ") + " (default: by --out, else text)")
      ->check(CLI::IsMember(formats).description(""))
      ->type_name("FORMAT");
  app.add_option("--out", out, "Write to a file")->type_name("FILE");
}

std::string output_format(const std::string& format, const fs::path& out, const std::vector<std::string>& formats,
                          const GlobalOptions& global) {
  if (global.json) return "json";
  const std::string ending = out.extension().string();
  if (ending.empty()) return format.empty() ? "text" : format;
  const std::string_view said = format_of(ending);
  if (format.empty() && !is_one_of(formats, said)) {
    throw UsageError(
        fmt::format("--out {}: no format has the ending '{}'\nuse one of {}, or --format "
                    "with any name",
                    out.string(), ending, with_endings(formats)));
  }
  if (!format.empty() && !said.empty() && said != format) {
    throw UsageError(fmt::format("--format {} and --out {} contradict each other", format, out.string()));
  }
  return format.empty() ? std::string(said) : format;
}

}  // namespace xlm
