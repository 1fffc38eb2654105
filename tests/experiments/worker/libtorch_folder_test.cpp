// Where libtorch is looked for, and that one of another version is refused. The environments of portable folders are in
// tests/pipeline/portable_test.sh.
#include "experiments/worker/libtorch_folder.h"

#include <cstdlib>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/version.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class LibtorchFolder : public ::testing::Test {
 protected:
  LibtorchFolder() {
    create_folders(lib_);
    ::setenv("XLM_LIBTORCH", lib_.c_str(), 1);
  }
  ~LibtorchFolder() override { ::unsetenv("XLM_LIBTORCH"); }

  void write_version(const std::string& version) {
    write_file(lib_.parent_path() / "version.py", "debug = False\n__version__ = '" + version + "'\n");
  }
  fs::path found() const { return libtorch_folder(folder_.path() / "own" / "libtorch_cpu.so"); }

  TemporaryFolder folder_;
  fs::path lib_ = folder_.path() / "torch" / "lib";
};

TEST_F(LibtorchFolder, TakesWhatIsNamedWhereTheVersionIsRightOrUnknown) {
  EXPECT_EQ(found(), lib_);
  write_version(std::string(kTorchVersion) + "+cu130");
  EXPECT_EQ(found(), lib_);
  write_file(lib_.parent_path() / "version.py", "nothing\n");
  EXPECT_EQ(found(), lib_);
}

TEST_F(LibtorchFolder, AnotherVersionIsRefusedByItsName) {
  write_version("2.5.1+cpu");
  EXPECT_THAT([&] { found(); },
              ThrowsMessage<UsageError>(AllOf(HasSubstr("XLM_LIBTORCH"), HasSubstr("torch 2.5.1"),
                                              HasSubstr(std::string("pip install torch==") + kTorchVersion))));
}

TEST_F(LibtorchFolder, ABuildUsesItsOwn) {
  ::unsetenv("XLM_LIBTORCH");
  EXPECT_EQ(found(), fs::path());
}

}  // namespace
}  // namespace xlm
