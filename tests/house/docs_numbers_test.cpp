// Every measurement in the documentation names its version and its machine.
#include <regex>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/text.h"
#include "tests/pages.h"

namespace xlm {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Numbers that are not measurements: settings, and statements of papers.
const std::vector<std::string> kNotMeasured{
    "may unpack to 1000 times its own size (at least 1 GB, at most 1 TB)",  // a bound
    "otherwise 4 times the width",                                          // an option's default
    "0: 4 times the width",
    "0: 4 times local_width",
    "8/3 times it in whole 64s",
    "with 4 times the width",
    "a cosine to a tenth, 1 % warm-up",
    "steps that take 1.5 to 1.7 times as long",  // an option's help; in docs/performance.md it is marked
    "the 95 % interval",                         // levels of tests, which verdicts are made with
    "Bartlett's test at 5 %",
    "F-test at 5 %",
    "in at most 5 % of perfectly reproduced tables",
    "a chance of 80 %",
    "(1 % if the",
    "(`--level`, 95 %)",
    "plotly.js is inside it (5 MB)",      // a pinned file
    "of more than 16 MB, the end is in",  // limits of programs
    "More than 64 MB is an error",
    "up to 256 MB; if it is larger",
    "with windows of up to 2 GB",
    "more than 32 MB of output",
};

/// A page's sections: the text from one heading to the next.
std::vector<std::string> sections_of(const std::string& page) {
  std::vector<std::string> sections(1);
  bool code = false;
  for (const std::string& line : split(page, '\n')) {
    if (line.starts_with("```")) code = !code;
    if (!code && line.starts_with("#")) sections.emplace_back();
    sections.back() += line + "\n";
  }
  return sections;
}

/// A section without blocks of code, code within lines, and numbers that are not measurements.
std::string prose_of(std::string section) {
  for (const std::string& known : kNotMeasured) {
    for (std::size_t at = 0; (at = section.find(known, at)) != std::string::npos;) section.erase(at, known.size());
  }
  std::string prose;
  bool code = false;
  for (const std::string& line : split(section, '\n')) {
    if (line.starts_with("```")) {
      code = !code;
    } else if (!code) {
      prose += std::regex_replace(line, std::regex("`[^`]*`"), "`") + "\n";
    }
  }
  return prose;
}

/// The first measurement in a section without a mark: a number with a unit of time, memory, speed or loss, or a share.
std::string unmarked_number(const std::string& section) {
  static const std::regex mark("(\\*Measured[^:]*: |\\()version [0-9]+\\.[0-9]+\\.[0-9]+, [^*]*");
  static const std::regex number(
      "[0-9][0-9,.]*( (and|to|or) [0-9][0-9,.]*)* ?(ms|s|kB|MB|GB|MB/s|GFLOP/s|nats|minutes|hours|%|times)(?![\\w/-])");
  if (std::regex_search(section, mark)) return "";
  const std::string prose = prose_of(section);
  std::smatch match;
  if (!std::regex_search(prose, match, number)) return "";
  return section.substr(0, section.find('\n')) + ": " + match.str();
}

std::vector<std::string> unmarked_numbers(const std::string& page) {
  std::vector<std::string> found;
  for (const std::string& section : sections_of(page)) {
    if (std::string one = unmarked_number(section); !one.empty()) found.push_back(std::move(one));
  }
  return found;
}

TEST(DocsNumbers, NameTheirVersionAndMachine) {
  std::vector<fs::path> pages = manual_pages();
  for (const char* record : {"README.md", "gpu.md"}) {
    pages.push_back(fs::path(XLM_SOURCE_DIR) / "bench/records" / record);
  }
  EXPECT_GT(pages.size(), 10U);
  for (const fs::path& page : pages) EXPECT_THAT(unmarked_numbers(read_file(page)), IsEmpty()) << page;
}

TEST(DocsNumbers, WithoutAMarkAreFound) {
  EXPECT_THAT(unmarked_numbers("# Speed\nA step takes 12 ms.\n"), ElementsAre("# Speed: 12 ms"));
  EXPECT_THAT(unmarked_numbers("# Speed\n*Measured: version 0.1.0, a machine.*\n\n12 ms\n## More\n1.5 GB, 3 %\n"),
              ElementsAre("## More: 1.5 GB"));
  EXPECT_THAT(unmarked_numbers("# A\n*Measured: on a machine.*\n1.6 and 1.7 times as fast\n"), SizeIs(1));
  EXPECT_THAT(unmarked_numbers("# A\n| `a` | 48 % |\n"), SizeIs(1));
  EXPECT_THAT(unmarked_numbers("# A\n`sleep 5 s`\n```\n7 MB\n```\nSection 3 says it.\n"), IsEmpty());
}

}  // namespace
}  // namespace xlm
