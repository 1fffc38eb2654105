// Includes point one way: base ← {datasets, results} ← core ← experiments ← cmd; and what need not know torch does not.
#include <fstream>
#include <map>
#include <regex>
#include <set>

#include <gtest/gtest.h>

#include "base/files.h"

namespace xlm {
namespace {

const std::map<std::string, std::set<std::string>> kMayInclude{
    {"base", {"base"}},
    {"datasets", {"base", "datasets"}},
    {"results", {"base", "results"}},
    {"core", {"base", "datasets", "core"}},
    {"experiments", {"base", "datasets", "results", "core", "experiments"}},
    {"cmd", {"base", "datasets", "results", "core", "experiments", "cmd"}},
};

/// Headers of core that the torch-free folders may include.
bool is_torch_free(const std::string& include) {
  return include == "core/interface.h" || include == "core/options.h" || include == "core/models/registry.h" ||
         include.ends_with("_options.h");
}

std::vector<std::string> includes_of(const fs::path& file) {
  static const std::regex pattern(R"(^\s*#\s*include\s*[<"]([^>"]+)[>"])");
  std::vector<std::string> includes;
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    std::smatch match;
    if (std::regex_search(line, match, pattern)) includes.push_back(match[1]);
  }
  return includes;
}

bool is_torch(const std::string& include) {
  for (const auto* prefix : {"torch/", "ATen/", "c10/"}) {
    if (include.starts_with(prefix)) return true;
  }
  return false;
}

TEST(Architecture, IncludesPointOneWay) {
  int files = 0;
  for (const auto& [folder, allowed] : kMayInclude) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(XLM_SOURCE_DIR) / folder)) {
      const fs::path& file = entry.path();
      if (file.extension() != ".cpp" && file.extension() != ".h") continue;
      ++files;
      const bool torch_free_header =
          folder == "core" && is_torch_free("core/" + fs::relative(file, fs::path(XLM_SOURCE_DIR) / "core").string());
      for (const std::string& include : includes_of(file)) {
        const std::string owner = include.substr(0, include.find('/'));
        if (kMayInclude.count(owner) != 0) {
          EXPECT_EQ(allowed.count(owner), 1U) << file << " includes " << include;
          if (owner == "core" && (folder != "core" || torch_free_header)) {
            EXPECT_TRUE(is_torch_free(include)) << file << " includes " << include;
          }
        }
        if (folder != "core" || torch_free_header) {
          EXPECT_FALSE(is_torch(include)) << file << " includes " << include;
        }
      }
    }
  }
  EXPECT_GT(files, 50);
}

}  // namespace
}  // namespace xlm
