// The rooms: which may include which, read from the table in docs/rooms.md. Also names that could clash where
// several files are compiled as one.
#include <algorithm>
#include <functional>
#include <map>
#include <regex>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/text.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const fs::path kRoot = XLM_SOURCE_DIR;

/// By room: the other rooms that it may include.
using Arrows = std::map<std::string, std::set<std::string>>;

/// The rows "| `room` | `other` `other` | what it holds |" of the table under "## Rooms".
Arrows arrows_of(const std::string& page) {
  static const std::regex name("`([a-z0-9_/]+)`");
  Arrows arrows;
  const std::size_t begin = page.find("\n## Rooms\n");
  const std::string section = page.substr(begin, page.find("\n## ", begin + 1) - begin);
  for (const std::string& line : split(section, '\n')) {
    if (!line.starts_with("| `")) continue;
    const std::vector<std::string> cells = split(line, '|');
    std::smatch room;
    if (cells.size() < 4 || !std::regex_search(cells[1], room, name)) continue;
    std::set<std::string>& allowed = arrows[room[1]];
    for (std::sregex_iterator i(cells[2].begin(), cells[2].end(), name), end; i != end; ++i) allowed.insert((*i)[1]);
  }
  return arrows;
}

struct Source {
  std::string path;  // below the root
  std::string room;  // its folder
  std::string text;
};

/// All sources in the root's folders that contain rooms.
std::vector<Source> sources_of(const fs::path& root, const Arrows& arrows) {
  std::set<std::string> tops;
  for (const auto& [room, allowed] : arrows) tops.insert(room.substr(0, room.find('/')));
  std::vector<Source> sources;
  for (const std::string& top : tops) {
    if (!fs::is_directory(root / top)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
      const std::string ending = entry.path().extension().string();
      if (ending != ".cpp" && ending != ".h") continue;
      const fs::path path = fs::relative(entry.path(), root);
      sources.push_back({path.string(), path.parent_path().string(), read_file(entry.path())});
    }
  }
  std::sort(sources.begin(), sources.end(), [](const Source& a, const Source& b) { return a.path < b.path; });
  return sources;
}

std::vector<std::string> includes_of(const std::string& text) {
  static const std::regex pattern(R"((?:^|\n)\s*#\s*include\s*[<"]([^>"]+)[>"])");
  std::vector<std::string> includes;
  for (std::sregex_iterator i(text.begin(), text.end(), pattern), end; i != end; ++i) includes.push_back((*i)[1]);
  return includes;
}

/// Sources that include something that their room may not, and sources in no room.
std::vector<std::string> wrong_includes(const std::vector<Source>& sources, const Arrows& arrows) {
  std::vector<std::string> wrong;
  for (const Source& source : sources) {
    const auto own = arrows.find(source.room);
    if (own == arrows.end()) {
      wrong.push_back(source.path + " lies in no room");
      continue;
    }
    for (const std::string& include : includes_of(source.text)) {
      const std::string room = fs::path(include).parent_path().string();
      if (arrows.count(room) == 0 || room == source.room || own->second.count(room) != 0) continue;
      wrong.push_back(source.path + " includes " + include);
    }
  }
  return wrong;
}

/// A chain of rooms that leads back to its first, or none.
std::vector<std::string> circle_of(const Arrows& arrows) {
  std::vector<std::string> way;
  std::set<std::string> done;
  const std::function<bool(const std::string&)> visit = [&](const std::string& room) {
    if (std::find(way.begin(), way.end(), room) != way.end()) return true;
    if (done.count(room) != 0) return false;
    way.push_back(room);
    const auto found = arrows.find(room);
    if (found != arrows.end() && std::any_of(found->second.begin(), found->second.end(), visit)) return true;
    way.pop_back();
    done.insert(room);
    return false;
  };
  for (const auto& [room, allowed] : arrows) {
    if (visit(room)) return way;
  }
  return {};
}

bool is_torch(const std::string& include) {
  return include.starts_with("torch/") || include.starts_with("ATen/") || include.starts_with("c10/");
}

/// The names that a source defines in unnamed namespaces, as our layout writes them: at the start of a line.
std::set<std::string> unnamed_names(const std::string& text) {
  static const std::regex type(R"(^(?:class|struct|enum class|enum) (\w+)|^using (\w+) =)");
  static const std::regex function(R"(^[\w:<>,&*\s\[\]]*[\s&*](\w+)\()");
  static const std::regex value(R"(^(?:constexpr|const|static|inline)[\w:<>,&*\s]* (\w+)(?:\[\])?[ ]?[={;])");
  std::set<std::string> names;
  bool inside = false;
  for (const std::string& line : split(text, '\n')) {
    if (line == "namespace {") inside = true;
    if (line.starts_with("}  // namespace")) inside = false;
    if (!inside || line.empty() || std::string_view(" }#/").find(line[0]) != std::string_view::npos) continue;
    if (line.starts_with("template") || line.starts_with("return")) continue;
    std::smatch match;
    if (std::regex_search(line, match, type))
      names.insert(match[1].matched ? match[1] : match[2]);
    else if (std::regex_search(line, match, value) || std::regex_search(line, match, function))
      names.insert(match[1]);
  }
  return names;
}

/// Names that two sources of one library both define.
std::vector<std::string> clashes(const std::vector<Source>& sources) {
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> seen;  // by library and name
  for (const Source& source : sources) {
    const std::string library = source.path.substr(0, source.path.find('/'));
    if (!source.path.ends_with(".cpp")) continue;
    for (const std::string& name : unnamed_names(source.text)) seen[{library, name}].push_back(source.path);
  }
  std::vector<std::string> found;
  for (const auto& [key, paths] : seen) {
    if (paths.size() > 1) found.push_back(key.second + " in " + join(paths, " and "));
  }
  return found;
}

Arrows documented() { return arrows_of(read_file(kRoot / "docs/rooms.md")); }

TEST(Architecture, IncludesFollowTheTableOfRooms) {
  const Arrows arrows = documented();
  EXPECT_GT(arrows.size(), 25U);
  const std::vector<Source> sources = sources_of(kRoot, arrows);
  EXPECT_GT(sources.size(), 250U);
  EXPECT_THAT(wrong_includes(sources, arrows), IsEmpty());
  const std::vector<Source> example = sources_of(kRoot / "examples/paper", arrows);  // lies as it would in the project
  EXPECT_GE(example.size(), 4U);
  EXPECT_THAT(wrong_includes(example, arrows), IsEmpty());
}

TEST(Architecture, TheTableHasNoCycleAndNoUnusedArrow) {
  const Arrows arrows = documented();
  EXPECT_THAT(circle_of(arrows), IsEmpty());
  Arrows used;
  for (const Source& source : sources_of(kRoot, arrows)) {
    for (const std::string& include : includes_of(source.text)) {
      const std::string room = fs::path(include).parent_path().string();
      if (arrows.count(room) != 0 && room != source.room) used[source.room].insert(room);
    }
  }
  for (const auto& [room, allowed] : arrows) {
    for (const std::string& other : allowed) {
      EXPECT_EQ(used[room].count(other), 1U)
          << room << " does not include " << other << ", so the table need not allow it";
    }
  }
}

TEST(Architecture, OnlyCoreIncludesTorchAndItsInterfaceDoesNot) {
  for (const Source& source : sources_of(kRoot, documented())) {
    if (source.room.starts_with("core") && source.room != "core/api") continue;
    for (const std::string& include : includes_of(source.text)) {
      EXPECT_FALSE(is_torch(include)) << source.path << " includes " << include;
    }
  }
}

/// std::regex recurses for each character, so a long text overflows the stack.
TEST(Architecture, NoRegularExpressionReadsAForeignText) {
  std::vector<std::string> found;
  for (const Source& source : sources_of(kRoot, documented())) {
    for (const std::string& include : includes_of(source.text)) {
      if (include == "regex") found.push_back(source.path);
    }
  }
  EXPECT_THAT(found, ElementsAre("base/foreign_error.cpp")) << "which handles their exceptions";
}

TEST(Architecture, NamesInUnnamedNamespacesAreUniqueInALibrary) {
  const Arrows arrows = documented();
  std::vector<Source> sources = sources_of(kRoot, arrows);
  for (Source& added : sources_of(kRoot / "examples/paper", arrows)) sources.push_back(std::move(added));
  EXPECT_THAT(clashes(sources), IsEmpty());
}

class WrongHouse : public ::testing::Test {
 protected:
  void put(const std::string& path, const std::string& text) const {
    create_folders((folder_.path() / path).parent_path());
    write_file(folder_.path() / path, text);
  }
  std::vector<Source> sources() const { return sources_of(folder_.path(), arrows_); }

  TemporaryFolder folder_;
  Arrows arrows_ = arrows_of("\n## Rooms\n| room | may include | holds |\n| `base` | | x |\n| `up` | `base` | `x` |\n");
};

TEST_F(WrongHouse, AnArrowTheWrongWayIsFound) {
  put("up/a.h", "#include \"base/b.h\"\n");
  put("base/b.h", "#include <string>\n#include \"up/a.h\"\n");
  put("up/cellar/c.h", "");
  EXPECT_THAT(wrong_includes(sources(), arrows_),
              ElementsAre("base/b.h includes up/a.h", "up/cellar/c.h lies in no room"));
}

TEST_F(WrongHouse, ACycleIsFound) {
  EXPECT_THAT(circle_of(arrows_), IsEmpty());
  EXPECT_THAT(circle_of({{"a", {"b"}}, {"b", {"c"}}, {"c", {"a"}}}), ElementsAre("a", "b", "c"));
}

TEST_F(WrongHouse, AClashOfNamesIsFound) {
  put("base/a.cpp",
      "namespace {\n\nstd::string name_of(int x) {\n  return shared(x);\n}\n\n}  // namespace\nint shared() { }\n");
  put("base/b.cpp", "namespace {\n\nconstexpr int kMany = 3;\nbool name_of(bool x) { return x; }\n}  // namespace\n");
  put("base/c.cpp",
      "namespace {\nclass Shared {\n  int name_of();\n};\nconstexpr int kMany[] = {1};\n}  // namespace\n");
  put("up/d.cpp", "namespace {\nint name_of() { }\n}  // namespace\n");
  EXPECT_THAT(clashes(sources()),
              ElementsAre("kMany in base/b.cpp and base/c.cpp", "name_of in base/a.cpp and base/b.cpp"));
}

}  // namespace
}  // namespace xlm
