// scripts/demo_corpus.sh, on small headers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include <fmt/format.h>

#include "base/files.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

class DemoCorpus : public ::testing::Test {
 protected:
  void header(const std::string& name, const std::string& content) const {
    const fs::path path = folder_.path() / "torch/include" / name;
    create_folders(path.parent_path());
    write_file(path, content);
  }
  std::string corpus() const {
    const fs::path out = folder_.path() / "new/demo.txt";
    const std::string command = fmt::format("XLM_TORCH_DIR='{}' '{}/scripts/demo_corpus.sh' '{}'",
                                            (folder_.path() / "torch").string(), XLM_SOURCE_DIR, out.string());
    EXPECT_EQ(std::system(command.c_str()), 0);
    return read_file(out);
  }

  TemporaryFolder folder_;
};

TEST_F(DemoCorpus, TakesCommentsWithoutDecoration) {
  header("a.h",
         "#pragma once\n"
         "/// Adds two numbers and returns the sum.\n"
         "int add(int a, int b);  // never throws an exception\n"
         "/**\n * A longer story about\n * the whole world.\n */\n"
         "const char* url = \"// not a comment here\";  /* one */ int x; /* two here */\n");
  EXPECT_EQ(corpus(),
            "Adds two numbers and returns the sum.\nnever throws an exception\nA longer story about\nthe whole world.\n"
            "one\ntwo here\n");
}

TEST_F(DemoCorpus, TakesEachLineOnceInByteOrderOfPaths) {
  header("b/x.h", "// the licence says so\n// from the second file\n");
  header("a.cuh", "// the licence says so\n// from the first file\n");
  header("c.txt", "// no header at all\n");
  EXPECT_EQ(corpus(), "the licence says so\nfrom the first file\nfrom the second file\n");
}

TEST_F(DemoCorpus, DropsCode) {
  header("a.h",
         "// auto x = f(y, z::w);\n// namespace at\n// aten::add(Tensor self) -> Tensor\n// return early if empty\n");
  EXPECT_EQ(corpus(), "return early if empty\n");
}

TEST_F(DemoCorpus, AnUnclosedCommentEndsWithItsFile) {
  header("a.h", "/* begins and never ends");
  header("b.h", "int code = 1;\n// another file starts\n");
  EXPECT_EQ(corpus(), "begins and never ends\nanother file starts\n");
}

TEST_F(DemoCorpus, MissingHeadersAreAnError) {
  const std::string command = fmt::format("XLM_TORCH_DIR=/nowhere '{}/scripts/demo_corpus.sh' '{}' 2>/dev/null",
                                          XLM_SOURCE_DIR, (folder_.path() / "out").string());
  EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 3);
  EXPECT_FALSE(fs::exists(folder_.path() / "out"));
}

}  // namespace
}  // namespace xlm
