// Every citation can be followed from within the repository: links, anchors, pages, and papers by author and year.
#include <algorithm>
#include <cctype>
#include <functional>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/text.h"

namespace xlm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Targets of citations: pages by path from the root, with their anchors; papers by their heading in the bibliography.
struct Citable {
  std::map<std::string, std::set<std::string>> pages;
  std::set<std::string> papers;
};

/// A file's path from the root, and its text.
struct CitingFile {
  std::string path;
  std::string text;

  bool is_page() const { return path.ends_with(".md"); }
};

const std::string kBibliography = "docs/bibliography.md";

/// The lines of a page without its blocks of code and without code within lines.
std::vector<std::string> prose_lines(const std::string& page) {
  std::vector<std::string> lines;
  bool code = false;
  for (const std::string& line : split(page, '\n')) {
    if (line.starts_with("```")) code = !code;
    lines.push_back(code || line.starts_with("```") ? "" : std::regex_replace(line, std::regex("`[^`]*`"), "`"));
  }
  return lines;
}

/// GitHub's anchor of a heading: letters, digits, hyphens and underscores in lower case, hyphens for blanks.
std::string anchor_of(const std::string& heading) {
  std::string anchor;
  for (const char character : heading) {
    const auto byte = static_cast<unsigned char>(character);
    if (std::isalnum(byte) != 0 || byte >= 0x80 || character == '_' || character == '-') {
      anchor += static_cast<char>(std::tolower(byte));
    } else if (character == ' ') {
      anchor += '-';
    }
  }
  return anchor;
}

/// Texts of a page's headings of these levels.
std::vector<std::string> headings_of(const std::string& page, const std::string& marks) {
  std::vector<std::string> headings;
  bool code = false;
  for (const std::string& line : split(page, '\n')) {
    if (line.starts_with("```")) code = !code;
    const std::size_t level = line.find_first_not_of('#');
    if (code || level == 0 || level == std::string::npos || line[level] != ' ') continue;
    if (marks.empty() || line.substr(0, level) == marks) headings.emplace_back(trim(line.substr(level)));
  }
  return headings;
}

/// The second anchor of a repeated heading has a number at its end.
std::set<std::string> anchors_of(const std::string& page) {
  std::set<std::string> anchors;
  std::map<std::string, int> seen;
  for (const std::string& heading : headings_of(page, "")) {
    const std::string anchor = anchor_of(heading);
    const int before = seen[anchor]++;
    anchors.insert(before == 0 ? anchor : anchor + "-" + std::to_string(before));
  }
  return anchors;
}

/// The comment of a line: the text after // in C++ and JavaScript, after # in others. In a page every line is one.
std::string comment_of(const CitingFile& file, const std::string& line) {
  if (file.is_page()) return line;
  const bool slashes = file.path.ends_with(".cpp") || file.path.ends_with(".h") || file.path.ends_with(".js");
  const std::size_t begin = line.find(slashes ? "//" : "#");
  return begin == std::string::npos ? "" : line.substr(begin);
}

/// The words of a text, without line breaks in comments and without signs around words.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (const std::string& line : split(text, '\n')) {
    for (const std::string& part : split(line, ' ')) {
      const std::size_t begin = part.find_first_not_of("/#*([\"'");
      if (begin != std::string::npos) words.push_back(part.substr(begin));
    }
  }
  return words;
}

/// A year with which a word begins, of 1900 … 2099.
std::optional<std::string> year_of(const std::string& word) {
  static const std::regex pattern("((19|20)[0-9]{2})([^0-9A-Za-z.-].*|\\.?)");
  std::smatch match;
  if (word.size() > 100 || !std::regex_match(word, match, pattern)) return std::nullopt;
  return match[1].str();
}

bool is_name(const std::string& word) {
  static const std::set<std::string> others{"In"};
  if (word.size() < 2 || std::isupper(static_cast<unsigned char>(word[0])) == 0 || others.count(word) != 0)
    return false;
  return std::all_of(word.begin(), word.end(), [](char c) {
    return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '-' || static_cast<unsigned char>(c) >= 0x80;
  });
}

/// Papers that a text cites: "Name et al. 2019", "Name and Name 2014", "Name 1908".
std::vector<std::string> papers_in(const std::string& text) {
  std::vector<std::string> papers;
  const std::vector<std::string> words = words_of(text);
  for (std::size_t i = 1; i < words.size(); ++i) {
    const auto year = year_of(words[i]);
    if (!year) continue;
    const auto back = [&](std::size_t count) { return i >= count ? words[i - count] : std::string(); };
    std::string last = back(1);
    if (last.ends_with(",")) last.pop_back();
    if (last == "al." && back(2) == "et") {
      papers.push_back(back(3) + " et al. " + *year);
    } else if (is_name(last) && back(2) == "and" && is_name(back(3))) {
      papers.push_back(back(3) + " and " + last + " " + *year);
    } else if (is_name(last)) {
      papers.push_back(last + " " + *year);
    }
  }
  return papers;
}

void check_papers(const CitingFile& file, const Citable& citable, std::vector<std::string>& problems) {
  if (file.path == kBibliography) return;
  for (const std::string& paper : papers_in(file.text)) {
    if (citable.papers.count(paper) == 0) problems.push_back(paper + " is not in " + kBibliography);
  }
}

/// The comments of a recipe, whose claims and notes are about the paper that its head names; all of another file.
std::string text_with_sections(const CitingFile& file) {
  if (!file.path.starts_with("experiments/recipes/") || papers_in(file.text.substr(0, 300)).empty()) return file.text;
  std::string text;
  for (const std::string& line : split(file.text, '\n')) {
    if (line.starts_with("#")) text += line + "\n";
  }
  return text;
}

/// A section belongs to the paper that is named before it, a few words away.
void check_sections(const CitingFile& file, std::vector<std::string>& problems) {
  if (file.is_page()) return;
  static const std::regex named("(19|20)[0-9]{2}");
  std::string before;
  for (const std::string& word : words_of(text_with_sections(file))) {
    before += " " + word;
    if (before.size() > 60) before.erase(0, before.size() - 60);
    if (word.starts_with("§") && !std::regex_search(before, named)) problems.push_back(word + " of which paper?");
  }
}

/// `path` from the root, perhaps with an anchor.
void check_page(const std::string& path, const std::string& anchor, const Citable& citable,
                std::vector<std::string>& problems) {
  const auto page = citable.pages.find(path);
  if (page == citable.pages.end()) {
    problems.push_back(path + " is not there");
  } else if (!anchor.empty() && page->second.count(anchor) == 0) {
    problems.push_back(path + " has no heading for #" + anchor);
  }
}

/// Links of a page to files and headings of the project.
void check_links(const CitingFile& file, const Citable& citable, const std::function<bool(const std::string&)>& exists,
                 std::vector<std::string>& problems) {
  static const std::regex pattern(R"(\]\(([^)\s#]*)(#[^)\s]*)?\))");
  for (const std::string& line : prose_lines(file.text)) {
    for (std::sregex_iterator link(line.begin(), line.end(), pattern), end; link != end; ++link) {
      const std::string target = (*link)[1];
      const std::string anchor = (*link)[2].matched ? (*link)[2].str().substr(1) : "";
      if (target.find("://") != std::string::npos) continue;
      const fs::path path =
          target.empty() ? fs::path(file.path) : (fs::path(file.path).parent_path() / target).lexically_normal();
      if (path.extension() == ".md") {
        check_page(path.generic_string(), anchor, citable, problems);
      } else if (!exists(path.generic_string())) {
        problems.push_back(path.generic_string() + " is not there");
      }
    }
  }
}

/// Pages that are named in comments, and in any text with docs/.
void check_mentions(const CitingFile& file, const Citable& citable, std::vector<std::string>& problems) {
  static const std::regex any(R"(([A-Za-z0-9_./-]*[A-Za-z0-9_]\.md)\b(#[a-z0-9_-]+)?)");
  for (const std::string& line : split(file.text, '\n')) {
    if (line.find(".md") == std::string::npos) continue;
    const std::string comment = comment_of(file, line);
    for (std::sregex_iterator mention(line.begin(), line.end(), any), end; mention != end; ++mention) {
      const std::string path = (*mention)[1];
      const bool of_docs = path.starts_with("docs/");
      if (!of_docs && (file.is_page() || comment.find(path) == std::string::npos)) continue;
      check_page(path, (*mention)[2].matched ? (*mention)[2].str().substr(1) : "", citable, problems);
    }
  }
}

/// Section numbers of texts that are not available.
void check_unknown_texts(const CitingFile& file, std::vector<std::string>& problems) {
  static const std::regex pattern(
      R"(\bmodels(\.md)? [0-9]+\.[0-9]+|\.txt,? §|shared/(design|papers)|\([1-9]\.[0-9]+((, | to )[1-9]\.[0-9]+)*\))");
  for (const std::string& line : split(file.text, '\n')) {
    const std::string comment = comment_of(file, line);
    std::smatch match;
    if (std::regex_search(comment, match, pattern)) problems.push_back("'" + match.str() + "' cites no text of ours");
  }
}

std::vector<std::string> citation_problems(
    const CitingFile& file, const Citable& citable,
    const std::function<bool(const std::string&)>& exists = [](const std::string&) { return false; }) {
  std::vector<std::string> problems;
  check_papers(file, citable, problems);
  check_sections(file, problems);
  if (file.is_page()) check_links(file, citable, exists, problems);
  check_mentions(file, citable, problems);
  check_unknown_texts(file, problems);
  return problems;
}

/// Sources, recipes, scripts and pages, without this file and without files that are built, installed or made by runs.
std::vector<CitingFile> project_files() {
  static const std::set<std::string> foreign{".git", ".deps", "build", "data", "runs", "package", "demo"};
  static const std::set<std::string> kinds{".cpp", ".h",   ".md",  ".yaml", ".sh", ".py",
                                           ".js",  ".css", ".txt", ".in",   ".yml"};
  const fs::path root = XLM_SOURCE_DIR;
  std::vector<CitingFile> files;
  for (fs::recursive_directory_iterator entry(root), end; entry != end; ++entry) {
    const fs::path path = fs::relative(entry->path(), root);
    if (entry.depth() == 0 && foreign.count(path.string()) != 0) {
      if (!entry->is_symlink()) entry.disable_recursion_pending();
    } else if (entry->is_regular_file() && path.filename() != "citations_test.cpp" &&
               (kinds.count(path.extension().string()) != 0 || path == "Makefile")) {
      files.push_back({path.generic_string(), read_file(entry->path())});
    }
  }
  return files;
}

Citable citable_in(const std::vector<CitingFile>& files) {
  Citable citable;
  for (const CitingFile& file : files) {
    if (file.is_page()) citable.pages[file.path] = anchors_of(file.text);
    if (file.path != kBibliography) continue;
    for (const std::string& heading : headings_of(file.text, "###")) citable.papers.insert(heading);
  }
  return citable;
}

TEST(Citations, CanBeFollowed) {
  const std::vector<CitingFile> files = project_files();
  EXPECT_GT(files.size(), 300U);
  const Citable citable = citable_in(files);
  const auto exists = [](const std::string& path) { return fs::exists(fs::path(XLM_SOURCE_DIR) / path); };
  for (const CitingFile& file : files) EXPECT_THAT(citation_problems(file, citable, exists), IsEmpty()) << file.path;
}

TEST(Citations, TheBibliographyHasNoUnusedEntry) {
  const std::vector<CitingFile> files = project_files();
  std::set<std::string> unused = citable_in(files).papers;
  EXPECT_GT(unused.size(), 10U);
  for (const CitingFile& file : files) {
    if (file.path == kBibliography) continue;
    for (const std::string& paper : papers_in(file.text)) unused.erase(paper);
  }
  EXPECT_THAT(unused, IsEmpty()) << "no file cites them";
}

Citable small_library() {
  return {.pages = {{"docs/a.md", {"one", "two-words"}}, {"README.md", {}}}, .papers = {"Doe et al. 2019", "Roe 1908"}};
}

std::vector<std::string> problems_in(const std::string& path, const std::string& text) {
  return citation_problems({path, text}, small_library());
}

TEST(Citations, CorrectOnesPass) {
  EXPECT_THAT(problems_in("x.h", "// As Doe et\n// al. 2019, §3 and §4, say (Roe 1908, §2); docs/a.md#two-words.\n"),
              IsEmpty());
  EXPECT_THAT(problems_in("docs/b.md", "[a](a.md#one), [b](../README.md), [Doe et al., 2019](https://doe.org/x)\n"),
              IsEmpty());
  EXPECT_THAT(problems_in("x.cpp", "write(\"table.md\"); // in bytes: 2048; (0.5), β (0.9, 0.999)\n"), IsEmpty());
  EXPECT_THAT(problems_in("docs/b.md", "```\n[a](none.md)\n# One\n```\n`[a](none.md)`\n"), IsEmpty());
}

TEST(Citations, OfUnknownPapersAreFound) {
  EXPECT_THAT(problems_in("x.h", "/// Poe et al. 2019\n"), ElementsAre("Poe et al. 2019 is not in " + kBibliography));
  EXPECT_THAT(problems_in("x.yaml", "a: 1  # (Doe et al., 2020)\n"), ElementsAre(HasSubstr("Doe et al. 2020")));
  EXPECT_THAT(problems_in("x.py", "# Doe and Roe\n# 2014, eq. 2\n"), ElementsAre(HasSubstr("Doe and Roe 2014")));
  EXPECT_THAT(problems_in("README.md", "[Poe 1907](docs/a.md)"), ElementsAre(HasSubstr("Poe 1907")));
  EXPECT_THAT(problems_in("x.h", "// the ramp (§3)\n"), ElementsAre(HasSubstr("of which paper?")));
}

TEST(Citations, OfMissingPagesAndHeadingsAreFound) {
  EXPECT_THAT(problems_in("docs/b.md", "[a](../a.md)"), ElementsAre("a.md is not there"));
  EXPECT_THAT(problems_in("docs/b.md", "[a](a.svg)"), ElementsAre("docs/a.svg is not there"));
  EXPECT_THAT(problems_in("docs/a.md", "[a](#three)"), ElementsAre("docs/a.md has no heading for #three"));
  EXPECT_THAT(problems_in("docs/b.md", "[a](a.md#three)"), ElementsAre(HasSubstr("no heading for #three")));
  EXPECT_THAT(problems_in("x.cpp", "say(\"docs/none.md lists them\");"), ElementsAre("docs/none.md is not there"));
  EXPECT_THAT(problems_in("x.cpp", "// docs/a.md#three"), ElementsAre(HasSubstr("no heading for #three")));
  EXPECT_THAT(problems_in("x.sh", "true  # as cli.md says"), ElementsAre("cli.md is not there"));
}

TEST(Citations, OfUnavailableTextsAreFound) {
  for (const char* comment : {"// (models 2.11)", "// zeros (1.3), then", "// clipping (1.14, 2.10).",
                              "// (1.1 to 1.18)", "// see ../shared/design"}) {
    EXPECT_THAT(problems_in("x.h", comment), ElementsAre(HasSubstr("cites no text of ours"))) << comment;
  }
  EXPECT_THAT(problems_in("x.h", "// paper.txt §2"),
              ElementsAre(HasSubstr("of which paper?"), HasSubstr("cites no text of ours")));
}

TEST(Citations, AnchorsAreGitHubs) {
  EXPECT_THAT(anchors_of("# A `b` (c): d_e-f\n## Same\n```\n# no\n```\n## Same\n"),
              ElementsAre("a-b-c-d_e-f", "same", "same-1"));
}

}  // namespace
}  // namespace xlm
